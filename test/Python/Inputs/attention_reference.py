"""Attentions in float64 by numpy, with scores as a whole; and random ones."""

import numpy as np


def chances(q, k, *, mask=None, causal=False, align="start", window=None, sinks=None,
            sink_logits=None, alibi=None, bias=None, lengths=None, cu_seqlens=None, scale=None,
            softcap=None):
    """The probabilities, the logarithms of sums, and how much of a gradient a softcap lets through;
    `mask` says for each query and key whether it counts."""
    (_, heads, queries, d), (_, groups, keys, _) = q.shape, k.shape
    k = np.repeat(k.astype("d"), heads // groups, 1)
    scores = q.astype("d") @ k.swapaxes(2, 3) * (d ** -0.5 if scale is None else scale)
    slope = 1
    if softcap is not None:
        capped = np.tanh(scores / softcap)
        scores, slope = softcap * capped, 1 - capped ** 2
    if bias is not None:
        scores = scores + np.asarray(bias, "d")
    i = np.arange(queries)[:, None] + (keys - queries if align == "end" else 0)
    j = np.arange(keys)[None]
    if cu_seqlens is not None:
        i, j, of_one = places(*cu_seqlens, queries, keys, align)
    if alibi is not None:
        scores = scores + np.asarray(alibi, "d")[:, None, None] * (j - i)
    counts = np.ones(scores.shape, bool)
    if cu_seqlens is not None:
        counts &= of_one
    if mask is not None:
        counts &= np.asarray(mask) != 0
    if causal:
        counts &= j <= i
    if window is not None:
        near = (j > i - window) & (causal | (j < i + window))
        counts &= near if sinks is None else near | (j < sinks)
    if lengths is not None:
        counts &= j < np.asarray(lengths)[:, None, None, None]
    scores = np.where(counts, scores, -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    base = np.where(most == -np.inf, 0, most)
    powers = np.exp(scores - base)
    sums = powers.sum(-1, keepdims=True)
    if sink_logits is not None:
        sums = sums + np.exp(np.asarray(sink_logits, "d")[:, None, None] - base)
    with np.errstate(divide="ignore"):
        logs = (base + np.log(sums))[..., 0]
    return powers / np.where(sums == 0, 1, sums), logs, slope


def places(of_queries, of_keys, queries, keys, align):
    """Places in sequences that lie one behind the other, and which are in the same one."""
    i, j = np.zeros((queries, 1), int), np.zeros((1, keys), int)
    of_one = np.zeros((queries, keys), bool)
    for a, b, c, d in zip(of_queries, of_queries[1:], of_keys, of_keys[1:]):
        i[a:b, 0] = np.arange(b - a) + (d - c - (b - a) if align == "end" else 0)
        j[0, c:d] = np.arange(d - c)
        of_one[a:b, c:d] = True
    return i, j, of_one


def attention(q, k, v, **options):
    """The result, 0 where a row is nothing, and the logarithms of sums."""
    each = q.shape[1] // k.shape[1]
    found, logs, _ = chances(q, k, **options)
    return found @ np.repeat(v.astype("d"), each, 1), logs


def gradients(q, k, v, dy, **options):
    """Of q, k and v, and of the bias and of alibi if there are any."""
    each, groups = q.shape[1] // k.shape[1], k.shape[1]
    found, _, slope = chances(q, k, **options)
    q, dy = (x.astype("d") for x in (q, dy))
    wide_k, wide_v = (np.repeat(x.astype("d"), each, 1) for x in (k, v))
    back = dy @ wide_v.swapaxes(2, 3)
    of_scores = found * (back - (found * back).sum(-1, keepdims=True))
    others = []
    if options.get("bias") is not None:
        shape = np.shape(options["bias"])
        wide = (1,) * (4 - len(shape)) + shape
        dims = tuple(i for i in range(4) if wide[i] == 1)
        others.append(of_scores.sum(dims, keepdims=True).reshape(shape))
    if options.get("alibi") is not None:
        queries, keys = of_scores.shape[2:]
        i = np.arange(queries)[:, None] + (keys - queries if options.get("align") == "end" else 0)
        j = np.arange(keys)
        if options.get("cu_seqlens") is not None:
            i, j, _ = places(*options["cu_seqlens"], queries, keys, options.get("align"))
        others.append((of_scores * (j - i)).sum((0, 2, 3)))
    of_scores = of_scores * slope
    scale = options.get("scale")
    of_scores = of_scores * (q.shape[3] ** -0.5 if scale is None else scale)

    def of_groups(x):
        return x.reshape(x.shape[0], groups, each, *x.shape[2:]).sum(2)

    return (of_scores @ wide_k, of_groups(of_scores.swapaxes(2, 3) @ q),
            of_groups(found.swapaxes(2, 3) @ dy), *others)


def repeat(blocks, block, queries, keys):
    """The mask of which blocks are given."""
    return np.repeat(np.repeat(blocks, block[0], -2), block[1], -1)[..., :queries, :keys]


def in_orders(mask, of_queries, of_keys):
    """The mask of places, of one whose rows and columns are in orders."""
    found = np.empty_like(mask)
    of_queries, of_keys = (np.broadcast_to(x, (*mask.shape[:2], x.shape[-1]))
                           for x in (of_queries, of_keys))
    for at in np.ndindex(mask.shape[:2]):
        found[at][np.ix_(of_queries[at], of_keys[at])] = mask[at]
    return found


def draw_order(rng, batch, heads, places):
    """One for all, for each head, or for each sequence."""
    shape = [(), (heads,), (1, heads), (batch, 1), (batch, heads)][int(rng.integers(5))]
    order = np.empty((*shape, places), rng.choice(["i4", "i8"]))
    for at in np.ndindex(shape):
        order[at] = rng.permutation(places)
    return order


def ordered_blocks(rng, arrays):
    """Blocks of 16 to 128 in orders, as options of pit.attention, and those of `attention`."""
    (batch, heads, queries, _), keys = arrays[0].shape, arrays[1].shape[2]
    block = (int(rng.choice([64, 128])), int(rng.choice([16, 64, 128, 128])))
    parts = -(-queries // block[0]), -(-keys // block[1])
    blocks = rng.random(([1, batch][rng.integers(2)], [1, heads][rng.integers(2)], *parts)) < 0.6
    order = tuple(draw_order(rng, batch, heads, size) for size in (queries, keys))
    mask = repeat(np.broadcast_to(blocks, (batch, heads, *parts)), block, queries, keys)
    options = {"causal": bool(rng.random() < 0.5)}
    if rng.random() < 0.5:
        options["window"] = int(rng.integers(1, 150))
    return (options | {"blocks": blocks, "block_size": block, "order": order},
            options | {"mask": in_orders(mask, *order)})


def draw(rng, dtype, sizes=None, head_sizes=(1, 8, 16, 33, 64)):
    """q, k, v; options of pit.attention; and those of `attention`."""
    batch, groups, each = (int(rng.integers(1, 4)) for _ in range(3))
    queries, keys = sizes or [int(rng.choice([0, 1, 2, 31, 64, 65, 130, 270])) for _ in range(2)]
    d, e = (int(rng.choice(head_sizes)) for _ in range(2))
    heads = groups * each
    q, k, v = (rng.standard_normal(shape).astype(dtype) for shape in (
        (batch, heads, queries, d), (batch, groups, keys, d), (batch, groups, keys, e)))
    options = {}

    def shape(m, n):
        full = (batch, heads, m, n)
        full = tuple(1 if rng.random() < 0.3 else size for size in full)
        return full[int(rng.integers(3)):]

    if rng.random() < 0.4:
        options["causal"] = True
    if rng.random() < 0.3:
        options["align"] = "end"
    if rng.random() < 0.3:
        options["window"] = int(rng.integers(1, 70))
        if rng.random() < 0.5:
            options["sinks"] = int(rng.integers(1, 5))
    if rng.random() < 0.2:
        options["softcap"] = float(rng.uniform(1, 20))
    if rng.random() < 0.2:
        options["scale"] = float(rng.uniform(0.05, 2))
    if rng.random() < 0.2:
        options["bias"] = rng.standard_normal(shape(queries, keys)).astype(dtype)
    if rng.random() < 0.2:
        options["alibi"] = -rng.random(heads).astype("f")
    if rng.random() < 0.2:
        options["lengths"] = rng.integers(0, keys + 2, batch).astype(rng.choice(["i4", "i8"]))
    elif rng.random() < 0.3:
        count, type_ = int(rng.integers(1, 5)), rng.choice(["i4", "i8"])
        options["cu_seqlens"] = tuple(
            np.concatenate([[0], np.sort(rng.integers(0, size + 1, count))]).astype(type_)
            for size in (queries, keys))
    if rng.random() < 0.15:
        options["sink_logits"] = rng.standard_normal(heads).astype("f")
    wanted = dict(options)
    live = rng.choice([0, 0.02, 0.3, 0.9, 1])
    how = rng.integers(4)
    if how == 1:
        options["mask"] = wanted["mask"] = rng.random(shape(queries, keys)) < live
    elif how == 2:
        block = [(64, 64), (32, 16), (64, 1), (16, 128), (128, 32), (1, 40)][int(rng.integers(6))]
        blocks = rng.random(shape(-(-queries // block[0]), -(-keys // block[1]))) < live
        options["blocks"], options["block_size"] = blocks, block
        wanted["mask"] = repeat(np.broadcast_to(blocks, (
            batch, heads, -(-queries // block[0]), -(-keys // block[1]))), block, queries, keys)
        if rng.random() < 0.4:
            orders = [draw_order(rng, batch, heads, size) for size in (queries, keys)]
            if queries == keys and rng.random() < 0.5:
                orders[1] = orders[0]
            wanted["mask"] = in_orders(wanted["mask"], *orders)
            options["order"] = orders[0] if orders[0] is orders[1] else tuple(orders)
    return (q, k, v), options, wanted
