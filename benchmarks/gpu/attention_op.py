#!/usr/bin/env python3
"""pit.attention beside the tile program that is written by hand (../attentions.py), torch's SDPA,
flex_attention, and the package flash-attn-4 where it is installed: dense, causal, blocks of 64 queries
by 64 keys, sequences packed one behind the other, and the gradients. "small" has queries and keys of 8
bits. "lists" are blocks of heads of their own beside flex_attention and dense SDPA; "orders" are such
blocks in orders of a grid; "rows" are keys that lie one by one; "index" is the time of pit.block_index
beside the attention that reads it; "lines" is such an index of vertical and slash lines with its attention
beside dense SDPA; "list gradients" are those of blocks of heads of their own;
"decode" is pit.paged_attention beside a copy of the bytes of its pages, and beside the package
flashinfer-python where it is installed. f16, 32 heads. All contestants take turns; prints microseconds
(the median of rounds), TFLOP/s of what is multiplied, and the error against float64. Calls are timed 10
in a row, or with --rested one by one after a pause. The compiler has
to be there. --check compares random calls, of any options, and their gradients, with float64 before.

    attention_op.py [--sizes 4096,16384] [--rounds 7] [--rested] [--only REGEX] [--check 20] [--seconds 200]
    attention_op.py --rounds 5 --only "^lists|^index"    # 8k and 32k
    attention_op.py --rounds 5 --only "^decode"
"""

import argparse
import os
import re
import sys
import time
from pathlib import Path

import pit
import torch
import torch._functorch.config as functorch_config

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test" / "Python" / "Inputs"))
from attentions import dense, listed  # noqa: E402
from attention import HEADS, flash_attn_4, flex_call, torch_calls, wanted  # noqa: E402
from attention import race as race_of_calls  # noqa: E402

LIVE = (50, 10, 5)  # percent of the blocks of keys
LONG = (8192, 32768)  # queries and keys of what lists blocks
rested = False  # --rested


def check(count, until):
    """Random calls on the device, until the clock says so."""
    import attention_reference as reference
    import numpy as np

    rng, wrong, done = np.random.default_rng(), 0, 0
    while done < count and time.monotonic() < until:
        done += 1
        dtype = rng.choice(["f2", "f4"])
        arrays, options, exact = reference.draw(rng, dtype, None if rng.random() < 0.3 else (
            int(rng.integers(1, 700)), int(rng.integers(1, 700))), (16, 64, 128))
        with np.errstate(invalid="ignore"):
            result, _ = reference.attention(*arrays, **exact)

        def to_device(x):
            if isinstance(x, tuple):
                return tuple(map(to_device, x))
            return torch.from_numpy(np.ascontiguousarray(x)).cuda() if isinstance(x, np.ndarray) else x

        def to_host(x):
            if isinstance(x, tuple):
                return tuple(map(to_host, x))
            return x.cpu() if isinstance(x, torch.Tensor) else x

        given = [to_device(x) for x in arrays]
        options = {name: to_device(x) for name, x in options.items()}
        limit, bad = 8e-3 if dtype == "f2" else 1e-4, []

        def compare(name, made, right):
            off = abs(made.double().cpu().numpy() - right).max(initial=0)
            if not off <= limit * max(1, abs(right).max(initial=0)):
                bad.append(f"{name} off by {off:.1e}")

        compare("result", pit.attention(*given, **options), result)
        if 0 not in arrays[0].shape and 0 not in arrays[1].shape:
            grad = torch.randn(result.shape, device="cuda").to(given[0].dtype)
            leaves = [x.clone().requires_grad_() for x in given]
            found = torch.autograd.grad(pit.attention(*leaves, **options), leaves, grad)
            # The same by pit in f64 on the CPU, whose gradients tests compare with torch's.
            leaves = [x.double().cpu().requires_grad_() for x in given]
            on_cpu = {name: to_host(x) for name, x in options.items()}
            right = torch.autograd.grad(pit.attention(*leaves, **on_cpu), leaves, grad.double().cpu())
            for name, made, each in zip("qkv", found, right):
                compare(f"gradient of {name}", made, each.numpy())
        wrong += bool(bad)
        if bad:
            print("wrong:", dtype, [x.shape for x in arrays],
                  {name: getattr(x, "shape", x) for name, x in options.items()}, bad, flush=True)
    print(f"{done - wrong} of {done} random calls are right", flush=True)


