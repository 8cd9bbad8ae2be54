"""torch.nn.Linear of which a mask keeps some weights, as training with pruning has it."""

import torch
from torch import nn

from .._index import build_index
from .._library import Error
from ..ops._products import linear
from . import _packed, _run

__all__ = ["MaskedLinear"]

# By (micro-tile, axis): what of a dense layer's time a step takes for what is live, all of it, and
# what it takes beside. By measured steps (docs/performance/few-weights.md); 0 is a whole row.
TILES = {((32, 1), 1): (1.05, 0.12), ((1, 0), 0): (1.02, 0.06)}
PACKED = 4.0, 0.22  # single weights
GAIN = 0.95  # of a dense layer's time, from which on weights are skipped
# The same on a GPU, for weights of at least so many elements; smaller ones take as long to launch. Gradients
# of blocks are slower than dense ones there, so blocks are skipped in the forward alone.
GPU_TILES = {((32, 1), 1): (0.95, 0.80), ((1, 0), 0): (1.15, 0.30)}
GPU_LEAST = 1 << 23


class MaskedLinear(nn.Linear):
    """torch.nn.Linear with the weights that a mask keeps; the others are 0, and have no gradient.

        layer = pit.torch.MaskedLinear(1024, 1024)
        layer.set_mask(layer.weight.abs() > threshold)     # every so many steps
        y = layer(x)                                       # skips what is not kept
        y.sum().backward()                                 # and so do all gradients

    weight  (out_features, in_features), stored densely
    mask    a buffer of bools of its shape; all of them at first

    When the mask has changed, a call looks at it once: it makes an index of live 32x1 blocks, of
    live rows or of single weights, or takes the dense product, whichever is predicted to be
    fastest. Calls until the next change, forward and backward, read that. `layer.skips` says
    what it was. `set_mask` makes weights 0 that are not kept; who writes to `weight` or `mask` in
    another way has to do so, too.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.register_buffer("mask", torch.ones_like(self.weight, dtype=torch.bool))
        self._scanned = None

    def set_mask(self, mask):
        """Keeps other weights; those that were not kept grow from 0."""
        kept = self.mask
        if mask.shape != kept.shape:
            raise Error(f"MaskedLinear: a mask of shape {tuple(mask.shape)}; it must have the "
                        f"weight's, {tuple(kept.shape)}")
        with torch.no_grad():
            kept.copy_(mask)
            self.weight.mul_(kept)  # one launch, where filling takes two

    @_packed.outside_of_graphs
    def forward(self, x):
        weight, bias = self.weight, self.bias
        if _run.any_autocast():
            x, weight, *rest = _run.autocast([x, weight] if bias is None else [x, weight, bias])
            bias = rest[0] if rest else None
        way, what = self._scan()
        if way == "index":
            return linear(x, weight, bias, sparse="weight", index=what, assume=True)
        if way == "all":
            return nn.functional.linear(x, weight, bias)
        if way == "multiplied":
            return nn.functional.linear(x, weight * self.mask, bias)
        if way in ("dense", "forward"):
            return Dense.apply(x, weight, bias, self.mask, what)
        kept = weight.reshape(-1).index_select(0, what.places)
        y = _packed.PackedLinear.apply(x.reshape(-1, self.in_features), kept, bias,
                                       self.out_features, what.lists)
        return y.reshape(*x.shape[:-1], self.out_features)

    @property
    def skips(self):
        """The parts that calls skip: "32x1", "1x*", "weights" or "nothing"."""
        way, what = self._scan()
        if way in ("index", "forward"):
            return "x".join("*" if size == 0 else str(size) for size in what.micro_tile)
        return "weights" if way == "weights" else "nothing"

    def _scan(self):
        mask = self.mask
        version = None if mask.is_inference() else mask._version
        state = version, mask.data_ptr(), mask.device
        if self._scanned is None or self._scanned[0] != state or version is None:
            self._scanned = state, scan(mask)
        return self._scanned[1]

    def __getstate__(self):
        return {**self.__dict__, "_scanned": None}  # indices are memory of this process


class Kept:
    """The places of single weights in the weight, and the lists of them."""

    def __init__(self, mask):
        self.places = mask.reshape(-1).nonzero().view(-1)
        columns = (self.places % mask.shape[1]).int()
        self.lists = _packed.Lists("MaskedLinear", mask.sum(1, dtype=torch.int32), columns,
                                   mask.shape[1])


def scan(mask):
    """How a layer skips what a mask does not keep: ("index", a pit.Index), the same in the
    ("forward", ..) alone, ("weights", Kept), ("dense", None), ("multiplied", None) where the host's time is
    that of the layer, or ("all", None), as there is nothing."""
    if mask.is_cuda and mask.numel() < GPU_LEAST:
        return "multiplied", None  # without a question to the device, or a function in Python
    part = live_part(mask, (1, 1))
    if part == 1:
        return "all", None
    times = {}
    for tile, (slope, least) in (GPU_TILES if mask.is_cuda else TILES).items():
        if slope * part + least <= GAIN:  # no more micro-tiles are dead than weights are
            times[tile] = slope * live_part(mask, tile[0]) + least
    if not mask.is_cuda:
        times[None] = PACKED[0] * part + PACKED[1]
    best = min(times, key=times.get, default=None)
    if not times or times[best] > GAIN:
        return "dense", None
    if best is None:
        return "weights", Kept(mask)
    way = "forward" if mask.is_cuda and best[0][0] > 1 else "index"
    return way, build_index(mask, *best, source="mask")


def live_part(mask, micro_tile):
    """Which part of the micro-tiles has a weight that is kept."""
    if not mask.numel():
        return 1.0
    rows, columns = (size or extent for size, extent in zip(micro_tile, mask.shape))
    if (rows, columns) == (1, 1):
        return torch.count_nonzero(mask).item() / mask.numel()
    if mask.shape[0] % rows or mask.shape[1] % columns:
        mask = nn.functional.pad(mask, (0, -mask.shape[1] % columns, 0, -mask.shape[0] % rows))
    # The largest byte of each: `any` of bools takes 50 times as long.
    tiles = mask.view(torch.uint8).reshape(mask.shape[0] // rows, rows, -1, columns).amax((1, 3))
    return torch.count_nonzero(tiles).item() / tiles.numel()


class Dense(torch.autograd.Function):
    """A layer whose gradients are dense products; those of weights that are not kept are 0. `index`
    says what the forward skips, or is None."""

    @staticmethod
    def forward(ctx, x, weight, bias, mask, index):
        ctx.save_for_backward(x, weight, mask)
        ctx.has_bias = bias is not None
        if index is None:
            return nn.functional.linear(x, weight, bias)
        return linear(x, weight, bias, sparse="weight", index=index, assume=True)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, weight, mask = ctx.saved_tensors
        rows = grad.reshape(-1, grad.shape[-1])
        of_x = grad @ weight if ctx.needs_input_grad[0] else None
        of_weight = of_bias = None
        if ctx.needs_input_grad[1]:
            of_weight = rows.t() @ x.reshape(-1, x.shape[-1])
            of_weight.mul_(mask.view(torch.uint8))  # a fourth of the time of bools
        if ctx.has_bias and ctx.needs_input_grad[2]:
            of_bias = rows.sum(0)
        return of_x, of_weight, of_bias, None, None
