"""Layers whose weights are a bitmap and the values that are not zero (pit.compress), for inference."""

import torch
from torch import nn

from .._library import Error
from ..ops._compressed import Compressed, compress, compressed_linear

__all__ = ["CompressedLinear", "compress_linears"]


class Product(torch.autograd.Function):
    """x (..., in_features) by a compressed weight, which has no gradient."""

    @staticmethod
    def forward(ctx, x, bias, words, values, shape):
        ctx.save_for_backward(words, values)
        ctx.shape = shape
        x, bias = x.detach(), None if bias is None else bias.detach()
        return compressed_linear(x, Compressed(words, values, shape), bias)

    @staticmethod
    def backward(ctx, grad):
        of_x = of_bias = None
        if ctx.needs_input_grad[0]:
            of_x = grad @ Compressed(*ctx.saved_tensors, ctx.shape).dense().to(grad.dtype)
        if ctx.needs_input_grad[1]:
            of_bias = grad.reshape(-1, grad.shape[-1]).sum(0)
        return of_x, of_bias, None, None, None


class CompressedLinear(nn.Module):
    """x weight.T + bias of a weight with zeros anywhere, of which a bit for each element and the values that are
    not zero are stored. The weight stays as it is: it has no gradient, x and the bias have.

        layer = pit.torch.CompressedLinear.from_linear(pruned)
        y = layer(x)

    words    a buffer of i32, as in pit.Compressed
    values   (weights), a buffer
    bias     (out_features), or None
    weight   (out_features, in_features) with zeros, made anew each time

    state_dict() has the dense weight and the bias, as torch.nn.Linear's, and load_state_dict takes these. Memory
    is that of the values and 12 bytes for 64 elements: of 16-bit weights with 60 % zeros 0.49 of a dense one's. On
    a GPU up to 32 rows of f16 or bf16 read that alone; for more, and on a CPU, a call writes the weight out first.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        zeros = torch.zeros(out_features, in_features, device=device, dtype=dtype)
        for name in ("words", "values"):
            self.register_buffer(name, None, persistent=False)
        self.take(zeros)
        self.bias = None
        if bias:
            self.bias = nn.Parameter(zeros.new_zeros(out_features))

    @classmethod
    def from_linear(cls, layer, mask=None):
        """The weights of a torch.nn.Linear that a mask keeps, or that are not 0."""
        made = cls(0, 0, False, layer.weight.device, layer.weight.dtype)
        made.in_features, made.out_features = layer.in_features, layer.out_features
        made.bias = layer.bias
        made.take(layer.weight, mask)
        made.train(layer.training)
        return made

    def take(self, weight, mask=None):
        """Stores another weight."""
        made = compress(weight, mask)
        self.words, self.values = made.words, made.values

    @property
    def compressed(self):
        return Compressed(self.words, self.values, (self.out_features, self.in_features))

    @property
    def weight(self):
        return self.compressed.dense()

    def forward(self, x):
        return Product.apply(x, self.bias, self.words, self.values, (self.out_features, self.in_features))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        destination[prefix + "weight"] = self.weight
        super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        name = prefix + "weight"
        rest = {key: value for key, value in state_dict.items() if key != name}
        super()._load_from_state_dict(rest, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)
        weight = state_dict.get(name)
        shape = (self.out_features, self.in_features)
        if weight is None:
            missing_keys.append(name)
        elif tuple(weight.shape) != shape:
            error_msgs.append(f"size mismatch for {name}: a weight of shape {tuple(weight.shape)}, the layer's "
                              f"is {shape}")
        else:
            self.take(weight.to(self.values.device, self.values.dtype))

    def extra_repr(self):
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"weights={len(self.values)}, bias={self.bias is not None}")


def compress_linears(model, zeros=0.4):
    """Replaces the torch.nn.Linear layers of a model at least a part `zeros` of whose weights are 0 by
    CompressedLinear, for inference, and gives how many it replaced.

        pit.torch.compress_linears(model)     # state_dict() stays as it is

    Parameters that are used in several places stay as they are, and so do subclasses of torch.nn.Linear.
    """
    if not 0 <= zeros <= 1:
        raise Error(f"compress_linears: zeros is {zeros}; it is a part of the weights, from 0 to 1")
    users = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            users[parameter] = users.get(parameter, 0) + 1
    replaced = {}
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            if type(layer) is not nn.Linear or users[layer.weight] > 1:
                continue
            if layer not in replaced:
                kept = torch.count_nonzero(layer.weight).item()
                enough = layer.weight.numel() > 0 and kept <= (1 - zeros) * layer.weight.numel()
                replaced[layer] = CompressedLinear.from_linear(layer) if enough else layer
            setattr(parent, name, replaced[layer])
    return sum(type(layer) is CompressedLinear for layer in replaced.values())
