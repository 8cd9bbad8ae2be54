"""Mixtures of experts in training, as two programs: the forward, which keeps what the
gradients read, and the gradients.

Everything of the size of the hidden values lies packed, a row for each token and expert
that meet, within the programs and between them: what the forward keeps are the rows of
x w_gate and x w_up, in the order of the index. The gradients build that index again,
which takes as long as reading the choices; so it has the same order.
"""

from dataclasses import dataclass

from .._library import Error
from ._activations import ACTIVATIONS, VALUES_AND_SLOPES
from ._moe import Experts
from ._op import SELECTOR_TYPES, Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

ROWS = "r"  # of what is packed: tokens * top


class Layer(Op):
    """What both programs are made of. `layouts` say the order of dims in memory of each weight:
    ("ekf", "ekf", "efn") are (experts, in, out). `joined`: a weight holds gates and then ups
    along 'g', which is twice 'f'."""

    def names(self):
        wide = ("w_gate_up",) if self.joined else ("w_gate", "w_up") if self.gated else ("w_up",)
        return (*wide, "w_down")

    def arguments(self):
        return [Argument("x", ("t", "k"), LAYER_FLOATS),
                Argument("router_weights", ("t", "top"), LAYER_FLOATS, alike=False),
                Argument("experts", ("t", "top"), SELECTOR_TYPES["routing"], alike=False),
                *(Argument(name, tuple(layout), LAYER_FLOATS)
                  for name, layout in zip(self.names(), self.layouts))]

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

    def hidden(self, builder, found, sizes, index, here):
        """The rows of x w_gate, if there is one, and x w_up, rounded as they are kept."""
        x, dims = found["x"], [sizes[d] for d in ("t", "e", self.wide)]
        sums = [builder.product([here, x, found[name]], ["te", "tk", layout], dims,
                                ["t", "e", self.wide], wide_type(x.type))
                for name, layout in zip(self.names()[:-1], self.layouts)]
        return [builder.pack_rows(builder.epilogue(value, None, None, x.type), index, sizes[ROWS])
                for value in sums]

    def parts(self, builder, rows, sizes):
        """Rows of gates and ups, apart."""
        if not self.joined:
            return rows
        return [builder.part(rows[0], 1, sizes["f"], which) for which in range(2)]


@kind
@dataclass(frozen=True)
class ExpertsForward(Layer):
    """The result of Experts, and the packed rows of the first products, which gradients read."""

    activation: str
    gated: bool
    layouts: tuple
    joined: bool = False

    name = "moe"
    gpu_pipeline = Experts.gpu_pipeline

    def results(self, types, sizes):
        self.check(sizes)
        kept = (types[0], (sizes["t"] * sizes["top"], sizes[self.wide]))
        return [(types[0], (sizes["t"], sizes["n"])), *[kept] * (len(self.names()) - 1)]

    def build(self, builder, values, orders):
        found, sizes, index = self.read(builder, values)
        x, down = found["x"], found["w_down"]
        here = builder.select(builder.ones((sizes["t"], sizes["e"]), x.type), index)
        kept = self.hidden(builder, found, sizes, index, here)
        summed = wide_type(x.type)
        function = ACTIVATIONS[self.activation]

        def combine(body, *values):
            first, *rest = [body.cast(v, x.type, summed) for v in values]
            value = function(body, summed, first)
            for v in rest:
                value = body.mul(summed, value, v)
            return body.cast(value, summed, x.type)

        value = builder.elementwise(self.parts(builder, kept, sizes), combine, x.type)
        value = builder.unpack_rows(value, index, [sizes[d] for d in "tef"])
        table = builder.select(Experts.table(builder, found["router_weights"], found["experts"],
                                             (sizes["t"], sizes["e"]), x.type), index)
        y = builder.product([table, value, down], ["te", "tef", self.layouts[-1]],
                            [sizes["t"], sizes["n"]], "tn", x.type)
        return [y, *kept]


