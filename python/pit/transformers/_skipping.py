"""Layers of transformers, with their attention, that some tokens skip."""

import torch

from .._library import Error
from ..torch import _skipping
from . import _attention, _kept, _masks, _unpadded


class SkippingLayer(_skipping.Skipping):
    """A layer of a decoder: the kept tokens of a sequence see each other alone, in their order. Tokens of
    earlier calls lie in a cache, of which the layer gets a stand-in (_kept.Packed)."""

    def attention(self):
        found = [m for m in self.modules() if hasattr(m, "is_causal") and hasattr(m, "config")]
        return found[0] if len(found) == 1 else None

    def cache(self, arguments):
        """The layer's own part of a cache among the arguments, or None."""
        for name in _kept.NAMES:
            if arguments.get(name) is not None:
                number = getattr(self.attention(), "layer_idx", None)
                if number is None:
                    raise Error(f"{type(self).dense.__name__}: its attention has no `layer_idx`, which says "
                                "which part of a cache is its own")
                return _kept.kept_layer(arguments[name], number, type(self).dense.__name__)
        return None

    def there(self, kept, args, kwargs):
        # A position that does not see itself is padding.
        mask = kwargs.get("attention_mask")
        if isinstance(mask, _masks.Mask):
            own = mask.own()
            return kept if own is None else kept & own
        if mask is None or isinstance(mask, _attention.Window):
            return kept
        if mask.dim() != 4:
            raise Error(f"{type(self).dense.__name__}: attention_mask is {tuple(mask.shape)}; it must be "
                        "(batch, 1, queries, keys), or None")
        earlier = mask.shape[3] - mask.shape[2]
        return kept & visible(mask.diagonal(earlier, dim1=-2, dim2=-1)[:, 0])

    def packed(self, padding, args, kwargs):
        check_implementation(type(self).dense.__name__, self.attention())
        mask, outer = kwargs.pop("attention_mask", None), kwargs.pop(_attention.PADDING, None)
        caches = {name: kwargs.pop(name) for name in _kept.NAMES if name in kwargs}
        args, kwargs = super().packed(padding, args, kwargs)
        if outer is not None:  # of a batch that is packed already
            outer.calls += 1
            padding = outer.part(padding.index)
        kwargs |= {name: None if x is None else _kept.Packed(x, padding, type(self).dense.__name__)
                   for name, x in caches.items()}
        if (isinstance(mask, _masks.Mask) and mask.is_order() and (
                mask.queries == 1 or mask.causal == getattr(self.attention(), "is_causal", True))):
            mask = None  # padding is not kept, so this is what the attention does by itself
        if isinstance(mask, _masks.Mask) or isinstance(mask, torch.Tensor):
            mask = of_columns(_masks.dense(mask))
        return args, kwargs | {"attention_mask": mask, _attention.PADDING: padding}

    def run_packed(self, rows, args, kwargs):
        padding = kwargs[_attention.PADDING]
        padding.calls = 0
        found = super().run_packed(rows, args, kwargs)
        if not padding.calls:  # it has seen one row of all texts
            raise Error(f"{type(self).dense.__name__}: it does not pass `{_attention.PADDING}` on to its "
                        "attention, or has one of its own")
        return found

    def passed(self, x, args, kwargs):
        found = self.cache(kwargs)
        if found is not None:
            found.pass_by(x.shape[1])
        if kwargs.get(_attention.PADDING) is not None:
            kwargs[_attention.PADDING].calls += 1
        given = {name: value for name, value in kwargs.items()
                 if name not in (*_kept.NAMES, "attention_mask", _attention.PADDING)}
        return super().passed(x, args, given)

    def forward(self, hidden_states, *args, **kwargs):
        names = list(_unpadded.signature_of(type(self).dense).parameters)[2:] if args else []
        if len(args) > len(names) or set(names[:len(args)]) & set(kwargs):
            raise Error(f"{type(self).dense.__name__}: it takes hidden states, {', '.join(names)}; it got "
                        f"{1 + len(args)} arguments without a name")
        return super().forward(hidden_states, **dict(zip(names, args)), **kwargs)


def check_implementation(name, attention):
    """Others would not take the texts of a packed row apart."""
    implementation = attention.config._attn_implementation
    if implementation not in _attention.NAMES.values():
        raise Error(f"{name}: attn_implementation={implementation!r}; it must be 'pit': "
                    "model.set_attn_implementation(\"pit\")")


def of_columns(mask):
    """A mask, (batch, 1, queries, keys), as a function of columns that are counted from the first
    query's; what it has no column for is not seen."""
    earlier = mask.shape[3] - mask.shape[2]

    def function(row, head, query, key):
        key = key + earlier
        row = row if mask.shape[0] > 1 else torch.zeros_like(row)
        return visible(mask[row, head, query, key.clamp(min=0)]) & (key >= 0)

    return _attention.Window(function)


def visible(mask):
    """A mask, of bool or to be added to scores, as bool: a position sees another."""
    return mask if mask.dtype is torch.bool else mask == 0


def skip_tokens(layer, where):
    """Has tokens skip a layer of a decoder of transformers, attention included (mixture of depths, early
    exit, pruned tokens):

        model.set_attn_implementation("pit")
        for layer in model.model.layers[1::2]:
            pit.transformers.skip_tokens(layer, lambda x: router(x).squeeze(-1) > 0)

    `where` is as for pit.torch.skip_tokens; with a cache it sees the tokens of one call. Kept tokens attend
    to kept ones of their sequence, with the positions that they have in it, and to no padding; a token
    that skips the layer leaves no keys in the layer's part of a DynamicCache. The model runs with
    attn_implementation="pit"; pit.torch.densify takes it back. Raises pit.Error if its attention has
    another implementation.
    """
    attention = SkippingLayer.attention(layer)
    if attention is None:
        raise Error(f"skip_tokens: {type(layer).__name__} has no attention of transformers, or several")
    check_implementation("skip_tokens", attention)
    return _skipping.skip_tokens(layer, where, SkippingLayer)