def race(calls, rounds):
    return race_of_calls(calls, rounds, rested)


def report(title, operations, calls, exact, rounds, others=None):
    """`others` compute something else: a call and its operations by name."""
    usable = {}
    for name, call in calls.items():
        try:
            usable[name] = (call, ((call()[:2].double() - exact).norm() / exact.norm()).item())
        except (RuntimeError, pit.Error, torch._dynamo.exc.TorchDynamoException) as error:
            print(f"{title} {name}: {str(error).splitlines()[0][:150]}", flush=True)
    others = others or {}
    times = race({name: call for name, (call, _) in (usable | others).items()}, rounds)
    for name, taken in times.items():
        count = others[name][1] if name in others else operations
        off = "" if name in others else f"  off by {usable[name][1]:.1e}"
        over = f"{taken / times['pit.attention']:.2f}" if "pit.attention" in times else "-"
        print(f"{title:24} {name:16} {taken * 1e6:8.1f} us {count / taken * 1e-12:5.0f} TFLOP/s{off}"
              f"  its time over pit's {over}", flush=True)


def whole(d, size, causal, rounds):
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    mask = torch.ones(size, size, dtype=torch.bool, device="cuda").tril() if causal else None
    calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], causal=causal,
                                                    out=out[None])[0],
             "tile program": lambda: dense(q, k, v, D=d, m=128, n=128, causal=causal, out=out)}
    report(f"{'causal' if causal else 'dense'} {d} {size}",
           4.0 * HEADS * size * size * d * (0.5 if causal else 1),
           calls | torch_calls(q, k, v, causal), wanted(q, k, v, mask), rounds)


def small(size, causal, rounds, d=128):
    """Queries and keys of 8 bits, and values, too, with a scale of each head, beside f16; the error is that of rounding,
    too. "P by torch" is what rounding probabilities to 8 bits costs, by torch in f64."""
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    scales = [x.abs().amax((1, 2)).float()[:, None] / 448 for x in (q, k, v)]
    rounded = [(x / s[..., None]).to(torch.float8_e4m3fn) for x, s in zip((q, k, v), scales)]
    given = {"causal": causal, "q_scale": scales[0], "k_scale": scales[1]}
    mask = torch.ones(size, size, dtype=torch.bool, device="cuda").tril() if causal else None
    calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], causal=causal)[0],
             "q, k of 8 bits": lambda: pit.attention(*(x[None] for x in rounded[:2]), v[None], **given)[0],
             "8 bits": lambda: pit.attention(*(x[None] for x in rounded), v_scale=scales[2], **given)[0]}
    others = torch_calls(q, k, v, causal)
    title = f"small {'causal ' if causal else ''}{d} {size}"
    exact = wanted(q, k, v, mask)
    report(title, 4.0 * HEADS * size * size * d * (0.5 if causal else 1),
           calls | {"torch, cuDNN": others["torch, cuDNN"]}, exact, rounds)
    off = ((rounded_by_torch([x.double() * s[..., None] for x, s in zip(rounded, scales)], mask) - exact).norm()
           / exact.norm())
    print(f"{title:24} P by torch       off by {off:.1e}", flush=True)
    # Sums of positive numbers show what tensor cores cut off.
    near_one = 1 + v.float() / 10
    scale = near_one.abs().amax((1, 2))[:, None] / 448
    near_one = (near_one / scale[..., None]).to(torch.float8_e4m3fn)
    wide = [x.double() * s[..., None] for x, s in zip((*rounded[:2], near_one), (*scales[:2], scale))]
    found = pit.attention(*(x[None] for x in (*rounded[:2], near_one)), v_scale=scale, **given)[0, :2].double()
    exact = wanted(*wide, mask)
    print(f"{title:24} values near 1    off by {((found - exact).norm() / exact.norm()).item():.1e}", flush=True)


