"""Draws a sum of products, and many functions that compute it: as it is, with a rule on each
axis of each operand in turn, and rewritten (rewrite.py), with marks anywhere. All get the same
arguments, in one module, and have to return the same."""

import numpy as np

import patterns
from dtypes import BF16, E4M3, F16, F32, F64, I16, I32, I64, I8
from linalg_ref import Op, Output, Val, plain_map, product
from parts import Parts
from program import Program
from rewrite import rewritten
from sums import Added, Leaf, Sum, Writer, position, transposed

# What the operands are, and the sums. All of them are exact: sums of f32 have less than
# 2^24, and integers wrap in any order.
TYPES = ([(F32, F32)] * 6 + [(I32, I32)] * 3 + [(F16, F32)] * 3 + [(BF16, F32)] * 3
         + [(I8, I32)] * 3 + [(F64, F64)] * 2 + [(E4M3, F32)] * 2
         + [(I8, I8), (I16, I16), (I16, I32), (I64, I64)])
# Sums as others write them: which dims the operands and the result share. Half of what is
# drawn is one of them, its dims in any order; three operands drawn at random hardly ever are.
STRUCTURES = (
    "mk,kn->mn", "mk,kn->mn", "mk,kn->mn", "bmk,bkn->bmn", "mk,k->m", "mk,mn->kn", "mk,nk->mnk",
    "mk,k,kn->mn", "m,mk,kn->mn", "mk,kn,n->mn", "mk,kn,mn->mn", "mk,kn,nl->ml",
    "te,tk,ekf->tef", "te,tk,ekf->tf", "te,tk,ekf->tf", "te,tef,efn->tn", "te,tk,ekf,e->tf",
    "bqd,bkd,bk->bqk", "bhqd,bhkd->bhqk", "m,mk,kn,n->mn", "mk,k,kn,n->m", "mkl,kn,ln->mn",
    "mk->m", "mk->k", "bmk->bk",
)
VOLUME = 250_000  # points of an iteration space
WITH_RULES, REWRITTEN = 4, 4  # functions of a module
MICRO = (1, 1, 2, 4, 8, 16, 16, 32, 32, 64)


