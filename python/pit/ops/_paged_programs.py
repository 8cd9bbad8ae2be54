"""The tile programs of pit.paged_attention, and of pit.attention where it has few tiles
(_few_tiles.py). Steps of the former read keys where a table says that their pages lie; a number in
memory ends the loop. If few sequences would leave most of a machine idle, the keys of one are split,
and the results of the parts are combined by the logarithms of their sums.

Rows are the queries of all heads that share keys: head r // M, query r % M, as they lie in q.
"""

import typing

from .. import tile
from ..tile import jit

inf = float("inf")


def keys_of(cache, scale, page, start, g, T, S, heads, dims, wide, type_):
    """T keys of a page of S, of caches (pages, places, heads, ..), or with the heads before; times a
    scale of these `dims` if there is one. S is None where the page is a sequence."""
    if S is None:
        places = tile.span(start, T)
    else:
        places = tile.span(0 if T == S else tile.maximum(start % S, 0), T)
    if heads == 0:
        keys = tile.sread(cache[g, page, places, :])
    elif heads == 1:
        keys = tile.sread(cache[page, g, places, :])
    else:
        keys = tile.sread(cache[page, places, g, :])
    if scale is None:
        return keys.to(type_)
    factors = tile.sread(scale[page if dims[0] else 0, places if dims[1] else tile.span(0, 1),
                               g if dims[2] else 0])
    return (keys.to(wide) * factors.to(wide)[:, None]).to(type_)


def scores_of(q, keys, page, start, rows, length, T, M, scale, softcap, causal, window):
    """Scores of keys from `start` on; -inf where a key does not count."""
    s = tile.dot(q, keys.T) * scale
    if softcap is not None:
        s = tile.tanh(s * (1.0 / softcap)) * softcap
    place = tile.coords(tile.span(start, T))[None, :]
    s = tile.where(place < tile.where(page < 0, 0, length), s, -inf)
    if causal and M > 1 or window is not None:
        query = (tile.coords(rows) % M + (length - M))[:, None]
        if causal:
            s = tile.where(place <= query, s, -inf)
        if window is not None:
            s = tile.where(place > query - window, s, -inf)
            if not causal:
                s = tile.where(place < query + window, s, -inf)
    return s


