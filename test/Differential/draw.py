"""Draws a random program from a seed. The structure depends on the seed alone;
`max_dim` only caps the extents, so that a failing program can be drawn again
smaller."""

from pathlib import Path

import numpy as np

from dtypes import BF16, E4M3, E5M2, F16, F32, F64, I16, I32, I64, I8
from forms import CONVOLUTIONS, NAMED, TILES_ALONG_K, TILES_OF_ROWS
from linalg_ref import Op, Output, identity, literal, plain_map, product
from parts import BUDGET, Parts
from program import Dim, TensorType

# A tile table by which programs choose among their rules, however small they are.
EAGER = Path(__file__).resolve().with_name("eager.json")
# (inputs, what the op computes in), by how often they are drawn.
CONTRACTION_TYPES = (
    [(F32, F32)] * 10 + [(F16, F32)] * 4 + [(BF16, F32)] * 4 + [(I8, I32)] * 5
    + [(F64, F64)] * 3 + [(F16, F16)] * 3 + [(BF16, BF16)] * 2 + [(I32, I32)] * 2
    + [(F32, F64), (I16, I32), (I8, I8), (I64, I64)] + [(E4M3, F32)] * 3 + [(E5M2, F32)]
)
SAME_TYPES = [F32] * 6 + [F16] * 2 + [BF16] * 2 + [F64] * 2 + [I32] * 2 + [I8] * 2 + [I64]


def matmul_op(dtype):
    maps = [[0, 2], [2, 1], [0, 1]]
    return Op([True, True, False], [plain_map(m) for m in maps], 2, [Output(product([0, 1]))],
              dtype, ("linalg.matmul", "", True))


