"""Masks of `attn_implementation="pit"`: which keys a query sees, by numbers and small tensors in place
of (queries, keys), where a model's mask is one that numbers can say."""

import dataclasses
from dataclasses import dataclass

import torch
from transformers import masking_utils as masks

from .._library import Error

PLACE = 0, 0, 0, 0
EXAMPLE = torch.zeros(1, 1, dtype=torch.long)
# The kinds of functions of masks, by the code that functions of one kind share.
KINDS = {masks.causal_mask_function.__code__: "causal",
         masks.bidirectional_mask_function.__code__: "all",
         masks.and_masks().__code__: "and",
         masks.sliding_window_overlay(1).__code__: "window",
         masks.sliding_window_bidirectional_overlay(1).__code__: "around",
         masks.chunked_overlay(1, EXAMPLE).__code__: "chunks"}


@dataclass
class Mask:
    """Query i stands at key i + offset. A key counts if all that is given here selects it."""

    queries: int
    keys: int
    offset: int = 0
    causal: bool = False
    window: int | None = None  # keys nearer than so many places
    lengths: torch.Tensor | None = None  # (batch): so many keys are there
    kept: torch.Tensor | None = None  # of bool, (batch or 1, 1, queries or 1, keys)
    chunk: int | None = None  # keys of the query's chunk alone
    batch: int = 1
    device: torch.device | str = "cpu"

    @property
    def shape(self):
        return torch.Size((self.batch, 1, self.queries, self.keys))

    ndim = 4
    dtype = torch.bool

    def dim(self):
        return 4

    def to(self, *args, **kwargs):
        """On another device; a mask has no other type."""
        device = torch.empty(0, device=self.device).to(*args, **kwargs).device
        moved = {name: getattr(self, name) for name in ("lengths", "kept")}
        moved = {name: None if x is None else x.to(device) for name, x in moved.items()}
        return dataclasses.replace(self, device=device, **moved)

    def dense(self):
        """(batch, 1, queries, keys) of bool."""
        q = torch.arange(self.queries, device=self.device)[:, None] + self.offset
        k = torch.arange(self.keys, device=self.device)
        found = torch.ones(self.shape, dtype=torch.bool, device=self.device)
        if self.causal:
            found = found & (k <= q)
        if self.window is not None:
            found = found & ((k - q).abs() < self.window)
        if self.chunk is not None:
            found = found & (k // self.chunk == q // self.chunk)
        if self.lengths is not None:
            found = found & (k < self.lengths[:, None, None, None])
        return found if self.kept is None else found & self.kept

    def own(self):
        """Whether each query sees its own position, (batch, queries) or fewer dims of bool; None: all do."""
        # If all keys are seen, no offset is told: the queries are the last ones.
        first = self.offset if self.causal or self.window is not None else self.keys - self.queries
        found, last = None, first + self.queries
        if self.lengths is not None:
            place = torch.arange(first, last, device=self.device)
            found = place < self.lengths[:, None]
        if self.kept is not None:
            kept = self.kept[:, 0, :, first:last]
            kept = kept[:, 0] if kept.shape[1] == 1 else kept.diagonal(dim1=1, dim2=2)
            found = kept if found is None else found & kept
        return found

    def is_order(self):
        """Whether positions see all that there is, or all that there is up to them."""
        if self.window is not None or self.chunk is not None:
            return False
        if self.queries == self.keys:
            return self.kept is None or self.kept.shape[2] == 1
        # Keys that a cache has were perhaps there for an earlier call.
        is_end = self.offset + self.queries == self.keys if self.causal else self.queries == 1
        return is_end and self.kept is None and self.lengths is None

    def as_is_causal(self):
        """`is_causal` of torch's attention where that says all of the mask; None: it does not."""
        if any(x is not None for x in (self.window, self.chunk, self.lengths, self.kept)):
            return None
        # torch gives the first query the first key alone, and takes a lone query for the last one.
        of_torch = self.offset == 0 and (self.queries > 1 or self.keys == 1)
        return self.causal if of_torch or not self.causal else None

    # -- what models do with masks before attentions get them ------------------

    def __getitem__(self, at):
        return self.dense()[at]

    def __and__(self, other):
        return self.dense() & other

    __rand__ = __and__

    def __or__(self, other):
        return self.dense() | other

    __ror__ = __or__

    def __invert__(self):
        return ~self.dense()

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function in (torch.add, torch.Tensor.add, torch.Tensor.add_, torch.Tensor.__add__,
                        torch.Tensor.__radd__, torch.Tensor.__iadd__):
            raise Error("a model adds its mask to scores: it has an attention of its own, which "
                        "attn_implementation='pit' does not reach; take 'eager'")
        made = [x.dense() if isinstance(x, Mask) else x for x in args]
        named = {name: x.dense() if isinstance(x, Mask) else x for name, x in (kwargs or {}).items()}
        return function(*made, **named)


def dense(mask):
    """A Mask as (batch, 1, queries, keys) of bool; any other as it is."""
    return mask.dense() if isinstance(mask, Mask) else mask


def made(function):
    """The arguments of the function that made a function of masks."""
    cells = function.__closure__ or ()
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in cells)))