def rounded_by_torch(arrays, mask):
    """The attention of two heads, whose probabilities are rounded as FlashAttention-3 does."""
    found = []
    for q, k, v in zip(*(x[:2] for x in arrays)):
        rows = []
        for i in range(0, len(q), 1024):
            scores = q[i:i + 1024] @ k.T * q.shape[1] ** -0.5
            if mask is not None:
                scores.masked_fill_(~mask[i:i + 1024], -torch.inf)
            powers = (scores - scores.amax(-1, keepdim=True)).exp() * 256
            rows.append(powers.float().to(torch.float8_e4m3fn).double() @ v / powers.sum(-1, keepdim=True))
        found.append(torch.cat(rows))
    return torch.stack(found)


def blocks_of(d, size, percent, rounds):
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    blocks = torch.rand(size // 64, size // 64, device="cuda") < percent / 100
    blocks.fill_diagonal_(True)
    mask = blocks.repeat_interleave(64, 0).repeat_interleave(64, 1)
    index = pit.build_index(mask, (64, 1), 1, source="mask")
    calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], blocks=blocks,
                                                    out=out[None])[0],
             "tile program": lambda: listed(q, k, v, index, D=d, m=64, n=8192 // d, out=out),
             "flex_attention": flex_call(q, k, v, blocks)}
    report(f"blocks {d} {size}, {percent} %",
           4.0 * HEADS * size * size * d * blocks.double().mean().item(), calls,
           wanted(q, k, v, mask), rounds)


