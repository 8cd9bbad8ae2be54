"""Layers whose weights have zeros anywhere, kept as a bitmap and the values that are not zero."""

from dataclasses import dataclass

from .._arrays import framework_of
from .._library import Error
from ._activations import ACTIVATIONS, check_activation
from ._einsum import read_type
from ._op import Argument, Op, kind, make, run
from ._operand import makes_op
from ._products import rank_of, run_on_rows
from ._text import sum_type, wide_type

FACTORS = ("f16", "bf16", "f32", "f64")
ROWS, BLOCK = 16, 64  # rows and columns of a tile
SQUARES, LANES, FIELDS = 16, 32, 3  # of 8 x 8 in a tile, pairs of elements in one, words that say where they are
TILES = 1000  # of a product, of 64 outputs each: as many blocks as a GPU runs at once
LEAST_STEPS, MOST_PARTS = 4, 16  # of a tile along k


class Compressed:
    """A weight (n, k) of which the values that are not zero are stored, and a bit for each element; as
    pit.compress makes it.

    words    (n / 16, k / 64, 48) of i32: three for each square of 8 x 8 elements, of which a tile of 16 x 64 has
             two rows of eight. Bit 4 r + c of the first word is that of element (r, 2 c), of the second that of
             (r, 2 c + 1); the third says where the square's values begin
    values   (values), those of a square together, row after row; one at least
    shape    (n, k)

    That is 12 bytes for 64 elements, beside the values.
    """

    def __init__(self, words, values, shape):
        self.words, self.values = words, values
        self.shape = tuple(int(extent) for extent in shape)
        n, k = self.shape
        wanted = (-(-n // ROWS), -(-k // BLOCK), SQUARES * FIELDS)
        if len(values.shape) != 1 or len(values) == 0:
            raise Error(f"Compressed: values has shape {tuple(values.shape)}; it is a vector of one element at least")
        if tuple(words.shape) != wanted:
            raise Error(f"Compressed: words has shape {tuple(words.shape)}; for a weight of {self.shape} it is "
                        f"{wanted}")

    @property
    def nbytes(self):
        return int(self.words.nbytes) + int(self.values.nbytes)

    def __repr__(self):
        n, k = self.shape
        return f"Compressed({n} x {k}, {len(self.values)} values of {self.values.dtype}, {self.nbytes} bytes)"

    def dense(self):
        """The weight, with zeros."""
        n, k = self.shape
        a, b = self.words.shape[:2]
        words = self.words.reshape(a, b, SQUARES, FIELDS)
        np = numpy_of(words)
        lanes = [[lane] for lane in range(LANES)]
        bits = (words[..., None, :2] >> (np.array(lanes, np.int32) if np else words.new_tensor(lanes))) & 1
        counts = bits.reshape(a, b, SQUARES, 2 * LANES)
        places = (words[..., 2:] + counts.cumsum(-1) - counts).reshape(bits.shape)
        live = bits != 0
        whole = np.zeros(bits.shape, self.values.dtype) if np else self.values.new_zeros(bits.shape)
        whole[live] = self.values[places[live]]
        whole = whole.reshape(a, b, 2, 8, 8, 8)
        whole = whole.transpose(0, 2, 4, 1, 3, 5) if np else whole.permute(0, 2, 4, 1, 3, 5)
        whole = whole.reshape(a * ROWS, b * BLOCK)[:n, :k]
        return np.ascontiguousarray(whole) if np else whole.contiguous()


def numpy_of(x):
    """The module, if an array is one of numpy's; None: it is a tensor of torch."""
    if framework_of(type(x)) == "torch":
        return None
    import numpy

    return numpy


def squares_of(x):
    """An array (n, k) with zeros behind it, as (n / 16, k / 64, 16, 32, 2): by squares of its tiles, and pairs."""
    n, k = x.shape
    a, b = -(-n // ROWS), -(-k // BLOCK)
    np, shape = numpy_of(x), (a * ROWS, b * BLOCK)
    whole = np.zeros(shape, x.dtype) if np else x.new_zeros(shape)
    whole[:n, :k] = x
    whole = whole.reshape(a, 2, 8, b, 8, 8)
    whole = whole.transpose(0, 3, 1, 4, 2, 5) if np else whole.permute(0, 3, 1, 4, 2, 5)
    return whole.reshape(a, b, SQUARES, LANES, 2)


def compress(weight, mask=None):
    """A weight (n, k) of numpy or torch as a bitmap and the values that a mask keeps, or that are not 0: a
    Compressed, for pit.compressed_linear.

        weight = pit.compress(layer.weight)
        y = pit.compressed_linear(x, weight, layer.bias)

    With p of the weights left it takes p + 0.094 of the bytes of one of f16 or bf16.
    """
    np = numpy_of(weight)
    weight = np.asarray(weight) if np else weight.detach()
    if len(weight.shape) != 2:
        raise Error(f"compress: a weight of shape {tuple(weight.shape)}; it must be (n, k)")
    if mask is not None and tuple(mask.shape) != tuple(weight.shape):
        raise Error(f"compress: a mask of shape {tuple(mask.shape)}; it must have the weight's, "
                    f"{tuple(weight.shape)}")
    live = squares_of(weight != 0 if mask is None else mask != 0)
    values = squares_of(weight)[live]
    if len(values) == 0:  # programs read one
        values = (np.zeros if np else weight.new_zeros)(1, dtype=weight.dtype)
    if len(values) >= 2 ** 31:
        raise Error(f"compress: {len(values)} values; places are of i32, so there may be {2 ** 31 - 1}")
    counts = live.sum((-2, -1))
    starts = counts.reshape(-1).cumsum(0).reshape(counts.shape) - counts
    powers = [[1 << lane] for lane in range(LANES)]
    bits = (live * (np.array(powers, np.int64) if np else starts.new_tensor(powers))).sum(-2)
    words = (np.zeros if np else starts.new_zeros)((*starts.shape, FIELDS), dtype=starts.dtype)
    words[..., :2], words[..., 2] = bits, starts
    words = words.reshape(*words.shape[:2], SQUARES * FIELDS)
    return Compressed(words.astype(np.int32) if np else words.int(), values, weight.shape)


@kind
@dataclass(frozen=True)
class CompressedLinear(Op):
    """activation(x @ weight.T + bias), the weight as words and values."""

    outputs: int
    bias: bool
    activation: str | None = None
    dtype: str | None = None

    name = "compressed_linear"
    differentiable = False

    def arguments(self):
        found = [Argument("x", ("m", "k"), FACTORS, permutable=True),
                 Argument("words", ("tiles", "blocks", SQUARES * FIELDS), ("i32",), alike=False),
                 Argument("values", ("values",), FACTORS)]
        if self.bias:
            found.append(Argument("bias", ("n",), FACTORS))
        return found

    def dynamic(self):
        return ("m", "values")

    def rows(self):
        return ("m",)

    def fixed(self):
        return ("k", "n", "tiles", "blocks")

    def stored_names(self):
        return ("words",)

    def exact(self):
        return ("k", "tiles", "blocks")

    def results(self, types, sizes):
        for size, name, each in ((self.outputs, "tiles", ROWS), (sizes["k"], "blocks", BLOCK)):
            if sizes[name] != -(-size // each):
                raise Error(f"compressed_linear: words has {sizes[name]} {name}; for {size} elements, {each} each, "
                            f"it is {-(-size // each)}")
        return [(self.dtype or types[0], (sizes["m"], self.outputs))]

    def build(self, builder, values, orders):
        x, words, packed, *bias = values
        if orders[0] is not None:
            x = builder.transpose(x, orders[0])
        m, k = x.dims
        n, blocks = self.outputs, words.dims[1]
        if blocks * BLOCK != k:
            x = builder.pad(x, (0, 0), (0, blocks * BLOCK - k))
        parts = parts_of(n, blocks) if builder.on_gpu and isinstance(m, int) else 1
        x = builder.blocks(x, 1, BLOCK)
        lead = "n"
        if parts > 1:
            x, lead = builder.split(x, 1, parts), "np"
        weight = self.expand(builder, words, packed, parts)
        wide = wide_type(sum_type(x.type))
        out = [*lead[1:], "m", "n"]
        sums = builder.product([weight, x], [[*lead, "b", "c"], [*lead.replace("n", "m"), "b", "c"]],
                               [{"p": parts, "m": m, "n": n}[d] for d in out], out, wide)
        return [self.finish(builder, sums, parts, bias, self.dtype or x.type)]

    def expand(self, builder, words, packed, parts):
        """The weight, (n, parts, blocks, 64), which a kernel that has few rows of x computes as it reads it."""
        each = words.dims[1] // parts
        dims = (self.outputs, *([parts] if parts > 1 else []), each, BLOCK)
        loops = list(range(len(dims)))

        def function(body, old):
            def number(value, by=None, which=None):
                """Some bits of a number: it, divided by a power of two, modulo another."""
                if by:
                    value = body.op("arith.shrui", "i32", value, body.constant(by, "i32"))
                if which:
                    value = body.op("arith.andi", "i32", value, body.constant(which - 1, "i32"))
                return value

            def times(value, by):
                return body.op("arith.shli", "i32", value, body.constant(by, "i32"))

            places = [body.emit(f"linalg.index {d} : index") for d in loops]
            row, column = (body.emit(f"arith.index_cast {places[d]} : index to i32") for d in (0, -1))
            block = places[-2]
            if parts > 1:
                block = body.emit(f"arith.muli {places[1]}, {body.constant(each, 'index')} : index")
                block = body.emit(f"arith.addi {block}, {places[-2]} : index")
            tile = body.emit(f"arith.shrui {places[0]}, {body.constant(4, 'index')} : index")
            if builder.on_gpu:  # where a tile of a loop reaches past the ends, and nobody reads the result
                last = [body.constant(extent - 1, "index") for extent in words.dims[:2]]
                tile, block = (body.emit(f"arith.minui {x}, {most} : index")
                               for x, most in zip((tile, block), last))
            square = body.add("i32", times(number(row, 3, 2), 3), number(column, 3, 8))
            first = body.mul("i32", square, body.constant(FIELDS, "i32"))

            def word(field):
                at = body.add("i32", first, body.constant(field, "i32"))
                at = body.emit(f"arith.index_cast {at} : i32 to index")
                return body.emit(f"tensor.extract {words.name}[{tile}, {block}, {at}] : {words.mlir}")

            even, odd, start = (word(field) for field in range(FIELDS))
            lane = body.add("i32", times(number(row, 0, 8), 2), number(column, 1, 4))
            bit = body.op("arith.shli", "i32", body.constant(1, "i32"), lane)
            below = body.op("arith.subi", "i32", bit, body.constant(1, "i32"))
            rank = start
            for each_word in (even, odd):
                each_word = body.op("arith.andi", "i32", each_word, below)
                rank = body.add("i32", rank, body.op("math.ctpop", "i32", each_word))
            is_odd = body.op("arith.cmpi ne,", "i32", number(column, 0, 2), body.constant(0, "i32"))
            before = number(body.op("arith.shrui", "i32", even, lane), 0, 2)
            before = body.op("arith.select", "i32", is_odd, before, body.constant(0, "i32"))
            own = body.op("arith.andi", "i32", body.op("arith.select", "i32", is_odd, odd, even), bit)
            at = body.add("i32", rank, before)
            live = body.op("arith.cmpi ne,", "i32", own, body.constant(0, "i32"))
            # A GPU reads 0 outside of a tensor.
            nowhere = body.constant(-1 if builder.on_gpu else 0, "i32")
            at = body.emit(f"arith.select {live}, {at}, {nowhere} : i32")
            at = body.emit(f"arith.index_cast {at} : i32 to index")
            value = body.emit(f"tensor.extract {packed.name}[{at}] : {packed.mlir}")
            if builder.on_gpu:
                return value
            return body.op("arith.select", packed.type, live, value, body.constant(0, packed.type))

        return builder.generic([loops], loops, [], builder.empty(dims, packed.type), function)

    def finish(self, builder, sums, parts, bias, type_):
        """Adds up what parts of k give, and what follows."""
        ins = [sums]
        if parts > 1:
            _, m, n = sums.dims
            ins = [builder.piece(sums, (p, 0, 0), (1, m, n), drop=(0,)) for p in range(parts)]
        wide = sums.type

        def function(body, *elements):
            total = elements[0]
            for more in elements[1: parts]:
                total = body.add(wide, total, more)
            if bias:
                total = body.add(wide, total, body.cast(elements[-1], bias[0].type, wide))
            if self.activation is not None:
                total = ACTIVATIONS[self.activation](body, wide, total)
            return body.cast(total, wide, type_)

        return builder.elementwise([*ins, *bias], function, type_,
                                   [*[[0, 1]] * len(ins), *[[1]] * len(bias)])


def parts_of(n, blocks):
    """In how many parts of k a product of few rows is computed, so that its tiles fill a GPU."""
    tiles = max(1, -(-n // 64))
    fitting = [p for p in range(1, MOST_PARTS + 1) if blocks % p == 0 and (
        p == 1 or blocks // p >= LEAST_STEPS)] or [1]
    return next((p for p in fitting if p * tiles >= TILES), fitting[-1])


@makes_op
def compressed_op(outputs, bias, activation, dtype):
    check_activation("compressed_linear", activation)
    return make(CompressedLinear, outputs, bias, activation, dtype)


def compressed_linear(x, weight, bias=None, *, activation=None, dtype=None, out=None):
    """activation(x @ weight.T + bias) of a weight that is stored as a bitmap and the values that are not zero.

        weight = pit.compress(layer.weight)
        y = pit.compressed_linear(x, weight, layer.bias)

    x           (..., k) of f16, bf16, f32 or f64
    weight      pit.Compressed, of (n, k)
    bias        (n), or None
    activation  as in pit.linear
    Result      (..., n)

    On a GPU up to 32 rows of f16 or bf16 read the bitmap and the values alone: each tile of the weight is
    computed in registers. For more rows, and on a CPU, the call writes the weight out first. There are no
    gradients.
    """
    if not isinstance(weight, Compressed):
        raise Error(f"compressed_linear: weight must be what pit.compress makes, not {type(weight).__name__}")
    rank = rank_of("compressed_linear", "x", x)
    n, k = weight.shape
    if rank < 1 or x.shape[-1] != k:
        raise Error(f"compressed_linear: x has shape {tuple(x.shape)}; its last dimension must be that of the "
                    f"weight, {k}")
    if dtype is not None:
        dtype = read_type("compressed_linear", dtype)
    op = compressed_op(n, bias is not None, activation, dtype)
    arrays = (x, weight.words, weight.values, *(() if bias is None else (bias,)))
    if rank == 2:
        return run(op, arrays, out)
    return run_on_rows("compressed_linear", op, arrays, [0], out, n)
