"""Ops on tensors that compose.py's programs consist of: contractions, element-wise ops,
reductions, convolutions."""

import numpy as np

from compose import Retry
from compose_moves import Moves
from dtypes import BF16, F16, F32, F64, I16, I32, I64, I8
from linalg_ref import identity

OUT_TYPES = {"f16": [F16, F32], "bf16": [BF16, F32], "i8": [I8, I32, I32], "i16": [I16, I32]}
INTEGERS = (I8, I16, I32, I64)
LARGEST_NARROW = 3e3


class Ops(Moves):
    # -- contractions ----------------------------------------------------------

    def contraction_operands(self, accept=None):
        """Two tensors, the iteration dims, their maps, and the dims that are summed."""
        x = self.pick(lambda t: t.rank >= 1 and t.rank <= 4 and (not accept or accept(t)))
        at = self.rng.choice([x.rank - 1] * 3 + list(range(x.rank)))
        k = x.dims[at]
        partners = [t for t in self.pool if t.dtype == x.dtype and t.rank <= 4
                    and any(d is k for d in t.dims)]
        if partners and self.chance(0.45):
            y = self.rng.choice(partners)
            y.used += 1
        else:
            n = self.any_dim()
            dims = self.rng.choice([[k, n], [k, n], [k, n], [n, k], [k]])
            if self.chance(0.25):
                y = self.marked_fresh(x.dtype, dims)
            else:
                y = self.fresh(x.dtype, dims, "w")
        dims, x_map = list(x.dims), list(range(x.rank))
        y_map, joined = [], False
        for d in y.dims:
            same = [i for i in x_map if dims[i] is d and i not in y_map]
            if d is k and not joined:
                y_map.append(at)
                joined = True
            elif same and self.chance(0.4) and same[0] != at:
                y_map.append(same[0])
            else:
                dims.append(d)
                y_map.append(len(dims) - 1)
        kept = [i for i in range(len(dims)) if i != at and self.chance(0.92)]
        if self.chance(0.15):
            self.rng.shuffle(kept)
        if self.chance(0.05) and len(kept) < 4:
            kept.append(at)
        self.check_points(dims)
        if len(kept) > 5:
            raise Retry("a result of too many dims")
        return x, y, dims, x_map, y_map, kept

    def contraction(self, into=None):
        x, y, dims, x_map, y_map, kept = self.contraction_operands()
        dtype = self.rng.choice(OUT_TYPES.get(x.dtype.mlir, [x.dtype]))
        lost = [i for i in range(len(dims)) if i not in kept]
        large = x.large * y.large * float(np.prod([max(1, dims[i].limit) for i in lost]))
        if large > self.limit(dtype):
            raise Retry("too large")
        a, b = self.perhaps_marked(x, 0.6), self.perhaps_marked(y, 0.15)
        out_dims = [dims[i] for i in kept]
        init, more = self.start(dtype, out_dims)
        if large + more > self.limit(dtype):
            raise Retry("too large")
        named = self.named_contraction(x_map, y_map, kept, len(dims))
        if named and self.chance(0.7):
            result = self.named(named, [a.name, b.name], init, large + more)
        else:
            def body(region, ins, outs):
                return [region.two("add", outs[0], region.two("mul", *ins))]

            [result] = self.generic(dims, [x_map, y_map, kept], [a.name, b.name], [init], dtype,
                                    body, lost, [large + more])
        return self.perhaps_wanted(result)

    @staticmethod
    def named_contraction(x, y, out, rank):
        return {
            ((0, 1), (1, 2), (0, 2)): "matmul", ((0, 1), (1,), (0,)): "matvec",
            ((0, 1, 2), (0, 2, 3), (0, 1, 3)): "batch_matmul",
            ((0, 1, 2), (0, 2), (0, 1)): "batch_matvec", ((0,), (0,), ()): "dot",
        }.get((tuple(x), tuple(y), tuple(out)))

    def perhaps_wanted(self, tensor, share=0.1):
        """A mark on a result."""
        if tensor.rank == 0 or self.rng.random() >= share:
            return tensor
        self.program.tags.add("wanted result")
        return self.mark_tensor(tensor, self.rng.choice([0.0, 0.0, -1.0]), values=False)

    def several_contractions(self):
        """Products of one tensor with several, in one op or in several, that start from one
        tensor, as Q, K and V."""
        x = self.pick(lambda t: t.rank == 2)
        m, k = x.dims
        n = self.any_dim()
        dtype = self.rng.choice(OUT_TYPES.get(x.dtype.mlir, [x.dtype]))
        large = x.large * self.largest(x.dtype) * max(1, k.limit)
        self.check_points([m, k, n])
        if large > self.limit(dtype):
            raise Retry("too large")
        count = self.rng.choice([2, 2, 3])
        a = self.perhaps_marked(x, 0.65)
        weights = [self.fresh(x.dtype, [k, n], "w") for _ in range(count)]
        weights = [self.perhaps_marked(w, 0.2) for w in weights]
        init, more = self.start(dtype, [m, n])
        large += more
        if self.chance(0.5):
            results = [self.named("matmul", [a.name, w.name], init, large) for w in weights]
            if self.chance(0.6) and large * large <= self.limit(dtype):
                self.gated(results[0], results[1])
            return
        maps = [[0, 2], *([[2, 1]] * count), *([[0, 1]] * count)]

        def body(region, ins, outs):
            return [region.two("add", o, region.two("mul", ins[0], w)) for o, w in zip(outs, ins[1:])]

        self.generic([m, n, k], maps, [a.name, *(w.name for w in weights)], [init] * count, dtype,
                     body, [2], [large] * count)

    def experts(self):
        """A mixture of experts: up, perhaps a gate, a ReLU, down."""
        dtype = self.dtype if self.dtype.is_float else F32
        t, e, k, f = (self.any_dim() for _ in range(4))
        self.check_points([t, e, k, f], 8)
        r = self.marked_fresh(dtype, [t, e], source=self.rng.choice(["routing", "mask", "values"]))
        x, u, d = self.fresh(dtype, [t, k]), self.fresh(dtype, [e, k, f]), self.fresh(dtype, [e, f, k])
        large = self.largest(dtype) ** 3 * max(1, k.limit)
        if large * self.largest(dtype) ** 2 * e.limit * f.limit > self.limit(dtype):
            raise Retry("too large")

        def up(region, ins, outs):
            return [region.two("add", outs[0], region.two("mul", region.two("mul", ins[0], ins[1]), ins[2]))]

        dims = [t, e, k, f]
        init, _ = self.start(dtype, [t, e, f])
        [h] = self.generic(dims, [[0, 1], [0, 2], [1, 2, 3], [0, 1, 3]], [r.name, x.name, u.name],
                           [init], dtype, up, [2], [large])
        square = large * large
        if self.chance(0.5) and square * self.largest(dtype) ** 2 * e.limit * f.limit <= self.limit(dtype):
            g = self.fresh(dtype, [e, k, f])
            [gate] = self.generic(dims, [[0, 1], [0, 2], [1, 2, 3], [0, 1, 3]],
                                  [r.name, x.name, g.name], [init], dtype, up, [2], [large])
            h, large = self.gated(gate, h), square
        elif self.chance(0.7):
            h = self.relu(h)
        init, _ = self.start(dtype, [t, k])
        self.generic(dims, [[0, 1], [0, 1, 3], [1, 3, 2], [0, 2]], [r.name, h.name, d.name], [init],
                     dtype, up, [1, 3], [large * self.largest(dtype) ** 2 * e.limit * f.limit])

    # -- element by element ------------------------------------------------------

    def gated(self, gate, x):
        """A ReLU of one tensor times another one of its type."""
        def body(region, ins, outs):
            return [region.two("mul", region.two("maximum", ins[0], region.const(0.0)), ins[1])]

        self.program.tags.add("gated")
        ident = list(range(x.rank))
        [result] = self.generic(x.dims, [ident] * 3, [gate.name, x.name], [self.out(x.dtype, x.dims)],
                                x.dtype, body, (), [gate.large * x.large])
        return result

    def relu(self, x):
        def body(region, ins, outs):
            return [region.two("maximum", ins[0], region.const(0.0))]

        ident = list(range(x.rank))
        [result] = self.generic(x.dims, [ident, ident], [x.name], [self.out(x.dtype, x.dims)],
                                x.dtype, body, (), [x.large])
        return result

    def clamped(self, x, bound=4.0):
        def body(region, ins, outs):
            low = region.two("maximum", ins[0], region.const(-bound))
            return [region.two("minimum", low, region.const(bound))]

        ident = list(range(x.rank))
        [result] = self.generic(x.dims, [ident, ident], [x.name], [self.out(x.dtype, x.dims)],
                                x.dtype, body, (), [bound])
        return result

    def unary(self):
        x = self.pick(lambda t: t.rank <= 4)
        dtype = x.dtype
        kinds = ["relu", "relu", "clamp", "neg", "abs", "square", "affine", "step", "outs", "index"]
        if dtype.is_float:
            kinds += ["exp", "exp", "tanh", "sigmoid", "gelu", "cast", "sin cos", "narrow"]
        else:
            kinds += ["cast", "bits"]
        kind = self.rng.choice(kinds)
        if kind in ("exp", "sigmoid", "gelu") and x.large > 8:
            x = self.clamped(x)
        large = x.large
        background = 0.0
        if kind == "exp" and self.chance(0.3):
            background = -np.inf
        # A mark by values with another background than 0 is fine as well.
        if kind == "affine" and self.chance(0.5):
            background = self.rng.choice([1.0, -2.0])
        x = self.perhaps_marked(x, 0.5, background)
        target = dtype
        if kind == "cast":
            target = self.rng.choice([F32, F32, F64, F16, BF16] if dtype.is_float else
                                     [I8, I32, I64, F32, F32])
            if large > self.limit(target):
                raise Retry("too large")
            # Which bits of an infinite value are left does not matter.
        if kind == "square":
            large = large * large
        elif kind == "affine":
            large = 3 * large + 2
        elif kind == "exp":
            large = float(np.exp(min(8.0, large)))
        elif kind == "index":
            large = large + self.max_dim
        if large > self.limit(target):
            raise Retry("too large")

        def body(region, ins, outs):
            [a] = ins
            if kind == "relu":
                return [region.two("maximum", a, region.const(0.0))]
            if kind == "clamp":
                return [region.two("minimum", region.two("maximum", a, region.const(-3.0)), region.const(3.0))]
            if kind == "neg":
                return [region.two("sub", region.const(0.0), a)]
            if kind == "abs":
                return [region.math("absf" if dtype.is_float else "absi", a)]
            if kind == "square":
                return [region.two("mul", a, a)]
            if kind == "affine":
                return [region.two("add", region.two("mul", a, region.const(2.0)), region.const(1.0))]
            if kind == "step":
                zero = region.const(0.0)
                return [region.choose(region.compare("gt", a, zero), region.const(1.0), zero)]
            if kind == "outs":  # the prior value counts
                return [region.two("add", a, outs[0])]
            if kind == "index":
                d = self.rng.randrange(x.rank) if x.rank else None
                if d is None:
                    return [a]
                i = region.op(f"linalg.index {d} : index")
                i = region.op(f"arith.index_cast {i} : index to i32")
                if dtype.is_float:
                    i = region.op(f"arith.sitofp {i} : i32 to {dtype.mlir}")
                elif dtype is not I32:
                    i = region.op(f"arith.{'extsi' if dtype is I64 else 'trunci'} {i} : i32 to {dtype.mlir}")
                return [region.two("add", a, i)]
            if kind == "exp":
                return [region.math("exp", a)]
            if kind == "tanh":
                return [region.math("tanh", a)]
            if kind == "sigmoid":
                e = region.math("exp", region.two("sub", region.const(0.0), a))
                return [region.two("div", region.const(1.0), region.two("add", region.const(1.0), e))]
            if kind == "gelu":
                return [region.two("mul", a, region.two("add", region.const(1.0), region.math("erf", a)))]
            if kind == "sin cos":
                return [region.two("mul", region.math("sin", a), region.math("cos", a))]
            if kind == "narrow":
                if dtype not in (F32, F64):
                    return [a]
                n = region.op(f"arith.truncf {a} : {dtype.mlir} to f16")
                return [region.op(f"arith.extf {n} : f16 to {dtype.mlir}")]
            if kind == "bits":
                return [region.op(f"arith.{self.rng.choice(['andi', 'ori', 'xori'])} {a}, "
                                  f"{region.const(5.0)} : {dtype.mlir}")]
            return [a]

        if kind == "narrow" and large > LARGEST_NARROW:
            raise Retry("too large")
        order = list(range(x.rank))
        if self.chance(0.12):
            self.rng.shuffle(order)
        out_dims = [x.dims[i] for i in order]
        ident = list(range(x.rank))
        if kind == "outs":
            out, more = self.start(target, out_dims, 1.0)
            large += more
            if large > self.limit(target):
                raise Retry("too large")
        else:
            out = self.out(target, out_dims)
        [result] = self.generic(x.dims, [ident, order], [x.name], [out], target, body, (), [large])
        return self.perhaps_wanted(result, 0.06)

    def partner(self, x):
        """Another operand of an element-wise op: of the same dims, or of some of them."""
        def fits(t):
            rest = list(x.dims)
            for d in t.dims:
                found = [i for i, r in enumerate(rest) if r is d]
                if not found:
                    return False
                rest[found[0]] = None
            return t.dtype == x.dtype and t.rank <= x.rank

        found = [t for t in self.pool if fits(t)]
        if found and self.chance(0.65):
            y = self.rng.choice(found)
            y.used += 1
        else:
            dims = [d for d in x.dims if self.chance(0.7)]
            y = (self.marked_fresh(x.dtype, dims) if self.chance(0.2) and dims else
                 self.fresh(x.dtype, dims, "b"))
        taken, map_ = set(), []
        for d in y.dims:
            at = next(i for i, r in enumerate(x.dims) if r is d and i not in taken)
            taken.add(at)
            map_.append(at)
        return y, map_

    def binary(self):
        x = self.pick(lambda t: t.rank <= 4)
        y, y_map = self.partner(x)
        kind = self.rng.choice(["add", "add", "mul", "mul", "sub", "maximum", "minimum", "choose",
                                "three", "exp add", "both"])
        if kind == "exp add" and not x.dtype.is_float:
            kind = "add"
        if kind == "exp add" and y.large > 8:
            y = self.clamped(y)
        large = {"mul": x.large * y.large, "three": 2 * x.large * y.large + x.large,
                 "exp add": x.large + float(np.exp(min(8.0, y.large)))}.get(kind, x.large + y.large)
        if large > self.limit(x.dtype):
            raise Retry("too large")
        a, b = self.perhaps_marked(x, 0.5), self.perhaps_marked(y, 0.2)

        def body(region, ins, outs):
            a, b = ins
            if kind == "choose":
                return [region.choose(region.compare("lt", a, b), a, region.const(0.0))]
            if kind == "three":
                return [region.two("add", region.two("mul", region.two("mul", a, b), region.const(2.0)), a)]
            if kind == "exp add":
                return [region.two("add", a, region.math("exp", b))]
            if kind == "both":
                return [region.two("add", a, b), region.two("sub", a, b)]
            return [region.two(kind, a, b)]

        dtype, ident = x.dtype, list(range(x.rank))
        simple = {"add": "add", "mul": "mul", "sub": "sub", "maximum": "max", "minimum": "min"}
        if kind in simple and y_map == ident and self.chance(0.5):
            result = self.named(simple[kind], [a.name, b.name], self.out(dtype, x.dims), large)
        else:
            count = 2 if kind == "both" else 1
            out = self.out(dtype, x.dims)
            outs = [out] * count if self.chance(0.7) else [self.out(dtype, x.dims) for _ in range(count)]
            result = self.generic(x.dims, [ident, y_map, *[ident] * count], [a.name, b.name], outs,
                                  dtype, body, (), [large] * count)[-1]
        return self.perhaps_wanted(result, 0.06)

    def arith_on_tensors(self):
        """arith without linalg around it."""
        x = self.pick(lambda t: t.rank <= 3 and t.natural)
        same = [t for t in self.pool if t.type.mlir == x.type.mlir and t.natural
                and all(a is b for a, b in zip(t.dims, x.dims))]
        y = self.rng.choice(same)
        large = x.large + y.large
        if large > self.limit(x.dtype):
            raise Retry("too large")
        a, b = self.perhaps_marked(x, 0.3), self.perhaps_marked(y, 0.2)
        result = self.program.name("r")
        op = self.rng.choice(["add", "sub", "maximum"])
        op = op + "f" if x.dtype.is_float else {"maximum": "maxs"}.get(op, op) + "i"
        self.program.emit(f"{result} = arith.{op} {a.name}, {b.name} : {x.type.mlir}")
        self.add(result, x.type, large)

    # -- reductions ----------------------------------------------------------------

    def reduction(self):
        x = self.pick(lambda t: 1 <= t.rank <= 4)
        dtype = x.dtype
        lost = sorted(self.rng.sample(range(x.rank), self.rng.choice([1, 1, x.rank])))
        kept = [i for i in range(x.rank) if i not in lost]
        kind = self.rng.choice(["add", "add", "maximum", "minimum", "squares", "several", "last",
                                "bits", "mul"])
        if dtype.is_float and kind == "bits":
            kind = "maximum"
        if kind == "mul":
            x = self.clamped(x, 2.0)
        count = float(np.prod([max(1, x.dims[i].limit) for i in lost]))
        large = {"add": x.large * count, "squares": x.large**2 * count, "several": x.large**2 * count,
                 "mul": 2.0 ** min(60.0, count)}.get(kind, x.large)
        if large > self.limit(dtype):
            raise Retry("too large")
        combiner = {"maximum": "max", "minimum": "min"}.get(kind, "add")
        # The least i64 is no number of float64.
        neutral = identity(combiner, dtype) if dtype is not I64 else 0.0
        x = self.perhaps_marked(x, 0.6, neutral if self.chance(0.7) and kind != "mul" else 0.0)
        out_dims = [x.dims[i] for i in kept]
        init, more = self.start(dtype, out_dims, neutral if self.chance(0.5) else 0.0)
        if large + more > self.limit(dtype):
            raise Retry("too large")
        outs = [init]
        if kind == "several":
            outs.append(init if self.chance(0.6) else self.start(dtype, out_dims)[0])

        def body(region, ins, outs):
            a = ins[0]
            if kind == "squares":
                return [region.two("add", outs[0], region.two("mul", a, a))]
            if kind == "several":
                return [region.two("add", outs[0], a), region.two("add", region.two("mul", a, a), outs[1])]
            if kind == "last":  # no combiner
                return [region.choose(region.compare("gt", a, region.const(0.0)), a, outs[0])]
            if kind == "bits":
                return [region.op(f"arith.ori {outs[0]}, {a} : {dtype.mlir}")]
            return [region.two(kind, outs[0], a)]

        if kind in ("add", "maximum", "minimum") and x.natural and self.chance(0.4):
            name = Ops.reduce_names[kind][0 if dtype.is_float else 1]
            result = self.program.name("r")
            type_ = self.program.types[init]
            self.program.emit(f"{result} = linalg.reduce {{ arith.{name} }} ins({x.name} : {x.type.mlir}) "
                              f"outs({init} : {type_.mlir}) dimensions = {lost}")
            self.add(result, type_, large + more)
            return
        self.generic(x.dims, [list(range(x.rank)), *[kept] * len(outs)], [x.name], outs, dtype, body,
                     lost, [large + more] * len(outs))

    reduce_names = {"add": ("addf", "addi"), "maximum": ("maximumf", "maxsi"), "minimum": ("minimumf", "minsi")}

    def softmax(self):
        """Over the last dim, op by op; what starts from a fill may share it."""
        x = self.pick(lambda t: t.rank in (1, 2, 3) and t.dtype.is_float)
        if x.large > 8:
            x = self.clamped(x)
        dtype, ident, rows = x.dtype, list(range(x.rank)), list(range(x.rank - 1))
        self.check_points(x.dims)
        marked = self.perhaps_marked(x, 0.6, -np.inf if self.chance(0.7) else 0.0)
        last = [x.rank - 1]
        # At least 0: no -inf minus -inf.
        [top] = self.generic(x.dims, [ident, rows], [marked.name], [self.fill(dtype, x.dims[:-1], 0.0)], dtype,
                             lambda r, i, o: [r.two("maximum", i[0], o[0])], last, [x.large])
        [exp] = self.generic(x.dims, [ident, rows, ident], [marked.name, top.name], [self.out(dtype, x.dims)], dtype,
                             lambda r, i, o: [r.math("exp", r.two("sub", i[0], i[1]))], (), [2.0])
        exp = self.perhaps_marked(exp, 0.3)
        [total] = self.generic(x.dims, [ident, rows], [exp.name], [self.fill(dtype, x.dims[:-1], 1.0)], dtype,
                               lambda r, i, o: [r.two("add", i[0], o[0])], last, [40.0])
        self.generic(x.dims, [ident, rows, ident], [exp.name, total.name], [self.out(dtype, x.dims)], dtype,
                     lambda r, i, o: [r.two("div", i[0], i[1])], (), [1.0])

    # -- convolutions --------------------------------------------------------------------

    def convolution(self):
        """A padded convolution, or pooling."""
        dtype = self.rng.choice(OUT_TYPES.get(self.dtype.mlir, [self.dtype]))
        n, c, f = (self.any_dim() for _ in range(3))
        h, w = (self.fixed(self.rng.choice([2, 3, 5, 8])) for _ in range(2))
        k, low = self.rng.choice([(1, 0), (2, 1), (3, 1)]), self.rng.choice([0, 1, 1])
        k = k[0]
        grown = [self.derived("addi", d, low + 1) for d in (h, w)]
        out = [self.derived("addi", d, low + 2 - k) for d in (h, w)]
        taps = [self.fixed(k), self.fixed(k)]
        self.check_points([n, c, f, *out, *taps], 8)
        large = self.largest(self.dtype) ** 2 * c.limit * k * k
        if large > self.limit(dtype):
            raise Retry("too large")
        nchw = self.chance(0.5)
        place = (lambda p, q: [p, q[0], *q[1]]) if nchw else (lambda p, q: [p, *q[1], q[0]])
        x = self.fresh(self.dtype, place(n, (c, [h, w])))
        x = self.perhaps_marked(x, 0.3)
        x = self.padded(x, [0 if d in (n, c) else low for d in x.dims],
                        [0 if d in (n, c) else 1 for d in x.dims], place(n, (c, grown)), 0.0)
        x = self.perhaps_marked(x, 0.65)
        if self.chance(0.25) and not nchw and dtype == self.dtype:
            # The windows have no values.
            window = self.empty(dtype, taps)
            init, more = self.start(dtype, [n, *out, c])
            if self.largest(dtype) * k * k + more > self.limit(dtype):
                raise Retry("too large")
            self.named("pooling_nhwc_sum", [x.name, window], init, self.largest(dtype) * k * k + more)
            return
        weights = self.fresh(self.dtype, [f, c, *taps] if nchw else [*taps, c, f], "w")
        weights = self.perhaps_marked(weights, 0.3)
        init, more = self.start(dtype, place(n, (f, out)))
        if large + more > self.limit(dtype):
            raise Retry("too large")
        self.named("conv_2d_nchw_fchw" if nchw else "conv_2d_nhwc_hwcf", [x.name, weights.name], init, large + more)
