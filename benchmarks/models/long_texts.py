"""Attention of long texts in benchmarks/models/paper.py: Longformer's window, Museformer's bars."""

import functools

import torch
import transformers
from measure import SEEDS, infer
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

import pit.torch

FIRST = 1  # global tokens of Longformer, which stand first, as that of a class


def heads(layer, x, linear):
    return linear(x).unflatten(-1, (layer.num_heads, layer.head_dim)).transpose(1, 2)


def longformer_by(attention, layer, x, attention_mask=None, is_index_masked=None, is_index_global_attn=None,
                  is_global_attn=None, output_attentions=False):
    """The forward of LongformerSelfAttention by a function of (q, k, v, keys on either side)."""
    y = attention(heads(layer, x, layer.query), heads(layer, x, layer.key), heads(layer, x, layer.value),
                  layer.one_sided_attn_window_size)
    whole = scaled_dot_product_attention(
        heads(layer, x[:, :FIRST], layer.query_global), heads(layer, x, layer.key_global),
        heads(layer, x, layer.value_global))
    return (torch.cat([whole, y[:, :, FIRST:]], 2).transpose(1, 2).flatten(2),)


def windowed_by_pit(q, k, v, side):
    return pit.attention(q, k, v, window=side + 1, sinks=FIRST)


@functools.lru_cache(maxsize=None)
def window_mask(count, side, device):
    at = torch.arange(count, device=device)
    return ((at[:, None] - at).abs() <= side) | (at < FIRST)


def windowed_by_mask(q, k, v, side):
    return scaled_dot_product_attention(q, k, v, attn_mask=window_mask(q.shape[2], side, q.device))


@functools.lru_cache(maxsize=None)
def flex(count, side, device):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    mask = create_block_mask(lambda b, h, q, k: ((q - k).abs() <= side) | (k < FIRST), None, None, count, count,
                             device=device)
    return functools.partial(torch.compile(flex_attention, dynamic=False), block_mask=mask)


def windowed_by_flex(q, k, v, side):
    return flex(q.shape[2], side, q.device)(q, k, v)


def longformer(options, dtype):
    """Longformer's base model with 12 layers, a window of 512, one global token; batches of one text."""
    small, real = options.small, LongformerSelfAttention.forward
    wide, side, layers = (128, 64, 2) if small else (768, 256, 12)
    for count in (1024, 2048) if small else (2048, 4096, *((16384,) if options.long else ())):
        config = transformers.LongformerConfig(
            hidden_size=wide, num_attention_heads=wide // 64, intermediate_size=4 * wide, vocab_size=4096,
            num_hidden_layers=layers, attention_window=[2 * side] * layers, max_position_embeddings=count + 2)
        model = transformers.LongformerModel(config, add_pooling_layer=False).to(options.device, dtype).eval()
        batches = [torch.randint(4, 4096, (1, count), generator=torch.Generator().manual_seed(seed)).to(
            options.device) for seed in range(SEEDS)]
        first = torch.zeros(1, count, dtype=torch.long, device=options.device)
        first[:, :FIRST] = 1

        def step(i, forward, model=model, batches=batches, first=first):
            LongformerSelfAttention.forward = forward
            try:
                return infer(model, input_ids=batches[i], global_attention_mask=first)
            finally:
                LongformerSelfAttention.forward = real

        ways = {"a mask": windowed_by_mask, "pit": windowed_by_pit}
        if options.compile:
            ways["FlexAttention"] = windowed_by_flex
        # A method has to be a function.
        ways = {name: lambda *args, by=by, **kwargs: longformer_by(by, *args, **kwargs)
                for name, by in ways.items()}
        ways["torch"] = real
        yield f"{count} tokens", {name: functools.partial(step, forward=ways[name])
                                  for name in ("torch", *(n for n in ways if n != "torch"))}


# --------------------------------------------------------------------------
# Museformer
# --------------------------------------------------------------------------

# Bars before its own that a token of a bar sees each token of (Yu et al. 2022, section 3.2); of all other
# earlier bars it sees a summary.
SIMILAR = (1, 2, 4, 8, 12, 16, 24, 32)


def bars_of(count, seed):
    """The number of the bar of each token; a bar of a song has 10 to 100."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(10, 101, (count // 10,), generator=generator)
    return torch.repeat_interleave(torch.arange(len(lengths)), lengths)[:count]


def fine_and_coarse(bars):
    """Which (summaries, then tokens) a token sees, (tokens, bars + tokens), as bools."""
    at = torch.arange(len(bars), device=bars.device)
    back = bars[:, None] - bars
    near = (back == 0) | torch.isin(back, torch.tensor(SIMILAR, device=bars.device))
    far = bars[:, None] - torch.arange(int(bars[-1]) + 1, device=bars.device)
    return torch.cat([(far > 0) & ~torch.isin(far, torch.tensor(SIMILAR, device=bars.device)),
                      near & (at[:, None] >= at)], 1)


class MuseLayer(nn.Module):
    """A layer of a decoder whose tokens see bars, or their means."""

    def __init__(self, wide):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(wide), nn.LayerNorm(wide)
        self.qkv, self.out = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.mlp = nn.Sequential(nn.Linear(wide, 4 * wide), nn.GELU(), nn.Linear(4 * wide, wide))

    def forward(self, x, means, attention):
        z = self.norm(x)
        q, k, v = self.qkv(z).chunk(3, -1)
        k, v = (torch.cat([means @ y, y], 1) for y in (k, v))
        q, k, v = (y.unflatten(-1, (-1, 64)).transpose(1, 2) for y in (q, k, v))
        x = x + self.out(attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Muse(nn.Module):
    def __init__(self, wide, count):
        super().__init__()
        self.layers = nn.ModuleList(MuseLayer(wide) for _ in range(count))

    def forward(self, x, bars, attention_of):
        one_hot = (torch.arange(int(bars[-1]) + 1, device=bars.device)[:, None] == bars).to(x.dtype)
        means = one_hot / one_hot.sum(1, keepdim=True)
        attention = attention_of(bars)
        for layer in self.layers:
            x = layer(x, means, attention)
        return x


def by_mask(bars):
    return functools.partial(scaled_dot_product_attention, attn_mask=fine_and_coarse(bars))


def by_pit(bars):
    return functools.partial(pit.attention, mask=fine_and_coarse(bars))


def museformer(options, dtype):
    """Four layers of Museformer's width (8 heads of 64) on one song of as many tokens, whose bars are drawn."""
    wide = 128 if options.small else 512
    for count in (1024,) if options.small else (4096, 10240):
        model = Muse(wide, 2 if options.small else 4).to(options.device, dtype).eval()
        songs = [(torch.randn(1, count, wide, generator=torch.Generator().manual_seed(seed)).to(
            options.device, dtype), bars_of(count, seed).to(options.device)) for seed in range(SEEDS)]

        @torch.no_grad()
        def step(i, attention_of, model=model, songs=songs):
            return model(*songs[i], attention_of)

        yield f"{count} tokens", {"torch": functools.partial(step, attention_of=by_mask),
                                  "pit": functools.partial(step, attention_of=by_pit)}


ROWS = {"longformer": longformer, "museformer": museformer}
