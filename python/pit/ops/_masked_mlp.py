"""A feed-forward block of which a mask says what blocks of neurons blocks of tokens use: both
products, and for the gradient of x both of the backward pass, are one program.

The neurons of a block of tokens lie packed between the products, as (neurons, tokens). So the
weights that a mask selects are read as they lie, and what is transposed is the block of tokens.
"""

from dataclasses import dataclass

from .._library import Error
from ._activations import ACTIVATIONS, VALUES_AND_SLOPES, check_activation
from ._moe import bias_arguments
from ._op import SELECTOR_TYPES, Argument, Mark, Op, Shortcut, kind, make
from ._operand import is_traced, makes_op
from ._pixels import loop, times
from ._products import rank_of, run_new
from ._text import LAYER_FLOATS, Value, wide_type

MASKED_MLP = Shortcut(6)


@dataclass(frozen=True)
class Block(Op):
    """The parts of the programs of such a layer. In the text's dims T and N number blocks of
    tokens and of neurons, of i and j elements."""

    activation: str
    biases: tuple  # whether there are b1 and b2

    def weights(self):
        return [Argument("w1", ("f", "k"), LAYER_FLOATS, permutable=True),
                Argument("w2", ("n", "f"), LAYER_FLOATS, permutable=True)]

    def mask(self):
        return Argument("mask", ("T", "N"), SELECTOR_TYPES["mask"], alike=False)

    def dynamic(self):
        return ()

    def exact(self):
        return ("t", "T", "f", "N")

    def check(self, sizes):
        for whole, blocks, what in (("t", "T", "rows of x"), ("f", "N", "neurons (rows of w1)")):
            if sizes[blocks] == 0 and sizes[whole] or sizes[blocks] and sizes[whole] % sizes[blocks]:
                raise Error(f"{self.name}: {sizes[whole]} {what}, and a mask of {sizes[blocks]} "
                            "blocks of them; the blocks are equal, so their number divides the other")

    def kept(self, sizes):
        """The shape of what the gradient reads: values before the activation, those of a block
        of tokens in the first places of its part."""
        return (sizes["T"], sizes["f"], sizes["t"] // max(sizes["T"], 1))

    def read(self, rows, mask, w1, w2, orders):
        """w1 and w2 with the names of their dims in the order of memory, and sizes by names."""
        wide, narrow = names_of(orders[2], "fk"), names_of(orders[3], "nf")
        sizes = {"t": rows.dims[0], **dict(zip("TN", mask.dims)), **dict(zip(wide, w1.dims)),
                 **dict(zip(narrow, w2.dims))}
        return [(w1, wide), (w2, narrow)], sizes

    def is_empty(self, sizes):
        return any(isinstance(sizes[d], int) and sizes[d] == 0 for d in "tTfN")

    def by_blocks(self, builder, mask, sizes, carried, body):
        """The results of `body(block, carried)` for tensors that are updated for each block of tokens."""
        each, wide = (quotient(builder, sizes[whole], sizes[parts]) for whole, parts in ("tT", "fN"))

        def of_block(at, carried):
            return body(Selected(builder, mask, at, each, wide, sizes["N"]), carried)

        return loop(builder, sizes["T"], 1, carried, of_block)


def quotient(builder, whole, parts):
    """The dim that a part of another has, where that is cut into some."""
    if isinstance(parts, int):
        return builder.divide(whole, max(parts, 1))
    # There may be none, which is not known before.
    parts = builder.index("maxsi", builder.size(parts), 1)
    return builder.define(builder.index("divsi", builder.size(whole), parts))


class Selected:
    """A block of tokens, and the blocks of neurons that are selected for it."""

    def __init__(self, builder, mask, at, each, wide, count):
        self.builder, self.at, self.each, self.wide, self.count = builder, at, each, wide, count
        self.start = builder.index("muli", at, builder.size(each))
        row = builder.piece(mask, (at, 0), (1, count), drop=(0,))
        self.index, self.type = builder.lone(
            f"pit.index mask {row.name} : {row.mlir} ->", "!pit.index<micro_tile = [1], axis = 0>")
        extent = builder.fresh()
        builder.lines.append(f"  {extent} = pit.extent {self.index} : {self.type}")
        self.blocks = builder.define(extent)
        self.neurons = times(builder, self.blocks, wide) if isinstance(wide, int) else (
            builder.define(builder.index("muli", extent, builder.size(wide))))

    def tokens(self, value):
        return self.builder.piece(value, (self.start, 0), (self.each, value.dims[1]))

    def put(self, value, whole):
        return self.builder.put(value, whole, (self.start, 0), value.dims)

    def pack(self, value, names):
        """The selected part of a tensor along its dim f, and the names of the dims: L blocks of j."""
        at = names.index("f")
        value = self.builder.expand(value, at, self.count, self.wide)
        dims = (self.blocks, *(d for i, d in enumerate(value.dims) if i != at))
        made = Value("", dims, value.type)
        found = self.builder.emit(
            f"pit.sread {value.name}[{self.index} : {self.type}] dims [{at}] : {value.mlir} -> "
            f"{made.mlir}", dims, value.type)
        return found, ["L", *("j" if name == "f" else name for name in names)]

    def operands(self, rows, wide, narrow):
        """The block's tokens, transposed, and of both weights what is selected."""
        tokens = self.builder.transpose(self.tokens(rows), (1, 0))
        return tokens, self.pack(*wide), self.pack(*narrow)

    def kept_place(self):
        return (self.at, 0, 0), (1, self.neurons, self.each)

    def keep(self, hidden, kept):
        """Keeps values (L, j, i)."""
        rows = self.builder.merge(hidden, 0, self.neurons)
        return self.builder.put(rows, kept, *self.kept_place())

    def read(self, kept):
        rows = self.builder.piece(kept, *self.kept_place(), drop=(0,))
        return self.builder.expand(rows, 0, self.blocks, self.wide)


def names_of(order, names):
    return [names[i] for i in order] if order else list(names)


def sum_of(builder, operands, maps, out, type_):
    """The product of operands, by the names of dims."""
    sizes = {name: dim for names, value in zip(maps, operands)
             for name, dim in zip(names, value.dims)}
    return builder.product(operands, [list(each) for each in maps], [sizes[d] for d in out],
                           list(out), type_)


@kind
@dataclass(frozen=True)
class MaskedMlp(Block):
    """y = (activation(x w1.T + b1) where the mask has the block, else 0) w2.T + b2; and, if
    `keeps`, what the gradient of x reads."""

    keeps: bool = False

    name = "masked_mlp"

    def arguments(self):
        return [Argument("x", ("t", "k"), LAYER_FLOATS), self.mask(), *self.weights(),
                *bias_arguments(self.biases)]

    def results(self, types, sizes):
        self.check(sizes)
        found = [(types[0], (sizes["t"], sizes["n"]))]
        return found + [(types[0], self.kept(sizes))] * self.keeps

    def build(self, builder, values, orders):
        x, mask, w1, w2, *biases = values
        b1 = biases.pop(0) if self.biases[0] else None
        b2 = biases.pop(0) if self.biases[1] else None
        weights, sizes = self.read(x, mask, w1, w2, orders)
        type_ = x.type
        if builder.on_gpu and not self.is_empty(sizes):
            return [self.of_whole(builder, mask, sizes, x, *weights, b1, b2)]
        made = [builder.zeros((sizes["t"], sizes["n"]), type_)]
        if self.keeps:
            each = quotient(builder, sizes["t"], sizes["T"])
            made.append(builder.empty((sizes["T"], sizes["f"], each), type_))
        if not self.is_empty(sizes):
            made = self.by_blocks(builder, mask, sizes, made, lambda block, made: self.of_block(
                block, x, *weights, b1, made))
        y = made[0]
        if b2 is not None:
            y = builder.epilogue(y, b2, None, type_)
        return [y, *made[1:]]

    def of_whole(self, builder, mask, sizes, x, wide, narrow, b1, b2):
        """The same on a GPU, whose host does not know how many blocks a mask selects."""
        assert not self.keeps, "the gradients on a GPU are those of two products"
        type_, summed = x.type, wide_type(x.type)
        each, width = quotient(builder, sizes["t"], sizes["T"]), quotient(
            builder, sizes["f"], sizes["N"])
        mask = builder.broadcast(mask, ["T", "N"], ["T", "i", "N", "j"],
                                 (sizes["T"], each, sizes["N"], width))
        mask = builder.merge(builder.merge(mask, 0, sizes["t"]), 1, sizes["f"])
        hidden = sum_of(builder, [x, wide[0]], ["tk", wide[1]], "tf", summed)
        hidden = builder.epilogue(hidden, b1, self.activation, type_)
        hidden = builder.mark(hidden, Mark(-1, "mask"), mask)
        y = sum_of(builder, [hidden, narrow[0]], ["tf", narrow[1]], "tn", summed)
        return builder.epilogue(y, b2, None, type_)

    def of_block(self, block, x, wide, narrow, b1, made):
        builder, type_ = block.builder, x.type
        summed = wide_type(type_)
        tokens, (w1, wide_names), (w2, narrow_names) = block.operands(x, wide, narrow)
        hidden = sum_of(builder, [w1, tokens], [wide_names, "ki"], "Lji", summed)
        if b1 is not None:
            bias, _ = block.pack(b1, ["f"])
            hidden = builder.elementwise(
                [hidden, bias], lambda body, h, b: body.add(summed, h, body.cast(b, type_, summed)),
                summed, [[0, 1, 2], [0, 1]])
        kept = made[1:]
        if kept:
            hidden = builder.epilogue(hidden, None, None, type_)
            kept = [block.keep(hidden, kept[0])]

        def activate(body, value):
            value = body.cast(value, hidden.type, summed)
            if self.activation is not None:
                value = ACTIVATIONS[self.activation](body, summed, value)
            return body.cast(value, summed, type_)

        hidden = builder.elementwise([hidden], activate, type_)
        if narrow[1] == ["n", "f"]:
            y = sum_of(builder, [w2, hidden], [narrow_names, "Lji"], "ni", summed)
            y = builder.transpose(builder.epilogue(y, None, None, type_), (1, 0))
        else:
            y = sum_of(builder, [hidden, w2], ["Lji", narrow_names], "in", summed)
            y = builder.epilogue(y, None, None, type_)
        return [block.put(y, made[0]), *kept]


@kind
@dataclass(frozen=True)
class MaskedMlpGradient(Block):
    """The gradient of x, from that of the result and what the forward kept."""

    name = "masked_mlp_dx"

    def arguments(self):
        return [Argument("dy", ("t", "n"), LAYER_FLOATS), self.mask(), *self.weights(),
                Argument("kept", ("T", "f", "i"), LAYER_FLOATS)]

    def exact(self):
        return ("t", "T", "f", "N", "i")

    def results(self, types, sizes):
        self.check(sizes)
        if sizes["i"] != self.kept(sizes)[2]:
            raise Error(f"{self.name}: kept values of {sizes['i']} tokens in each of {sizes['T']} "
                        f"blocks; dy has {sizes['t']} rows")
        return [(types[0], (sizes["t"], sizes["k"]))]

    def build(self, builder, values, orders):
        dy, mask, w1, w2, kept = values
        weights, sizes = self.read(dy, mask, w1, w2, orders)
        made = [builder.zeros((sizes["t"], sizes["k"]), dy.type)]
        if not self.is_empty(sizes):
            made = self.by_blocks(builder, mask, sizes, made, lambda block, made: self.of_block(
                block, dy, *weights, kept, made))
        return made

    def of_block(self, block, dy, wide, narrow, kept, made):
        builder, type_ = block.builder, dy.type
        summed = wide_type(type_)
        tokens, (w1, wide_names), (w2, narrow_names) = block.operands(dy, wide, narrow)
        back = sum_of(builder, [w2, tokens], [narrow_names, "ni"], "Lji", summed)
        before = block.read(kept)

        def through(body, back, value):
            if self.activation is not None:
                value = body.cast(value, type_, summed)
                _, slope = VALUES_AND_SLOPES[self.activation](body, summed, value)
                back = body.mul(summed, back, slope)
            return body.cast(back, summed, type_)

        back = builder.elementwise([back, before], through, type_)
        if wide[1] == ["f", "k"]:
            dx = sum_of(builder, [back, w1], ["Lji", wide_names], "ik", summed)
            dx = builder.epilogue(dx, None, None, type_)
        else:
            dx = sum_of(builder, [w1, back], [wide_names, "Lji"], "ki", summed)
            dx = builder.transpose(builder.epilogue(dx, None, None, type_), (1, 0))
        return [block.put(dx, made[0])]


@makes_op
def masked_mlp_op(activation, biases):
    check_activation("masked_mlp", activation)
    return make(MaskedMlp, activation, biases)


def masked_mlp(x, mask, w1, b1, w2, b2, *, activation="relu", out=None):
    """A feed-forward block in which blocks of tokens use blocks of neurons:
    (activation(x w1.T + b1), or 0 where the mask says so) w2.T + b2.

        y = pit.masked_mlp(x, mask, fc1.weight, fc1.bias, fc2.weight, fc2.bias)

    x           (tokens, k), or (..., k)
    mask        (token blocks, neuron blocks) of bool or int8: which neurons are there for
                which tokens. Blocks follow one another and are equal; the numbers of
                them divide those of tokens and of neurons
    w1, b1      (neurons, k) and (neurons), or None
    w2, b2      (n, neurons) and (n), or None
    activation  as in pit.linear

    Both products are one program, in which the values of the neurons lie packed on the
    CPU. With frozen weights so are those of the gradient of x.
    """
    given = (out, x, mask, w1, w2, b1, b2, activation)
    if not is_traced():
        found = MASKED_MLP.run(given)
        if found is not NotImplemented:
            return found
    op = masked_mlp_op(activation, (b1 is not None, b2 is not None))
    biases = tuple(b for b in (b1, b2) if b is not None)
    arrays = (x, mask, w1, w2, *biases)
    positions = None if rank_of("masked_mlp", "x", x) < 3 else [0]
    return run_new(MASKED_MLP, given, "masked_mlp", op, arrays, positions, out, w2.shape[0])
