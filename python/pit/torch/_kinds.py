"""The kinds of layers that sparsify knows: which modules they are, where their zeros are counted, and the forms
that replace them."""

import collections
import functools
import sys
from dataclasses import dataclass

import torch
from torch import nn

from . import _convolutional, _encoders, _gated, _mixtures, _modules, _pruned, _switch

FEW_ZEROS = 0.3  # a smaller part of zeros than this is not measured
LITTLE_PADDING = 0.05  # the same of positions of a batch
FEW_ROWS = 64  # of an input, for which a weight is tried that lies in memory as (k, n)
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 2e-2,
             torch.bfloat16: 5e-2}


@dataclass
class Layer:
    """The findings of samples about a layer."""

    name: str
    module: nn.Module
    kind: "Kind"
    zeros: int = 0
    elements: int = 0
    rows: int = 0
    calls: int = 0
    grad_zeros: int = 0  # of gradients of its result
    grad_elements: int = 0
    inputs: list = None  # arguments of calls
    grads: dict = None  # gradients of their results, by the number of the call
    shared: bool = False  # its weight is a parameter of another module, too

    @property
    def part(self):
        return self.zeros / self.elements if self.elements else 0.0

    @property
    def grad_part(self):
        return self.grad_zeros / self.grad_elements if self.grad_elements else 0.0

    @functools.cached_property
    def weight_part(self):
        """The part of its weight that is 0."""
        weight = self.module.weight.detach()
        return 1 - int(torch.count_nonzero(weight)) / max(1, weight.numel())


def percents(part, least):
    return f"{100 * part:.0f} % zeros; {100 * least:.0f} % are worth a try"


class Kind:
    """A kind of layers. With `holds`, layers in one of it that is taken are a part of it."""

    name = ""
    holds = False
    rule = ""  # what stands in the table for all of them

    def counted(self, layer, args, kwargs):
        """The tensor whose zeros are counted, and how many rows it has."""
        x = next(x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor))
        return x, x.numel() // max(1, x.shape[-1])

    def learn(self, layer, layers):
        """Completes a layer, when those in it have been counted, too."""

    def why_not(self, layer):
        """Why a layer is not worth a try, or ""."""
        return ""

    def unknown(self, layer, training):
        """The part of its code that pit does not know, or None."""
        return None

    def shows(self, layer):
        """Whether a layer has a line in the table."""
        return True

    def results(self, layer, args, kwargs, made):
        """The tensors that a layer made and that are compared."""
        return made


class LinearKind(Kind):
    name = "linear"

    def takes(self, module):
        return type(module) is nn.Linear and module.weight.dtype in TOLERANCE

    def shape(self, module):
        return tuple(module.weight.shape)

    def why_not(self, layer):
        most = max(layer.part, layer.weight_part, layer.grad_part)
        return "" if most >= FEW_ZEROS else percents(most, FEW_ZEROS)

    def forms(self, layer, row):
        module = layer.module
        parts = {"x": row.zeros, "weight": row.weight_zeros, "grad": layer.grad_part}
        found = [lambda which=which: _modules.make_sparse(module, which)
                 for which, part in parts.items() if part >= FEW_ZEROS]
        # A zero of x skips a row of a weight, if that lies as one piece. In training a GPU would
        # transpose another one twice a step.
        skips_rows = row.rows <= FEW_ROWS or module.training and module.weight.is_cuda
        if row.zeros >= FEW_ZEROS and skips_rows and not layer.shared:
            found.append(lambda: _modules.make_sparse(module, "x", exchanged=True))
        if _pruned.has_mask(module):
            found.append(lambda: _modules.make(module, _pruned.PrunedLinear))
        return found


class ConvKind(Kind):
    name = "conv"

    def takes(self, module):
        return (type(module) is nn.Conv2d and module.padding_mode == "zeros"
                and module.weight.dtype in TOLERANCE)

    def counted(self, layer, args, kwargs):
        x, _ = super().counted(layer, args, kwargs)
        return x, x.numel() // max(1, x.shape[-3])  # pixels

    def shape(self, module):
        return tuple(module.weight.shape)

    def why_not(self, layer):
        most = max(layer.part, layer.weight_part)
        return "" if most >= FEW_ZEROS else percents(most, FEW_ZEROS)

    def forms(self, layer, row):
        return [lambda which=which: _convolutional.make_sparse(layer.module, which)
                for which, part in (("x", row.zeros), ("weight", row.weight_zeros)) if part >= FEW_ZEROS]


class OfPartKind(Kind):
    """A layer whose zeros are those in front of a Linear that is a part of it."""

    holds = True

    def counted(self, layer, args, kwargs):
        return None, super().counted(layer, args, kwargs)[1]

    def learn(self, layer, layers):
        inner = layers.get(self.inner(layer.module))
        if inner is not None:
            layer.zeros, layer.elements = inner.zeros, inner.elements

    def shape(self, module):
        return tuple(self.inner(module).weight.shape)

    def why_not(self, layer):
        return "" if layer.part >= FEW_ZEROS else percents(layer.part, FEW_ZEROS)


