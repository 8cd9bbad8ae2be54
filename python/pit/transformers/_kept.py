"""Caches of layers that some tokens skip: keys and values of the tokens alone that were kept."""

import dataclasses
from dataclasses import dataclass

import torch
from torch.nn.functional import pad
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from .._library import Error

NAMES = "cache", "past_key_values"  # of the argument that is a layer's cache


@dataclass
class Keys:
    """Keys and values of several texts, (batch, heads, most, d): the first `counts` of each text are there,
    in their order. `places` are their positions, (batch, most)."""

    keys: torch.Tensor
    values: torch.Tensor
    counts: torch.Tensor
    places: torch.Tensor

    def and_(self, keys, values, padding, first):
        """These, and those of kept tokens, (heads, tokens, d), behind them; their columns begin at the
        position `first`."""
        rows = padding.index // padding.shape[1]
        at = torch.arange(len(rows), device=rows.device) - padding.offsets[rows] + self.counts[rows]
        counts = self.counts + padding.lengths
        more = max(0, int(counts.max()) - self.places.shape[1])
        places = pad(self.places, (0, more))
        places[rows, at] = padding.columns + first
        made = [pad(old, (0, 0, 0, more)) for old in (self.keys, self.values)]
        for old, new in zip(made, (keys, values)):
            old[rows, :, at] = new.transpose(0, 1)
        return Keys(*made, counts, places)

    def between(self, first, last):
        """The keys of these positions."""
        there = torch.arange(self.places.shape[1], device=self.places.device) < self.counts[:, None]
        skipped = (there & (self.places < first)).sum(1)
        counts = (there & (self.places < last)).sum(1) - skipped
        if torch.equal(counts, self.counts):
            return self
        at = skipped[:, None] + torch.arange(int(counts.max()), device=counts.device)
        at = at.clamp(max=self.places.shape[1] - 1)
        rows = torch.arange(len(at), device=at.device)[:, None]
        keys, values = (x[rows, :, at].transpose(1, 2) for x in (self.keys, self.values))
        return Keys(keys, values, counts, self.places[rows, at])


class Kept:
    """A layer of a DynamicCache that holds the keys of kept tokens alone. `cumulative_length` counts all of
    the model's positions, as its masks do. Invariant: a mask's columns are those of all keys that are held,
    or shown to a call; so a text's order says all if the mask says no more than that."""

    counts = places = None
    record_past = False
    window = None

    def take(self, old):
        """Begins with the keys of a layer that no token skipped."""
        self.cumulative_length = old.get_seq_length()
        if old.is_initialized:
            self.lazy_initialization(old.keys, old.values)
            if old.keys.dim() == 4:  # else it has none
                batch, _, most, _ = old.keys.shape
                places = torch.arange(self.cumulative_length - most, self.cumulative_length)
                self.hold(Keys(old.keys, old.values, torch.full((batch,), most, device=self.device),
                               places.to(self.device).repeat(batch, 1)))

    def held(self):
        return Keys(self.keys, self.values, self.counts, self.places)

    def hold(self, found):
        self.keys, self.values, self.counts, self.places = (
            found.keys, found.values, found.counts, found.places)

    def update(self, key_states, value_states, padding=None, *args, **kwargs):
        """Adds the keys of kept tokens, (1, heads, tokens, d), and says in `padding.shown` what these
        see if there are others. Its places are counted from the call's first position."""
        if padding is None:
            raise Error("a cache has one layer's keys of kept tokens alone; that layer continues it while "
                        "tokens skip it, and no longer when it was taken back")
        batch, before = padding.shape[0], self.cumulative_length
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        if self.places is None:
            none = [x.new_empty(batch, x.shape[1], 0, x.shape[3]) for x in (key_states, value_states)]
            self.hold(Keys(*none, padding.index.new_zeros(batch), padding.index.new_empty(batch, 0)))
        if len(self.counts) != batch:
            raise Error(f"a cache is of {len(self.counts)} texts; the call has {batch}")
        are_others = self.places.shape[1] > 0
        self.hold(self.held().and_(key_states[0], value_states[0], padding, before))
        if are_others:
            found = self.held()
            if self.window is not None:
                found = found.between(self.first_seen(), before + padding.shape[1])
            padding.shown = dataclasses.replace(found, places=found.places - before)
        self.pass_by(padding.shape[1])
        return key_states, value_states

    def first_seen(self):
        """The first position that the next query sees."""
        return 0 if self.window is None else self.cumulative_length - self.window + 1

    def pass_by(self, positions):
        """The model has seen so many positions more."""
        self.cumulative_length += positions
        if self.window is not None and not self.record_past:
            self.forget()

    def forget(self):
        """Drops what no later query sees."""
        if self.places is not None:
            self.hold(self.held().between(self.first_seen(), self.cumulative_length))

    def get_seq_length(self):
        return self.cumulative_length

    def get_mask_sizes(self, query_length):
        if self.window is None:
            return self.cumulative_length + query_length, 0
        return super().get_mask_sizes(query_length)

    def reset(self):
        super().reset()
        self.counts = self.places = None
        self.cumulative_length = 0

    def crop(self, tokens_to_remove):
        if tokens_to_remove > 0:
            raise Error(f"crop({tokens_to_remove}): a negative number says how many positions go")
        if self.window is not None and self.cumulative_length >= self.window and not self.record_past:
            raise Error(f"crop({tokens_to_remove}): keys outside of the window of {self.window} are gone; "
                        "call `activate_past_recording` before")
        self.cumulative_length += tokens_to_remove
        self.forget()

    # -- texts -----------------------------------------------------------------

    def choose(self, function):
        if self.places is not None:
            for name in ("keys", "values", "counts", "places"):
                setattr(self, name, function(getattr(self, name)))

    def reorder_cache(self, beam_idx):
        self.choose(lambda x: x.index_select(0, beam_idx.to(x.device)))

    def batch_repeat_interleave(self, repeats):
        self.choose(lambda x: x.repeat_interleave(repeats, dim=0))

    def batch_select_indices(self, indices):
        self.choose(lambda x: x[indices])


