"""Two layers of padded batches in training, as two programs: the forward, which keeps what the
gradients read, and the gradients.

Rows that are there lie packed, as in _moe_training: what the forward keeps are the rows
of x w1.T + b1 before the activation and after it.
"""

from dataclasses import dataclass

from ._activations import ACTIVATIONS, VALUES_AND_SLOPES
from ._einsum import NO_ROW_LENGTHS
from ._moe import bias_arguments
from ._op import SELECTOR_TYPES, Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

ROWS = "r"  # of what is packed: batch * positions


class Layers(Op):
    """The parts of both programs. `layouts` have the order of dims in memory of w1, "fk" or
    "kf", and of w2, "nf" or "fn"; `biases` whether there are b1 and b2."""

    def arguments(self):
        found = [Argument("x", ("b", "s", "k"), LAYER_FLOATS),
                 Argument("lengths", ("b",), SELECTOR_TYPES["lengths"], alike=False,
                          remedy=NO_ROW_LENGTHS),
                 *(Argument(name, tuple(layout), LAYER_FLOATS)
                   for name, layout in zip(("w1", "w2"), self.layouts))]
        return found + bias_arguments(self.biases)

    def dynamic(self):
        return ("b", "s", ROWS)

    def exact(self):
        return ("b", "s", ROWS)

    def read(self, builder, values):
        """Values by names, sizes by letters, the index of the rows that are there, and a factor of
        one for each."""
        found = {argument.name: value for argument, value in zip(self.arguments(), values)}
        sizes = {letter: size for argument, value in zip(self.arguments(), values)
                 for letter, size in zip(argument.dims, value.dims)}
        batch = [builder.size(sizes[d]) for d in "bs"]
        sizes[ROWS] = builder.define(builder.index("muli", *batch))
        index = builder.index_of_rows(found["lengths"], *batch)
        here = builder.select(builder.ones((sizes[ROWS],), found["x"].type), index)
        return found, sizes, index, here

    def rows_of(self, builder, value, sizes):
        """A padded batch as rows."""
        return builder.merge(value, 0, sizes[ROWS])

    def batch_of(self, builder, value, sizes):
        return builder.expand(value, 0, sizes["b"], sizes["s"])

    def through(self, builder, here, rows, weight, layout, bias, index, sizes):
        """The packed rows of a layer, rounded."""
        out = "f" if "k" in layout else "n"
        inner = layout.replace(out, "")
        value = builder.product([here, rows, weight], ["t", ["t", inner], layout],
                                [sizes[ROWS], sizes[out]], ["t", out], wide_type(rows.type))
        value = builder.epilogue(value, bias, None, rows.type)
        return builder.pack_rows(value, index, sizes[ROWS], 1)


@kind
@dataclass(frozen=True)
class PaddedForward(Layers):
    """The result of PaddedMlp, and the packed rows before the activation and after it."""

    activation: str
    biases: tuple
    layouts: tuple

    name = "padded_mlp"

    def results(self, types, sizes):
        kept = types[0], (sizes["b"] * sizes["s"], sizes["f"])
        return [(types[0], (sizes["b"], sizes["s"], sizes["n"])), kept, kept]

    def build(self, builder, values, orders):
        found, sizes, index, here = self.read(builder, values)
        x = self.rows_of(builder, found["x"], sizes)
        type_, summed = x.type, wide_type(x.type)
        before = self.through(builder, here, x, found["w1"], self.layouts[0], found.get("b1"),
                              index, sizes)
        after = builder.elementwise([before], lambda body, v: body.cast(
            ACTIVATIONS[self.activation](body, summed, body.cast(v, type_, summed)),
            summed, type_), type_)
        hidden = builder.unpack_rows(after, index, [sizes[ROWS], sizes["f"]])
        y = self.through(builder, here, hidden, found["w2"], self.layouts[1], found.get("b2"),
                         index, sizes)
        y = builder.unpack_rows(y, index, [sizes[ROWS], sizes["n"]])
        return [self.batch_of(builder, y, sizes), before, after]


@kind
@dataclass(frozen=True)
class PaddedBackward(Layers):
    """The gradients that `needs` asks for, of x, w1, w2, and the biases that there are, from what
    the forward kept. Gradients of weights have their layout."""

    activation: str
    biases: tuple
    layouts: tuple
    needs: tuple

    name = "padded_mlp_backward"

    def arguments(self):
        return [*super().arguments(), Argument("dy", ("b", "s", "n"), LAYER_FLOATS),
                *(Argument(name, (ROWS, "f"), LAYER_FLOATS) for name in ("kept", "after"))]

    def results(self, types, sizes):
        biases = [dim for dim, there in zip("fn", self.biases) if there]
        shapes = [("b", "s", "k"), *self.layouts, *biases]
        return [(types[0], tuple(sizes[d] for d in dims))
                for dims, needed in zip(shapes, self.needs) if needed]

    def build(self, builder, values, orders):
        found, sizes, index, here = self.read(builder, values)
        x, dy = (self.rows_of(builder, found[name], sizes) for name in ("x", "dy"))
        type_, summed, kept = x.type, wide_type(x.type), found["kept"]
        need_x, need_w1, need_w2, *need_biases = self.needs
        need_b1, need_b2 = ((need_biases.pop(0) if there else False) for there in self.biases)
        before = hidden = None
        if need_x or need_w1 or need_b1:
            before = self.through_activation(builder, sizes, here, dy, found["w2"], kept, index)
        if need_w2:
            hidden = builder.unpack_rows(found["after"], index, (sizes[ROWS], sizes["f"]))
        w1, w2 = self.layouts

        def product(rows, maps, dims):
            return builder.product([here, *rows], ["t", *maps], [sizes[ROWS if d == "t" else d] for d in dims],
                                   list(dims), type_)

        results = []
        if need_x:
            dx = product([before, found["w1"]], ["tf", w1], ["t", "k"])
            results.append(self.batch_of(builder, dx, sizes))
        if need_w1:
            results.append(product([x, before], ["tk", "tf"], w1))
        if need_w2:
            results.append(product([dy, hidden], ["tn", "tf"], w2))
        for needed, rows, dim in ((need_b1, before, "f"), (need_b2, dy, "n")):
            if needed:
                total = builder.product([here, rows], ["t", ["t", dim]], [sizes[dim]], [dim],
                                        summed)
                results.append(builder.epilogue(total, None, None, type_))
        return results

    def through_activation(self, builder, sizes, here, dy, w2, kept, index):
        """The gradient before the activation."""
        type_, summed = kept.type, wide_type(kept.type)
        dims = (sizes[ROWS], sizes["f"])
        back = builder.product([here, dy, w2], ["t", "tn", self.layouts[1]], dims, "tf", summed)
        back = builder.pack_rows(builder.epilogue(back, None, None, type_), index, sizes[ROWS], 1)

        def compute(body, value, back):
            _, slope = VALUES_AND_SLOPES[self.activation](body, summed,
                                                          body.cast(value, type_, summed))
            return body.cast(body.mul(summed, body.cast(back, type_, summed), slope), summed, type_)

        return builder.unpack_rows(builder.elementwise([kept, back], compute, type_), index, dims)
