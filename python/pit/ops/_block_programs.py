"""The tile programs of blocks of keys that count: by scores and by place. A row's scores are compared with
numbers, and nothing is sorted: on a GPU a warp has a row, in registers."""

import math
import typing

from .. import tile
from ..tile import jit

HALVINGS = 13  # after which the last score that counts mostly stands alone; after twice as many nearly always
inf = float("inf")


class Constants(typing.NamedTuple):
    """What a program is made for, beside the types of its arguments."""

    m: int  # rows of a tile
    n: int  # its columns
    sizes: tuple
    by: tuple
    top_p: float | None
    segments: tuple | None
    lines: tuple | None
    scale: float  # of the scores
    causal: bool
    behind: bool  # the window is that of keys behind the query
    at_end: bool


def in_place(rows, numbers, c):
    """Of blocks of queries and keys: whether keys are there, and whether they count by place."""
    _, n, sizes, by, _, segments, lines, _, causal, behind, at_end = c
    _, sinks, window, queries, keys, _ = numbers.shape
    shift = keys - queries if at_end else queries * 0
    first = (tile.coords(rows) * sizes[0] + shift).to(tile.i32)[:, None]
    last = tile.minimum(first + (sizes[0] - 1), (queries + shift - 1).to(tile.i32))
    begin = (tile.coords(tile.span(0, n)) * sizes[1]).to(tile.i32)[None, :]
    end = tile.minimum(begin + (sizes[1] - 1), (keys - 1).to(tile.i32))
    there = (begin <= last if causal else last >= first) & (begin <= end)
    near = begin < first * 0
    if "sinks" in by:
        near = near | (begin < sinks.to(tile.i32))
    if lines is not None:
        near = near | ((end - lines[1]) // lines[0] > (begin - (lines[1] + 1)) // lines[0])
    if segments is not None:
        length, at = segments
        near = near | ((first - at) // length <= (end - at) // length) & (
            (begin - at) // length <= (last - at) // length)
    if "window" in by:
        window = window.to(tile.i32)
        close = begin + (sizes[1] - 1) > first - window
        near = near | (close if behind else close & (begin < last + window))
    return there, near & there


def softmax(x):
    """Of rows; 0 where x is -inf. Rows without a number are 0."""
    top = tile.max(x, axis=1)
    powers = tile.exp(x - tile.where(top == -inf, 0.0, top)[:, None])
    sums = tile.sum(powers, axis=1)
    return powers / tile.where(sums == 0.0, 1.0, sums)[:, None]


def zero_of(weights):
    return 0 if weights.dtype == tile.i32 else 0.0


def sum_where(condition, weights):
    return tile.sum(tile.where(condition, weights, zero_of(weights)), axis=1)


def if_any(numbers):
    """A loop whose body runs once where a number is 1, and not where all are 0."""
    return tile.for_range(tile.number(tile.max(numbers)).to(tile.index_type))


def last_from(x, weights, limit, low, least):
    """The least element of a row that is not below `low`, and 1 where it may not be the last one that
    counts, or not the only such."""
    one = tile.full((1, 1), 1, tile.i32)
    last = tile.min(tile.where(x >= low[:, None], x, inf), axis=1)
    before = sum_where(x > last[:, None], weights)
    each = tile.max(tile.where(x == last[:, None], weights, zero_of(weights)), axis=1)
    alone = sum_where(x == last[:, None], one) == 1
    is_last = alone & (before < limit) & ((before + each >= limit) | (last == least)) | (least == inf)
    return last, tile.where(is_last, 0, one[0])


def largest(x, weights, limit, n):
    """The elements of rows before which less than `limit` of the weights is. -inf is none; of equal elements
    the first come first. Halving what lies between the least and the largest element finds the last
    one that counts, of nearly all rows; the bits of floats find that of any."""
    one = tile.full((1, 1), 1, tile.i32)
    low = least = tile.min(tile.where(x > -inf, x, inf), axis=1)
    part = tile.max(x, axis=1) - least
    ends = tile.full(least.shape, 2 * n, tile.i32)  # places before them count, of elements equal to the last
    places = tile.coords(tile.span(0, n)).to(tile.i32)[None, :]
    last, rest = least, tile.full(least.shape, 1, tile.i32)
    for _ in tile.for_range(2):
        for _ in if_any(rest):
            more = rest
            for _ in tile.for_range(HALVINGS):
                for _ in if_any(more):
                    part = part * 0.5
                    found = sum_where(x >= (low + part)[:, None], weights)
                    low = low + tile.where((found >= limit) & (more == 1), part, 0.0)
                    more = tile.where(found == limit, 0, more)
            last, rest = last_from(x, weights, limit, low, least)
    for _ in if_any(rest):
        size = 64 if x.dtype == tile.f64 else 32
        integer, most = tile.i64 if size == 64 else tile.i32, (1 << size - 1) - 1
        bits = tile.bits(x + 0.0)  # one zero for both
        order = bits ^ ((bits >> size - 1) & most)
        first = tile.full(last.shape, -most - 1, integer)
        half = tile.full((1,), -most - 1, integer)
        for _ in tile.for_range(size):
            found = sum_where(order >= (first + half)[:, None], weights)
            first = first + tile.where(found >= limit, half, 0)
            half = (half >> 1) & most
        last = tile.min(tile.where(order >= first[:, None], x, inf), axis=1)
        before = sum_where(x > last[:, None], weights)
        each = tile.max(tile.where(x == last[:, None], weights, zero_of(weights)), axis=1)
        ends = tile.zeros(last.shape, tile.i32)
        step = tile.full((1,), n, tile.i32)
        for _ in tile.for_range(math.frexp(n)[1]):
            same = sum_where((x == last[:, None]) & (places < (ends + step)[:, None]), one)
            more = before + (same - 1).to(weights.dtype) * each < limit
            ends = ends + tile.where((same == 0) | more, step, 0)
            step = step >> 1
    return (x > -inf) & ((x > last[:, None]) | (x == last[:, None]) & (places < ends[:, None]))


@jit
def by_scores(numbers: tile.i1["T", "S", "W", "I", "J", "Z"], scores: tile.tensor["B", "H", "M", "N"], *, c):
    m, n, _, _, top_p, _, _, scale, _, _, _ = c
    B, H, M, N = scores.shape
    live = tile.empty((B, H, M, N), tile.i1)
    for b, h, i in tile.forall(B, H, (0, M, m)):
        there, near = in_place(i, numbers, c)
        x = tile.sread(scores[b, h, i, tile.span(0, n)], pad=-inf)
        x = tile.where(there & (x == x), x * scale, -inf)  # NaN is no score
        if top_p is None:
            count = numbers.shape[0].to(tile.i32)
            found = largest(x, tile.full((1, 1), 1, tile.i32), count, n) & (count > 0)
        else:
            chances = softmax(x)
            found = largest(x, chances, top_p, n) & (chances > 0.0)
        tile.swrite(live[b, h, i, tile.span(0, n)], found | near)
    return live


@jit
def by_places(numbers: tile.i1["T", "S", "W", "I", "J", "Z"], *, c):
    m, n, sizes, _, _, _, _, _, _, _, _ = c
    M = tile.cdiv(numbers.shape[3], sizes[0])
    N = tile.cdiv(numbers.shape[4], sizes[1])
    live = tile.empty((1, 1, M, N), tile.i1)
    for i in tile.forall((0, M, m)):
        there, near = in_place(i, numbers, c)
        tile.swrite(live[0, 0, i, tile.span(0, n)], near)
    return live


def of_places(s, keys, rows, behind, causal, count):
    """Scores of keys that are there, and not ahead of the query; row i is the query i places before the
    last one."""
    place = tile.coords(keys).to(tile.i32)[None, :]
    s = tile.where(place < count.to(tile.i32), s, -inf)
    if causal:
        s = tile.where(place < behind.to(tile.i32) - tile.coords(rows).to(tile.i32)[:, None], s, -inf)
    return s


@jit
def last_chances(q: tile.tensor["B", "H", "R", "D"], k: tile.tensor["B", "G", "J", "D"],
                 numbers: tile.i1["E", "Z"], *, c):
    m, t, parts, group, step, d, scale, causal, wide = c
    B, H, last, _ = q.shape
    J, behind = k.shape[2], numbers.shape[0]
    fast = q.dtype == tile.f16 or q.dtype == tile.bf16
    tops, sums = tile.empty((B, H, parts, m), wide), tile.empty((B, H, parts, m), wide)
    logs = tile.empty((B, H, m), wide)
    chances = tile.empty((B, H, last, J + last), wide)
    each = tile.cdiv(J, parts * t) * t
    rows = tile.span(0, m)
    for b, h, x in tile.forall(B, H, parts):
        top = tile.full((m,), -inf, wide)
        total = tile.zeros((m,), wide)
        for j in tile.for_range(each * x, tile.minimum(each * x + each, J), t):
            s = tile.dot(tile.sread(q[b, h, rows, :]), tile.sread(k[b, h // group, j, :]).T) * scale
            s = of_places(s, j, rows, behind, causal, J)
            higher = tile.maximum(top, tile.max(s, axis=1))
            base = tile.where(higher == -inf, 0.0, higher)
            total = total * tile.exp(top - base, approximate=fast) + tile.sum(
                tile.exp(s - base[:, None], approximate=fast), axis=1)
            top = higher
        tile.swrite(tops[b, h, x, rows], top)
        tile.swrite(sums[b, h, x, rows], total)
    for b, h in tile.forall(B, H):
        top = tile.sread(tops[b, h, :, rows])
        base = tile.max(top, axis=0)
        base = tile.where(base == -inf, 0.0, base)
        total = tile.sum(tile.sread(sums[b, h, :, rows]) * tile.exp(top - base[None, :]), axis=0)
        tile.swrite(logs[b, h, rows], tile.where(total == 0.0, inf, base + tile.log(total)))
    for b, h, j in tile.forall(B, H, (0, J + last, t)):
        s = tile.zeros((m, t), wide)
        for p in tile.for_range(0, d, step):
            s += tile.dot(tile.sread(q[b, h, rows, p]), tile.sread(k[b, h // group, j, p]).T)
        log = tile.sread(logs[b, h, rows])
        tile.swrite(chances[b, h, rows, j], tile.exp(s * scale - log[:, None], approximate=fast))
    # What is ahead or behind the keys, apart: products of tensor cores have no coordinates.
    begin = tile.maximum(tile.minimum(J, behind - last), 0) if causal else J
    for b, h, j in tile.forall(B, H, (begin, J + last, t)):
        seen = of_places(tile.zeros((m, t), wide), j, rows, behind, causal, J) == 0.0
        tile.swrite(chances[b, h, rows, j], tile.where(seen, tile.sread(chances[b, h, rows, j]), 0.0))
    return chances
