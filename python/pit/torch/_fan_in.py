"""Layers whose weights are few in a dense shape: as many for each output, at columns of its
own, and stored alone."""

import torch
from torch import nn

from .._library import Error
from . import _packed_layers

__all__ = ["FixedFanInLinear"]

DENSE_BYTES = 1 << 26  # of what is computed densely at once while weights are regrown


class FixedFanInLinear(_packed_layers.PackedLayer):
    """x weight.T + bias, where each output has `fan_in` weights, at columns of its own; no
    others are stored, and no others have gradients.

        layer = pit.torch.FixedFanInLinear(512, 670091, fan_in=32)   # labels
        loss = criterion(layer(x), labels)
        loss.backward()                                 # layer.values.grad, (670091, 32)
        layer.regrow(0.3)                               # SET: weights elsewhere, at random

    values   (out_features, fan_in), a Parameter
    columns  (out_features, fan_in), a buffer of i32: where the weights are, ascending in each
             row. A column that stands twice in a row is an error. It may be written to; calls
             see that, and check it
    bias     (out_features), or None

    x (..., in_features) of f64, f32, f16 or bf16; the result is (..., out_features). Memory is
    that of values and columns, and 12 bytes for each output; a call on the CPU takes that of
    8192 x 128 results beside its own.
    """

    def __init__(self, in_features, out_features, fan_in, bias=True, device=None, dtype=None):
        super().__init__()
        if not 0 <= fan_in <= in_features:
            raise Error(f"FixedFanInLinear: fan_in is {fan_in}; an output has 0 to in_features = "
                        f"{in_features} weights")
        self.in_features, self.out_features, self.fan_in = in_features, out_features, fan_in
        self.values = nn.Parameter(torch.empty(out_features, fan_in, device=device, dtype=dtype))
        self.register_buffer("columns", torch.empty(
            out_features, fan_in, device=device, dtype=torch.int32))
        self.bias = None
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Other columns at random, and weights as torch.nn.Linear has them for `fan_in` inputs."""
        if self.columns.is_meta:
            return
        bound = max(self.fan_in, 1) ** -0.5
        nn.init.uniform_(self.values, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)
        for first, last in self._dense_blocks():
            order = torch.rand(last - first, self.in_features, device=self.columns.device)
            self.columns[first:last] = ascending(order.topk(self.fan_in).indices)

    @classmethod
    def from_linear(cls, layer, fan_in):
        """The weights of largest magnitude of each output of a torch.nn.Linear."""
        weight = layer.weight.detach()
        made = cls(layer.in_features, layer.out_features, fan_in, layer.bias is not None,
                   weight.device, weight.dtype)
        with torch.no_grad():
            for first, last in made._dense_blocks():
                found = ascending(weight[first:last].abs().topk(fan_in).indices)
                made.columns[first:last] = found
                made.values[first:last] = weight[first:last].gather(1, found)
            if layer.bias is not None:
                made.bias.copy_(layer.bias)
        return made

    def to_dense(self):
        """The weight (out_features, in_features) with zeros; it has gradients."""
        return self.values.new_zeros(self.out_features, self.in_features).scatter(
            1, self.columns.long(), self.values)

    def extra_repr(self):
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"fan_in={self.fan_in}, bias={self.bias is not None}")

    def counts(self):
        return torch.full((self.out_features,), self.fan_in, dtype=torch.int32,
                          device=self.columns.device)

    def _dense_blocks(self):
        """Ranges of outputs whose dense weights are few enough."""
        step = max(1, DENSE_BYTES // (4 * max(self.in_features, 1)))
        for first in range(0, self.out_features, step):
            yield first, min(first + step, self.out_features)

    # -- other columns -------------------------------------------------------

    @torch.no_grad()
    def regrow(self, fraction, x=None, grad=None, optimizer=None):
        """Gives each output other columns: of its weights a `fraction`, those of least
        magnitude, are dropped, and as many grow elsewhere, from 0.

        x, grad    The layer's input, and the gradient of its result: weights grow where the
                   dense gradient is largest (RigL). That is a dense product, which is made and
                   searched for some thousand outputs at a time. Without them they grow at random
                   (SET)
        optimizer  Its state of `values`, as momenta, moves with the weights; that of new ones
                   is 0

        A column that was dropped may grow again. Returns how many weights of an output grew.
        """
        if not 0 <= fraction <= 1:
            raise Error(f"FixedFanInLinear: regrow({fraction}); a fraction is in [0, 1]")
        if (x is None) != (grad is None):
            raise Error("FixedFanInLinear: regrow needs both x and grad, or neither")
        if x is not None:
            x, grad = x.reshape(-1, self.in_features), grad.reshape(-1, self.out_features)
            if len(x) != len(grad):
                raise Error(f"FixedFanInLinear: regrow: x has {len(x)} rows, grad {len(grad)}")
        count = round(fraction * self.fan_in)
        if count == 0:
            return 0
        state = [each for each in (optimizer.state.get(self.values, {}) if optimizer else {})
                 .values() if isinstance(each, torch.Tensor) and each.shape == self.values.shape]
        for first, last in self._dense_blocks():
            old, values = self.columns[first:last], self.values[first:last]
            kept = values.abs().topk(self.fan_in - count).indices
            if grad is None:
                score = torch.rand(last - first, self.in_features, device=old.device)
            else:
                score = (grad[:, first:last].t() @ x).abs()
            score.scatter_(1, old.gather(1, kept).long(), -1)
            grown = score.topk(count).indices
            found, order = torch.cat([old.gather(1, kept).long(), grown], 1).sort(1)
            self.columns[first:last] = found.int()
            for each in (values, *(s[first:last] for s in state)):
                moved = torch.cat([each.gather(1, kept), each.new_zeros(grown.shape)], 1)
                each.copy_(moved.gather(1, order))
        return count


def ascending(columns):
    return columns.sort(1).values
