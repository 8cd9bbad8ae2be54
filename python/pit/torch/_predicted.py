"""Feed-forward blocks of which a predictor says which neurons count, for the few tokens of a decoder's step:
the rows of both weights that these neurons have are read, and nothing else, by one program."""

import torch
from torch import nn

from .. import tile
from .._library import Error
from ..ops._products import linear
from ..tile import jit
from ._modules import lay_out

MOST_TOKENS = 16
CHUNK = 32  # neurons of a step, of one token
CHUNK_OF_TOKENS = 64
ELEMENTS = 1024  # of a row that a step reads: rows of a chunk stay in the second cache
# Times over that of torch's block for one token (an EPYC, one thread; benchmarks/python/predicted_mlp.py): that of
# t tokens is t ** GROWTH; of a neuron's rows for single tokens, APART; for tokens at once, TOGETHER of torch's.
GROWTH, APART, TOGETHER = {False: 0.45, True: 0.26}, {False: 2.2, True: 1.9}, {False: 1.0, True: 1.6}  # half: True
GAIN = 0.8  # of torch's time, from which on a program skips neurons


def activate(h, activation):
    if activation == "relu":
        return tile.maximum(h, 0.0)
    if activation == "relu2":
        return tile.maximum(h, 0.0) * tile.maximum(h, 0.0)
    return h / (tile.exp(-h) + 1.0)


@jit
def block(x: tile.tensor["T", "K"], mask: tile.i1["T", "P", "Q"], wg: tile.tensor["P", "Q", "K"],
          bg: tile.tensor["P", "Q"], w1: tile.tensor["P", "Q", "K"], b1: tile.tensor["P", "Q"],
          w2: tile.tensor["P", "Q", "N"], *, m, K, N, k, n, chunk, wide, activation, gates):
    """(P, T, N): what the neurons of each part add, of `m` tokens at a time. Without `gates` those of the first
    weight are not read."""
    T = x.shape[0]
    P, Q, _ = w1.shape
    live = tile.build_index(mask, micro_tile=[m, 1, 1], axis=2, source="mask")
    y = tile.zeros((P, T, N), wide)
    for p, i in tile.forall(P, (0, T, m)):
        for ids in tile.for_ids(live, i, p, chunk=chunk):
            if gates:
                g = tile.zeros((m, chunk), wide)
            h = tile.zeros((m, chunk), wide)
            for d in tile.for_range(0, K, k):
                if gates:
                    g += tile.dot(tile.sread(x[i, d]), tile.sread(wg[p, ids, d]).T)
                h += tile.dot(tile.sread(x[i, d]), tile.sread(w1[p, ids, d]).T)
            h = h + tile.sread(b1[p, ids]).to(wide)[None, :]
            if gates:
                h = activate(g + tile.sread(bg[p, ids]).to(wide)[None, :], activation) * h
            else:
                h = activate(h, activation)
            h = tile.where(tile.sread(mask[i, p, ids]), h, 0.0).to(x.dtype)
            for j in tile.for_range(0, N, n):
                tile.swrite(y[p, i, j], tile.dot(h, tile.sread(w2[p, ids, j])), combine="add")
    return y


def tokens_at_once(mask, half=False):
    """How many tokens a step has; 0: products of all tokens take less time. `half`: of f16 or bf16."""
    tokens, neurons = mask.shape
    if tokens == 1:
        return 1
    each = APART[half] * int(torch.count_nonzero(mask)) / neurons
    whole = tokens ** GROWTH[half]
    together = TOGETHER[half] * whole * int(torch.count_nonzero(mask.view(torch.uint8).amax(0))) / neurons
    if min(each, together) > GAIN * whole:
        return 0
    return 1 if each <= together else 1 << (tokens - 1).bit_length()