class Draw(Parts):
    """A program of one of the families below."""

    def contraction(self):
        iterators, maps, named = self.rng.choice(NAMED)(self)
        in_type, out_type = self.rng.choice(CONTRACTION_TYPES)
        in_types = [in_type] * 2
        if in_type is E5M2:  # as gradients, which meet weights
            in_types[self.rng.randrange(2)] = E4M3
        self.einsum(iterators, maps, named, in_types, out_type)

    def einsum(self, iterators, maps, named, in_types, out_type):
        dims = self.space(len(iterators))
        num_ins = len(in_types)
        op = Op(iterators, [plain_map(m) for m in maps], num_ins,
                [Output(product(range(num_ins)))], out_type, named)
        operand_dims = [[dims[d] for d in m] for m in maps]
        self.finish(op, dims, operand_dims, in_types, self.pick_marked(num_ins), [0.0], [0.0])

    def generic_einsum(self):
        rank = self.rng.choice([2, 3, 3, 4, 4, 5])
        num_ins = self.rng.choice([2, 2, 2, 3])
        maps = [[] for _ in range(num_ins)]
        out = []
        for d in range(rank):
            owners = [i for i in range(num_ins) if self.chance(0.55)]
            owners = owners or [self.rng.randrange(num_ins)]
            for i in owners:
                maps[i].append(d)
            if self.chance(0.6):
                out.append(d)
        for m in [*maps, out]:
            if self.chance(0.5):
                self.rng.shuffle(m)
        iterators = [d in out for d in range(rank)]
        in_type, out_type = self.rng.choice(CONTRACTION_TYPES)
        self.einsum(iterators, [*maps, out], None, [in_type] * num_ins, out_type)

    def same_value_twice(self):
        """A value times itself: s s^T, or an element-wise square summed up."""
        iterators, maps = self.rng.choice([
            ([True, True, False], [[0, 2], [1, 2], [0, 1]]),
            ([True, False], [[0, 1], [0, 1], [0]]),
            ([True, True, False], [[2, 0], [2, 1], [0, 1]]),
        ])
        in_type, out_type = self.rng.choice(CONTRACTION_TYPES)
        dims = self.space(len(iterators))
        if len(iterators) == 3:
            dims[1] = dims[0]
        op = Op(iterators, [plain_map(m) for m in maps], 2, [Output(product([0, 1]))], out_type)
        operand_dims = [[dims[d] for d in m] for m in maps]
        self.nan_live = False  # a NaN would meet zeros that are skipped
        value = self.marked_argument("a", in_type, operand_dims[0], 0.0, self.rule_for(op, 0))
        init = self.initial(out_type, operand_dims[2], 0.0)
        self.program.returns(self.program.linalg(op, [value, value], [init], dims)[0])

    def quantized(self):
        """Sum of (x - zero point) * w: the background is the zero point."""
        in_type, out_type = self.rng.choice([(I8, I32), (I8, I32), (F32, F32), (I16, I32)])
        zero_point = self.rng.choice([-3.0, 2.0, 5.0])
        maps = [[0, 2], [2, 1], [0, 1]]
        dims = self.space(3)
        expr = ("mul", ("sub", ("arg", 0), ("const", zero_point)), ("arg", 1))
        op = Op([True, True, False], [plain_map(m) for m in maps], 2, [Output(expr)], out_type)
        operand_dims = [[dims[d] for d in m] for m in maps]
        self.finish(op, dims, operand_dims, [in_type] * 2, 0, [zero_point], [0.0])

    def reduction(self):
        dtype = self.rng.choice(SAME_TYPES)
        rank = self.rng.choice([1, 2, 2, 3, 3, 4])
        dims = self.space(rank)
        reduced = sorted(self.rng.sample(range(rank), self.rng.randint(1, rank)))
        kept = [d for d in range(rank) if d not in reduced]
        x = ("arg", 0)
        # float64, which the reference computes in, has no i64 extremes.
        combiner = self.rng.choice(["add", "add", "max", "min"]) if dtype is not I64 else "add"
        exprs = [x] * 3 + [("mul", x, x), ("abs", x), ("max", x, ("const", 0.0))]
        expr = self.rng.choice(exprs)
        neutral = identity(combiner, dtype)
        backgrounds = [neutral]
        if expr != x:
            backgrounds = [0.0]
        if combiner == "add" and dtype in (F32, F64) and self.chance(0.15):
            expr, backgrounds = ("exp", x), [-np.inf]
        named = None
        if expr == x and self.chance(0.5):
            self.exact_types = True
            suffix = {"add": ("addf", "addi"), "max": ("maximumf", "maxsi"), "min": ("minimumf", "minsi")}
            name = suffix[combiner][0 if dtype.is_float else 1]
            named = (f"linalg.reduce {{ arith.{name} }}", f" dimensions = [{', '.join(map(str, reduced))}]", False)
        if not named:
            self.rng.shuffle(kept)
        maps = [list(range(rank)), kept]
        outputs = [Output(expr, combiner)]
        starts = [neutral if self.chance(0.5) else 0.0]
        if not named and self.chance(0.15):
            # Several results from one pass.
            outputs.append(Output(("mul", x, x), "add"))
            maps.append(list(kept))
            starts.append(0.0)
            backgrounds = [0.0]
        op = Op([d in kept for d in range(rank)], [plain_map(m) for m in maps], 1, outputs, dtype, named)
        operand_dims = [[dims[d] for d in m] for m in maps]
        self.finish(op, dims, operand_dims, [dtype], 0 if self.chance(0.9) else 1, backgrounds, starts)

    def elementwise(self):
        dtype = self.rng.choice(SAME_TYPES)
        rank = self.rng.choice([1, 2, 2, 3, 4])
        dims = self.space(rank)
        x, y = ("arg", 0), ("arg", 1)
        expr, name = self.rng.choice([
            (("max", x, ("const", 0.0)), None), (("mul", x, y), "linalg.mul"),
            (("mul", x, x), None), (("neg", x), "linalg.negf" if dtype.is_float else None),
            (("abs", x), "linalg.abs" if dtype.is_float else None),
            (("add", x, ("const", 1.0)), None),
            (("exp", x), "linalg.exp") if dtype in (F32, F64) else (("mul", x, y), "linalg.mul"),
            (("mul", ("add", x, x), y), None),
        ])
        num_ins = 2 if "('arg', 1)" in repr(expr) else 1
        full = list(range(rank))
        maps = [list(full), list(full), list(full)][: num_ins] + [list(full)]
        named = None
        if name and self.chance(0.5):
            named = (name, "", True)
        else:
            self.rng.shuffle(maps[-1])
            if num_ins == 2 and self.chance(0.4):
                maps[1] = [d for d in full if self.chance(0.5)]
        combiner = None if named or self.chance(0.8) else "add"
        op = Op([True] * rank, [plain_map(m) for m in maps], num_ins, [Output(expr, combiner)], dtype, named)
        operand_dims = [[dims[d] for d in m] for m in maps]
        marked = 0 if self.chance(0.85) else num_ins
        self.finish(op, dims, operand_dims, [dtype] * num_ins, marked, [0.0, 0.0, 1.0], [0.0])

    def data_movement(self):
        """linalg.broadcast and linalg.transpose of a marked value."""
        dtype = self.rng.choice(SAME_TYPES)
        rank = self.rng.choice([2, 3, 4])
        self.exact_types = True
        dims = self.space(rank)
        if self.chance(0.5):
            added = sorted(self.rng.sample(range(rank), self.rng.randint(1, rank - 1)))
            source = [d for d in range(rank) if d not in added]
            named = ("linalg.broadcast", f" dimensions = [{', '.join(map(str, added))}]", False)
        else:
            order = list(range(rank))
            self.rng.shuffle(order)
            # Result dim i is source dim order[i].
            source = [order.index(d) for d in range(rank)]
            named = ("linalg.transpose", f" permutation = [{', '.join(map(str, order))}]", False)
        maps = [source, list(range(rank))]
        op = Op([True] * rank, [plain_map(m) for m in maps], 1, [Output(("arg", 0), None)], dtype, named)
        operand_dims = [[dims[d] for d in m] for m in maps]
        self.finish(op, dims, operand_dims, [dtype], 0, [0.0, 1.0], [0.0])

    def convolution(self):
        name, spatial, batch, channel, feature, layouts = self.rng.choice(CONVOLUTIONS)
        in_type, out_type = self.rng.choice([t for t in CONTRACTION_TYPES if t[0] is not I64])
        strides = [self.rng.choice([1, 1, 2, 3]) for _ in range(spatial)]
        dilations = [self.rng.choice([1, 1, 2]) for _ in range(spatial)]
        kernel = [self.fixed(self.rng.choice([1, 2, 3])) for _ in range(spatial)]
        rest = self.space(2 + (feature is not None) + spatial, BUDGET // 4,
                          int(np.prod([k.size for k in kernel])))
        n, c = rest[:2]
        f = rest[2] if feature is not None else None
        window = rest[-spatial:]
        for o in window:
            # linalg's verifier takes no static result without a window.
            o.drawn = max(o.drawn, 1) if o.static else o.drawn
        slack = self.rng.choice([0, 0, 1])
        image = []
        for o, k, s, d in zip(window, kernel, strides, dilations):
            # Big enough for the windows, also for none.
            def extent(o=o, k=k, s=s, d=d):
                return max(0, o.size - 1) * s + (k.size - 1) * d + 1 + slack

            image.append(Dim(o.static, formula=extent))
        dims = [n, *window, c, *kernel] if f is None else [n, *window, f, c, *kernel]
        number = {id(d): i for i, d in enumerate(dims)}
        windows = {id(i): [(s, number[id(o)]), (d, number[id(k)])]
                   for i, o, k, s, d in zip(image, window, kernel, strides, dilations)}
        letters = {"n": [n], "c": [c], "f": [f], "i": image, "k": kernel, "o": window}
        operand_dims = [[d for l in layout for d in letters[l]] for layout in layouts]
        maps = [[windows.get(id(d)) or [(1, number[id(d)])] for d in operand] for operand in operand_dims]
        parallel = {id(d) for d in operand_dims[2]}
        text = lambda v: f"dense<[{', '.join(map(str, v))}]> : tensor<{spatial}xi64>"
        named = (f"linalg.{name} {{dilations = {text(dilations)}, strides = {text(strides)}}}", "", True)
        op = Op([id(d) in parallel for d in dims], maps, 2, [Output(product([0, 1]))], out_type, named)
        self.finish(op, dims, operand_dims, [in_type] * 2, self.pick_marked(2), [0.0], [0.0])

    def experts(self):
        """One projection of a mixture of experts; the routing is marked."""
        in_type, out_type = self.rng.choice([(F32, F32)] * 3 + [(BF16, F32), (F16, F32), (E4M3, F32), (F64, F64)])
        # t, e, k, f. Up keeps the experts apart; down adds them up.
        up = self.chance(0.5)
        hidden = [0, 1, 3] if up else [0, 3]
        weights = [1, 2, 3]
        tokens = [0, 2] if up or self.chance(0.3) else [0, 1, 2]
        iterators = [True, up, False, True]
        maps = [[0, 1], tokens, weights, hidden]
        dims = self.space(4)
        op = Op(iterators, [plain_map(m) for m in maps], 3, [Output(product([0, 1, 2]))], out_type)
        operand_dims = [[dims[d] for d in m] for m in maps]
        source = self.rng.choice(["values", "routing", "routing", "mask"])
        r = self.marked_argument("r", in_type, operand_dims[0], 0.0, self.rule_for(op, 0), source)
        a = self.plain("a", in_type, operand_dims[1])
        b = self.plain("b", in_type, operand_dims[2])
        out = self.initial(out_type, operand_dims[3], 0.0)
        self.program.returns(self.program.linalg(op, [r, a, b], [out], dims)[0])

    def feed_forward(self):
        """Two layers with a ReLU between; the padding or the activations are
        marked."""
        in_type, out_type = self.rng.choice([(F32, F32)] * 3 + [(F64, F64), (I32, I32)])
        dims = self.space(4, BUDGET // 2)  # m, k, h, n
        m, k, h, n = dims
        op = matmul_op(out_type)
        source = self.rng.choice(["lengths", "mask", "values"])
        x = self.marked_argument("x", in_type, [m, k], 0.0, None, source)
        w1, w2 = self.plain("w", in_type, [k, h]), self.plain("u", in_type, [h, n])
        first = self.program.linalg(op, [x, w1], [self.initial(out_type, [m, h], 0.0)], [m, h, k])[0]
        relu = Op([True, True], [plain_map([0, 1])] * 2, 1,
                  [Output(("max", ("arg", 0), ("const", 0.0)), None)], out_type)
        hidden = self.program.linalg(relu, [first], [self.initial(out_type, [m, h], 0.0)], [m, h])[0]
        if self.chance(0.6):
            hidden = self.program.mark(hidden, "values", None, None, False, None)
        last = self.program.linalg(op, [hidden, w2], [self.initial(out_type, [m, n], 0.0)], [m, n, h])[0]
        self.program.returns(last)

    def reshaped(self):
        """A mark with two dims that the op sees as one."""
        in_type, out_type = self.rng.choice(CONTRACTION_TYPES)
        p, q, k, n = self.space(4)
        m = Dim(p.static and q.static, formula=lambda: p.size * q.size)
        self.exact_types = True
        value = self.marked_argument("a", in_type, [p, q, k], 0.0)
        rows = TensorType(in_type, [m, k], [m.static, k.static])
        value = self.program.collapse(value, rows, "[[0, 1], [2]]")
        op = matmul_op(out_type)
        b = self.plain("b", in_type, [k, n])
        init = self.plain("o", out_type, [m, n])
        self.program.returns(self.program.linalg(op, [value, b], [init], [m, n, k])[0])

    def tile_program(self):
        """A program of level 3, as a user may write it: its own loops over an
        index of the values, which may be unordered."""
        in_type, out_type = self.rng.choice([(F32, F32)] * 3 + [(F16, F32), (BF16, F32), (F64, F64), (I8, I32)])
        m, n, k = dims = self.space(3)
        a = self.marked_argument("a", in_type, [m, k], 0.0, source="values", mark=False)
        b, o = self.plain("b", in_type, [k, n]), self.plain("o", out_type, [m, n])
        sizes = {name: self.rng.choice([1, 4, 8, 16, 32, 64]) for name in ("MT", "NT", "KT")}
        text = self.rng.choice([TILES_ALONG_K, TILES_OF_ROWS])
        sizes["INDEX_OPTION"] = self.rng.choice(["", " unordered"])
        self.program.returns(self.tiles(text, sizes, (a, b, o), dims, in_type, out_type))

    def tiles(self, text, sizes, operands, dims, in_type, out_type):
        """One of the tile programs, with its capitals replaced."""
        a, b, o = operands
        program = self.program
        result = program.name("r")
        for name, value in {
            **sizes, "ZERO": literal(0.0, in_type),
            "%RESULT": result, "%A": a, "%B": b, "%O": o, "TYPE_A": program.types[a].mlir,
            "TYPE_B": program.types[b].mlir, "TYPE_O": program.types[o].mlir,
            "IN": in_type.mlir, "OUT": out_type.mlir,
        }.items():
            text = text.replace(name, str(value))
        program.emit(*text.strip("\n").splitlines())
        program.values_of([result], matmul_op(out_type), [a, b], [o], dims)
        return result

    def odd(self):
        """Ops with a condition that some axis, or every one, fails."""
        dtype = self.rng.choice([F32, F32, I32])
        x, y = ("arg", 0), ("arg", 1)
        matmul = [[0, 2], [2, 1], [0, 1]]
        iterators = [True, True, False]
        kind = self.rng.choice(["index", "max product", "not skippable", "product"])
        if kind == "product":
            dtype = F32  # integers would wrap beyond what float64 holds
        output = Output(("mul", ("mul", x, y), ("index", self.rng.randrange(3))))
        if kind == "max product":
            output = Output(("mul", x, y), self.rng.choice(["max", "min"]))
        elif kind == "not skippable":
            output = Output(("add", x, y))
        elif kind == "product":
            output = Output(("max", x, ("const", 1.0)), "mul")
            matmul, iterators = [[0, 1], [0]], [True, False]
        dims = self.space(len(iterators), 100 if kind == "product" else BUDGET)
        num_ins = len(matmul) - 1
        op = Op(iterators, [plain_map(m) for m in matmul], num_ins, [output], dtype)
        operand_dims = [[dims[d] for d in m] for m in matmul]
        self.finish(op, dims, operand_dims, [dtype] * num_ins, 0, [0.0, 1.0], [1.0])

    def run(self):
        families = (
            [Draw.contraction] * 32 + [Draw.generic_einsum] * 20 + [Draw.reduction] * 10
            + [Draw.elementwise] * 7 + [Draw.data_movement] * 4 + [Draw.convolution] * 10
            + [Draw.experts] * 5 + [Draw.feed_forward] * 4 + [Draw.same_value_twice] * 2
            + [Draw.quantized] * 3 + [Draw.odd] * 3 + [Draw.reshaped] * 2
            + [Draw.tile_program] * 4
        )
        family = self.rng.choice(families)
        self.program.tags.add(family.__name__)
        family(self)
        return self.program
