"""Padded batches whose rows are computed packed: what is there of a batch, one sequence after another."""

import functools
import itertools

import torch

from .._library import Error

INTEGERS = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}


class Padding:
    """Which positions of a padded batch are there. `index` numbers them in the flattened batch, and
    `columns` within their sequences' rows; `lengths` are those of the sequences, and `offsets` where
    each begins."""

    def __init__(self, mask):
        if mask.dim() != 2 or mask.dtype not in INTEGERS:
            raise Error(f"a mask of padding is (batch, positions), of integers or bool, which are not 0 "
                        f"where a position is there; this one is {tuple(mask.shape)} of {mask.dtype}")
        self.shape = tuple(mask.shape)
        there = mask if mask.dtype == torch.bool else mask != 0
        self.lengths = there.sum(1)
        # The host waits once, for the number of positions; the lengths have arrived by then.
        self.on_host = self.lengths.to("cpu", non_blocking=True)
        self.index = there.flatten().nonzero().flatten()
        self.calls = 0  # of attentions that took it from a model's arguments
        self.shown = None  # keys that attentions see instead of those that lie here

    @functools.cached_property
    def columns(self):
        return self.index % max(1, self.shape[1])

    @functools.cached_property
    def offsets(self):
        return torch.nn.functional.pad(self.lengths.cumsum(0), (1, 0)).to(torch.int32)

    @functools.cached_property
    def bounds(self):
        """Begins and ends of the sequences that have a position, as numbers of Python."""
        ends = list(itertools.accumulate(self.on_host.tolist(), initial=0))
        return [(a, b) for a, b in zip(ends, ends[1:]) if a < b]

    @functools.cached_property
    def longest(self):
        return max((b - a for a, b in self.bounds), default=0)

    def part(self, kept):
        """The same texts with the rows alone, of those that are packed, that `kept` numbers."""
        there = torch.zeros(self.shape[0] * self.shape[1], dtype=torch.bool, device=kept.device)
        return Padding(there.index_fill(0, self.index[kept], True).unflatten(0, self.shape))

    @property
    def is_full(self):
        return self.index.shape[0] == self.shape[0] * self.shape[1]


def padding_of(mask):
    return mask if isinstance(mask, Padding) else Padding(mask)


def pack(x, mask):
    """The rows of a padded batch that are there, one sequence after another.

        padding = pit.torch.Padding(batch["attention_mask"])
        rows = pit.torch.pack(x, padding)            # (tokens, ...)
        y = pit.torch.unpack(layer(rows), padding)   # (batch, positions, ...)

    x     (batch, positions, ...), or a jagged nested tensor of torch, which takes no mask
    mask  (batch, positions), of any integer type or bool: not 0 where a position is there, on
          either side or between others; or a Padding, which looks at it once for several calls
    Result  (tokens, ...). Gradients of what is not there are 0. Raises pit.Error if shapes
          do not fit.
    """
    if x.is_nested:
        return x.values()
    padding = padding_of(mask)
    if tuple(x.shape[:2]) != padding.shape:
        raise Error(f"pack: x is {tuple(x.shape)}, its mask {padding.shape}; both begin with "
                    "(batch, positions)")
    return x.flatten(0, 1).index_select(0, padding.index.to(x.device))


def unpack(rows, mask, fill=0):
    """The inverse of `pack`, for its result or for rows that were computed of that: rows
    (tokens, ...); the result is (batch, positions, ...), `fill` where nothing is there."""
    padding = padding_of(mask)
    if rows.shape[0] != padding.index.shape[0]:
        raise Error(f"unpack: there are {rows.shape[0]} rows; the mask has {padding.index.shape[0]} "
                    "positions that are there")
    batch, positions = padding.shape
    whole = rows.new_full((batch * positions, *rows.shape[1:]), fill)
    return whole.index_copy(0, padding.index.to(rows.device), rows).unflatten(0, padding.shape)
