"""Products of a batch and weights of which those are stored, as a vector, that lists name: for
layers of few weights, on the CPU.

A program multiplies rows of the transposed batch by single weights: a weight's row is one piece
of memory. Results of some thousand outputs and some rows are made, and turned, at a time, while
they are in a cache.
"""

import torch

from .. import _cache
from .._index import import_index
from .._library import Error
from ..ops import _op
from ..ops._einsum import NOTHING, einsum_op
from . import _run

OUTPUTS = 8192  # whose results are in other memory at once, transposed
PARTS = 4  # of these, which add to sums of their own
ROWS = 128  # of a batch, which are multiplied at once: they stay in a cache
ROWS_OF_VALUES = 64  # of a tile, where a weight's gradient is summed over them
CHUNKS = (8, 16, 32)  # weights of an output that a step reads: their rows fit the first cache


class Block:
    """Outputs in a slice, and which of the vector's weights are theirs: their index, and that of
    these outputs in several parts."""

    def __init__(self, outputs, weights, in_features, counts, offsets, ids):
        self.outputs, self.weights = outputs, weights
        self.count = outputs.stop - outputs.start
        parts = 1 if self.count % PARTS else PARTS
        self.index = import_index((self.count, in_features), (1, 1), 1, counts, offsets, ids)
        self.split = import_index((parts, self.count // parts, in_features), (1, 1, 1), 2, counts,
                                  offsets, ids)


class Lists:
    """The places of the weights of each output: `counts` of them, i32, at `columns`, i32, those of
    one output after those of the one before, and ascending. Both are read where they are."""

    def __init__(self, name, counts, columns, in_features, outputs=None):
        self.columns = columns
        ends = counts.cumsum(0)
        total = int(ends[-1]) if len(counts) else 0
        mean = max(1, total // max(1, len(counts)))
        self.chunk = next((c for c in CHUNKS if mean <= c), CHUNKS[-1])
        starts = ends - counts
        self.blocks = []
        for part in slices(len(counts), outputs or OUTPUTS):
            first, last = int(starts[part.start]), int(ends[part.stop - 1])
            try:
                self.blocks.append(Block(part, slice(first, last), in_features, counts[part],
                                         starts[part] - first, columns[first:last]))
            except Error as error:
                raise Error(f"{name}: columns of outputs {part.start} to {part.stop - 1}: "
                            f"{error.message}; columns are in [0, {in_features}), each once for an "
                            "output, in ascending order") from None


def product(equation, sparse, chunk, rows, most, dtype=None):
    """An op on packed weights, k, of outputs, n, perhaps in parts, t, and rows, m. Its tiles
    have so many weights of one output, and at most so many rows."""
    height = max(16, min(most, 1 << (max(rows, 1) - 1).bit_length()))
    tile = tuple((x, {"k": chunk, "m": height}.get(x, 1)) for x in sorted({*equation} - set(",->")))
    return einsum_op("packed_linear", equation, 2, sparse, "index", None, NOTHING, dtype, "m", True,
                     tile)


def outside_of_graphs(function):
    """Does what torch.compiler.disable does, without importing what that needs: graphs end before
    a call, as they do before one of pit.jit."""
    function._torchdynamo_disable = True
    function._torchdynamo_disable_msg = "a pit.Index, which the layer keeps, is no part of a graph"
    return function


class PackedLinear(torch.autograd.Function):
    """x (rows, in_features), a vector of weights, which `lists` says the place of, and a bias
    (outputs) or None."""

    @staticmethod
    def forward(ctx, x, weights, bias, outputs, lists):
        ctx.save_for_backward(x, weights, lists.columns)
        ctx.lists, ctx.outputs, ctx.has_bias = lists, outputs, bias is not None
        weights = weights.detach()
        op = product("nk,km->nm", "a", lists.chunk, len(x), ROWS)
        y = x.new_empty(len(x), outputs)
        batch = [(rows, x[rows].t().contiguous()) for rows in slices(len(x), ROWS)]
        made = scratch(x, outputs)
        for block in lists.blocks:
            here = weights[block.weights]
            more = 0 if bias is None else bias[block.outputs]
            for rows, turned in batch:
                part = made(block.count, turned.shape[1])
                _op.call(op, (here, turned, block.index), part)
                # No copy_, which takes four times as long.
                torch.add(part.t(), more, out=y[rows, block.outputs])
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, weights, _ = ctx.saved_tensors
        grad = grad.contiguous()
        of_x = OfX(ctx.lists, x) if ctx.needs_input_grad[0] else None
        of_weights = OfWeights(ctx.lists, x, weights) if ctx.needs_input_grad[1] else None
        made, batch = scratch(x, ctx.outputs), slices(len(x), ROWS)
        weights = weights.detach()
        for block in ctx.lists.blocks if of_x or of_weights else ():
            for i, rows in enumerate(batch):
                part = made(block.count, rows.stop - rows.start)
                turn(grad[rows], block.outputs.start, part)
                if of_x:
                    of_x.add(block, i, weights[block.weights], part)
                if of_weights:
                    of_weights.add(block, i, part)
        of_bias = grad.sum(0) if ctx.has_bias and ctx.needs_input_grad[2] else None
        return (of_x and of_x.result(x), of_weights and of_weights.made, of_bias, None, None)


class OfX:
    """The gradient of x. Outputs add to the same sums, one after another, so parts of them have
    sums of their own: threads would write to the same rows."""

    def __init__(self, lists, x):
        type_ = sum_type(x)
        self.op = product("tnk,tnm->tkm", "a", lists.chunk, len(x), ROWS, type_)
        self.totals = [
            x.new_zeros(x.shape[1], rows.stop - rows.start, dtype=_run.TORCH_TYPES[type_])
            for rows in slices(len(x), ROWS)]
        self.sums = [each.new_empty(PARTS, *each.shape) for each in self.totals]

    def add(self, block, i, weights, part):
        parts = block.split.shape[0]
        sums = self.sums[i][:parts]
        _op.call(self.op, (weights, part.view(parts, -1, part.shape[1]), block.split), sums)
        for each in sums:
            self.totals[i] += each

    def result(self, x):
        if not self.totals:
            return x.new_zeros(x.shape)
        return torch.cat([each.t() for each in self.totals]).to(x.dtype)


class OfWeights:
    """The gradient of the vector of weights, of which nothing else is computed."""

    def __init__(self, lists, x, weights):
        type_ = sum_type(x)
        self.op = product("nm,km->nk", "out", lists.chunk, len(x), ROWS_OF_VALUES, type_)
        self.turned = [x[rows].t().contiguous() for rows in slices(len(x), ROWS)]
        self.made = torch.empty_like(weights) if self.turned else torch.zeros_like(weights)
        most = max([b.weights.stop - b.weights.start for b in lists.blocks], default=0)
        self.total, self.more = weights.new_empty(2, most, dtype=_run.TORCH_TYPES[type_])

    def add(self, block, i, part):
        """The sums of some rows, the i-th of the batch's, of which the last come last."""
        target = self.made[block.weights]
        total = target if target.dtype == self.total.dtype else self.total[: len(target)]
        found = self.more[: len(target)] if i else total
        _op.call(self.op, (part, self.turned[i], block.index), found)
        if i:
            total += found
        if total is not target and i + 1 == len(self.turned):
            target.copy_(total)


def sum_type(x):
    """The type of sums, which are rounded once."""
    return "f64" if x.dtype == torch.float64 else "f32"


def slices(length, size):
    return [slice(first, min(first + size, length)) for first in range(0, length, size)]


def scratch(x, outputs):
    """A function that makes the same memory a matrix (outputs, rows)."""
    memory = x.new_empty(min(OUTPUTS, outputs) * min(ROWS, len(x)))
    return lambda outputs, rows: memory[: outputs * rows].view(outputs, rows)


TURN = """func.func @turn(%a: tensor<?x?x{type}>, %at: i64) -> tensor<{count}x?x{type}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant {count} : index
  %first = arith.index_cast %at : i64 to index
  %end = arith.addi %first, %count : index
  %m = tensor.dim %a, %c0 : tensor<?x?x{type}>
  %n = tensor.dim %a, %c1 : tensor<?x?x{type}>
  %within = arith.cmpi ule, %end, %n : index
  cf.assert %within, "turn: {count} columns end behind the last one"
  %part = tensor.extract_slice %a[0, %first] [%m, {count}] [1, 1]
        : tensor<?x?x{type}> to tensor<?x{count}x{type}>
  %e = tensor.empty(%m) : tensor<{count}x?x{type}>
  %r = linalg.transpose ins(%part : tensor<?x{count}x{type}>)
         outs(%e : tensor<{count}x?x{type}>) permutation = [1, 0]
  return %r : tensor<{count}x?x{type}>
}}
"""


def turn(a, first, out):
    """out = a[:, first:first + len(out)].T, in a tenth of the time of torch's copy_."""
    text = TURN.format(count=len(out), type=_run.NAMES[a.dtype])
    _cache.program(text, "turn")["turn"](a, first, out=out)
