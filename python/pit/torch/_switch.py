"""Experts of Switch Transformers, as transformers has them: a dict of feed-forward blocks, called with a one-hot
choice for each token."""

import torch
from torch import nn
from torch.nn.modules import module as torch_module

from ..ops._moe import moe
from . import _choice, _experts, _known
from ._mixtures import Block, as_one, restore, stack_again
from ._run import any_autocast

NAMES = ("wi", "wo")
# The classes whose code is known: of the experts, and of one expert.
KNOWN = ("SwitchTransformersExperts", "SwitchTransformersDenseActDense")
MODULE = "transformers.models.switch_transformers.modeling_switch_transformers"


def is_known(cls, name):
    return cls.__module__ == MODULE and cls.__name__ == name


def is_switch(module):
    """Whether a module is the experts of a Switch Transformer."""
    return is_known(type(module), KNOWN[0]) and len(module) > 0


def activation_of(expert):
    """pit's name of what an expert computes between its products, or None."""
    act = expert._modules.get("act")
    if act is None or _known.has_own_calls(act) or getattr(act, "approximate", "none") != "none":
        return None
    return _experts.CLASSES.get(type(act).__name__)


def unknown(module):
    """The part of the experts that is not known, as the end of a sentence; None: all is known."""
    if activation_of(next(iter(module.values()))) is None:
        return "its experts have an activation that pit does not know"
    return None if weights_of(module) else "its experts differ, have hooks, or share weights"


def weights_of(module):
    """The weights of all experts, as lists of those of either product. None: something other than the known
    classes and one activation computes a result, or more is called than their forward."""
    if torch_module._has_any_global_hook():
        return None
    found, activations = ([], []), set()
    for expert in module._modules.values():
        if not is_known(type(expert), KNOWN[1]) or _known.has_own_calls(expert):
            return None
        activations.add(activation_of(expert))
        for name, weights in zip(NAMES, found):
            layer = expert._modules.get(name)
            if (type(layer) is not nn.Linear or _known.has_own_calls(layer) or layer._parameters["bias"] is not None
                    or layer._parameters["weight"] is None):
                return None
            weights.append(layer._parameters["weight"])
    flat = [w for each in found for w in each]
    alike = len(activations) == 1 and None not in activations and len({id(w) for w in flat}) == len(flat) and all(
        w.dtype == flat[0].dtype and w.device == flat[0].device for w in flat)
    return found if alike else None


class Switch(Block):
    """The experts in one program. Their weights become views of one tensor for each product."""

    def take(self):
        self.ways = _choice.ways_of(self)
        self.stack()
        self.reload = self.register_load_state_dict_post_hook(stack_again)

    def give_back(self):
        self.reload.remove()
        del self.ways, self.reload

    def weights(self):
        return weights_of(self)

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense, Switch), self.__dict__

    def forward(self, hidden_states, selected_experts, routing_weights):
        given = hidden_states, selected_experts, routing_weights
        if not isinstance(self, Switch):  # of densify, by a hook that has kept this method
            return type(self).forward(self, *given)
        dense = super(Block, self).forward
        if (self.training or _experts.is_trained(self, given) or any_autocast()
                or not _choice.can_choose(hidden_states, next(iter(self.values())).wi.weight)
                or selected_experts.dim() != 3):
            return dense(*given)
        weights = self.weights()
        wholes = [as_one(each) for each in weights or ()]
        if not wholes or any(w is None for w in wholes) or wholes[0].dtype != hidden_states.dtype:
            return dense(*given)
        return _choice.of_layer(self.ways, hidden_states, (), lambda: self.by_pit(*given, wholes),
                                lambda: dense(*given), None)

    def by_pit(self, x, selected, scales, wholes):
        # An expert that has no room for a token leaves it none.
        chosen = torch.where(selected.any(-1), selected.argmax(-1), -1)
        up, down = (w.transpose(1, 2) for w in wholes)
        return moe(x, scales.to(x.dtype), chosen, None, up, down, activation=activation_of(next(iter(self.values()))))
