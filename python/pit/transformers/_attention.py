"""`attn_implementation="pit"` and, of padded batches that are packed (`_unpadded.py`), any attention
sequence by sequence."""

import contextvars
import inspect

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import (
    ALL_MASK_ATTENTION_FUNCTIONS, bidirectional_mask_function, causal_mask_function)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .._library import Error
from . import _attend, _masks
from ._attend import IGNORED

try:
    from torch.nn.attention.varlen import varlen_attn
    TAKEN = frozenset(inspect.signature(varlen_attn).parameters)
except ImportError:  # an older torch
    varlen_attn = None

# Names of implementations that take packed batches, by those that they are for others.
NAMES = {"sdpa": "pit_sdpa", "eager": "pit_eager", "pit": "pit"}
PADDING = "pit_padding"  # the keyword argument by which layers pass a Padding on to their attention
is_packed = contextvars.ContextVar("is_packed", default=False)  # while a model makes its masks


class Window:
    """In place of a mask: which positions of a sequence see which others, by a function of the sequence,
    the head, and the columns of both, counted from the first one of a call."""

    def __init__(self, function):
        self.function = function


def mask_of(base):
    def mask(*args, mask_function=causal_mask_function, use_vmap=False, local_size=None, **kwargs):
        if not is_packed.get():
            if base == "pit":
                return _masks.mask(*args, mask_function=mask_function, use_vmap=use_vmap,
                                   local_size=local_size, **kwargs)
            return ALL_MASK_ATTENTION_FUNCTIONS[base](
                *args, mask_function=mask_function, use_vmap=use_vmap,
                **kwargs if local_size is None else {**kwargs, "local_size": local_size})
        if use_vmap:
            raise Error("this model's mask is none that depends on positions alone")
        if mask_function in (causal_mask_function, bidirectional_mask_function):
            return None
        if any("sliding" in name for name in names_in(mask_function)) and local_size is not None:
            return Window(mask_function)
        raise Error("this model's mask is none that pit knows")

    return mask


def names_in(function):
    """The qualified names of a mask function and of those that it joins."""
    found = [getattr(function, "__qualname__", "")]
    for cell in getattr(function, "__closure__", None) or ():
        value = cell.cell_contents
        for each in value if isinstance(value, tuple) else (value,):
            if callable(each):
                found += names_in(each)
    return found


def attention_of(base):
    def forward(module, query, key, value, attention_mask, **kwargs):
        if base == "eager":
            function = _attend.own_forward(module)
        else:
            function = sdpa_attention_forward if base == "sdpa" else _attend.forward
        padding = kwargs.pop(PADDING, None)
        if padding is None:
            return function(module, query, key, value, attention_mask, **kwargs)
        return by_sequences(function, padding, module, query, key, value, attention_mask, **kwargs)

    return forward


def by_sequences(function, padding, module, query, key, value, window, **kwargs):
    """Attention of (1, heads, tokens, d), in which each sequence sees itself."""
    if query.shape[0] != 1 or not query.shape[2] == key.shape[2] == len(padding.columns):
        raise Error(f"{type(module).__name__}: queries are {tuple(query.shape)} and keys "
                    f"{tuple(key.shape)}; packed, they are (1, heads, {len(padding.columns)}, d)")
    for name, given in kwargs.items():
        if (name not in IGNORED and isinstance(given, torch.Tensor) and given.dim() > 1
                and query.shape[2] in given.shape):
            raise Error(f"{type(module).__name__}: attention has a `{name}` of all positions")
    padding.calls += 1
    causal = kwargs.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    if padding.shown is not None:
        return with_earlier(function, padding, module, query, window, causal, **kwargs)
    counts = {end - start for start, end in padding.bounds}
    if len(counts) == 1 and window is None and knows_order(function):
        # As many positions of each sequence, as a router that takes the best of each has: a batch.
        shape = len(padding.bounds), *counts
        q, k, v = (x[0].unflatten(1, shape).transpose(0, 1) for x in (query, key, value))
        y = function(module, q, k, v, None, **kwargs | {"is_causal": causal})[0]
        return y.flatten(0, 1)[None], None
    found = varlen(padding, module, query, key, value, window, causal, **kwargs)
    if found is not None:
        return found, None
    parts = []
    for start, end in padding.bounds:
        q, k, v = (x[:, :, start:end] for x in (query, key, value))
        mask = mask_of_sequence(padding, start, end, window, causal)
        if window is None and knows_order(function):
            mask = None
        mask = taken(function, mask, q.dtype)
        parts.append(function(module, q, k, v, mask, **kwargs)[0])
    if not parts:  # nothing is there: (1, 0, heads, d)
        return query.transpose(1, 2)[..., : value.shape[3]], None
    return torch.cat(parts, 1), None


