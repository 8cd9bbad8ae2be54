"""down(relu(gate(x)) * up(x)), as ReLU-fied models have it: `up` is wanted where the gate is not 0."""

import functools

import torch
from torch import nn

from ..ops._products import linear
from . import _choice, _known

NAMES = ("gate_proj", "up_proj", "down_proj")
ACTIVATIONS = {"act_fn", "activation_fn", "act"}


def activation_of(module):
    """The name of the module's activation, if it is a ReLU and has no hooks; or None."""
    for name, child in module._modules.items():
        if name in ACTIVATIONS and (type(child) is nn.ReLU or type(child).__name__ == "ReLUSquaredActivation"):
            return None if _known.has_own_calls(child) else name
    return None


def is_gated(module):
    """Whether a module has the three products and a ReLU, and nothing else."""
    parts = [module._modules.get(name) for name in NAMES]
    return (all(type(each) is nn.Linear for each in parts) and activation_of(module) is not None
            and set(module._modules) <= {*NAMES, activation_of(module)} and not module._parameters)


def unknown(module):
    """The part of a module's code that pit does not know, or None."""
    name = activation_of(module)
    return (_known.unknown_part(module, {*NAMES, name}, ())
            or _known.unknown_in(module, {*NAMES, name})
            or next((f"{each} has hooks" for each in NAMES
                     if _known.has_own_calls(module._modules[each])), None))


class Gated:
    """Mixed into the class of a module, whose parts it keeps."""

    def take(self):
        self.ways = _choice.ways_of(self)

    def give_back(self):
        del self.ways

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense,), self.__dict__

    def forward(self, *args, **kwargs):
        if not isinstance(self, Gated) or changed(self):
            return getattr(type(self), "dense", type(self)).forward(self, *args, **kwargs)
        x, = (*args, *kwargs.values())
        if not _choice.can_choose(x, self.up_proj.weight):
            return self.by_pit(x)
        dense = super().forward

        def step(which):
            given = x.detach().requires_grad_(x.requires_grad)
            y = dense(given) if which else self.by_pit(given)
            torch.autograd.grad(y, [each for each in (given, *self.parameters()) if each.requires_grad],
                                torch.ones_like(y), allow_unused=True)

        return _choice.of_layer(self.ways, x, self.parameters(), lambda: self.by_pit(x), lambda: dense(x), step)

    def by_pit(self, x):
        gate = self._modules[activation_of(self)](self.gate_proj(x))
        there = gate != 0
        up = linear(x, self.up_proj.weight, self.up_proj.bias, sparse="out", mask=there)
        return linear(gate * up, self.down_proj.weight, self.down_proj.bias, mask=there, assume=True)


def changed(module):
    """Whether calls of its parts would do more than compute."""
    return any(type(module._modules[name]) is not nn.Linear
               or _known.has_own_calls(module._modules[name]) for name in NAMES) or (
                   activation_of(module) is None)


@functools.lru_cache(maxsize=None)
def class_of(base):
    return type(f"Gated{base.__name__}", (Gated, base), {"dense": base})


def restore(base):
    """An object of the class that pickle does not find by its name; its state follows."""
    cls = class_of(base)
    return cls.__new__(cls)
