"""An interpreter of programs on tensors, in numpy: functions, linalg.generic, tensor, scf,
arith, math, and pit.sparse. It walks the generic form (generic_form.py); named ops of
linalg are generalized by upstream's pass before. Nothing of pit runs here.

A tensor is a Num (scalars.py): values in float64, and a bound of what the compiled
program may be off by.
"""

import itertools

import numpy as np

import linalg_ref
import scalars
from generic_form import (DYNAMIC, affine_maps, affine_value, element_of, functions, ints, shape_of)
from scalars import Num, Unsupported, constant, is_float

MAX_STEPS = 20000  # of reductions that are taken one step after another, of loops


def tidy(e):
    return e if np.ndim(e) and np.any(e) else e if np.any(e) else 0.0


def mapped(x, function):
    """Data movement: the same to values and bounds."""
    return Num(function(x.v), function(x.e) if np.ndim(x.e) else x.e)


def bound(x):
    """A tensor's bound, as an array of its own."""
    return np.array(np.broadcast_to(np.asarray(x.e, dtype=float), x.v.shape))


def undefined(shape, element):
    kind = np.float64 if is_float(element) else np.int64
    return Num(np.zeros(shape, dtype=kind), np.full(shape, np.inf))


class Interpreter:
    def __init__(self, module):
        self.functions = functions(module)

    def call(self, name, args):
        """A function's results, for arguments that are Nums (of an index: what it
        covers)."""
        block = self.functions[name].block
        self.values = dict(zip(block.args, args))  # of the function called last
        with np.errstate(all="ignore"):
            return self.run(block, self.values)

    def run(self, block, env, args=()):
        """A block's results: what its terminator takes."""
        env.update(zip(block.args, args))
        for op in block.ops:
            values = [env[o] for o in op.operands] if not op.name.startswith("linalg.") else None
            if op.name in ("func.return", "scf.yield", "tensor.yield", "scf.condition",
                           "scf.forall.in_parallel"):
                return (values, op) if op.name == "scf.forall.in_parallel" else values
            env.update(zip(op.results, self.execute(op, values, env)))
        raise Unsupported("a block without a terminator")

    def execute(self, op, values, env):
        dialect, _, name = op.name.partition(".")
        if op.name == "arith.constant":
            return [constant(op.attr("value"))]
        if dialect in ("arith", "math"):
            return [scalars.evaluate(op, values)]
        handler = getattr(self, f"{dialect}_{name.replace('.', '_')}", None)
        if not handler:
            raise Unsupported(op.name)
        return handler(op, values, env)

    # -- func, scf, affine ---------------------------------------------------

    def func_call(self, op, values, env):
        mine = self.values
        results = self.call(op.attr("callee").lstrip("@").strip('"'), values)
        self.values = mine
        return results

    @staticmethod
    def certain(x):
        """A number that decides what runs."""
        if not x.known:
            raise Unsupported("what runs depends on rounding")
        return int(x.v)

    def scf_for(self, op, values, env):
        lower, upper, step = map(self.certain, values[:3])
        carried = values[3:]
        if len(range(lower, upper, step)) > MAX_STEPS:
            raise Unsupported("an scf.for of too many steps")
        for i in range(lower, upper, step):
            carried = self.run(op.block, env, [Num(np.array(i)), *carried])
        return carried

    def scf_if(self, op, values, env):
        region = op.regions[0 if self.certain(values[0]) else 1]
        return self.run(region.block, env) if region.block.ops else []

    def scf_while(self, op, values, env):
        before, after = (r.block for r in op.regions)
        for _ in range(MAX_STEPS):
            condition, *handed = self.run(before, env, values)
            if not self.certain(condition):
                return handed
            values = self.run(after, env, handed)
        raise Unsupported("an scf.while without an end")

    def scf_forall(self, op, values, env):
        lower, upper, step, outs = op.segments()
        ranges = []
        bounds = [self.mixed(op.attr(f"static{name}"), [env[o] for o in operands]) for name, operands in
                  (("LowerBound", lower), ("UpperBound", upper), ("Step", step))]
        ranges = [range(*b) for b in zip(*bounds)]
        state = [env[o] for o in outs]
        for at in itertools.product(*ranges):
            _, last = self.run(op.block, env, [*(Num(np.array(i)) for i in at), *state])
            written = op.block.args[len(ranges):]
            for insert in last.block.ops:
                number = written.index(insert.operands[1])
                changed = [env[o] for o in insert.operands]
                changed[1] = state[number]
                [state[number]] = self.tensor_insert_slice(insert, changed, env)
        return state

    def affine_apply(self, op, values, env):
        names, [result] = affine_maps(f"[{op.attr('map')}]")[0]
        return [Num(np.array(affine_value(result, names, [int(x.v) for x in values])))]

    def affine_min(self, op, values, env, best=min):
        names, results = affine_maps(f"[{op.attr('map')}]")[0]
        numbers = [int(x.v) for x in values]
        return [Num(np.array(best(affine_value(r, names, numbers) for r in results)))]

    def affine_max(self, op, values, env):
        return self.affine_min(op, values, env, max)

    # -- tensor --------------------------------------------------------------

    def mixed(self, static, operands):
        """Sizes of which some are operands."""
        rest = iter(operands)
        return [self.certain(next(rest)) if s == DYNAMIC else s for s in ints(static)]

    def tensor_empty(self, op, values, env):
        shape, element = shape_of(op.results[0].type)
        rest = iter(values)
        return [undefined([self.certain(next(rest)) if d is None else d for d in shape], element)]

    def tensor_dim(self, op, values, env):
        return [Num(np.array(values[0].v.shape[self.certain(values[1])]))]

    def tensor_cast(self, op, values, env):
        return values

    def tensor_splat(self, op, values, env):
        shape, _ = shape_of(op.results[0].type)
        rest = iter(values[1:])
        sizes = [self.certain(next(rest)) if d is None else d for d in shape]
        return [mapped(values[0], lambda x: np.full(sizes, x))]

    def tensor_from_elements(self, op, values, env):
        shape, element = shape_of(op.results[0].type)
        kind = np.float64 if is_float(element) else np.int64
        return [Num(np.array([x.v for x in values], dtype=kind).reshape(shape),
                    tidy(np.array([float(x.e) for x in values]).reshape(shape)))]

    def tensor_extract(self, op, values, env):
        at = tuple(np.asarray(x.v) for x in values[1:])
        x = mapped(values[0], lambda a: a[at])
        if not all(i.known for i in values[1:]):
            return [Num(x.v, np.full(np.shape(x.v), np.inf))]
        return [x]

    def tensor_insert(self, op, values, env):
        scalar, dest, *at = values
        v, e, at = dest.v.copy(), bound(dest), tuple(map(self.certain, at))
        v[at], e[at] = scalar.v, scalar.e
        return [Num(v, tidy(e))]

    def slices(self, op, first):
        groups = op.segments()
        parts = [op.attr(f"static_{n}") for n in ("offsets", "sizes", "strides")]
        return groups[first:], parts

    def ranges(self, op, env, first):
        """The slices and sizes of an op whose operands from group `first` on are
        offsets, sizes and strides."""
        groups, parts = self.slices(op, first)
        offsets, sizes, strides = (
            self.mixed(p, [env[o] for o in g]) for p, g in zip(parts, groups))
        ranges = tuple(slice(o, o + (n - 1) * s + 1 if n else o, s)
                       for o, n, s in zip(offsets, sizes, strides))
        return ranges, sizes

    def tensor_extract_slice(self, op, values, env):
        ranges, sizes = self.ranges(op, env, 1)
        outside = [r.stop > n for r, n in zip(ranges, values[0].v.shape)]
        if any(outside):
            raise Unsupported("a slice outside of its tensor")
        static = [None if s == DYNAMIC else s for s in ints(op.attr("static_sizes"))]
        kept = reduced_shape(sizes, static, shape_of(op.results[0].type)[0])
        return [mapped(values[0], lambda a: a[ranges].reshape(kept))]

    def tensor_insert_slice(self, op, values, env):
        source, dest = values[:2]
        ranges, sizes = self.ranges(op, env, 2)
        v, e = dest.v.copy(), bound(dest)
        v[ranges] = source.v.reshape(sizes)
        e[ranges] = bound(source).reshape(sizes)
        return [Num(v, tidy(e))]

    def tensor_pad(self, op, values, env):
        _, low, high = op.segments()
        low = self.mixed(op.attr("static_low"), [env[o] for o in low])
        high = self.mixed(op.attr("static_high"), [env[o] for o in high])
        [scalar] = self.run(op.block, env, [Num(np.array(0))] * len(low))
        inner = tuple(slice(l, l + n) for l, n in zip(low, values[0].v.shape))
        shape = [l + n + h for l, n, h in zip(low, values[0].v.shape, high)]
        v, e = np.full(shape, scalar.v), np.full(shape, float(scalar.e))
        v[inner], e[inner] = values[0].v, values[0].e
        return [Num(v, tidy(e))]

    def tensor_concat(self, op, values, env):
        axis = ints(op.attr("dim").split(":")[0])[0]
        return [Num(np.concatenate([x.v for x in values], axis),
                    tidy(np.concatenate([bound(x) for x in values], axis)))]

    def tensor_expand_shape(self, op, values, env):
        shape = self.mixed(op.attr("static_output_shape"), values[1:])
        return [mapped(values[0], lambda a: a.reshape(shape))]

    def tensor_collapse_shape(self, op, values, env):
        groups, shape, at = op.attr("reassociation"), [], 0
        depth = [ints(g) for g in groups.strip("[]").split("], [")] if groups != "[]" else []
        for group in depth:
            shape.append(int(np.prod(values[0].v.shape[at: at + len(group)], dtype=np.int64)))
            at += len(group)
        return [mapped(values[0], lambda a: a.reshape(shape))]

    def tensor_generate(self, op, values, env):
        shape, element = shape_of(op.results[0].type)
        rest = iter(values)
        sizes = [self.certain(next(rest)) if d is None else d for d in shape]
        [x] = self.run(op.block, env, [Num(g) for g in np.indices(sizes)])
        kind = np.float64 if is_float(element) else np.int64
        return [Num(np.array(np.broadcast_to(x.v, sizes), dtype=kind),
                    tidy(np.array(np.broadcast_to(x.e, sizes))))]

    # -- pit -------------------------------------------------------------------

    def pit_sparse(self, op, values, env):
        source = op.attr("source").split()[-1].rstrip(">")
        x = values[0]
        if source == "values":
            return [x]
        background = constant(op.attr("background")).v if op.attr("background") else 0
        chosen = selected(source, values[1].v, x.v.shape)
        return [Num(np.where(chosen, x.v, background), tidy(np.where(chosen, x.e, 0.0)))]

    # -- linalg ------------------------------------------------------------------

    def linalg_generic(self, op, _, env):
        return Structured(self, op, env).results()