def knows_order(function):
    """Whether an attention makes its mask of is_causal."""
    return function in (sdpa_attention_forward, _attend.forward)


def taken(function, mask, dtype):
    """A mask as an attention takes it."""
    if function is _attend.forward:
        return mask
    mask = _masks.dense(mask)
    return mask if knows_order(function) else _attend.as_added(mask, dtype)


def with_earlier(function, padding, module, query, window, causal, **kwargs):
    """Attention of (1, heads, tokens, d) to the keys of `padding.shown`, of earlier calls and this one."""
    shown, rows = padding.shown, padding.index // padding.shape[1]
    most = shown.keys.shape[2]
    if padding.longest == 1 and not (torch.is_grad_enabled() and query.requires_grad):
        # A token of each text, or none, which then sees no key.
        q = query.new_zeros(padding.shape[0], query.shape[1], 1, query.shape[3])
        q[rows, :, 0] = query[0].transpose(0, 1)
        counts = torch.where(padding.lengths > 0, shown.counts, 0)
        mask = _masks.Mask(1, most, lengths=counts, batch=len(q), device=q.device)
        if window is not None:
            columns = padding.columns.new_zeros(len(q)).index_put((rows,), padding.columns)
            texts = torch.arange(len(q), device=q.device)[:, None]
            seen = window.function(texts, torch.zeros_like(texts), columns[:, None], shown.places)
            mask.kept = seen[:, None, None]
        y = function(module, q, shown.keys, shown.values, taken(function, mask, q.dtype), **kwargs)[0]
        return y[rows, 0][None], None
    parts, counts = [], shown.counts.tolist()
    for start, end in padding.bounds:
        row = int(rows[start])
        count, queries = counts[row], end - start
        if window is None:
            mask = _masks.Mask(queries, count, count - queries if causal else 0, causal, device=query.device)
        else:
            text = rows[start]
            mask = window.function(text, torch.zeros_like(text), padding.columns[start:end, None],
                                   shown.places[row, None, :count])[None, None]
        k, v = (x[row, None, :, :count] for x in (shown.keys, shown.values))
        q = query[:, :, start:end]
        parts.append(function(module, q, k, v, taken(function, mask, q.dtype), **kwargs)[0])
    return torch.cat(parts, 1), None


def mask_of_sequence(padding, start, end, window, causal):
    """(1, 1, queries, keys), or None: every position sees every other."""
    columns = padding.columns[start:end]
    q, k = columns[:, None], columns[None]
    if window is not None:
        row = padding.index[start] // padding.shape[1]
        return window.function(row, torch.zeros_like(row), q, k)[None, None]
    return (k <= q)[None, None] if causal else None


def varlen(padding, module, query, key, value, window, causal, scaling=None, dropout=0.0, **kwargs):
    """The same by torch's kernel for sequences of several lengths, where it takes that; or None."""
    if (varlen_attn is None or not query.is_cuda or query.dtype not in (torch.float16, torch.bfloat16)
            or dropout or window is not None or query.shape[-1] != value.shape[-1]
            or query.shape[-1] > 256 or query.shape[-1] % 8
            or any(value is not None for name, value in kwargs.items() if name not in IGNORED)):
        return None
    options = {}
    if causal:
        options = {"window_size": (-1, 0)} if "window_size" in TAKEN else {"is_causal": True}
    if query.shape[1] != key.shape[1]:
        if "enable_gqa" in TAKEN:
            options["enable_gqa"] = True
        else:
            groups = query.shape[1] // key.shape[1]
            key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    q, k, v = (x[0].transpose(0, 1).contiguous() for x in (query, key, value))
    offsets = padding.offsets
    if scaling is not None:
        if "scale" in TAKEN:
            options["scale"] = scaling
        else:
            q = q * (scaling * q.shape[-1] ** 0.5)
    return varlen_attn(q, k, v, offsets, offsets, padding.longest, padding.longest, **options)[None]


for _base, _name in NAMES.items():
    ALL_ATTENTION_FUNCTIONS.register(_name, attention_of(_base))
    if _base == "pit" or _base in ALL_MASK_ATTENTION_FUNCTIONS:
        ALL_MASK_ATTENTION_FUNCTIONS.register(_name, mask_of(_base))