@kind
@dataclass(frozen=True)
class ExpertsBackward(Layer):
    """The gradients that `needs` asks for, of x, the router's weights, and each weight, in its
    layout; from what the forward kept, or, with `recompute`, from its arguments alone."""

    activation: str
    gated: bool
    layouts: tuple
    needs: tuple
    joined: bool = False
    recompute: bool = False

    name = "moe_backward"
    gpu_pipeline = Experts.gpu_pipeline

    def arguments(self):
        kept = () if self.recompute else self.names()[:-1]
        return [*super().arguments(), Argument("dy", ("t", "n"), LAYER_FLOATS),
                *(Argument(f"kept_{name}", (ROWS, self.wide), LAYER_FLOATS) for name in kept)]

    def results(self, types, sizes):
        self.check(sizes)
        shapes = [(types[0], ("t", "k")), (types[1], ("t", "top")),
                  *((types[0], layout) for layout in self.layouts)]
        if not self.recompute and sizes[ROWS] != sizes["t"] * sizes["top"]:
            raise Error(f"{self.name}: {sizes[ROWS]} rows were kept of {sizes['t']} tokens that have "
                        f"{sizes['top']} experts each")
        return [(type_, tuple(sizes[d] for d in dims))
                for (type_, dims), needed in zip(shapes, self.needs) if needed]

    def build(self, builder, values, orders):
        found, sizes, index = self.read(builder, values)
        x, dy, down = found["x"], found["dy"], found["w_down"]
        type_, summed = x.type, wide_type(x.type)
        names, rows = self.names(), sizes[ROWS]
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
        need_x, need_router, *need_wide, need_down = self.needs
        table = Experts.table(builder, found["router_weights"], found["experts"], table_dims, summed)
        scales = builder.pack_rows(builder.select(table, index), index, rows)
        of_wide, value = self.through(builder, sizes, back, kept, scales, need_down,
                                      [need_x or needed for needed in need_wide])
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
            results.append(self.of_router(builder, found, sizes, index, back, kept))
        for d, layout, needed in zip(of_wide, self.layouts, need_wide):
            if needed:
                results.append(builder.product([here, x, d], ["te", "tk", ["t", "e", self.wide]],
                                               [sizes[i] for i in layout], layout, type_))
        if need_down:
            value = builder.unpack_rows(value, index, [sizes[d] for d in "tef"])
            layout = self.layouts[-1]
            results.append(builder.product([here, value, dy], ["te", "tef", "tn"],
                                           [sizes[i] for i in layout], layout, type_))
        return results

    def value_and_parts(self, body, type_, values):
        """A hidden value, and its derivatives by those that it is made of."""
        summed = wide_type(type_)
        first, *rest = [body.cast(v, type_, summed) for v in values]
        value, slope = VALUES_AND_SLOPES[self.activation](body, summed, first)
        if not rest:
            return value, [slope]
        return body.mul(summed, value, rest[0]), [body.mul(summed, slope, rest[0]), value]

    def through(self, builder, sizes, back, kept, scales, need_down, wanted):
        """Rows of the gradients of the first products (None: not wanted), and of the hidden values,
        scaled by the router."""
        type_, summed, rows = back.type, wide_type(back.type), sizes[ROWS]
        wanted = wanted * 2 if self.joined else wanted
        outs, whole = [], None
        if self.joined and wanted[0]:
            whole = builder.empty((rows, sizes["g"]), type_)
            outs = [builder.part(whole, 1, sizes["f"], which) for which in range(2)]
        else:
            outs = [builder.empty(back.dims, type_) for want in wanted if want]
        outs += [builder.empty(back.dims, type_)] * need_down
        if not outs:
            return [None] * len(wanted), None

        def compute(body, back, *values):
            *values, scale = values[: len(kept) + 1]
            value, parts = self.value_and_parts(body, type_, values)
            back = body.mul(summed, body.cast(back, type_, summed), scale)
            made = [body.mul(summed, back, part) for part, want in zip(parts, wanted) if want]
            if need_down:
                made.append(body.mul(summed, scale, value))
            return [body.cast(v, summed, type_) for v in made]

        maps = ["rf"] * (1 + len(kept)) + ["r"] + ["rf"] * len(outs)
        made = builder.generic(maps, "rf", [back, *kept, scales], outs, compute)
        value = made.pop() if need_down else None
        if whole:
            for which, part in enumerate(made):
                whole = builder.insert(part, whole, 1, which)
            return [whole], value
        made = iter(made)
        return [next(made) if want else None for want in wanted], value

    def of_router(self, builder, found, sizes, index, back, kept):
        """The sum over f of an expert's hidden values times their gradient, at the place of the
        choice."""
        experts, weights = found["experts"], found["router_weights"]
        type_, summed = back.type, wide_type(back.type)

        def product(body, back, *values):
            value, _ = self.value_and_parts(body, type_, values[:-1])
            return body.add(summed, values[-1], body.mul(
                summed, body.cast(back, type_, summed), value))

        # What is multiplied was rounded.
        sums = builder.generic([*["rf"] * (1 + len(kept)), "r"], "rf", [back, *kept],
                               builder.zeros((sizes[ROWS],), summed), product, exact_as=type_)
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