def page_of(pages, b, start, S):
    """Where the keys of sequence b from `start` on lie: -1 is nowhere."""
    if pages is None:
        return b
    return tile.number(tile.sread(pages[b, start // S], pad=-1)).to(tile.index_type)


def length_of(lengths, b, k, k_heads):
    if lengths is None:
        return k.shape[1 if k_heads == 2 else 2]
    return tile.number(tile.sread(lengths[b])).to(tile.index_type)


def finite(top):
    """0 where no key has counted yet."""
    return tile.where(top == -inf, 0.0, top)


class Constants(typing.NamedTuple):
    """The constants of a program, beside the types of its arguments."""

    S: int | None  # places of a page; None: there are no pages
    T: int  # keys of a step's product
    M: int  # queries of a sequence
    m: int  # rows of a tile
    step: int  # keys of a step
    splits: int
    scale: float
    softcap: float | None
    causal: bool
    window: int | None
    k_heads: int  # the dim of the heads in a cache
    v_heads: int
    k_dims: tuple  # of the scale of keys: 0 where its extent is 1
    v_dims: tuple
    product: object  # the type of factors of products
    wide: object  # the type of sums
    fast: bool  # approximate exponentials
    with_lse: bool


def attend(q, k, v, pages, lengths, k_scale, v_scale, c):
    """All of it. `k_scale` and `v_scale` are None, or (pages, places, heads)."""
    (S, T, M, m, step, splits, scale, softcap, causal, window, k_heads, v_heads, k_dims, v_dims, product,
     wide, fast, with_lse) = c
    B, G, R, _ = q.shape
    E = v.shape[3]
    o = tile.empty((B, G, R, E), q.dtype)
    logs = tile.empty((B, G, R), wide)
    if splits > 1:
        parts = tile.empty((B, G, splits, R, E), wide)
        of_parts = tile.empty((B, G, splits, R), wide)
    for b, g, x, i in tile.forall(B, G, splits, (0, R, m), conflicts="none"):
        length = length_of(lengths, b, k, k_heads)
        begin = tile.maximum(length * 0, 0)
        if window is not None:
            begin = tile.maximum(length - (M + window - 1), 0) // step * step
        each = tile.cdiv(tile.maximum(length - begin, 0), splits * step) * step
        first = tile.minimum(begin + each * x, length)
        last = tile.minimum(first + each, length)
        acc = tile.zeros((m, E), wide)
        top = tile.full((m,), -inf, wide)
        total = tile.zeros((m,), wide)
        for p in tile.for_range(first, last, step):
            queries = tile.sread(q[b, g, i, :]).to(product)
            n0 = p.start
            p0 = page_of(pages, b, n0, S)
            k0 = keys_of(k, k_scale, p0, n0, g, T, S, k_heads, k_dims, wide, product)
            s0 = scores_of(queries, k0, p0, n0, i, length, T, M, scale, softcap, causal,
                           window)
            most = s0  # of keys at the same place of a page: rows are reduced once a step
            if step > T:
                n1 = n0 + T
                p1 = page_of(pages, b, n1, S)
                k1 = keys_of(k, k_scale, p1, n1, g, T, S, k_heads, k_dims, wide, product)
                s1 = scores_of(queries, k1, p1, n1, i, length, T, M, scale, softcap, causal,
                               window)
                most = tile.maximum(most, s1)
            if step > 2 * T:
                n2 = n0 + 2 * T
                p2 = page_of(pages, b, n2, S)
                k2 = keys_of(k, k_scale, p2, n2, g, T, S, k_heads, k_dims, wide, product)
                s2 = scores_of(queries, k2, p2, n2, i, length, T, M, scale, softcap, causal,
                               window)
                n3 = n0 + 3 * T
                p3 = page_of(pages, b, n3, S)
                k3 = keys_of(k, k_scale, p3, n3, g, T, S, k_heads, k_dims, wide, product)
                s3 = scores_of(queries, k3, p3, n3, i, length, T, M, scale, softcap, causal,
                               window)
                most = tile.maximum(most, tile.maximum(s2, s3))
            higher = tile.maximum(top, tile.max(most, axis=1))
            base = finite(higher)
            change = tile.exp(top - base, approximate=fast)
            c0 = tile.exp(s0 - base[:, None], approximate=fast)
            powers = c0
            acc = acc * change[:, None] + tile.dot(
                c0.to(product), keys_of(v, v_scale, p0, n0, g, T, S, v_heads, v_dims, wide, product))
            if step > T:
                c1 = tile.exp(s1 - base[:, None], approximate=fast)
                powers = powers + c1
                v1 = keys_of(v, v_scale, p1, n1, g, T, S, v_heads, v_dims, wide, product)
                acc += tile.dot(c1.to(product), v1)
            if step > 2 * T:
                c2 = tile.exp(s2 - base[:, None], approximate=fast)
                powers = powers + c2
                v2 = keys_of(v, v_scale, p2, n2, g, T, S, v_heads, v_dims, wide, product)
                acc += tile.dot(c2.to(product), v2)
                c3 = tile.exp(s3 - base[:, None], approximate=fast)
                powers = powers + c3
                v3 = keys_of(v, v_scale, p3, n3, g, T, S, v_heads, v_dims, wide, product)
                acc += tile.dot(c3.to(product), v3)
            total = total * change + tile.sum(powers, axis=1)
            top = higher
        mean = acc * tile.where(total == 0.0, 0.0, 1.0 / total)[:, None]
        log = tile.where(total == 0.0, -inf, finite(top) + tile.log(total))
        if splits > 1:
            tile.swrite(of_parts[b, g, x, i], log)
            tile.swrite(parts[b, g, x, i, :], mean)
        else:
            if with_lse:
                tile.swrite(logs[b, g, i], log)
            tile.swrite(o[b, g, i, :], mean.to(q.dtype))
    if splits > 1:
        for b, g, r in tile.forall(B, G, R):
            log = tile.sread(of_parts[b, g, :, r])
            base = finite(tile.max(log, axis=0))
            share = tile.exp(log - base)
            total = tile.sum(share, axis=0)
            mean = tile.sum(share[:, None] * tile.sread(parts[b, g, :, r, :]), axis=0)
            if with_lse:
                tile.swrite(logs[b, g, r],
                            tile.where(total == 0.0, -inf, base + tile.log(total)))
            tile.swrite(o[b, g, r, :],
                        (mean * tile.where(total == 0.0, 0.0, 1.0 / total)).to(q.dtype))
    if with_lse:
        return o, logs
    return o


@jit
def paged_attention(
        q: tile.tensor["B", "G", "R", "D"], k: tile.tensor["K0", "K1", "K2", "D"],
        v: tile.tensor["V0", "V1", "V2", "E"], pages: tile.tensor["B", "P"],
        lengths: tile.tensor["B"], *, c):
    return attend(q, k, v, pages, lengths, None, None, c)


@jit
def with_k_scale(
        q: tile.tensor["B", "G", "R", "D"], k: tile.tensor["K0", "K1", "K2", "D"],
        v: tile.tensor["V0", "V1", "V2", "E"], pages: tile.tensor["B", "P"],
        lengths: tile.tensor["B"], k_scale: tile.tensor["A", "C", "F"], *, c):
    return attend(q, k, v, pages, lengths, k_scale, None, c)


@jit
def with_v_scale(
        q: tile.tensor["B", "G", "R", "D"], k: tile.tensor["K0", "K1", "K2", "D"],
        v: tile.tensor["V0", "V1", "V2", "E"], pages: tile.tensor["B", "P"],
        lengths: tile.tensor["B"], v_scale: tile.tensor["H", "I", "J"], *, c):
    return attend(q, k, v, pages, lengths, None, v_scale, c)


@jit
def with_scales(
        q: tile.tensor["B", "G", "R", "D"], k: tile.tensor["K0", "K1", "K2", "D"],
        v: tile.tensor["V0", "V1", "V2", "E"], pages: tile.tensor["B", "P"],
        lengths: tile.tensor["B"],
        k_scale: tile.tensor["A", "C", "F"], v_scale: tile.tensor["H", "I", "J"], *, c):
    return attend(q, k, v, pages, lengths, k_scale, v_scale, c)


@jit
def in_parts(
        q: tile.tensor["B", "G", "R", "D"], k: tile.tensor["B", "K1", "K2", "D"],
        v: tile.tensor["B", "V1", "V2", "E"], *, c):
    return attend(q, k, v, None, None, None, None, c)


PROGRAMS = {(False, False): paged_attention, (True, False): with_k_scale, (False, True): with_v_scale,
            (True, True): with_scales}
