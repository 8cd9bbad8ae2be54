"""Layers whose weights have zeros anywhere, kept as a bitmap and the values that are not zero."""

from dataclasses import dataclass

import numpy as np

from .._library import Error
from ._activations import ACTIVATIONS, check_activation
from ._einsum import read_type
from ._op import Argument, Op, kind, make, run
from ._operand import makes_op
from ._products import rank_of, run_on_rows
from ._text import sum_type, wide_type

FACTORS = ("f16", "bf16", "f32", "f64")
BLOCK = 64  # columns of a word of the bitmap, and rows whose values lie together
TILES = 400  # of a product, that fill a GPU
LEAST_STEPS, MOST_PARTS = 4, 16  # of a tile along k


class Compressed:
    """A weight (n, k) of which the values that are not zero are stored, and a bit for each element; as
    pit.compress makes it.

    bits     (n, blocks) of i64: a word for 64 columns of a row, the first column in its lowest bit
    starts   (n, blocks) of i32: where the values of a word begin
    values   (values): those of 64 rows and 64 columns lie together, row after row
    shape    (n, k)

    That is 12 bytes for 64 elements, beside the values.
    """

    def __init__(self, bits, starts, values, shape):
        self.bits, self.starts, self.values = bits, starts, values
        self.shape = tuple(int(extent) for extent in shape)
        n, k = self.shape
        wanted = (n, -(-k // BLOCK))
        for name, array in (("bits", bits), ("starts", starts)):
            if tuple(array.shape) != wanted:
                raise Error(f"Compressed: {name} has shape {tuple(array.shape)}; for a weight of "
                            f"{self.shape} it is {wanted}")

    @property
    def nbytes(self):
        return sum(int(x.nbytes) for x in (self.bits, self.starts, self.values))

    def dense(self):
        """The weight, with zeros."""
        n, k = self.shape
        live = (self.bits[:, :, None] >> columns_of(self.bits)) & 1
        places = self.starts[:, :, None] + live.cumsum(-1) - live
        live, places = (x.reshape(n, -(-k // BLOCK) * BLOCK)[:, :k] for x in (live != 0, places))
        is_numpy = isinstance(self.bits, np.ndarray)
        dense = np.zeros(self.shape, self.values.dtype) if is_numpy else self.values.new_zeros(self.shape)
        dense[live] = self.values[places[live]]
        return dense


def columns_of(like):
    """The numbers of a word's bits, an array of the same framework."""
    numbers = np.arange(BLOCK, dtype=np.int64)
    return numbers if isinstance(like, np.ndarray) else like.new_tensor(numbers, dtype=like.new_zeros(0).long().dtype)


def tiles_of(x):
    """An array (n, k) with zeros behind it, by tiles of 64 rows and 64 columns: (n / 64, 64, k / 64, 64)."""
    n, k = x.shape
    rows, blocks = -(-n // BLOCK), -(-k // BLOCK)
    shape = (rows * BLOCK, blocks * BLOCK)
    whole = np.zeros(shape, x.dtype) if isinstance(x, np.ndarray) else x.new_zeros(shape)
    whole[:n, :k] = x
    return whole.reshape(rows, BLOCK, blocks, BLOCK)


def compress(weight, mask=None):
    """A weight (n, k) of numpy or torch as a bitmap and the values that a mask keeps, or that are not 0: a
    Compressed, for pit.compressed_linear.

        weight = pit.compress(layer.weight)
        y = pit.compressed_linear(x, weight, layer.bias)

    With p of the weights left it takes p + 0.094 of the bytes of one of f16 or bf16.
    """
    weight = weight.detach() if hasattr(weight, "detach") else np.asarray(weight)
    if len(weight.shape) != 2:
        raise Error(f"compress: a weight of shape {tuple(weight.shape)}; it must be (n, k)")
    if mask is not None and tuple(mask.shape) != tuple(weight.shape):
        raise Error(f"compress: a mask of shape {tuple(mask.shape)}; it must have the weight's, "
                    f"{tuple(weight.shape)}")
    n = len(weight)
    live = tiles_of(weight != 0 if mask is None else mask != 0)
    bits = (live * (1 << columns_of(live))).sum(-1).reshape(live.shape[0] * BLOCK, live.shape[2])[:n]
    live = live.swapaxes(1, 2)  # in the order of the values
    values = tiles_of(weight).swapaxes(1, 2)[live]
    counts = live.sum(-1)
    ends = counts.reshape(-1).cumsum(0).reshape(counts.shape)
    starts = (ends - counts).swapaxes(1, 2).reshape(live.shape[0] * BLOCK, live.shape[1])[:n]
    if len(values) >= 2 ** 31:
        raise Error(f"compress: {len(values)} values; places are of i32, so there may be {2 ** 31 - 1}")
    starts = starts.astype(np.int32) if isinstance(starts, np.ndarray) else starts.int()
    return Compressed(contiguous(bits), contiguous(starts), values, weight.shape)


def contiguous(x):
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x.contiguous()


@kind
@dataclass(frozen=True)
class CompressedLinear(Op):
    """activation(x @ weight.T + bias), the weight as bits, starts and values."""

    bias: bool
    activation: str | None = None
    dtype: str | None = None

    name = "compressed_linear"
    differentiable = False

    def arguments(self):
        found = [Argument("x", ("m", "k"), FACTORS, permutable=True),
                 Argument("bits", ("n", "blocks"), ("i64",), alike=False),
                 Argument("starts", ("n", "blocks"), ("i32",), alike=False),
                 Argument("values", ("values",), FACTORS)]
        if self.bias:
            found.append(Argument("bias", ("n",), FACTORS))
        return found

    def dynamic(self):
        return ("m", "values")

    def rows(self):
        return ("m",)

    def fixed(self):
        return ("k", "n", "blocks")

    def stored_names(self):
        return ("bits", "starts")

    def exact(self):
        return ("k", "blocks")

    def results(self, types, sizes):
        if sizes["blocks"] != -(-sizes["k"] // BLOCK):
            raise Error(f"compressed_linear: x has {sizes['k']} columns, and the weight {sizes['blocks']} "
                        f"blocks of {BLOCK}")
        return [(self.dtype or types[0], (sizes["m"], sizes["n"]))]

    def build(self, builder, values, orders):
        x, bits, starts, packed, *bias = values
        if orders[0] is not None:
            x = builder.transpose(x, orders[0])
        m, k = x.dims
        n, blocks = bits.dims
        if blocks * BLOCK != k:
            x = builder.pad(x, (0, 0), (0, blocks * BLOCK - k))
        parts = parts_of(n, blocks) if builder.on_gpu and isinstance(m, int) else 1
        x = builder.blocks(x, 1, BLOCK)
        if parts > 1:
            x, bits, starts = (builder.split(v, 1, parts) for v in (x, bits, starts))
        lead = "np" if parts > 1 else "n"
        weight = self.expand(builder, bits, starts, packed, lead)
        wide = wide_type(sum_type(x.type))
        out = [*("p" if parts > 1 else ""), "m", "n"]
        sums = builder.product([weight, x], [[*lead, "b", "c"], [*lead.replace("n", "m"), "b", "c"]],
                               [{"p": parts, "m": m, "n": n}[d] for d in out], out, wide)
        return [self.finish(builder, sums, parts, bias, self.dtype or x.type)]

    def expand(self, builder, bits, starts, packed, lead):
        """The weight, which a kernel that has few rows of x computes as it reads it."""
        loops = [*lead, "b", "c"]

        def function(body, word, start, old):
            at = body.emit(f"linalg.index {len(loops) - 1} : index")
            column = body.emit(f"arith.index_cast {at} : index to i32")
            zero, one = body.constant(0, "i32"), body.constant(1, "i32")
            low = body.emit(f"arith.trunci {word} : i64 to i32")
            high = body.op("arith.shrui", "i64", word, body.constant(32, "i64"))
            high = body.emit(f"arith.trunci {high} : i64 to i32")
            is_high = body.op("arith.cmpi sge,", "i32", column, body.constant(32, "i32"))
            half = body.op("arith.select", "i32", is_high, high, low)
            before = body.op("arith.select", "i32", is_high, body.op("math.ctpop", "i32", low), zero)
            place = body.op("arith.andi", "i32", column, body.constant(31, "i32"))
            bit = body.op("arith.shli", "i32", one, place)
            below = body.op("arith.andi", "i32", half, body.op("arith.subi", "i32", bit, one))
            rank = body.add("i32", before, body.op("math.ctpop", "i32", below))
            at = body.add("i32", start, rank)
            own = body.op("arith.andi", "i32", half, bit)
            live = body.op("arith.cmpi ne,", "i32", own, zero)
            if builder.on_gpu:  # which reads 0 outside of a tensor
                at = body.emit(f"arith.select {live}, {at}, {body.constant(-1, 'i32')} : i32")
            at = body.emit(f"arith.index_cast {at} : i32 to index")
            value = body.emit(f"tensor.extract {packed.name}[{at}] : {packed.mlir}")
            if builder.on_gpu:
                return value
            return body.op("arith.select", packed.type, live, value, body.constant(0, packed.type))

        out = builder.empty((*bits.dims, BLOCK), packed.type)
        return builder.generic([loops[:-1], loops[:-1], loops], loops, [bits, starts], out, function)

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
    tiles = max(1, -(-n // BLOCK))
    fitting = [p for p in range(1, MOST_PARTS + 1) if blocks % p == 0 and (
        p == 1 or blocks // p >= LEAST_STEPS)] or [1]
    return next((p for p in fitting if p * tiles >= TILES), fitting[-1])


@makes_op
def compressed_op(bias, activation, dtype):
    check_activation("compressed_linear", activation)
    return make(CompressedLinear, bias, activation, dtype)


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
    op = compressed_op(bias is not None, activation, dtype)
    arrays = (x, weight.bits, weight.starts, weight.values, *(() if bias is None else (bias,)))
    if rank == 2:
        return run(op, arrays, out)
    return run_on_rows("compressed_linear", op, arrays, [0], out, n)
