"""The attention of `attn_implementation="pit"`: pit.attention, or the model's own where that takes what
pit does not have."""

import sys

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from .._library import Error
from ..ops._attention import LONGEST_HEAD, attention
from ..torch import _choice, _experts
from . import _masks
from ._masks import Mask

FLOATS = {torch.float64, torch.float32, torch.float16, torch.bfloat16}
HALF = {torch.float16, torch.bfloat16}
# Arguments that do not change results, or that masks say as well.
IGNORED = {"use_cache", "position_ids", "cache_position", "output_attentions", "return_dict",
           "cache", "past_key_values", "output_hidden_states", "num_items_in_batch", "is_causal",
           "sliding_window", "deterministic", "cu_seq_lens_q", "cu_seq_lens_k", "max_length_q",
           "max_length_k"}
KNOWN = IGNORED | {"dropout", "scaling", "softcap", "s_aux", "position_bias"}
LOWEST = -1e5  # number that is added to a score
TRIED = 1 << 26  # elements of a mask, or of scores, that are stored to compare times


def own_forward(module):
    """eager_attention_forward of the file of a module's class, or of one that it is derived from."""
    for cls in type(module).__mro__:
        found = getattr(sys.modules.get(cls.__module__), "eager_attention_forward", None)
        if found is not None:
            return found
    raise Error(f"{type(module).__name__} has no eager_attention_forward beside it")


def as_added(mask, dtype):
    """A mask of bool as the numbers that are added to scores."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    lowest = max(torch.finfo(dtype).min, torch.finfo(torch.float32).min)  # models take softmax in f32
    return torch.zeros((), dtype=dtype, device=mask.device).masked_fill(~mask, lowest)


def others(module, query, key, value, mask, options):
    """The result of torch's attention where that has what a call asks for, else of the model's own."""
    if is_plain(module, options):
        if is_causal_alone(mask):  # with a tensor for a mask, torch has no FlashAttention
            mask, options = None, options | {"is_causal": mask.as_is_causal()}
        return sdpa_attention_forward(module, query, key, value, _masks.dense(mask), **options)
    dense = _masks.dense(mask)
    if dense is None:
        found = implied(module, query, key, options)
        dense = found and found.dense()
    return own_forward(module)(module, query, key, value, as_added(dense, query.dtype), **options)


def is_causal_alone(mask):
    """Whether `is_causal` of torch's attention says all of a mask."""
    return isinstance(mask, Mask) and mask.as_is_causal() is not None


def stored(module, query, key, mask, options):
    """How many elements of a mask, or of scores, the other attention stores."""
    if not is_plain(module, options):
        return query.shape[0] * query.shape[1] * query.shape[2] * key.shape[2]
    if mask is None or is_causal_alone(mask):
        return 0
    return query.shape[0] * query.shape[2] * key.shape[2]


def is_plain(module, options):
    """Whether torch's attention computes a call."""
    return (not options.get("output_attentions") and not hasattr(module, "sinks")
            and options.get("softcap") is None and options.get("s_aux") is None
            and not unknown(module, options))


def implied(module, query, key, options):
    """The keys that count without a mask: all, or those up to the query."""
    causal = options.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    if query.shape[2] == 1 or not causal:
        return None
    return Mask(query.shape[2], key.shape[2], causal=True, batch=query.shape[0], device=query.device)


def unknown(module, options):
    """Arguments that the model's own attention names, and pit does not know."""
    given = [name for name, value in options.items() if value is not None and name not in KNOWN]
    if not given:
        return []
    code = own_forward(module).__code__
    return [name for name in given if name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]