class KeptLayer(Kept, DynamicLayer):
    pass


class KeptWindowLayer(Kept, DynamicSlidingWindowLayer):
    @property
    def window(self):
        return self.sliding_window


def kept_layer(cache, number, name):
    """Layer `number` of a cache, which holds kept tokens alone from now on; `name` is that of the model's
    layer."""
    layers = getattr(cache, "layers", None)
    if layers is None:
        raise Error(f"{name}: its cache is {type(cache).__name__}; tokens skip layers with a DynamicCache")
    while len(layers) <= number and getattr(cache, "layer_class_to_replicate", None) is not None:
        layers.append(cache.layer_class_to_replicate())
    if number >= len(layers):
        raise Error(f"{name}: its cache has {len(layers)} layers; its own is number {number}")
    old = layers[number]
    if isinstance(old, Kept):
        return old
    if type(old) is DynamicLayer:
        new = KeptLayer()
    elif type(old) is DynamicSlidingWindowLayer:
        new = KeptWindowLayer(old.sliding_window)
        new.record_past = old.record_past
    else:
        raise Error(f"{name}: layer {number} of its cache is {type(old).__name__}; tokens skip layers with a "
                    "DynamicCache, whose layers are DynamicLayer or DynamicSlidingWindowLayer")
    new.take(old)
    layers[number] = new
    return new


class Packed:
    """The stand-in for a layer's cache in a call whose tokens are packed."""

    def __init__(self, cache, padding, name):
        self.cache, self.padding, self.name = cache, padding, name

    def update(self, key_states, value_states, layer_idx, *args, **kwargs):
        kept_layer(self.cache, layer_idx, self.name)
        if key_states.shape[2] != len(self.padding.index):
            raise Error(f"{self.name}: its keys are {tuple(key_states.shape)}; packed, they are (1, heads, "
                        f"{len(self.padding.index)}, d)")
        return self.cache.update(key_states, value_states, layer_idx, self.padding)

    def __getattr__(self, name):
        raise Error(f"{self.name}: it asks its cache for `{name}`; tokens skip layers that add keys by "
                    "`update` alone")
