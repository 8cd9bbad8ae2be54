"""Which blocks an attention reads, in float64 by numpy, one block at a time; and random calls."""

import numpy as np

from attention_reference import draw_order


def softmax(x):
    most = x.max(-1, keepdims=True)
    powers = np.exp(x - np.where(most == -np.inf, 0, most))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def largest(row, count):
    return {i for i in np.argsort(-row, kind="stable")[:count] if row[i] > -np.inf}


def block_index(q, k, *, block_size, top_k=None, top_p=None, vertical=None, slash=None,
                last_queries=64, sinks=None, window=None, segments=None, lines=None, order=None,
                causal=False, align="start", scale=None):
    (batch, heads, queries, d), (_, groups, keys, _) = q.shape, k.shape
    rows, columns = block_size
    shift = keys - queries if align == "end" else 0
    scale = d ** -0.5 if scale is None else scale
    found = np.zeros((batch, heads, -(-queries // rows), -(-keys // columns)), bool)
    orders = order if isinstance(order, tuple) else (order, order)
    orders = [np.broadcast_to(np.arange(size) if x is None else x, (batch, heads, size))
              for x, size in zip(orders, (queries, keys))]
    for b, h in np.ndindex(batch, heads):
        places_i, places_j = orders[0][b, h] + shift, orders[1][b, h]
        of_q = q[b, h].astype("d")[orders[0][b, h]]
        of_k = k[b, h // (heads // groups)].astype("d")[places_j]
        last = min(last_queries, queries)
        scores = of_q[queries - last:] @ of_k.T * scale
        place = np.arange(queries - last, queries)[:, None] + shift
        if causal:
            scores[np.arange(keys) > place] = -np.inf
        chances = softmax(scores)
        apart = place - np.arange(keys)
        keys_that_count = largest(chances.sum(0), vertical or 0)
        sums = {o: chances[apart == o].sum() for o in np.unique(apart)}
        slashes = {o for o in sorted(sums, key=lambda o: -sums[o])[:slash or 0] if sums[o] > 0}
        for m, n in np.ndindex(*found.shape[2:]):
            i = np.arange(m * rows, min((m + 1) * rows, queries)) + shift
            j = np.arange(n * columns, min((n + 1) * columns, keys))
            of_block = places_i[i - shift], places_j[j]
            if causal and of_block[1].min() > of_block[0].max():
                continue
            # Lines and windows are those of whole blocks.
            wide_i, wide_j = m * rows + shift + np.arange(rows), n * columns + np.arange(columns)
            live = bool(keys_that_count & set(j))
            live |= bool(slashes & set((wide_i[:, None] - wide_j).ravel()))
            live |= sinks is not None and of_block[1].min() < sinks
            live |= lines is not None and bool(((of_block[1] - lines[1]) % lines[0] == 0).any())
            if segments is not None:
                live |= bool(set((i - segments[1]) // segments[0]) & set((j - segments[1]) // segments[0]))
            if window is not None:
                live |= wide_j[-1] > i[0] - window and (causal or j[0] < i[-1] + window)
            found[b, h, m, n] = live
        for m in range(found.shape[2]):
            pooled_q = of_q[m * rows:(m + 1) * rows].mean(0)
            row = np.array([pooled_q @ of_k[n * columns:(n + 1) * columns].mean(0) * scale
                            for n in range(found.shape[3])])
            if causal:
                first = [places_j[n * columns:(n + 1) * columns].min() for n in range(len(row))]
                row[first > places_i[m * rows:(m + 1) * rows].max()] = -np.inf
            if top_k is not None:
                found[b, h, m, list(largest(row, top_k))] = True
            if top_p is not None:
                share, sum_ = softmax(row), 0
                for n in np.argsort(-share, kind="stable"):
                    if sum_ < top_p and share[n] > 0:
                        found[b, h, m, n] = True
                    sum_ += share[n]
    return found


def page_index(q, lows, highs, pages, lengths, *, page_size, top_k, sinks=None, window=None,
               scale=None):
    (batch, heads, queries, d), groups, count = q.shape, lows.shape[1], pages.shape[1]
    scale = d ** -0.5 if scale is None else scale
    table = np.full((batch, min(top_k, count)), -1, pages.dtype)
    found = np.zeros(batch, lengths.dtype)
    for b in range(batch):
        live = [p for p in range(count) if p * page_size < lengths[b] and pages[b, p] >= 0]
        length = min(int(lengths[b]), count * page_size)
        expected = np.zeros(len(live))
        for h, i in np.ndindex(heads, queries):
            g = h // (heads // groups)
            most = [np.maximum(q[b, h, i] * lows[pages[b, p], g],
                               q[b, h, i] * highs[pages[b, p], g]).sum() * scale for p in live]
            expected += softmax(np.array(most)) if live else 0
        order = sorted(range(len(live)), key=lambda x: (
            -((live[x] + 1) * page_size >= length),
            -(sinks is not None and live[x] * page_size < sinks)
            - (window is not None and (live[x] + 1) * page_size > length - window), -expected[x]))
        chosen = sorted(live[x] for x in order[:top_k])
        table[b, :len(chosen)] = pages[b, chosen]
        found[b] = sum(min((p + 1) * page_size, length) - p * page_size for p in chosen)
    return table, found


def draw_pages(rng):
    batch, groups, each, queries, size = (int(rng.integers(1, 4)) for _ in range(5))
    count, d = int(rng.integers(0, 9)), 8
    q = rng.standard_normal((batch, groups * each, queries, d))
    lows, highs = np.sort(rng.standard_normal((2, batch * count + 1, groups, d)), 0)
    pages = rng.permutation(batch * count).reshape(batch, count).astype(rng.choice(["i4", "i8"]))
    pages[rng.random(pages.shape) < 0.1] = -1
    lengths = rng.integers(0, count * size + 2, batch).astype(rng.choice(["i4", "i8"]))
    options = {"page_size": size, "top_k": int(rng.integers(1, 7))}
    for name in ("sinks", "window"):
        if rng.random() < 0.4:
            options[name] = int(rng.integers(0, 7))
    return (q, lows, highs, pages, lengths), options


def draw(rng, dtype="f4"):
    batch, groups, each = (int(rng.integers(1, 3)) for _ in range(3))
    queries, keys = (int(rng.choice([1, 5, 40, 64, 130])) for _ in range(2))
    q, k = (rng.standard_normal(shape).astype(dtype) for shape in (
        (batch, groups * each, queries, 8), (batch, groups, keys, 8)))
    options = {"block_size": tuple(int(x) for x in rng.choice([4, 16, 32], 2))}
    if rng.random() < 0.5:
        options["causal"] = True
    if rng.random() < 0.3:
        options["align"] = "end"
    options.update([("top_k", int(rng.integers(0, 5))), ("top_p", float(rng.random()))][
        int(rng.integers(2)):][:1] if rng.random() < 0.8 else [("sinks", 5)])
    for name in ("vertical", "slash", "sinks", "window"):
        if rng.random() < 0.4:
            options[name] = int(rng.integers(name == "window", 20))
    if keys == 1:
        options.pop("slash", None)  # its lines count alike
    if rng.random() < 0.5:
        options["last_queries"] = int(rng.choice([1, 7, 200]))
    if rng.random() < 0.3:
        options["segments"] = int(rng.integers(1, 50)), int(rng.integers(0, 50))
    if rng.random() < 0.3:
        options["lines"] = int(rng.integers(1, 40)), int(rng.integers(0, 50))
    if not {"vertical", "slash"} & {*options} and rng.random() < 0.7:
        options["order"] = tuple(draw_order(rng, batch, groups * each, size) for size in (queries, keys))
    return (q, k), options