def reduced_shape(sizes, static, types):
    """Sizes without those that are 1 in the program and that a result of smaller rank
    lacks. A dynamic size stays, also where it happens to be 1."""
    if not sizes:
        return []
    if types and types[0] == static[0] and (
            rest := reduced_shape(sizes[1:], static[1:], types[1:])) is not None:
        return [sizes[0], *rest]
    if static[0] == 1 and len(sizes) > len(types):
        return reduced_shape(sizes[1:], static[1:], types)
    return None


def selected(source, data, shape):
    """The elements that a mark selects (docs/Semantics.md)."""
    if source in ("mask", "index"):
        return data != 0
    if source == "lengths":
        lengths = data.reshape(data.shape + (1,) * (len(shape) - data.ndim))
        at = np.arange(shape[data.ndim]).reshape([-1] + [1] * (len(shape) - data.ndim - 1))
        return np.broadcast_to(at < lengths, shape)
    if source == "routing":
        return (data[:, :, None] == np.arange(shape[1])).any(axis=1)
    raise Unsupported(f"a mark by {source}")


class Structured:
    """One execution of a linalg.generic. Its body runs once, on arrays that cover the
    iteration space; what is combined across iterations, is combined after that. Where
    that is not possible the iterations of the reduced dims run one after another."""

    def __init__(self, interpreter, op, env):
        self.interpreter, self.op, self.env = interpreter, op, env
        self.maps = affine_maps(op.attr("indexing_maps"))
        self.ins, self.outs = op.segments()
        self.rank = len(self.maps[0][0])
        self.sizes = self.find_sizes()
        self.grids = [np.arange(n).reshape([n if i == d else 1 for i in range(self.rank)])
                      for d, n in enumerate(self.sizes)]
        self.yielded = op.block.ops[-1].operands

    def find_sizes(self):
        sizes = [None] * self.rank
        for operand, (names, results) in zip([*self.ins, *self.outs], self.maps):
            for extent, result in zip(np.shape(self.env[operand].v), results):
                if result in names:
                    d = names.index(result)
                    if sizes[d] not in (None, extent):
                        raise Unsupported(f"d{d} has the extents {sizes[d]} and {extent}")
                    sizes[d] = extent
        if None in sizes:
            raise Unsupported("an iteration dim without an extent")
        return sizes

    def view(self, x, number):
        """An operand over the iteration space, of extent 1 along dims that it lacks."""
        names, results = self.maps[number]
        if not results:
            return mapped(x, lambda a: np.reshape(a, (1,) * self.rank))
        dims = [names.index(r) if r in names else None for r in results]
        if None not in dims and len(set(dims)) == len(dims):
            order = np.argsort(dims)
            shape = [self.sizes[d] if d in dims else 1 for d in range(self.rank)]
            return mapped(x, lambda a: a.transpose(order).reshape(shape))
        at = tuple(np.broadcast_arrays(*(np.asarray(affine_value(r, names, self.grids))
                                         for r in results)))
        return mapped(x, lambda a: a[at].reshape(at[0].shape or (1,) * self.rank))

    def out_dims(self, i):
        """The dims that index a result; None for a 0."""
        names, results = self.maps[len(self.ins) + i]
        return [names.index(r) if r in names else None for r in results]

    def missing(self, i):
        return [d for d in range(self.rank) if d not in self.out_dims(i)]

    def combiner(self, i):
        """The op that combines result `i` with its prior value, and what it adds."""
        out = self.op.block.args[len(self.ins) + i]
        uses = [op for op in self.op.walk() if op is not self.op for o in op.operands if o is out]
        found = [op for op in self.op.block.ops if self.yielded[i] in op.results]
        if len(uses) != 1 or found != uses or len(found[0].operands) != 2:
            return None
        name = found[0].name.partition(".")[2]
        if name not in COMBINE or sum(1 for o in self.yielded if o is found[0].results[0]) != 1:
            return None
        a, b = found[0].operands
        return (found[0], b if a is out else a)

    def results(self):
        reduced = [i for i in range(len(self.outs)) if self.missing(i)]
        combiners = {i: self.combiner(i) for i in reduced}
        body_args = self.op.block.args
        inputs = [self.view(self.env[o], n) for n, o in enumerate(self.ins)]
        states = [self.view(self.env[o], len(self.ins) + i) for i, o in enumerate(self.outs)]
        if None in combiners.values():
            return self.one_after_another(inputs, states)
        self.env.update(zip(body_args, inputs))
        self.env.update((body_args[len(self.ins) + i], states[i])
                        for i in range(len(self.outs)) if i not in reduced)
        self.body(self.grids, skip=[c[0] for c in combiners.values()])
        results = []
        for i, out in enumerate(self.outs):
            if i in combiners:
                op, term = combiners[i]
                results.append(self.reduce(op, self.env[term], self.env[out], i))
            else:
                results.append(self.placed(self.env[self.yielded[i]], i))
        return results

    def body(self, grids, skip=()):
        for op in self.op.block.ops[:-1]:
            if op in skip:
                continue
            if op.name == "linalg.index":
                d = int(op.attr("dim").split(":")[0])
                self.env[op.results[0]] = Num(grids[d])
                continue
            values = [self.env[o] for o in op.operands]
            self.env.update(zip(op.results, self.interpreter.execute(op, values, self.env)))

    def placed(self, x, i):
        """A result whose map has all dims."""
        dims = self.out_dims(i)
        shape = [1 if d is None else self.sizes[d] for d in dims]
        order = [d for d in dims if d is not None]

        def place(array):
            array = np.broadcast_to(array, self.sizes)
            others = [d for d in range(self.rank) if d not in order]
            return np.array(array.transpose(*order, *others).reshape(shape))

        element = element_of(self.outs[i].type)
        kind = np.float64 if is_float(element) else np.int64
        return Num(place(x.v).astype(kind), tidy(place(x.e)) if np.any(x.e) else 0.0)

    def reduce(self, op, term, init, i):
        dims = self.out_dims(i)
        order = [d for d in dims if d is not None]
        lost = self.missing(i)
        shape = [1 if d is None else self.sizes[d] for d in dims]
        count = int(np.prod([self.sizes[d] for d in lost], dtype=np.int64))

        def arrange(array):
            array = np.broadcast_to(array, self.sizes).transpose(*order, *lost)
            return array.reshape(*shape, count)

        element = element_of(self.outs[i].type)
        v, e = arrange(term.v), arrange(term.e) if np.any(term.e) else 0.0
        name = op.name.partition(".")[2]
        combine, start = COMBINE[name]
        if not is_float(element):
            start = {"maxsi": -2**63, "minsi": 2**63 - 1}.get(name, start)
            total = combine.reduce(v, axis=-1, initial=start) if count else init.v
            total = scalars.wrap(combine(total, init.v), element) if count else total
            off = (np.any(e, axis=-1) if np.ndim(e) else False) | (np.asarray(init.e) > 0)
            return Num(np.asarray(total), np.where(off, np.inf, 0.0) * np.ones(shape) if np.any(off) else 0.0)
        total = combine(combine.reduce(v, axis=-1, initial=start), init.v)
        if name in ("maximumf", "minimumf", "maxnumf", "minnumf"):
            e = np.max(e, axis=-1, initial=0.0) if np.ndim(e) else 0.0
            return Num(total, tidy(np.maximum(e, init.e)))
        if name == "mulf":
            m = np.abs(total)
            spread = 0.0 if term.known and init.known else np.inf
            done = scalars.finish(element, total, spread, m, [init], 2 * (count + 1))
            return Num(done.v, done.e)
        e = np.sum(e, axis=-1) if np.ndim(e) else 0.0
        m = np.sum(arrange(term.magnitude), axis=-1) + np.abs(init.v)
        once = scalars.rounding(element, total, e + init.e, m)
        times = 1.0
        if np.any(once):
            alike = linalg_ref.count_alike(v, m, scalars.FLOATS[element])
            times = np.minimum(count + 2.0, linalg_ref.sum_factor(count, alike))
        # A product has been rounded, too.
        done = scalars.finish(element, total, e + init.e, m, [term_known(e), init], 1.0 + times)
        return Num(done.v, done.e)

    def one_after_another(self, inputs, states):
        lost = sorted({d for i in range(len(self.outs)) for d in self.missing(i)})
        if np.prod([self.sizes[d] for d in lost], dtype=np.int64) > MAX_STEPS:
            raise Unsupported("a reduction that is too large to take one step after another")
        states = [Num(self.filled_view(s.v, i), self.filled_view(s.e, i)) for i, s in enumerate(states)]
        for at in np.ndindex(*(self.sizes[d] for d in lost)):
            def part(array):
                if not np.ndim(array):
                    return array
                where = [slice(None)] * self.rank
                for d, k in zip(lost, at):
                    where[d] = slice(k, k + 1) if array.shape[d] > 1 else slice(None)
                return array[tuple(where)]

            here = [mapped(x, part) for x in [*inputs, *states]]
            self.env.update(zip(self.op.block.args, here))
            self.body([part(g) for g in self.grids])
            new = [self.env[y] for y in self.yielded]
            for x, state in zip(new, states):
                part(state.v)[...] = x.v
                part(state.e)[...] = x.e
        results = []
        for i, state in enumerate(states):
            dims = self.out_dims(i)
            order = [d for d in dims if d is not None]
            rest = [d for d in range(self.rank) if d not in order]
            shape = [1 if d is None else self.sizes[d] for d in dims]
            results.append(Num(state.v.transpose(*order, *rest).reshape(shape),
                               tidy(state.e.transpose(*order, *rest).reshape(shape))))
        return results

    def filled_view(self, array, i):
        dims = self.out_dims(i)
        shape = [self.sizes[d] if d in dims else 1 for d in range(self.rank)]
        return np.array(np.broadcast_to(array, shape))


def term_known(e):
    return Num(np.array(0.0), e)


COMBINE = {
    "addf": (np.add, 0.0), "mulf": (np.multiply, 1.0), "maximumf": (np.maximum, -np.inf),
    "minimumf": (np.minimum, np.inf), "maxnumf": (np.fmax, -np.inf), "minnumf": (np.fmin, np.inf),
    "addi": (np.add, 0), "muli": (np.multiply, 1), "maxsi": (np.maximum, None),
    "minsi": (np.minimum, None), "andi": (np.bitwise_and, -1), "ori": (np.bitwise_or, 0),
    "xori": (np.bitwise_xor, 0),
}
