"""Attentions as tile programs of Python, which benchmarks/gpu and benchmarks/cpu time: dense,
causal, with the logarithms of sums that a backward pass needs, and of the keys that an index lists
for each block of queries. q, k, v and the result
have all heads in one batch, [H, M, D] and [H, N, D], and elements of one type. D is that
number, m queries and n keys make a tile."""

import pit
from pit import tile

inf = float("inf")
LOG2_E = 1.4426950408889634


def step(v, s, unit, top, total, acc):
    """The carried values after a step with these scores, which `unit` turns into exponents of 2."""
    higher = tile.maximum(top, tile.max(s, axis=1))
    p = tile.exp2(tile.fma(s, unit, (higher * -unit)[:, None]), approximate=True)
    scale = tile.exp2((top - higher) * unit, approximate=True)
    total = total * scale + tile.sum(p, axis=1)
    return higher, total, acc * scale[:, None] + tile.dot(p.to(v.dtype), tile.sread(v))


@pit.jit
def dense(q: tile.tensor["H", "M", "D"], k: tile.tensor["H", "N", "D"],
          v: tile.tensor["H", "N", "D"], *, D, m, n, causal) -> tile.tensor["H", "M", "D"]:
    H, M, _ = q.shape
    N = k.shape[1]
    o = tile.empty((H, M, D), q.dtype)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, tile.minimum(N, i.start + m) if causal else N, n):
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, j, :]).T)
            keys = tile.coords(j)[None, :]
            s = tile.where(keys < N, s, -inf)
            if causal:
                s = tile.where(keys <= tile.coords(i)[:, None], s, -inf)
            top, total, acc = step(v[h, j, :], s, D ** -0.5 * LOG2_E, top, total, acc)
        tile.swrite(o[h, i, :], (acc * (1.0 / total)[:, None]).to(q.dtype))
    return o


@pit.jit
def with_logs(q: tile.tensor["H", "M", "D"], k: tile.tensor["H", "N", "D"],
              v: tile.tensor["H", "N", "D"], *, D, m, n):
    """The result, and for each query the logarithm of its sum of exponentials."""
    H, M, _ = q.shape
    N = k.shape[1]
    o = tile.empty((H, M, D), q.dtype)
    logs = tile.empty((H, M), tile.f32)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, j, :]).T)
            s = tile.where(tile.coords(j)[None, :] < N, s, -inf)
            top, total, acc = step(v[h, j, :], s, D ** -0.5 * LOG2_E, top, total, acc)
        tile.swrite(o[h, i, :], (acc * (1.0 / total)[:, None]).to(q.dtype))
        tile.swrite(logs[h, i], top * D ** -0.5 + tile.log(total))
    return o, logs


@pit.jit
def listed(q: tile.tensor["H", "M", "D"], k: tile.tensor["H", "N", "D"],
           v: tile.tensor["H", "N", "D"], live: tile.index(micro_tile=[64, 1], axis=1),
           *, D, m, n) -> tile.tensor["H", "M", "D"]:
    H, M, _ = q.shape
    o = tile.zeros((H, M, D), q.dtype)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, i, chunk=n):
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, ids, :]).T)
            s = tile.where(tile.coords(ids)[None, :] >= 0, s, -inf)
            top, total, acc = step(v[h, ids, :], s, D ** -0.5 * LOG2_E, top, total, acc)
        tile.swrite(o[h, i, :], (acc * (1.0 / total)[:, None]).to(q.dtype))
    return o
