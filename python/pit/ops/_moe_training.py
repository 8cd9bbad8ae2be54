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
    """The parts of both programs. `layouts` have the order of dims in memory of each weight:
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
        """x w_gate, if there is one, and x w_up, (t, e, f or g)."""
        x, dims = found["x"], [sizes[d] for d in ("t", "e", self.wide)]
        return [builder.product([here, x, found[name]], ["te", "tk", layout], dims,
                                ["t", "e", self.wide], wide_type(x.type))
                for name, layout in zip(self.names()[:-1], self.layouts)]

    def hidden(self, builder, found, sizes, index, here):
        """The rows of what `sums` gives, rounded as they are kept: without biases."""
        return [builder.pack_rows(builder.epilogue(each, None, None, found["x"].type), index, sizes[ROWS])
                for each in self.sums(builder, found, sizes, here)]

    def experts_of_rows(self, builder, found, sizes, index):
        """The expert of each row, by which a body finds its biases; a list, which is empty without."""
        if not self.biases:
            return []
        dims = [sizes["t"], sizes["e"]]
        table = builder.generic(["te"], "te", [], builder.empty(dims, "i32"), lambda body, _: body.emit(
            f"arith.index_cast {body.emit('linalg.index 1 : index')} : index to i32"))
        return [builder.pack_rows(builder.select(table, index), index, sizes[ROWS])]

    def add_biases(self, builder, body, found, sizes, values, expert):
        """Elements of rows of gates and ups, in the type of sums, with their biases."""
        if not expert or sizes["e"] == 0:
            return values
        # Behind the rows that the index lists there is memory that nobody wrote to.
        most = builder.index("subi", builder.size(sizes["e"]), 1)
        expert = body.emit(f"arith.index_castui {expert[0]} : i32 to index")
        expert = body.emit(f"arith.minui {expert}, {most} : index")
        column, added = body.emit("linalg.index 1 : index"), []
        names = self.bias_names()[:-1] * (2 if self.joined else 1)
        for which, (name, value) in enumerate(zip(names, values)):
            at = column
            if self.joined == "pairs":
                at = body.emit(f"arith.muli {column}, {builder.constant(2, 'index')} : index")
                if which:
                    at = body.emit(f"arith.addi {at}, {builder.constant(1, 'index')} : index")
            elif self.joined and which:
                at = body.emit(f"arith.addi {column}, {builder.size(sizes['f'])} : index")
            bias = found[name]
            element = body.emit(f"tensor.extract {bias.name}[{expert}, {at}] : {bias.mlir}")
            summed = wide_type(bias.type)
            added.append(body.add(summed, value, body.cast(element, bias.type, summed)))
        return added

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
        x = found["x"]
        here = builder.select(builder.ones((sizes["t"], sizes["e"]), x.type), index)
        kept = []
        if self.keep or self.joined == "pairs" or self.biases:
            kept = self.hidden(builder, found, sizes, index, here)
            rows = self.parts(builder, kept, sizes)
            value = self.combine(builder, found, sizes, rows,
                                 self.experts_of_rows(builder, found, sizes, index))
            value = builder.unpack_rows(value, index, [sizes[d] for d in "tef"])
        else:
            value = self.between(builder, found, sizes, here)
        y = self.product_down(builder, found, sizes, index, value)
        return [y, *kept] if self.keep else [y]

    def product_down(self, builder, found, sizes, index, value):
        dims, type_ = [sizes["t"], sizes["n"]], value.type
        table = Experts.table(builder, found["router_weights"], found["experts"],
                              (sizes["t"], sizes["e"]), type_)
        y = builder.product([builder.select(table, index), value, found["w_down"]],
                            ["te", "tef", self.layouts[-1]], dims, "tn", type_)
        if not self.biases:
            return y
        # A dense product: it is small beside the others.
        more = builder.product([table, found["b_down"]], ["te", "en"], dims, "tn", wide_type(type_))
        return builder.elementwise([y, more], lambda body, a, b: body.cast(body.add(
            more.type, body.cast(a, type_, more.type), b), more.type, type_), type_)

    def combine(self, builder, found, sizes, values, experts=()):
        """The hidden values of gates and ups; `experts` of their rows tell the biases."""
        type_ = found["x"].type
        summed = wide_type(type_)

        def function(body, *elements):
            elements, expert = elements[: len(values)], elements[len(values):]
            elements = [body.cast(x, v.type, summed) for x, v in zip(elements, values)]
            elements = self.add_biases(builder, body, found, sizes, elements, expert)
            return body.cast(self.write(body, summed, elements).value(self.formula), summed, type_)

        loops = list(range(len(values[0].dims)))
        return builder.elementwise([*values, *experts], function, type_,
                                   [loops] * len(values) + [[0]] * len(experts))

    def between(self, builder, found, sizes, here):
        """The hidden values from the arguments, where nothing else is stored."""
        parts = self
        if self.joined:
            parts, found = self.apart(builder, found, sizes)
        *gate, up = parts.sums(builder, found, sizes, here)
        # Products meet by what is stored of the first one (pit-fuse-siblings).
        gate = [builder.epilogue(value, None, None, found["x"].type) for value in gate]
        return self.combine(builder, found, sizes, [*gate, up])

    def apart(self, builder, found, sizes):
        """The layer of which gates and ups are two weights, and these."""
        wide, down = self.layouts
        at, found = wide.index("g"), dict(found)
        names = ("w_gate", "w_up")
        for which, name in enumerate(names):
            found[name] = builder.part(found["w_gate_up"], at, sizes["f"], which)
        wide = wide.replace("g", "f")
        return ExpertsForward(self.activation, True, (wide, wide, down), keep=False), found


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
        # The router scales the part of a token's result that is of an expert at the end. So its
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
        given = [*kept, *self.experts_of_rows(builder, found, sizes, index)]

        def function(body, elements):
            elements = [body.cast(x, type_, summed) for x in elements[: len(kept)]], elements[len(kept):]
            return self.value_and_slopes(body, summed, self.add_biases(
                builder, body, found, sizes, *elements))

        of_wide, value = self.through(builder, sizes, back, given, scales, function, need_down,
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
            results.append(self.of_router(builder, found, sizes, index, back, given, function))
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
            table = Experts.table(builder, found["router_weights"], found["experts"], table_dims, type_)
            results.append(self.of_bias(builder, [table, dy], ["te", "tn"],
                                        [sizes["e"], sizes["n"]], type_))
        return results

    @staticmethod
    def of_bias(builder, factors, maps, dims, type_):
        """A sum over the tokens of each expert."""
        total = builder.product(factors, maps, dims, ["e", maps[-1][-1]], wide_type(type_))
        return builder.epilogue(total, None, None, type_)

    def value_and_slopes(self, body, summed, values):
        """A hidden value, and its derivatives by those that it is made of."""
        value, slopes = self.write(body, summed, values).derive(self.formula)
        zero = body.constant(0, summed)
        return value, [each or zero for each in slopes[0 if self.gated else 1:]]

    @staticmethod
    def maps_of(given):
        """The loops of rows, and of what each row has one of."""
        return ["rf" if len(value.dims) == 2 else "r" for value in given]

    def through(self, builder, sizes, back, given, scales, function, need_down, wanted):
        """Rows of the gradients of the first products (None: not wanted), and of the hidden values,
        scaled by the router. `function` makes of elements of `given` a hidden value and its
        derivatives."""
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
            *values, scale = values[: len(given) + 1]
            value, slopes = function(body, values)
            back = body.mul(summed, body.cast(back, type_, summed), scale)
            made = [body.mul(summed, back, slope) for slope, want in zip(slopes, wanted) if want]
            if need_down:
                made.append(body.mul(summed, scale, value))
            return [body.cast(v, summed, type_) for v in made]

        maps = ["rf", *self.maps_of(given), "r", *["rf"] * len(outs)]
        made = builder.generic(maps, "rf", [back, *given, scales], outs, compute)
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

    def of_router(self, builder, found, sizes, index, back, given, function):
        """The sum over f of an expert's hidden values times their gradient, at the place of the
        choice."""
        experts, weights = found["experts"], found["router_weights"]
        type_, summed = back.type, wide_type(back.type)

        def product(body, back, *values):
            value, _ = function(body, values[:-1])
            return body.add(summed, values[-1], body.mul(
                summed, body.cast(back, type_, summed), value))

        # The factors were rounded.
        sums = builder.generic(["rf", *self.maps_of(given), "r"], "rf", [back, *given],
                               builder.zeros((sizes[ROWS],), summed), product, exact_as=type_)
        if self.biases:
            more = builder.product([found["dy"], found["b_down"]], ["tn", "en"],
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
