"""Layers of transformers, with their attention, that some tokens skip."""

import torch

from .._library import Error
from ..torch import _skipping
from . import _attention, _masks


class SkippingLayer(_skipping.Skipping):
    """A layer of a decoder: the kept tokens of a sequence see each other alone, in their order."""

    def attention(self):
        found = [m for m in self.modules() if hasattr(m, "is_causal") and hasattr(m, "config")]
        return found[0] if len(found) == 1 else None

    def there(self, kept, args, kwargs):
        mask = kwargs.get("attention_mask")
        if args:
            raise Error(f"{type(self).dense.__name__}: pass all but hidden states by their names")
        for name in ("cache", "past_key_values"):
            if kwargs.get(name) is not None:
                raise Error(f"{type(self).dense.__name__}: a cache of keys and values; tokens skip "
                            "layers with use_cache=False")
        if mask is None:
            return kept
        # A position that does not see itself is padding.
        if isinstance(mask, _masks.Mask):
            own = mask.own()
            return kept if own is None else kept & own
        if mask.dim() != 4:
            raise Error(f"{type(self).dense.__name__}: attention_mask is {tuple(mask.shape)}; it must be "
                        "(batch, 1, queries, keys), or None")
        return kept & visible(mask.diagonal(dim1=-2, dim2=-1)[:, 0])

    def packed(self, padding, args, kwargs):
        mask = kwargs.pop("attention_mask", None)
        args, kwargs = super().packed(padding, args, kwargs)
        if (isinstance(mask, _masks.Mask) and mask.is_order()
                and mask.causal == getattr(self.attention(), "is_causal", True)):
            mask = None  # padding is not kept, so this is what the attention does by itself
        mask = _masks.dense(mask)
        kwargs["attention_mask"] = None if mask is None else _attention.Window(
            lambda row, head, q, k: visible(mask[row, head, q, k]))
        return args, kwargs | {_attention.PADDING: padding}

    def forward(self, hidden_states, *args, **kwargs):
        return super().forward(hidden_states, *args, **kwargs)


def visible(mask):
    """A mask, of bool or to be added to scores, as bool: a position sees another."""
    return mask if mask.dtype is torch.bool else mask == 0


def skip_tokens(layer, where):
    """Has tokens skip a layer of a decoder of transformers, attention included (mixture of depths, early
    exit, pruned tokens):

        model.set_attn_implementation("pit")
        for layer in model.model.layers[1::2]:
            pit.transformers.skip_tokens(layer, lambda x: router(x).squeeze(-1) > 0)

    `where` is as for pit.torch.skip_tokens. Kept tokens attend to kept ones of their sequence, with
    the positions that they have in it, and to no padding. The model runs with use_cache=False and
    attn_implementation="pit"; pit.torch.densify takes it back. Raises pit.Error if its attention has
    another implementation.
    """
    attention = SkippingLayer.attention(layer)
    if attention is None:
        raise Error(f"skip_tokens: {type(layer).__name__} has no attention of transformers, or several")
    implementation = attention.config._attn_implementation
    if implementation not in _attention.NAMES.values():
        raise Error(f"skip_tokens: attn_implementation={implementation!r}; it must be 'pit': "
                    "model.set_attn_implementation(\"pit\")")
    return _skipping.skip_tokens(layer, where, SkippingLayer)
