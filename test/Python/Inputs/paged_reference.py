"""Attention to keys in pages, in float64 by numpy; and random ones."""

import numpy as np


def paged_attention(q, k_cache, v_cache, page_table, lengths, *, causal=True, window=None, scale=None,
                    softcap=None):
    """The result and the logarithms of sums; q is (batch, heads, queries, d)."""
    (batch, heads, queries, d), groups = q.shape, k_cache.shape[2]
    result = np.zeros((batch, heads, queries, v_cache.shape[3]))
    logs = np.full((batch, heads, queries), -np.inf)
    for b in range(batch):
        pages = page_table[b]
        if not pages.size or not k_cache.shape[0]:
            continue
        k, v = (x.astype("d")[pages].reshape(-1, groups, x.shape[3]) for x in (k_cache, v_cache))
        place = np.arange(len(k))
        there = np.repeat(pages >= 0, k_cache.shape[1]) & (place < lengths[b])
        query = lengths[b] - queries + np.arange(queries)[:, None]
        counts = np.broadcast_to(there, (queries, len(k))).copy()
        if causal:
            counts &= place <= query
        if window is not None:
            counts &= (place > query - window) & (causal | (place < query + window))
        for h in range(heads):
            g = h // (heads // groups)
            s = q[b, h].astype("d") @ k[:, g].T * (d ** -0.5 if scale is None else scale)
            if softcap is not None:
                s = softcap * np.tanh(s / softcap)
            s = np.where(counts, s, -np.inf)
            most = s.max(-1, keepdims=True)
            base = np.where(most == -np.inf, 0, most)
            powers = np.exp(s - base)
            sums = powers.sum(-1, keepdims=True)
            result[b, h] = powers / np.where(sums == 0, 1, sums) @ v[:, g]
            with np.errstate(divide="ignore"):
                logs[b, h] = (base + np.log(sums))[:, 0]
    return result, logs


def draw(rng, dtype, page_sizes=(16, 64), head_sizes=(16, 64), pages_of=(0, 1, 3, 7)):
    """q, k_cache, v_cache, page_table, lengths; and options."""
    batch, groups, each = int(rng.integers(0, 4)), int(rng.integers(1, 3)), int(rng.choice([1, 3, 8]))
    queries, size, most = int(rng.choice([1, 1, 2, 5])), int(rng.choice(page_sizes)), int(
        rng.choice(pages_of))
    count = batch * most + int(rng.integers(1, 4))
    d, e = (int(rng.choice(head_sizes)) for _ in range(2))
    q, k, v = (rng.standard_normal(shape).astype(dtype) for shape in (
        (batch, groups * each, queries, d), (count, size, groups, d), (count, size, groups, e)))
    integer = rng.choice(["i4", "i8"])
    pages = rng.permutation(count)[:batch * most].reshape(batch, most).astype(integer)
    pages[rng.random(pages.shape) < rng.choice([0, 0.3, 1], p=[0.6, 0.3, 0.1])] = -1
    lengths = rng.integers(0, most * size + 1, batch).astype(rng.choice(["i4", "i8"]))
    if batch:
        lengths[rng.integers(batch)] = rng.choice([0, 1, most * size]) if most else 0
    options = {}
    if rng.random() < 0.3:
        options["causal"] = False
    if rng.random() < 0.3:
        options["window"] = int(rng.integers(1, 70))
    if rng.random() < 0.2:
        options["softcap"] = float(rng.uniform(1, 20))
    if rng.random() < 0.2:
        options["scale"] = float(rng.uniform(0.05, 1))
    return (q, k, v, pages, lengths), options
