"""What programs are drawn from: extents, data, marks, rules, a single op with what
belongs to it."""

import random

import numpy as np

import patterns
from dtypes import I1, I32, I64, I8
from linalg_ref import Op, Output, plain_map
from program import Dim, IndexType, Program, TensorType, selection

BUDGET = 1_500_000  # points of an iteration space


class Parts:
    def __init__(self, seed, case, max_dim=200):
        self.rng = random.Random(f"{seed}/{case}")
        # Sizes and data have streams of their own: what they use up does not
        # change the structure.
        self.sizes = random.Random(f"{seed}/{case}/sizes")
        self.tail = random.Random(f"{seed}/{case}/tail")
        self.data = np.random.default_rng([seed, case])
        self.max_dim = max_dim
        self.program = Program()
        self.spaces = []  # (dims, budget) drawn together
        self.cache = {}  # of one run
        # Static, dynamic, or mixed by dim.
        self.static_share = self.rng.choice([0.0, 0.0, 1.0, 1.0, 0.5])
        self.integral = self.rng.choice([True, True, "small", False, False])
        self.nan_live = self.rng.random() < 0.05
        self.exact_types = False  # the op demands that types agree on extents

    def chance(self, probability):
        return self.rng.random() < probability

    # -- extents -----------------------------------------------------------

    def draw_size(self):
        kind, u = self.sizes.random(), self.sizes.random()
        if kind < 0.02:
            size = 0
        elif kind < 0.10:
            size = 1
        elif kind < 0.35:
            size = 2 + int(u * 8)
        elif kind < 0.70:
            size = 10 + int(u * 60)
        elif kind < 0.85:
            size = (16, 32, 48, 64, 96, 128)[int(u * 6)]
        else:
            size = 71 + int(u * 130)
        return min(size, self.max_dim)

    def draw_sizes(self, dims, budget, weights):
        for d in dims:
            d.drawn = d.drawn if d.static and d.drawn is not None else self.draw_size()

        def volume():
            return int(np.prod([max(1, d.size) for d in dims], dtype=np.int64)) * weights

        while volume() > budget:
            free = [d for d in dims if not d.static] or dims
            largest = max(free, key=lambda d: d.size)
            if largest.size <= 1:
                largest = max(dims, key=lambda d: d.size)
            largest.drawn = (largest.size + 1) // 2

    def space(self, count, budget=BUDGET, weights=1):
        """The dims of an iteration space, small enough together."""
        dims = [Dim(self.chance(self.static_share)) for _ in range(count)]
        self.draw_sizes(dims, budget, weights)
        self.spaces.append((dims, budget, weights))
        return list(dims)

    def fixed(self, size):
        return Dim(True, size)

    def new_run(self):
        """Other extents for what is dynamic."""
        self.cache = {}
        for dims, budget, weights in self.spaces:
            for d in dims:
                if not d.static:
                    d.drawn = None
            self.draw_sizes(dims, budget, weights)

    @property
    def runs(self):
        """How many runs a program is worth: two if its extents may differ."""
        dims = [d for a in self.program.args for d in a.type.dims]
        return 1 if all(d.static for d in dims) else 2

    def type_of(self, dtype, dims):
        """Where a dim is static, a type may still leave it open."""
        static = [d.static and (self.exact_types or not self.chance(0.05)) for d in dims]
        return TensorType(dtype, list(dims), static)

    def fits_tma(self):
        """Whether Hopper's kernel has to run, where that is known."""
        return None

    # -- where it lies -----------------------------------------------------

    def argument_offset(self, name):
        """By how many elements an argument lies off the alignment of memory."""
        return 0

    def result_offset(self):
        return int(self.data.integers(4))

    # -- data --------------------------------------------------------------

    def plain(self, stem, dtype, dims):
        """An argument that no mark is about."""
        type_ = self.type_of(dtype, dims)
        sparse = self.chance(0.1)

        def make():
            array = patterns.values(self.data, type_.shape, dtype, self.integral)
            if sparse:
                array = array * (self.data.random(type_.shape) < 0.3)
            return array

        return self.program.argument(stem, type_, make)

    def pattern(self, key, shape, names):
        """A live pattern of this run, the same for everyone who asks by key."""
        if key not in self.cache:
            name = names[int(self.data.integers(len(names)))]
            self.cache[key] = patterns.live(self.data, shape, name)
        return self.cache[key]

    def background_for(self, identities):
        """One that lets work be skipped, mostly."""
        if self.chance(0.93):
            return self.rng.choice(identities)
        return self.rng.choice([0.0, 1.0, -2.0])

    def selector(self, source, key, dims, names):
        """The argument that a mark's source is, or None for the values."""
        shape = lambda: tuple(d.size for d in dims)
        if source == "values":
            return None
        if source == "mask":
            dtype = self.rng.choice([I1, I1, I8])
            type_ = self.type_of(dtype, dims)

            def make():
                chosen = self.pattern(key, shape(), names)
                other = self.data.integers(1, 128, size=shape()) * self.data.choice([-1, 1], size=shape())
                return np.where(chosen, 1 if dtype is I1 else other, 0)

            return self.program.argument("m", type_, make)
        if source == "lengths":
            rank = self.rng.randrange(len(dims))
            if rank == 0 and self.chance(0.8) and len(dims) > 1:
                rank = 1
            type_ = self.type_of(self.rng.choice([I32, I64]), dims[:rank])
            style = self.rng.choice(["any", "any", "short", "ends"])

            def make():
                last = dims[rank].size
                lengths = self.data.integers(0, last + 1, size=type_.shape)
                if style == "short":
                    lengths = np.minimum(lengths, 3)
                if style == "ends":
                    lengths = np.where(lengths % 2, last, 0)
                self.cache[key] = selection("lengths", np.asarray(lengths), shape())
                return lengths

            return self.program.argument("l", type_, make)
        if source == "index":
            axis = self.rng.randrange(len(dims))
            tile = [self.rng.choice([1, 4, 16, 32, 0]) for _ in dims]
            tile[axis] = 1
            type_ = IndexType(list(dims), tile, axis)

            def make():
                name = names[int(self.data.integers(len(names)))]
                live = patterns.live(self.data, type_.shape, name)
                self.cache[key] = type_.selected(live)
                return live

            return self.program.argument("i", type_, make)
        slots = self.fixed(self.rng.choice([1, 1, 2, 3]))
        type_ = self.type_of(self.rng.choice([I32, I64]), [dims[0], slots])
        empty = self.rng.choice([0.0, 0.1, 0.5])

        def make():
            experts = dims[1].size
            if experts == 0:
                return np.full(type_.shape, -1)
            crowd = max(1, experts // int(self.data.integers(1, 4)))
            chosen = self.data.integers(0, crowd, size=type_.shape)
            chosen = np.where(self.data.random(type_.shape) < empty, -1, chosen)
            self.cache[key] = selection("routing", chosen, shape())
            return chosen

        return self.program.argument("t", type_, make)

    def sources(self, rank, values=True):
        kinds = ["values"] * 5 if values else []
        kinds += ["mask"] * 3
        kinds += ["lengths"] * 2 + ["index"] if rank >= 1 else []
        kinds += ["routing"] if rank == 2 else []
        return self.rng.choice(kinds) if kinds else "values"

    def marked_argument(self, stem, dtype, dims, background, rule=None, source=None,
                        mark=True):
        """An argument with a mark on it; returns the marked value. Without the
        mark, an argument of such data."""
        source = source or self.sources(len(dims))
        key = self.program.name("pattern")
        names = self.rng.choice([patterns.PATTERNS, ("uniform",), ("skewed", "clustered")])
        assume = source != "values" and self.chance(0.3)
        nan_live = self.nan_live and dtype.is_float
        # The selector comes first, so that its data is made first.
        selector = self.selector(source, key, dims, names)
        type_ = self.type_of(dtype, dims)

        def make():
            chosen = self.pattern(key, type_.shape, names)
            array = patterns.values(self.data, type_.shape, dtype, self.integral)
            if source == "values":
                array = patterns.away_from(array, background, dtype)
            if nan_live:
                array = np.where(self.data.random(type_.shape) < 0.02, np.nan, array)
            if source == "values" or assume:
                return np.where(chosen, array, background)
            return np.where(chosen, array, patterns.garbage(self.data, type_.shape, dtype))

        argument = self.program.argument(stem, type_, make)
        if not mark:
            return argument
        written = background if background != 0.0 or self.chance(0.1) else None
        self.program.tags.add(f"source {source}")
        return self.program.mark(argument, source, selector, written, assume, rule)

    def marked_transposed(self, stem, dtype, dims, background):
        """A marked value that reaches its op through a linalg.transpose."""
        order = list(range(len(dims)))
        self.rng.shuffle(order)
        exact, self.exact_types = self.exact_types, True
        shuffled = [dims[o] for o in order]
        value = self.marked_argument(stem, dtype, shuffled, background)
        self.exact_types = exact
        type_ = TensorType(dtype, list(dims), [d.static for d in dims])
        back = [order.index(i) for i in range(len(dims))]
        self.program.tags.add("transposed mark")
        return self.program.transpose(value, type_, back)

    def initial(self, dtype, dims, start):
        """What an op's result starts from: an argument, or a fill."""
        if self.chance(0.4) and all(self.program.has_extent(d) for d in dims):
            type_ = TensorType(dtype, list(dims), [d.static for d in dims])
            return self.program.filled(type_, start)
        return self.plain("o", dtype, dims)

    # -- rules -------------------------------------------------------------

    def rule_for(self, op, operand):
        """What the user insists on, in some of the programs: an axis, or also
        the micro-tile, or also the tile. None for nothing."""
        exprs = op.maps[operand]
        if not exprs or self.chance(0.55):
            return None
        plain = all(len(e) == 1 and e[0][0] == 1 for e in exprs)
        axes = [i for i, e in enumerate(exprs) if len(e) == 1]
        if not axes:
            return None
        axis = self.rng.choice(axes)
        if self.chance(0.5 if not plain else 0.3):
            return f"axis = {axis}"
        tile = [self.rng.choice([1, 2, 4, 8, 16, 16, 32, 32, 48, 64]) for _ in op.iterators]
        micro = []
        for i, e in enumerate(exprs):
            if i == axis:
                micro.append("1")
            elif len(e) > 1:
                micro.append("1")  # each element, whichever windows it is in
            elif self.chance(0.25):
                micro.append("*")
            else:
                micro.append(str(tile[e[0][1]]))
        rule = f"axis = {axis}, micro_tile = [{', '.join(micro)}]"
        if plain and self.chance(0.35) and "*" not in micro:
            rule += f", tile = [{', '.join(map(str, tile))}]"
        return rule

    # -- a single op -------------------------------------------------------

    def finish(self, op, dims, operand_dims, in_types, marked, backgrounds, start):
        """Arguments, marks, the op and, perhaps, a mark on its result.
        `marked` is the number of the marked operand; num_ins for the result."""
        program = self.program
        ins = []
        second = self.rng.randrange(op.num_ins) if op.num_ins > 1 and self.chance(0.08) else None
        # A NaN against a zero that is skipped may count or not.
        self.nan_live = self.nan_live and second is None
        for i in range(op.num_ins):
            stem = "abcdefgh"[i]
            if i == marked or i == second:
                background = self.background_for(backgrounds)
                source = None
                if i == marked and len(operand_dims[i]) == 0:
                    source = "values"
                rule = self.rule_for(op, i)
                if len(operand_dims[i]) > 1 and self.chance(0.06):
                    value = self.marked_transposed(stem, in_types[i], operand_dims[i], background)
                else:
                    value = self.marked_argument(
                        stem, in_types[i], operand_dims[i], background, rule, source)
                if not self.exact_types and self.chance(0.08):
                    open_ = [s and self.chance(0.5) for s in program.types[value].static]
                    value = program.cast(value, open_)
            else:
                value = self.plain(stem, in_types[i], operand_dims[i])
            ins.append(value)
        outs = []
        for i, out in enumerate(op.outputs):
            out_dims = operand_dims[op.num_ins + i]
            outs.append(self.initial(op.dtype, out_dims, start[i]))
        results = program.linalg(op, ins, outs, dims)
        if marked == op.num_ins and operand_dims[marked]:
            results[0] = self.mark_result(results[0], operand_dims[marked], op)
        while len(results) == 1 and operand_dims[-1] and self.tail.random() < 0.4:
            results[0], operand_dims[-1] = self.epilogue(results[0], operand_dims[-1], op.dtype)
        for r in results:
            program.returns(r)

    def epilogue(self, value, dims, dtype):
        """An element-wise op on a result, which may be computed on its tiles:
        an activation, a bias, a scale or a residual, transposed or not."""
        self.program.tags.add("epilogue")
        x, y = ("arg", 0), ("arg", 1)
        full = list(range(len(dims)))
        expr, share = self.tail.choice([
            (("max", x, ("const", 0.0)), None), (("add", x, y), 0.5), (("mul", x, y), 0.5),
            (("add", x, y), 1.0), (("mul", y, ("max", x, ("const", 0.0))), 1.0)])
        maps = [list(full)]
        if share is not None:
            maps.append([d for d in full if self.tail.random() < share])
            if self.tail.random() < 0.2:
                self.tail.shuffle(maps[1])
        maps.append(list(full))
        if self.tail.random() < 0.2:
            self.tail.shuffle(maps[-1])
        op = Op([True] * len(dims), [plain_map(m) for m in maps], len(maps) - 1, [Output(expr, None)], dtype)
        ins = [value] + [self.plain("y", dtype, [dims[d] for d in m]) for m in maps[1:-1]]
        out_dims = [dims[d] for d in maps[-1]]
        out = self.initial(dtype, out_dims, 0.0)
        return self.program.linalg(op, ins, [out], list(dims))[0], out_dims

    def mark_result(self, value, dims, op):
        source = self.sources(len(dims), values=False)
        key = self.program.name("pattern")
        selector = self.selector(source, key, dims, patterns.PATTERNS)
        background = self.rng.choice([0.0, 0.0, 0.0, -1.0])
        rule = self.rule_for(op, op.num_ins)
        self.program.tags |= {f"source {source}", "result"}
        return self.program.mark(value, source, selector, background or None, False, rule)

    def pick_marked(self, num_ins, result=True):
        """Mostly an input."""
        if result and self.chance(0.15):
            return num_ins
        return self.rng.randrange(num_ins)
