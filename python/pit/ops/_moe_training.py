"""Mixtures of experts whose gates and ups may be one weight, with biases and any formula between
the products (_gates.py): a forward, which keeps what the gradients read if there are to be some, and
the gradients.

Everything of the size of the hidden values lies packed, a row for each token and expert
that meet, within the programs and between them: what the forward keeps are the rows of
x w_gate and x w_up, in the order of the index. The gradients build that index again,
which takes as long as reading the choices; so it has the same order.
"""

from dataclasses import dataclass

from .._library import Error
from ._gates import Writer, formula_of
from ._moe import Experts
from ._op import SELECTOR_TYPES, Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

ROWS = "r"  # of what is packed: tokens * top
# How one weight holds gates and ups, along 'g', which is twice 'f': all gates and then all ups, or
# pairs of a gate and its up.
JOINED = ("", "halves", "pairs")


class Layer(Op):
    """What both programs are made of. `layouts` say the order of dims in memory of each weight:
    ("ekf", "ekf", "efn") are (experts, in, out). `joined` is one of JOINED. `activation` is a
    name or a formula. With `biases` each weight has one, (experts, out)."""

    def names(self):
        wide = ("w_gate_up",) if self.joined else ("w_gate", "w_up") if self.gated else ("w_up",)
        return (*wide, "w_down")

    def bias_names(self):
        return tuple("b" + name[1:] for name in self.names()) if self.biases else ()

    def arguments(self):
        outs = (*[self.wide] * (len(self.layouts) - 1), "n")
        return [Argument("x", ("t", "k"), LAYER_FLOATS),
                Argument("router_weights", ("t", "top"), LAYER_FLOATS, alike=False),
                Argument("experts", ("t", "top"), SELECTOR_TYPES["routing"], alike=False),
                *(Argument(name, tuple(layout), LAYER_FLOATS)
                  for name, layout in zip(self.names(), self.layouts)),
                *(Argument(name, ("e", out), LAYER_FLOATS)
                  for name, out in zip(self.bias_names(), outs))]

    def dynamic(self):
        return ("t", ROWS)

    def exact(self):
        return ("t", "top", ROWS, "f", "g")

    def check(self, sizes):
        if self.joined and sizes["g"] != 2 * sizes["f"]:
            raise Error(f"{self.name}: {self.names()[0]} has {sizes['g']} columns for each expert, "
                        f"w_down has {sizes['f']} rows; it takes two columns for each of these")

    def read(self, builder, values):
        """Values by names, sizes by letters, and the index of who goes where."""
        found = {argument.name: value for argument, value in zip(self.arguments(), values)}
        sizes = {letter: size for argument, value in zip(self.arguments(), values)
                 for letter, size in zip(argument.dims, value.dims)}
        experts = found["experts"]
        sizes[ROWS] = builder.define(builder.index("muli", *map(builder.size, experts.dims)))
        return found, sizes, builder.index_of_routing(experts, sizes["t"], sizes["e"])

    @property
    def wide(self):
        """The letter of the hidden values of the first products."""
        return "g" if self.joined else "f"

    @property
    def formula(self):
        return formula_of(self.activation, self.gated)

    def sums(self, builder, found, sizes, here):
        """x w_gate, if there is one, and x w_up, (t, e, f or g), with their biases."""
        x, dims = found["x"], [sizes[d] for d in ("t", "e", self.wide)]
        sums = [builder.product([here, x, found[name]], ["te", "tk", layout], dims,
                                ["t", "e", self.wide], wide_type(x.type))
                for name, layout in zip(self.names()[:-1], self.layouts)]
        return [(each, found[bias]) for each, bias in zip(sums, self.bias_names())] or [
            (each, None) for each in sums]

    def hidden(self, builder, found, sizes, index, here):
        """The rows of what `sums` gives, rounded as they are kept."""
        return [builder.pack_rows(self.rounded(builder, each, bias, found["x"].type), index,
                                  sizes[ROWS])
                for each, bias in self.sums(builder, found, sizes, here)]

    @staticmethod
    def rounded(builder, value, bias, type_):
        """value + bias, where there is one, of (t, e, f) and (e, f)."""
        if bias is None:
            return builder.epilogue(value, None, None, type_)
        return builder.elementwise([value, bias], lambda body, x, b: body.cast(body.add(
            value.type, x, body.cast(b, bias.type, value.type)), value.type, type_), type_,
            [[0, 1, 2], [1, 2]])

    def parts(self, builder, rows, sizes):
        """Rows of gates and ups, apart."""
        if not self.joined:
            return rows
        whole = rows[0]
        if self.joined == "pairs":
            whole = builder.expand(whole, 1, sizes["f"], 2)
        return [self.part(builder, whole, sizes, which) for which in range(2)]

    def part(self, builder, whole, sizes, which):
        """Gates or ups of rows: of (rows, f, 2) where they are pairs."""
        if self.joined == "halves":
            return builder.part(whole, 1, sizes["f"], which)
        return builder.piece(whole, (0, 0, which), (whole.dims[0], sizes["f"], 1), drop=(2,))

    def write(self, body, summed, values):
        """A Writer of formulas of the gate, if there is one, and the up."""
        gate = values[0] if self.gated else None
        return Writer(body, summed, gate, values[-1])