def exact_of(q, k, v, blocks, block):
    """Of two heads, in float64, so many queries at a time that scores of long contexts fit."""
    found = []
    for q, k, v, live in zip(q[:2], k[:2], v[:2], blocks[:2]):
        q, k, v = (x.double() for x in (q, k, v))
        rows = []
        for begin in range(0, len(q), 2048):
            part = live[begin // block:(begin + 2048) // block]
            part = part.repeat_interleave(block, 0).repeat_interleave(block, 1)
            scores = q[begin:begin + 2048] @ k.T * q.shape[1] ** -0.5
            rows.append(scores.masked_fill_(~part, -torch.inf).softmax(-1) @ v)
        found.append(torch.cat(rows))
    return torch.stack(found)


def flex_of_lists(q, k, v, blocks, block):
    """flex_attention of whole blocks, other ones for each head."""
    from torch.nn.attention.flex_attention import BlockMask, flex_attention

    lists = blocks[None].int().argsort(dim=-1, descending=True, stable=True).int()
    counts = blocks[None].sum(-1, dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(  # no block in part
        torch.zeros_like(counts), torch.zeros_like(lists), counts, lists, BLOCK_SIZE=block)
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention, dynamic=False)
    options = {"BLOCK_M": 64, "BLOCK_N": 64} if block == 64 else {}
    return lambda: compiled(q[None], k[None], v[None], block_mask=mask, kernel_options=options)[0]


def lists(size, percent, block, rounds, d=128):
    """Each head has blocks of its own; SDPA computes all of them, and is another attention."""
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    blocks = torch.rand(HEADS, size // block, size // block, device="cuda") < percent / 100
    blocks.diagonal(dim1=1, dim2=2).fill_(True)
    calls = {"pit.attention": lambda: pit.attention(
                 q[None], k[None], v[None], blocks=blocks, block_size=block, out=out[None])[0],
             "flex_attention": flex_of_lists(q, k, v, blocks, block)}
    count = 4.0 * HEADS * size * size * d
    report(f"lists {size}, {block}: {percent} %", count * blocks.double().mean().item(), calls,
           exact_of(q, k, v, blocks, block), rounds,
           {"dense, cuDNN": (torch_calls(q, k, v, False)["torch, cuDNN"], count)})


def orders(size, percent, block, rounds, d=128):
    """The same in orders of a grid of 32 frames: half of the heads go position by position. Beside
    tensors that torch moves before, and back behind; and such that lie so already."""
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    blocks = torch.rand(HEADS, size // block, size // block, device="cuda") < percent / 100
    blocks.diagonal(dim1=1, dim2=2).fill_(True)
    grid = pit.grid_order((32, size // 32), (1, 0), like=q)
    order = torch.stack([grid, torch.arange(size, device="cuda", dtype=torch.int32)] * (HEADS // 2))
    places = order.long()[..., None].expand_as(q)
    moved = [x.gather(1, places) for x in (q, k, v)]
    options = {"blocks": blocks, "block_size": block}

    def moving(call):
        for to, x in zip(moved, (q, k, v)):
            torch.gather(x, 1, places, out=to)
        return out.scatter_(1, places, call())

    def alone():
        return pit.attention(*(x[None] for x in moved), **options)[0]

    by_flex = flex_of_lists(*moved, blocks, block)
    calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], order=order, out=out[None],
                                                    **options)[0],
             "pit, moved": lambda: moving(alone), "flex, moved": lambda: moving(by_flex)}
    exact = torch.empty_like(q[:2], dtype=torch.float64).scatter_(
        1, places[:2], exact_of(*moved, blocks, block))
    count = 4.0 * HEADS * size * size * d * blocks.double().mean().item()
    report(f"orders {size}, {block}: {percent} %", count, calls, exact, rounds, {
        "no order": (alone, count)})


def rows(size, count, queries, rounds, d=128):
    """Each block of `queries` queries of a head has `count` keys, any ones, that an index lists one by one."""
    q, k, v = (torch.randn(HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    mask = torch.empty(1, HEADS, size, size, device="cuda", dtype=torch.bool)
    for head in mask[0]:
        chosen = torch.rand(size // queries, size, device="cuda").topk(count).indices
        live = torch.zeros(size // queries, size, device="cuda", dtype=torch.bool).scatter_(1, chosen, True)
        head.copy_(live.repeat_interleave(queries, 0))
    listed_keys = pit.build_index(mask, (1, 1, queries, 1), 3, source="mask")
    operations = 4.0 * HEADS * size * count * d
    report(f"rows {size}: {count}, {queries}", operations, {
        "pit.attention": lambda: pit.attention(q[None], k[None], v[None], index=listed_keys, out=out[None])[0]},
        exact_of(q, k, v, mask[0], 1), rounds, {
            "dense, cuDNN": (torch_calls(q, k, v, False)["torch, cuDNN"], 4.0 * HEADS * size * size * d)})


def rotated(x, base=1e6):
    """Rotary embedding of (heads, places, d), which makes scores depend on distances."""
    angles = torch.arange(x.shape[1], device=x.device)[:, None] * base ** -(
        torch.arange(0, x.shape[2], 2, device=x.device) / x.shape[2])
    low, high = x.float().chunk(2, -1)
    return torch.cat([low * angles.cos() - high * angles.sin(), low * angles.sin() + high * angles.cos()],
                     -1).to(x.dtype)


def lines(size, block, rounds, d=128):
    """Vertical and slash lines of causal heads whose scores depend on distances, and on few keys in clusters; the
    index is built in each call."""
    shape = HEADS, size, d
    mean = torch.randn(HEADS, 1, d, device="cuda")
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3))
    heavy = torch.rand(HEADS, size // 32, 1, device="cuda") < 32 / (size // 32)  # 32 clusters of 32 keys
    k += (heavy.repeat_interleave(32, 1) * mean + 0.7 * mean).half()
    q += (0.7 * mean).half()
    q, k = rotated(q), rotated(k)
    out = torch.empty_like(q)
    options = {"block_size": block, "causal": True}

    def choose():
        return pit.block_index(q[None], k[None], vertical=1000, slash=200, sinks=64, window=256, **options)

    live = choose()
    below = torch.ones(live.shape[2:], dtype=torch.bool, device="cuda").tril()
    part = (live & below).sum().item() / (HEADS * below.sum().item())
    found = pit.attention(q[None], k[None], v[None], blocks=live, **options)[0, :2, -1024:].double()
    scores = (q[:2, -1024:].double() @ k[:2].double().mT) * d ** -0.5
    kept = live[0, :2, -1024 // block:].repeat_interleave(block, 1).repeat_interleave(block, 2)
    scores.masked_fill_(~kept.tril_(size - 1024), -torch.inf)
    exact = scores.softmax(-1) @ v[:2].double()
    off = ((found - exact).norm() / exact.norm()).item()
    print(f"lines {size}, {block}: {part:.3f} of the blocks, off by {off:.1e}", flush=True)
    count = 2.0 * HEADS * size * size * d
    calls = {"pit.attention": (lambda: pit.attention(q[None], k[None], v[None], blocks=choose(), out=out[None],
                                                     **options)[0], count * part),
             "without index": (lambda: pit.attention(q[None], k[None], v[None], blocks=live, out=out[None],
                                                     **options)[0], count * part),
             "dense, cuDNN": (torch_calls(q, k, v, True)["torch, cuDNN"], count)}
    report(f"lines {size}, {block}", count * part, {}, None, rounds, calls)


def index(size, block, rounds, d=128):
    """Of a tenth of the blocks, all heads."""
    q, k, v = (torch.randn(1, HEADS, size, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    count = size // block // 10
    options = {"block_size": block}
    ways = {"top_k": {"top_k": count}, "top_p": {"top_p": 0.1},
            "vertical, slash": {"vertical": 1000, "slash": 200},
            "sinks, window": {"sinks": 128, "window": size // 20}}
    live = pit.block_index(q, k, top_k=count, **options)
    calls = {"attention": lambda: pit.attention(q, k, v, blocks=live, out=out, **options)}
    compiled = torch.compile(pit.block_index, dynamic=False)
    for name, way in ways.items():
        calls[name] = lambda way=way: pit.block_index(q, k, **way, **options)
        calls[f"{name}, compiled"] = lambda way=way: compiled(q, k, **way, **options)
    times = race(calls, rounds)
    for name, taken in times.items():
        print(f"index {size}, {block}: {name:24} {taken * 1e6:8.1f} us  its time over the "
              f"attention's {taken / times['attention']:.3f}", flush=True)


def causal_exact(q, k, v):
    rows = []
    for begin in range(0, q.shape[1], 2048):
        part = q[:, begin:begin + 2048]
        scores = part @ k[:, :begin + part.shape[1]].mT * q.shape[2] ** -0.5
        ahead = torch.ones_like(scores, dtype=torch.bool).triu_(begin + 1)
        rows.append(scores.masked_fill_(ahead, -torch.inf).softmax(-1) @ v[:, :scores.shape[2]])
    return torch.cat(rows, 1)


def packed(d, size, rounds, count=8):
    """Causal sequences of any lengths, one behind the other, beside torch's for such."""
    from torch.nn.attention.varlen import varlen_attn

    q, k, v = (torch.randn(size, HEADS, d, device="cuda", dtype=torch.float16) for _ in range(3))
    starts = [0, *sorted(torch.randperm(size - 1)[:count - 1].add(1).tolist()), size]
    lengths = [b - a for a, b in zip(starts, starts[1:])]
    places = torch.tensor(starts, device="cuda", dtype=torch.int32)
    heads, most = [x.transpose(0, 1)[None] for x in (q, k, v)], max(lengths)
    exact = torch.cat([causal_exact(*(x[0, :2, a:b].double() for x in heads))
                       for a, b in zip(starts, starts[1:])], 1)
    report(f"packed {d} {size}, {count}", 2.0 * HEADS * d * sum(x * x for x in lengths), {
        "pit.attention": lambda: pit.attention(*heads, cu_seqlens=places, causal=True)[0],
        "torch, varlen": lambda: varlen_attn(q, k, v, places, places, most, most,
                                             window_size=(-1, 0)).transpose(0, 1)}, exact, rounds)


def gradients(d, size, causal, rounds):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    q, k, v = (torch.randn(1, HEADS, size, d, device="cuda", dtype=torch.float16,
                           requires_grad=True) for _ in range(3))
    grad = torch.randn_like(q)

    def call(function):
        result = function()
        return lambda: torch.autograd.grad(result, (q, k, v), grad, retain_graph=True)[0][0]

    def by_torch(backend):
        with sdpa_kernel(backend):
            return sdpa(q, k, v, is_causal=causal)

    with torch.no_grad():
        heads = [x[0, :2].double() for x in (q, k, v)]
    heads = [x.requires_grad_() for x in heads]
    scores = heads[0] @ heads[1].mT * d ** -0.5
    if causal:
        ahead = torch.ones(size, size, dtype=torch.bool, device="cuda").triu_(1)
        scores = scores.masked_fill(ahead, -torch.inf)
    exact, = torch.autograd.grad(scores.softmax(-1) @ heads[2], heads[:1], grad[0, :2].double())
    calls = {"pit.attention": call(lambda: pit.attention(q, k, v, causal=causal)),
             "torch, flash": call(lambda: by_torch(SDPBackend.FLASH_ATTENTION)),
             "torch, cuDNN": call(lambda: by_torch(SDPBackend.CUDNN_ATTENTION))}
    calls |= {name: call(lambda: function()[None])
              for name, function in flash_attn_4(q[0], k[0], v[0], causal).items()}
    report(f"{'causal ' if causal else ''}gradients {d} {size}",
           10.0 * HEADS * size * size * d * (0.5 if causal else 1), calls, exact, rounds)


def list_gradients(size, percent, block, rounds, d=128):
    """Gradients of q, k and v over blocks of heads of their own, beside flex_attention's."""
    q, k, v = (torch.randn(1, HEADS, size, d, device="cuda", dtype=torch.float16, requires_grad=True)
               for _ in range(3))
    grad = torch.randn_like(q)
    blocks = torch.rand(HEADS, size // block, size // block, device="cuda") < percent / 100
    blocks.diagonal(dim1=1, dim2=2).fill_(True)

    def call(result):
        return lambda: torch.autograd.grad(result, (q, k, v), grad, retain_graph=True)[0][0]

    exact = []
    with torch.no_grad():
        heads = [x[0, :2].double() for x in (q, k, v)]
    for begin in range(0, size, 2048):  # so many queries at a time that scores fit
        part = heads[0][:, begin:begin + 2048].clone().requires_grad_()
        live = blocks[:2, begin // block:(begin + 2048) // block]
        live = live.repeat_interleave(block, 1).repeat_interleave(block, 2)
        scores = (part @ heads[1].mT * d ** -0.5).masked_fill(~live, -torch.inf)
        exact += torch.autograd.grad(scores.softmax(-1) @ heads[2], part, grad[0, :2, begin:begin + 2048].double())
    functorch_config.donated_buffer = False  # the graph is kept
    by_flex = flex_of_lists(q[0], k[0], v[0], blocks, block)
    count = 10.0 * HEADS * size * size * d * blocks.double().mean().item()
    report(f"list gradients {size}, {block}: {percent} %", count, {
        "pit.attention": call(pit.attention(q, k, v, blocks=blocks, block_size=block)),
        "flex_attention": call(by_flex()[None])}, torch.cat(exact, 1), rounds)


def by_flashinfer(q, k, v, table, lengths):
    """FlashInfer's decode of a paged cache by tensor cores, planned before, where the package flashinfer-python
    is installed and finds or makes its kernels."""
    try:
        from flashinfer import BatchDecodeWithPagedKVCacheWrapper
    except ImportError:
        return {}
    page, own = k.shape[1], -(-lengths // k.shape[1])
    workspace = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
    wrapper = BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True, backend="fa2")
    begin = torch.nn.functional.pad(own.cumsum(0, dtype=torch.int32), (1, 0))
    pages = torch.cat([row[:count] for row, count in zip(table, own.tolist())])
    wrapper.plan(begin, pages, (lengths - 1) % page + 1, q.shape[1], k.shape[2], q.shape[2], page,
                 q_data_type=q.dtype, kv_data_type=k.dtype)
    out = torch.empty_like(q)
    return {"flashinfer": lambda: wrapper.run(q, (k, v), out=out)}


def in_graph(call):
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def decode(batch, keys, page, rounds):
    """64 heads of queries, 8 of keys; every other page of the cache is a sequence's."""
    pages = -(-keys // page)
    q = torch.randn(batch, 64, 128, device="cuda", dtype=torch.float16)
    k, v = (torch.randn(2 * batch * pages, page, 8, 128, device="cuda", dtype=torch.float16)
            for _ in range(2))
    table = torch.randperm(2 * batch * pages, device="cuda", dtype=torch.int32)[:batch * pages]
    table = table.reshape(batch, pages)
    lengths = torch.randint(keys // 2, keys + 1, (batch,), device="cuda", dtype=torch.int32)
    y = pit.paged_attention(q, k, v, table, lengths)
    own = [x[table[0]].reshape(-1, 8, 128)[:int(lengths[0])].double() for x in (k, v)]
    own = [x.repeat_interleave(8, 1) for x in own]
    scores = torch.einsum("hd,nhd->hn", q[0].double(), own[0]) * 128 ** -0.5
    exact = torch.einsum("hn,nhd->hd", scores.softmax(-1), own[1])
    off = ((y[0].double() - exact).norm() / exact.norm()).item()
    moved = int(lengths.sum()) * 8 * 128 * 2 * 2
    source = torch.empty(moved // 2, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)  # a copy reads half, and writes half
    calls = {"call": lambda: pit.paged_attention(q, k, v, table, lengths, out=y)}
    calls["in a graph"] = in_graph(calls["call"])
    print(f"decode {batch} x {keys}, pages of {page}: off by {off:.1e}", flush=True)
    for name, call in by_flashinfer(q, k, v, table, lengths).items():
        away = ((call() - y).norm() / y.norm()).item()
        print(f"decode {batch} x {keys}, pages of {page}, {name}: off by {away:.1e} of pit's", flush=True)
        calls |= {name: call, f"{name}, in a graph": in_graph(call)}
    times = race(calls | {"copy": lambda: target.copy_(source)}, rounds)
    for name in calls:
        taken = times[name]
        print(f"decode {batch} x {keys}, pages of {page}, {name}: {taken * 1e6:8.1f} us "
              f"{moved / taken * 1e-9:6.0f} GB/s  the copy's time over its {times['copy'] / taken:.2f}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="4096,16384")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rested", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="no case begins after these")
    arguments = parser.parse_args()
    global rested
    rested = arguments.rested
    begin = time.monotonic()
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), torch.__version__)
    if arguments.check:
        check(arguments.check, begin + arguments.seconds)
    cases = [(f"{kind} {d} {size}", lambda d=d, size=size, kind=kind: whole(
        d, size, kind == "causal", arguments.rounds))
        for d in (128, 64) for size in map(int, arguments.sizes.split(","))
        for kind in ("dense", "causal")]
    cases += [(f"small {'causal ' if causal else ''}{d} {size}",
               lambda d=d, size=size, causal=causal: small(size, causal, arguments.rounds, d))
              for d in (128, 256, 64) for size in map(int, arguments.sizes.split(",")) for causal in (False, True)]
    cases += [(f"packed {d} {size}", lambda d=d, size=size: packed(d, size, arguments.rounds))
              for d in (128, 64) for size in (16384, 32768)]
    cases += [(f"{'causal ' if causal else ''}gradients {d} {size}",
               lambda d=d, size=size, causal=causal: gradients(d, size, causal, arguments.rounds))
              for d in (128, 64) for size in (4096,) for causal in (False, True)]
    cases += [(f"blocks {d} {size}, {percent} %", lambda d=d, size=size, percent=percent: blocks_of(
        d, size, percent, arguments.rounds))
        for size in map(int, arguments.sizes.split(",")) for d in (128, 64) for percent in LIVE]
    cases += [(f"lists {size} {block} {percent} %",
               lambda size=size, block=block, percent=percent: lists(
                   size, percent, block, arguments.rounds))
              for size in LONG for block in (128, 64) for percent in LIVE]
    cases += [(f"orders {size} {block} {percent} %",
               lambda size=size, block=block, percent=percent: orders(
                   size, percent, block, arguments.rounds))
              for size in LONG for block in (128, 64) for percent in LIVE]
    cases += [(f"list gradients {size} {block} {percent} %",
               lambda size=size, block=block, percent=percent: list_gradients(
                   size, percent, block, arguments.rounds))
              for size in LONG for block in (128,) for percent in (25, 10)]  # flex_attention has no smaller ones
    cases += [(f"rows {size} {count} {queries}", lambda size=size, count=count, queries=queries: rows(
        size, count, queries, arguments.rounds))
        for size in (8192,) for count in (2048, 512) for queries in (128, 64)]
    cases += [(f"lines {size} {block}", lambda size=size, block=block: lines(size, block, arguments.rounds))
              for size in (32768, 131072) for block in (64, 128)]
    cases += [(f"index {size} {block}", lambda size=size, block=block: index(
        size, block, arguments.rounds)) for size in LONG for block in (128, 64)]
    cases += [(f"decode {batch} {keys} {page}", lambda batch=batch, keys=keys, page=page: decode(
        batch, keys, page, arguments.rounds))
        for batch, keys in ((64, 32768), (64, 8192), (16, 32768), (1, 32768)) for page in (16, 64)]
    for name, case in cases:
        if re.search(arguments.only, name) and time.monotonic() - begin < arguments.seconds:
            case()


if __name__ == "__main__":
    os.environ.setdefault("PIT_PROGRESS", "0")
    main()