def parts_of(neurons, blocks):
    """How many parts of the neurons threads compute, each the same number."""
    most = max(1, torch.get_num_threads() // blocks)
    return next(parts for parts in range(most, 0, -1) if neurons % parts == 0)


ACTIVATIONS = {"relu": torch.relu, "relu2": lambda h: torch.relu(h).square(),
               "silu": nn.functional.silu}


class PredictedMlp(nn.Module):
    """down(activation(up(x))), or down(activation(gate(x)) * up(x)), of the neurons that a predictor names.

        mlp = pit.torch.PredictedMlp(layer.fc1, layer.fc2, rank=64)
        mlp = pit.torch.PredictedMlp(up, down, predictor, gate=gate, activation="relu")
        y = mlp(x)                          # of up to 16 tokens

    up, down, gate  torch.nn.Linear, which are children from then on. The weight of `down`, which keeps its
                    shape, lies in memory as (neurons, out) then.
    predictor       a module, or a function, of x (tokens, in): a score for each neuron, (tokens, neurons); those
                    above `threshold` count. None: a product of rank `rank`, made of the singular values of
                    the weight of `up` (or `gate`), with its bias.
    activation      "relu", "relu2" (squared) or "silu"

    Calls with more tokens than `most_tokens`, as a prompt has, with gradients, in graphs and on a GPU compute all
    neurons, without the predictor where there are more tokens, else with its mask. Raises pit.Error if layers or
    scores do not fit.
    """

    def __init__(self, up, down, predictor=None, *, gate=None, activation="relu", rank=None, threshold=0.0,
                 most_tokens=MOST_TOKENS):
        super().__init__()
        neurons, first = up.weight.shape[0], up if gate is None else gate
        if down.weight.shape[1] != neurons or first.weight.shape != up.weight.shape:
            raise Error(f"PredictedMlp: up has {tuple(up.weight.shape)}, gate {tuple(first.weight.shape)} and down "
                        f"{tuple(down.weight.shape)}; they must be (neurons, in), the same, and (out, neurons)")
        if activation not in ACTIVATIONS:
            raise Error(f"PredictedMlp: no activation {activation!r}; there are {', '.join(ACTIVATIONS)}")
        if (predictor is None) == (rank is None):
            raise Error("PredictedMlp: give a predictor, or the rank= of one that is made of the weight")
        self.up, self.down, self.gate = up, down, gate
        self.predictor = predictor if rank is None else low_rank(first, rank)
        self.activation, self.threshold, self.most_tokens = activation, threshold, most_tokens
        lay_out(down.weight, True)

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        if len(rows) > self.most_tokens:
            return self.of_all(x)
        mask = self.neurons(rows)
        if torch.compiler.is_compiling() or not x.is_cpu or torch.is_grad_enabled() and any(
                each.requires_grad for each in (x, *self.up.parameters(), *self.down.parameters())):
            y = self.of_all(rows, mask)
        else:
            y = self.of_some(rows, mask)
        return y.reshape(*x.shape[:-1], y.shape[-1])

    def neurons(self, x):
        """The mask, (tokens, neurons)."""
        scores = self.predictor(x)
        wanted = (*x.shape[:-1], self.up.weight.shape[0])
        if tuple(scores.shape) != wanted:
            raise Error(f"PredictedMlp: the predictor gives {tuple(scores.shape)} for x {tuple(x.shape)}; it must "
                        f"be {wanted}")
        return scores if scores.dtype == torch.bool else scores > self.threshold

    def of_all(self, x, mask=None):
        function = ACTIVATIONS[self.activation]
        h = function(self.up(x)) if self.gate is None else function(self.gate(x)) * self.up(x)
        return self.down(h if mask is None else h * mask.view(torch.uint8))  # a third of the time of bools

    def by_products(self, x, mask):
        """One product after another, each of which skips what it does not need."""
        function = ACTIVATIONS[self.activation]
        first, *more = (linear(x, layer.weight, layer.bias, sparse="out", mask=mask)
                        for layer in (self.gate, self.up) if layer is not None)
        h = function(first)
        for each in more:
            h = h * each
        return linear(h, self.down.weight, self.down.bias, mask=mask)

    def of_some(self, x, mask):
        half = x.dtype in (torch.float16, torch.bfloat16)
        at_once = tokens_at_once(mask, half) if x.shape[0] else 0
        if not at_once:
            return self.of_all(x, mask) if half or not x.shape[0] else self.by_products(x, mask)
        tokens, neurons = mask.shape
        parts = parts_of(neurons, -(-tokens // at_once))
        weights = []
        for layer in (self.up if self.gate is None else self.gate, self.up):
            bias = layer.bias if layer.bias is not None else x.new_zeros(neurons)
            weights += [layer.weight.detach().view(parts, -1, x.shape[1]), bias.detach().view(parts, -1)]
        turned = self.down.weight.detach().t()
        if not turned.is_contiguous():  # it was loaded, or moved
            lay_out(self.down.weight, True)
            turned = self.down.weight.detach().t()
        y = block(
            x.detach().contiguous(), mask.view(tokens, parts, -1), *weights, turned.view(parts, -1, turned.shape[1]),
            m=at_once, k=min(ELEMENTS, x.shape[1]), n=min(ELEMENTS, turned.shape[1]),
            chunk=CHUNK if at_once == 1 else CHUNK_OF_TOKENS,
            wide=tile.f64 if x.dtype == torch.float64 else tile.f32, activation=self.activation,
            gates=self.gate is not None)
        y = y.sum(0)
        if self.down.bias is not None:
            y += self.down.bias
        return y.to(x.dtype)

    @torch.no_grad()
    def check(self, x):
        """The part of neurons that the predictor names for x, and the part of those that count without it
        (whose activation is not 0) that it misses."""
        x = x.reshape(-1, x.shape[-1])
        mask, first = self.neurons(x), self.up if self.gate is None else self.gate
        live = ACTIVATIONS[self.activation](first(x)) != 0
        return mask.float().mean().item(), ((live & ~mask).sum() / live.sum().clamp(min=1)).item()


@torch.no_grad()
def low_rank(layer, rank):
    """Two Linears whose product is the nearest one to a layer that has this rank."""
    if not 0 < rank <= min(layer.weight.shape):
        raise Error(f"PredictedMlp: rank={rank}; the weight has {tuple(layer.weight.shape)}")
    u, s, v = torch.linalg.svd(layer.weight.float(), full_matrices=False)
    root = s[:rank].sqrt()
    options = {"device": layer.weight.device, "dtype": layer.weight.dtype}
    first = nn.Linear(layer.in_features, rank, bias=False, **options)
    second = nn.Linear(rank, layer.out_features, bias=layer.bias is not None, **options)
    first.weight.copy_(root[:, None] * v[:rank])
    second.weight.copy_(u[:, :rank] * root)
    if layer.bias is not None:
        second.bias.copy_(layer.bias)
    return nn.Sequential(first, second)