class DrawSums(Parts):
    def __init__(self, seed, case, max_dim):
        super().__init__(seed, case, max_dim)
        self.exact_types = True  # what moves elements asks for it
        self.static_share = self.rng.choice([0.0, 0.5, 1.0, 1.0, 1.0])
        self.in_type, self.out_type = self.rng.choice(TYPES)
        self.functions = []  # (name, text, tags)
        self.selectors = {}  # by leaf: what a mark of it may be by

    # -- the sum -----------------------------------------------------------

    def leaf(self, dims):
        """An argument with zeros, and maybe another one that says where they are."""
        name, key = "abcdefgh"[len(self.selectors)], self.program.name("pattern")
        # Few of several factors have zeros: else all products would be zero.
        names = self.rng.choice([patterns.PATTERNS, ("uniform",), ("skewed", "clustered")])
        sparse = self.chance(0.7 if not self.selectors else 0.25)
        names = names if sparse else ("all",)
        source = self.sources(len(dims)) if dims and sparse else "values"
        source = "mask" if source == "index" else source
        selector = self.selector(source, key, dims, names)
        type_ = self.type_of(self.in_type, dims)

        def make():
            chosen = self.pattern(key, type_.shape, names)
            array = patterns.values(self.data, type_.shape, self.in_type, "small")
            return np.where(chosen, patterns.away_from(array, 0.0, self.in_type), 0.0)

        leaf = Leaf(self.program.argument(name, type_, make), dims, self.in_type)
        self.selectors[leaf.name] = (source, selector)
        return leaf

    def shuffled(self, dims):
        dims = list(dims)
        if self.chance(0.7):
            self.rng.shuffle(dims)
        return dims

    def base(self):
        if self.chance(0.5):
            operands, result = self.rng.choice(STRUCTURES).split("->")
            letters = sorted(set(operands) - {","})
            dim_of = dict(zip(letters, self.space(len(letters), VOLUME)))
            owners = [[dim_of[l] for l in operand] for operand in operands.split(",")]
            return self.sum_of(owners, [dim_of[l] for l in result])
        rank, count = self.rng.choice([1, 2, 3, 3, 3, 4, 4, 5]), self.rng.choice([1, 2, 2, 3, 3, 4])
        dims = self.space(rank, VOLUME)
        owners = [[] for _ in range(count)]
        out = []
        for d in dims:
            chosen = [o for o in owners if self.chance(0.55)] or [self.rng.choice(owners)]
            for o in chosen:
                o.append(d)
            if self.chance(0.55):
                out.append(d)
        return self.sum_of(owners, out)

    def sum_of(self, owners, out):
        """The sum of factors with these dims."""
        self.rng.shuffle(owners)
        parts = [self.leaf(self.shuffled(o)) for o in owners]
        if self.chance(0.25):
            at = self.rng.randrange(len(parts))
            other = self.leaf(self.shuffled(parts[at].dims))
            parts[at] = Added([parts[at], other], parts[at].dims, self.out_type)
        result = Sum(parts, self.shuffled(out), self.out_type)
        if self.chance(0.4):
            type_ = self.type_of(self.out_type, result.dims)
            make = lambda: patterns.values(self.data, type_.shape, self.out_type, "small")
            result.init = Leaf(self.program.argument("o", type_, make), result.dims, self.out_type)
        return result

    def reference(self, tree):
        """The steps by which numpy computes the sum, without what pit is given."""
        def value(node):
            if isinstance(node, Leaf):
                return node.name
            name = self.program.name("w")
            dims = node.all_dims() if isinstance(node, Sum) else node.dims
            numbers = range(len(node.parts))
            output = (Output(product(numbers)) if isinstance(node, Sum)
                      else Output(("add", ("arg", 0), ("arg", 1)), None))
            maps = [plain_map([position(dims, d) for d in n.dims]) for n in [*node.parts, node]]
            op = Op([any(d is e for e in node.dims) for d in dims], maps, len(node.parts), [output],
                    self.out_type)
            type_ = Writer(self.program, self.rng, None).type_of(node)
            start = self.program.name("w")
            self.program.types[start] = type_
            self.program.steps.append(lambda: self.program.values.update(
                {start: Val(np.zeros(type_.shape), 0.0)}))
            init = node.init.name if isinstance(node, Sum) and node.init else start
            self.program.values_of([name], op, [value(p) for p in node.parts], [init], dims)
            return name

        self.program.returns(value(tree))

    # -- the functions -----------------------------------------------------

    def rule(self, op, operand, axis=None):
        """A rule of the operand along an axis."""
        dims = [e[0][1] for e in op.maps[operand]]
        if axis is None:
            axis = self.rng.randrange(len(dims))
        if self.chance(0.15):
            return f"axis = {axis}"
        micro = ["1" if i == axis else "*" if self.chance(0.15) else str(self.rng.choice(MICRO))
                 for i in range(len(dims))]
        rule = f"axis = {axis}, micro_tile = [{', '.join(micro)}]"
        if "*" not in micro and self.chance(0.2):
            tile = [self.rng.choice(MICRO) for _ in op.iterators]
            for i, d in enumerate(dims):
                if i != axis:
                    tile[d] = int(micro[i])
            rule += f", tile = [{', '.join(map(str, tile))}]"
        return rule

    def function(self, tree, tags, forced=None):
        """One of the functions; `forced` is the operand and axis of a rule of the tree's own
        sum, other marks are drawn."""
        program = Program()
        program.args, program.types = self.program.args, dict(self.program.types)
        program.fresh = self.program.fresh
        share = 0.1 if forced else self.rng.choice([0.2, 0.5, 0.8])
        sources, ruled = [], []

        def mark(value, node, op, number):
            dims = op.maps[number]
            own = forced and forced[0] == number and node is tree.parts[number]
            if not own and (not dims or not self.chance(share)):
                return value
            source, selector = self.selectors.get(value, ("values", None))
            if self.chance(0.5):
                source, selector = "values", None
            rule = None
            if own or (op not in ruled and not forced and self.chance(0.5)):
                ruled.append(op)  # an op has one rule
                rule = self.rule(op, number, forced[1] if own else None)
            sources.append(source)
            assume = selector is not None and self.chance(0.3)
            return program.mark(value, source, selector, None, assume, rule)

        program.returns(Writer(program, self.rng, mark).value(tree))
        name = f"f{len(self.functions)}"
        self.functions.append((name, program.text(name), [*tags, *(f"source {s}" for s in sources)]))

    def run(self):
        tree = self.base()
        self.reference(tree)
        count = f"{len(tree.parts)} operands"
        axes = [(i, axis) for i, p in enumerate(tree.parts) for axis in range(len(p.dims))]
        for operand, axis in self.rng.sample(axes, min(WITH_RULES, len(axes))):
            self.function(tree, [count, "rule"], (operand, axis))
        for _ in range(REWRITTEN):
            other, names = rewritten(self.rng, tree, self.rng.choice([1, 1, 2, 3]))
            self.function(other, [count, *names])
        return self.program