class EncoderKind(OfPartKind):
    """torch.nn.TransformerEncoderLayer that torch computes in one op."""

    name = "encoder"
    rule = "zeros of linear2"

    def takes(self, module):
        return _encoders.is_one_op(module)

    def inner(self, module):
        return module.linear2

    def forms(self, layer, row):
        return [lambda: _modules.make(layer.module, _encoders.EncoderLayer)]


class GatedKind(OfPartKind):
    """down(relu(gate(x)) * up(x)), as ReLU-fied models have it."""

    name = "gated"
    rule = "up where gate is not 0"

    def takes(self, module):
        return _gated.is_gated(module)

    def inner(self, module):
        return module.down_proj

    def forms(self, layer, row):
        cls = _gated.class_of(type(layer.module))
        return [lambda: _modules.make(layer.module, cls)]

    def unknown(self, layer, training):
        return _gated.unknown(layer.module)

    def shows(self, layer):
        return not self.why_not(layer)


class BlockKind(Kind):
    """A mixture of experts with its router."""

    name = "block"
    holds = True
    rule = "rows of experts"

    def takes(self, module):
        return _mixtures.is_block(module)

    def shape(self, module):
        first = module.experts[0]
        return len(module.experts), *getattr(first, _mixtures.names_of_expert(first)[0]).weight.shape

    def unknown(self, layer, training):
        return _mixtures.unknown_of_block(layer.module) or (
            _mixtures.untrained_of_block(layer.module) if training else None)

    def forms(self, layer, row):
        with torch.no_grad():
            args, kwargs = layer.inputs[0]
            with_logits = isinstance(layer.module(*args, **kwargs), tuple)
        return [lambda: _modules.make_experts_sparse(layer.module, _modules.Block, with_logits)]


class ExpertsKind(Kind):
    name = "experts"
    rule = "rows of experts"

    def takes(self, module):
        return _mixtures.is_experts(module)

    def shape(self, module):
        experts, hidden, f = module.down_proj.shape
        return experts, f, hidden

    def unknown(self, layer, training):
        return _mixtures.unknown_of_experts(layer.module) or (
            _mixtures.untrained_of_experts(layer.module) if training else None)

    def forms(self, layer, row):
        return [lambda: _modules.make_experts_sparse(layer.module, _modules.Experts)]


class SwitchKind(Kind):
    """The experts of a Switch Transformer."""

    name = "experts"
    holds = True
    rule = "rows of experts"

    def takes(self, module):
        return _switch.is_switch(module)

    def shape(self, module):
        return len(module), *next(iter(module.values())).wi.weight.shape

    def unknown(self, layer, training):
        return _switch.unknown(layer.module) or (
            "in training its experts run as they were" if training else None)

    def forms(self, layer, row):
        return [lambda: _modules.make_experts_sparse(layer.module, _switch.Switch)]


class PaddingKind(Kind):
    """A model of transformers without what that has on top of it."""

    name = "padding"
    rule = "rows that are there"

    def takes(self, module):
        transformers = sys.modules.get("transformers")
        return (transformers is not None and isinstance(module, transformers.PreTrainedModel)
                and module.base_model is module)

    def counted(self, layer, args, kwargs):
        mask = mask_of(layer.module, args, kwargs)
        return mask, 0 if mask is None else mask.numel()

    def shape(self, module):
        return (module.get_input_embeddings().weight.shape[-1],)

    def why_not(self, layer):
        if layer.part >= LITTLE_PADDING:
            return ""
        return f"{100 * layer.part:.0f} % padding; {100 * LITTLE_PADDING:.0f} % are worth a try"

    def shows(self, layer):
        return bool(layer.elements)

    def forms(self, layer, row):
        return [lambda: unpadded().make_unpadded(layer.module)]

    def results(self, layer, args, kwargs, made):
        mask = mask_of(layer.module, args, kwargs)
        return made if mask is None else [
            x[mask != 0] if x.shape[:2] == mask.shape else x for x in made]


LINEAR, CONV = LinearKind(), ConvKind()
KINDS = (LINEAR, CONV, PaddingKind(), BlockKind(), ExpertsKind(), SwitchKind(), GatedKind(),
         EncoderKind())


def kind_of(module):
    if isinstance(module, (_modules.Block, _modules.Experts)):
        return None
    return next((kind for kind in KINDS if kind.takes(module)), None)


def unpadded():
    from ..transformers import _unpadded  # which imports much
    return _unpadded


def mask_of(module, args, kwargs):
    """The mask that a body of a model is called with, or None."""
    cls = type(module)
    cls = vars(cls).get("dense", cls)  # of what has changed its class, the one before
    mask = (unpadded().arguments_of(cls, module, args, kwargs) or {}).get("attention_mask")
    return mask if isinstance(mask, torch.Tensor) and mask.dim() == 2 else None


def layers_of(model):
    """The layers of a model, by modules. Mixtures come before the layers in them."""
    layers = {}
    for name, module in model.named_modules():
        kind = kind_of(module)
        if kind is not None and module not in layers:
            layers[module] = Layer(name, module, kind, inputs=[], grads={})
    owners = collections.Counter(id(p) for m in model.modules() for p in m._parameters.values())
    for layer in layers.values():
        layer.shared = layer.kind is LINEAR and owners[id(layer.module.weight)] > 1
    return layers