@kind
@dataclass(frozen=True)
class ExpertsForward(Layer):
    """The result of a mixture, and, if `keep`, the packed rows of the first products, which
    gradients read."""

    activation: str | tuple
    gated: bool
    layouts: tuple
    joined: str = ""
    biases: bool = False
    keep: bool = True

    name = "moe"
    gpu_pipeline = Experts.gpu_pipeline

    def exact(self):
        return super().exact() if self.keep else ("f", "g")

    def results(self, types, sizes):
        self.check(sizes)
        y = types[0], (sizes["t"], sizes["n"])
        if not self.keep:
            return [y]
        kept = (types[0], (sizes["t"] * sizes["top"], sizes[self.wide]))
        return [y, *[kept] * (len(self.names()) - 1)]

    def build(self, builder, values, orders):
        found, sizes, index = self.read(builder, values)
        x, down = found["x"], found["w_down"]
        here = builder.select(builder.ones((sizes["t"], sizes["e"]), x.type), index)
        kept = []
        if self.keep or self.joined == "pairs":
            kept = self.hidden(builder, found, sizes, index, here)
            value = self.combine(builder, x.type, [
                (rows, None) for rows in self.parts(builder, kept, sizes)])
            value = builder.unpack_rows(value, index, [sizes[d] for d in "tef"])
        else:
            value = self.between(builder, found, sizes, here)
        table = builder.select(Experts.table(builder, found["router_weights"], found["experts"],
                                             (sizes["t"], sizes["e"]), x.type), index)
        y = self.product_down(builder, found, sizes, table, value, down)
        return [y, *kept] if self.keep else [y]

    def product_down(self, builder, found, sizes, table, value, down):
        dims, type_ = [sizes["t"], sizes["n"]], down.type
        y = builder.product([table, value, down], ["te", "tef", self.layouts[-1]], dims, "tn", type_)
        if not self.biases:
            return y
        more = builder.product([table, found["b_down"]], ["te", "en"], dims, "tn", wide_type(type_))
        return builder.elementwise([y, more], lambda body, a, b: body.cast(body.add(
            more.type, body.cast(a, type_, more.type), b), more.type, type_), type_)

    def combine(self, builder, type_, values):
        """The hidden values of gates and ups, (value, bias or None) each."""
        summed, maps, ins = wide_type(type_), [], []
        for value, bias in values:
            ins.append(value)
            maps.append(list(range(len(value.dims))))
            if bias is not None:
                ins.append(bias)
                maps.append(maps[-1][1:])

        def function(body, *elements):
            given, found = iter(zip(ins, elements)), []
            for _, bias in values:
                value, element = next(given)
                element = body.cast(element, value.type, summed)
                if bias is not None:
                    _, more = next(given)
                    element = body.add(summed, element, body.cast(more, type_, summed))
                found.append(element)
            return body.cast(self.write(body, summed, found).value(self.formula), summed, type_)

        return builder.elementwise(ins, function, type_, maps)

    def between(self, builder, found, sizes, here):
        """The hidden values from the arguments: nothing else is stored."""
        parts = self
        if self.joined:
            parts, found = self.apart(builder, found, sizes)
        *gate, up = parts.sums(builder, found, sizes, here)
        # Products meet by what is stored of the first one (pit-fuse-siblings).
        gate = [(self.rounded(builder, value, bias, found["x"].type), None) for value, bias in gate]
        return self.combine(builder, found["x"].type, [*gate, up])

    def apart(self, builder, found, sizes):
        """The layer of which gates and ups are two weights, and these."""
        wide, down = self.layouts
        at, found = wide.index("g"), dict(found)
        names = ("w_gate", "w_up")
        for which, name in enumerate(names):
            found[name] = builder.part(found["w_gate_up"], at, sizes["f"], which)
            if self.biases:
                found["b" + name[1:]] = builder.part(found["b_gate_up"], 1, sizes["f"], which)
        wide = wide.replace("g", "f")
        return ExpertsForward(self.activation, True, (wide, wide, down), "", self.biases,
                              False), found


