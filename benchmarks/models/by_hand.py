"""Code by hand, without pit, for parts that pit has: the drop-ins of benchmarks/models/paper.py."""

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # an older torch
    varlen_attn = None

bounds = []  # of the sequences that are packed now: offsets, as a tensor and as a list, and the longest


def attention(module, query, key, value, attention_mask, scaling=None, is_causal=None, **_):
    offsets, ends, longest = bounds[-1]
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    if varlen_attn is not None and query.is_cuda:
        q, k, v = (x[0].transpose(0, 1).contiguous() for x in (query, key, value))
        if scaling is not None:
            q = q * (scaling * q.shape[-1] ** 0.5)
        try:
            found = varlen_attn(q, k, v, offsets, offsets, longest, longest,
                                **{"window_size": (-1, 0)} if causal else {})
        except TypeError:  # of torch 2.10
            found = varlen_attn(q, k, v, offsets, offsets, longest, longest, is_causal=causal)
        return found[None], None
    parts = [scaled_dot_product_attention(*(x[:, :, start:end] for x in (query, key, value)),
                                          is_causal=causal, scale=scaling)
             for start, end in zip(ends[:-1], ends[1:])]
    return torch.cat(parts, 2).transpose(1, 2), None


ALL_ATTENTION_FUNCTIONS.register("by_hand", attention)
ALL_MASK_ATTENTION_FUNCTIONS.register("by_hand", lambda *args, **kwargs: None)


class Unpadded(torch.nn.Module):
    """A model whose padded batches are packed around it, as flash-attention's users do."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        model.set_attn_implementation("by_hand")

    def forward(self, input_ids, attention_mask):
        there = attention_mask.flatten().nonzero()[:, 0]
        lengths = attention_mask.sum(1)
        offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()
        places = torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)
        bounds.append((offsets, offsets.tolist(), input_ids.shape[1]))
        try:
            y = self.model(input_ids=input_ids.flatten()[there][None],
                           position_ids=places.flatten()[there][None])
        finally:
            bounds.pop()
        rows = y.last_hidden_state[0]
        made = rows.new_zeros(input_ids.numel(), rows.shape[-1]).index_copy(0, there, rows)
        y.last_hidden_state = made.unflatten(0, input_ids.shape)
        return y


class Gathered:
    """Gathers the tokens of which a mask is given, as many in each text, around a layer."""

    def __init__(self, layer, kept):
        self.real, self.kept = layer.forward, kept

    def __call__(self, x, position_embeddings=None, attention_mask=None, **kwargs):
        at = self.kept().nonzero()[:, 1].view(len(x), -1)
        there = at[..., None].expand(-1, -1, x.shape[-1])
        places = tuple(v.expand(len(x), -1, -1).gather(1, at[..., None].expand(-1, -1, v.shape[-1]))
                       for v in position_embeddings)
        y = self.real(x.gather(1, there), position_embeddings=places, attention_mask=None, **kwargs)
        return x.scatter(1, there, y)


class Multiplied(torch.nn.Linear):
    """A Linear whose weight is multiplied by a mask."""

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight * self.mask, self.bias)