def why_not(module, query, key, value, mask, options):
    """Why pit does not compute a call, or ""."""
    if query.dtype not in FLOATS or query.device.type not in ("cpu", "cuda", "meta"):
        return "another type or device"
    if query.is_cuda and query.dtype not in HALF:
        return "tensor cores take f16 and bf16 alone"
    if _experts.cannot_hold_calls() or _experts.is_distributed(query):
        return "what runs cannot hold a call of pit"
    if options.get("dropout") or options.get("output_attentions"):
        return "probabilities are asked for"
    if hasattr(module, "sinks") and options.get("s_aux") is None:
        return "sinks that are not told"
    if not all(0 < x.shape[3] <= LONGEST_HEAD for x in (query, value)) or 0 in (*query.shape, *key.shape):
        return "another shape"
    if query.shape[0] != key.shape[0] or query.shape[1] % key.shape[1]:
        return "another shape"
    for name in unknown(module, options):
        return f"another argument, {name}"
    for x in (mask, options.get("position_bias")):
        if isinstance(x, torch.Tensor):
            if x.dim() > 4 or x.shape[-1] < key.shape[2]:
                return "another shape"
            if x.dtype != torch.bool and x.requires_grad and torch.is_grad_enabled():
                return "gradients of what is added to scores"
    if (isinstance(mask, torch.Tensor) and mask.dtype != torch.bool
            and options.get("position_bias") is not None):
        return "two biases"
    return ""


def selected(mask, key, value):
    """Keys and values that any query may see, and pit.attention's arguments for a Mask."""
    wanted = {"lengths": mask.lengths, "mask": mask.kept, "window": mask.window, "causal": mask.causal}
    if mask.chunk is not None:
        count = -(-mask.keys // mask.chunk)
        wanted |= {"blocks": torch.eye(count, dtype=torch.bool, device=mask.device),
                   "block_size": mask.chunk}
    end = mask.offset + mask.queries
    if mask.offset and (mask.causal or mask.window is not None):
        wanted["align"] = "end"
        if end < mask.keys:  # a cache that has room for more
            key, value = key[:, :, :end], value[:, :, :end]
            if mask.kept is not None:
                wanted["mask"] = mask.kept[..., :end]
    return key, value, wanted


def by_pit(module, query, key, value, mask, options):
    wanted = {"scale": options.get("scaling"), "softcap": options.get("softcap"),
              "sink_logits": options.get("s_aux"), "bias": options.get("position_bias")}
    if mask is None:
        mask = implied(module, query, key, options)
    if isinstance(mask, Mask):
        key, value, more = selected(mask, key, value)
        wanted |= more
    elif mask is not None:
        mask = mask[..., : key.shape[2]]
        if mask.dtype == torch.bool:
            wanted["mask"] = mask
        else:  # differences of the lowest numbers, which stand for no key, would lose all digits
            wanted["bias"] = mask.clamp(min=max(LOWEST, torch.finfo(mask.dtype).min))
    if wanted["bias"] is not None:
        wanted["bias"] = wanted["bias"][..., : key.shape[2]]
    if wanted["sink_logits"] is not None:
        wanted["sink_logits"] = wanted["sink_logits"].reshape(-1)
    y = attention(query, key, value, **{name: x for name, x in wanted.items() if x is not None})
    return y.transpose(1, 2).contiguous(), None


def forward(module, query, key, value, attention_mask, **options):
    """The attention of a layer: (batch, queries, heads, e), and None in place of probabilities."""
    if isinstance(attention_mask, Mask) and attention_mask.chunk is not None and (
            attention_mask.kept is not None):
        attention_mask = attention_mask.dense()
    given = query, key, value, attention_mask, options
    if why_not(module, *given):
        return others(module, *given)
    if not _experts.is_made_at_once(query):
        return by_pit(module, *given)
    if stored(module, query, key, attention_mask, options) > TRIED:
        return by_pit(module, *given)
    batch, queries, keys = query.shape[0], query.shape[2], key.shape[2]
    trained = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
    kind = (type(module), query.shape[1], key.shape[1], query.shape[3], query.dtype, query.device,
            batch.bit_length(), queries.bit_length(), keys.bit_length(), form_of(attention_mask),
            torch.get_num_threads(), trained)
    wait = torch.cuda.synchronize if query.is_cuda else _choice.nothing
    ways = by_pit, others
    run = [lambda way=way: way(module, *given) for way in ways]
    if not trained:
        return _choice.run(kind, *run, wait=wait)

    def step(which):
        copies = [x.detach().requires_grad_() for x in (query, key, value)]
        result = ways[which](module, *copies, attention_mask, options)[0]
        torch.autograd.grad(result, copies, torch.ones_like(result))

    return _choice.run_trained(kind, *run, step=step, wait=wait)


def form_of(mask):
    """The facts about a mask that make another program."""
    if not isinstance(mask, Mask):
        return mask is None or mask.dtype
    return (mask.causal, mask.window, mask.chunk, mask.lengths is None, mask.kept is None)