def conditions(function):
    """The conditions that a function of masks is, [(kind, value)]; None: pit does not know one."""
    kind = KINDS.get(getattr(function, "__code__", None))
    if kind in ("causal", "all"):
        return [] if kind == "all" else [(kind, None)]
    if kind == "and":
        parts = [conditions(each) for each in made(function)["mask_functions"]]
        return None if None in parts else sum(parts, [])
    if kind in ("window", "around"):
        return [(kind, made(function)["sliding_window"])]
    if kind == "chunks":
        values = made(function)
        return [(kind, (values["chunk_size"], values["left_padding"]))]
    return None


def mask(batch_size, q_length, kv_length, q_offset=0, kv_offset=0,
         mask_function=masks.causal_mask_function, attention_mask=None, local_size=None,
         allow_is_causal_skip=True, allow_is_bidirectional_skip=False, use_vmap=False, device="cpu",
         **kwargs):
    """The mask for attentions of "pit": a Mask; None where a model's attention knows by itself."""
    if isinstance(attention_mask, Mask):
        return attention_mask  # made before, as `generate` does
    there = masks.prepare_padding_mask(attention_mask, kv_length, kv_offset)
    found = Mask(q_length, kv_length, batch=batch_size, device=device)
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        known = [("causal", None)] if mask_function is masks.causal_mask_function else (
            [] if mask_function is masks.bidirectional_mask_function else None)
        known = known if isinstance(q_offset, int) else None
    else:
        known = None if use_vmap else conditions(mask_function)
        if isinstance(q_offset, torch.Tensor) and known is not None:
            if known == [("causal", None)] and q_length == 1 and there is None:
                # One query of a cache that has room for more: no number is asked of the device.
                found.lengths = (q_offset - kv_offset + 1).expand(batch_size).contiguous()
                return found
            known = None if q_length == 1 else known
            q_offset = q_offset if known is None else int(q_offset)
        kv_offset = int(kv_offset) if known is not None else kv_offset
    found = None if known is None else with_conditions(found, known, q_offset, kv_offset)
    if found is None:
        kept = masks.sdpa_mask(
            batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, attention_mask,
            allow_is_causal_skip=False, use_vmap=use_vmap, device=device)
        return Mask(q_length, kv_length, kept=kept, batch=batch_size, device=device)
    if there is not None:
        add_padding(found, there[:, kv_offset:kv_offset + kv_length])
    if found.lengths is None and found.kept is None and found.window is None and found.chunk is None:
        if not found.causal and (allow_is_bidirectional_skip or allow_is_causal_skip and q_length == 1):
            return None
    return found


def with_conditions(found, known, first, first_key):
    """A Mask with conditions of queries and keys from these places on; None: they are none that it has."""
    kinds, offset = {kind for kind, _ in known}, first - first_key
    causal, window, chunk, end = "causal" in kinds, None, None, offset + found.queries
    for kind, value in known:
        if kind == "chunks":
            size, left = value
            if first + found.queries > size:  # else there is one chunk, which padding moves as a whole
                if first or first_key or found.queries != found.keys or left.any():
                    return None
                chunk = size
        elif kind != "causal":
            wide = value if kind == "window" else value + 1
            window = wide if window is None else min(wide, window)
    if "window" in kinds and not causal:
        return None  # it looks back alone
    if window is not None and window >= max(end, found.keys - offset):
        window = None
    if causal and (offset < 0 or end > found.keys):
        return None
    if causal and found.queries == 1 and end == found.keys:
        causal = False  # the last key's query sees all
    if not causal and window is None:
        offset = 0
    elif not causal and offset and end != found.keys:
        return None
    return dataclasses.replace(found, offset=offset, causal=causal, window=window, chunk=chunk)


def add_padding(found, there):
    """Adds which keys are there, (batch, keys)."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        found.kept = there[:, None, None]
    elif not there.all():
        if (there[:, :-1] >= there[:, 1:]).all():
            found.lengths = there.sum(1)
        else:
            found.kept = there[:, None, None]