@kind
@dataclass(frozen=True)
class ExpertsBackward(Layer):
    """The gradients that `needs` asks for, of x, the router's weights, each weight, in its
    layout, and each bias; from what the forward kept, or, with `recompute`, from its arguments
    alone."""

    activation: str | tuple
    gated: bool
    layouts: tuple
    needs: tuple
    joined: str = ""
    biases: bool = False
    recompute: bool = False

    name = "moe_backward"
    gpu_pipeline = Experts.gpu_pipeline

    def arguments(self):
        kept = () if self.recompute else self.names()[:-1]
        return [*super().arguments(), Argument("dy", ("t", "n"), LAYER_FLOATS),
                *(Argument(f"kept_{name}", (ROWS, self.wide), LAYER_FLOATS) for name in kept)]

    def results(self, types, sizes):
        self.check(sizes)
        given = super().arguments()
        shapes = [argument.dims for argument in (*given[:2], *given[3:])]
        of_type = [types[0], types[1], *[types[0]] * (len(shapes) - 2)]
        if not self.recompute and sizes[ROWS] != sizes["t"] * sizes["top"]:
            raise Error(f"{self.name}: {sizes[ROWS]} rows were kept of {sizes['t']} tokens that have "
                        f"{sizes['top']} experts each")
        return [(type_, tuple(sizes[d] for d in dims))
                for type_, dims, needed in zip(of_type, shapes, self.needs) if needed]

    def build(self, builder, values, orders):
        found, sizes, index = self.read(builder, values)
        x, dy, down = found["x"], found["dy"], found["w_down"]
        type_, summed = x.type, wide_type(x.type)
        names, rows, count = self.names(), sizes[ROWS], len(self.layouts)
        table_dims = [sizes["t"], sizes["e"]]
        here = builder.select(builder.ones(table_dims, type_), index)
        kept = (self.hidden(builder, found, sizes, index, here) if self.recompute else
                [found[f"kept_{name}"] for name in names[:-1]])
        kept = self.parts(builder, kept, sizes)
        # What a token's result gets of an expert is scaled by the router at the end. So its
        # gradient is scaled where it is read next, and tells that of the scale before.
        back = builder.product([here, dy, down], ["te", "tn", self.layouts[-1]],
                               [sizes[d] for d in "tef"], "tef", summed)
        back = builder.pack_rows(builder.epilogue(back, None, None, type_), index, rows)
        need_x, need_router, *rest = self.needs
        *need_wide, need_down = rest[:count]
        *need_biases, need_bias_down = rest[count:] or [False] * count
        table = Experts.table(builder, found["router_weights"], found["experts"], table_dims, summed)
        table = builder.select(table, index)
        scales = builder.pack_rows(table, index, rows)
        of_wide, value = self.through(builder, sizes, back, kept, scales, need_down,
                                      [need_x or any(needs) for needs in zip(need_wide, need_biases)])
        of_wide = [d and builder.unpack_rows(d, index, [sizes[i] for i in ("t", "e", self.wide)])
                   for d in of_wide]
        results = []
        if need_x:
            parts = [builder.product([here, d, found[name]], ["te", ["t", "e", self.wide], layout],
                                     [sizes["t"], sizes["k"]], "tk", type_)
                     for d, name, layout in zip(of_wide, names, self.layouts)]
            results.append(parts[0] if len(parts) == 1 else builder.elementwise(
                parts, lambda body, a, b: body.add(type_, a, b)))
        if need_router:
            results.append(self.of_router(builder, found, sizes, index, here, back, kept))
        for d, layout, needed in zip(of_wide, self.layouts, need_wide):
            if needed:
                results.append(builder.product([here, x, d], ["te", "tk", ["t", "e", self.wide]],
                                               [sizes[i] for i in layout], layout, type_))
        if need_down:
            value = builder.unpack_rows(value, index, [sizes[d] for d in "tef"])
            layout = self.layouts[-1]
            results.append(builder.product([here, value, dy], ["te", "tef", "tn"],
                                           [sizes[i] for i in layout], layout, type_))
        for d, needed in zip(of_wide, need_biases):
            if needed:
                results.append(self.of_bias(builder, [here, d], ["te", ["t", "e", self.wide]],
                                            [sizes["e"], sizes[self.wide]], type_))
        if need_bias_down:
            results.append(self.of_bias(builder, [table, dy], ["te", "tn"],
                                        [sizes["e"], sizes["n"]], type_))
        return results

    @staticmethod
    def of_bias(builder, factors, maps, dims, type_):
        """A sum over the tokens of each expert."""
        total = builder.product(factors, maps, dims, ["e", maps[-1][-1]], wide_type(type_))
        return builder.epilogue(total, None, None, type_)

    def value_and_slopes(self, body, type_, values):
        """A hidden value, and its derivatives by those that it is made of."""
        summed = wide_type(type_)
        writer = self.write(body, summed, [body.cast(v, type_, summed) for v in values])
        value, slopes = writer.derive(self.formula)
        zero = body.constant(0, summed)
        return value, [each or zero for each in slopes[0 if self.gated else 1:]]

    def through(self, builder, sizes, back, kept, scales, need_down, wanted):
        """Rows of the gradients of the first products (None: not wanted), and of the hidden values,
        scaled by the router."""
        type_, summed, rows = back.type, wide_type(back.type), sizes[ROWS]
        wanted = wanted * 2 if self.joined else wanted
        outs, whole = [], None
        if self.joined and wanted[0]:
            shape = (rows, sizes["f"], 2) if self.joined == "pairs" else (rows, sizes["g"])
            whole = builder.empty(shape, type_)
            outs = [self.part(builder, whole, sizes, which) for which in range(2)]
        else:
            outs = [builder.empty(back.dims, type_) for want in wanted if want]
        outs += [builder.empty(back.dims, type_)] * need_down
        if not outs:
            return [None] * len(wanted), None

        def compute(body, back, *values):
            *values, scale = values[: len(kept) + 1]
            value, slopes = self.value_and_slopes(body, type_, values)
            back = body.mul(summed, body.cast(back, type_, summed), scale)
            made = [body.mul(summed, back, slope) for slope, want in zip(slopes, wanted) if want]
            if need_down:
                made.append(body.mul(summed, scale, value))
            return [body.cast(v, summed, type_) for v in made]

        maps = ["rf"] * (1 + len(kept)) + ["r"] + ["rf"] * len(outs)
        made = builder.generic(maps, "rf", [back, *kept, scales], outs, compute)
        value = made.pop() if need_down else None
        if whole:
            for which, part in enumerate(made):
                whole = (builder.insert(part, whole, 1, which) if self.joined == "halves" else
                         builder.put(part, whole, (0, 0, which), (rows, sizes["f"], 1)))
            if self.joined == "pairs":
                whole = builder.merge(whole, 1, sizes["g"])
            return [whole], value
        made = iter(made)
        return [next(made) if want else None for want in wanted], value

    def of_router(self, builder, found, sizes, index, here, back, kept):
        """The sum over f of an expert's hidden values times their gradient, at the place of the
        choice."""
        experts, weights = found["experts"], found["router_weights"]
        type_, summed = back.type, wide_type(back.type)

        def product(body, back, *values):
            value, _ = self.value_and_slopes(body, type_, values[:-1])
            return body.add(summed, values[-1], body.mul(
                summed, body.cast(back, type_, summed), value))

        # What is multiplied was rounded.
        sums = builder.generic([*["rf"] * (1 + len(kept)), "r"], "rf", [back, *kept],
                               builder.zeros((sizes[ROWS],), summed), product, exact_as=type_)
        if self.biases:
            more = builder.product([here, found["dy"], found["b_down"]], ["te", "tn", "en"],
                                   [sizes["t"], sizes["e"]], "te", summed)
            more = builder.pack_rows(more, index, sizes[ROWS])
            sums = builder.elementwise([sums, more], lambda body, a, b: body.add(summed, a, b))
        table = builder.unpack_rows(sums, index, (sizes["t"], sizes["e"]))

        if sizes["e"] == 0:
            return builder.zeros(experts.dims, weights.type)
        # Its place in the table is the choice; where there is none, any will do.
        most = builder.constant(sizes["e"] - 1, "index")
        none = builder.constant(0, "index")

        def choose(body, expert):
            expert = body.emit(f"arith.index_cast {expert} : {experts.type} to index")
            column = body.emit(f"arith.maxsi {expert}, {none} : index")
            column = body.emit(f"arith.minsi {column}, {most} : index")
            is_it = body.emit(f"arith.cmpi eq, {expert}, {column} : index")
            token = body.emit("linalg.index 0 : index")
            value = body.emit(f"tensor.extract {table.name}[{token}, {column}] : {table.mlir}")
            value = body.emit(f"arith.select {is_it}, {value}, {body.constant(0, summed)} : {summed}")
            return body.cast(value, summed, weights.type)

        return builder.elementwise([experts], choose, weights.type)
