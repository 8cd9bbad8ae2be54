"""Which pages of a cache a decoder's queries read: a query's score of a page is the largest that a key
within the page's bounds could have. Ops of the arrays' framework compute it, where the arrays lie."""

import math

from .._library import Error
from ._block_index import largest, softmax
from ._frameworks import arrays_of
from ._products import rank_of

NAME = "page_index"


def scores_of(arrays, q, lows, highs, pages, there, scale):
    """For each page of a sequence: what heads and queries expect of it, as sums of softmaxes."""
    (batch, heads, queries, d), groups = q.shape, lows.shape[1]
    q = arrays.wide(q).reshape((batch, groups, heads // groups * queries, d))

    def of_pages(bounds):  # (batch, groups, d, pages)
        return arrays.wide(bounds[pages]).swapaxes(1, 2).swapaxes(2, 3)

    # The largest q k of keys between the bounds: positive elements by the upper, others by the lower.
    most = (arrays.clipped(q, 0, None) @ of_pages(highs)
            + arrays.clipped(q, None, 0) @ of_pages(lows)) * scale
    chances = softmax(arrays, arrays.xp.where(there[:, None, None], most, -math.inf))
    return arrays.sums(arrays.sums(chances, 2), 1)


def page_index(q, lows, highs, page_table, lengths, *, page_size, top_k, sinks=None, window=None,
               scale=None):
    """The pages of each sequence that its queries read: a table for pit.paged_attention, and how many
    places it has.

        table, places = pit.page_index(q, lows, highs, page_table, lengths, page_size=64, top_k=32)
        y = pit.paged_attention(q, k_cache, v_cache, table, places)

    q           (batch, heads, d) or (batch, heads, queries, d)
    lows, highs (pages of the cache, heads of keys, d): the least and the largest of each element
                among the keys of a page
    page_table  (batch, pages of a sequence): where they are; -1 is none
    lengths     (batch): so many places of the sequence's pages are there
    page_size   places of a page
    top_k       so many pages of a sequence, in their order; the last one that has a place is one
                of them, since queries are there
    sinks       the first places, so many, come before others
    window      and so do places nearer than so many to the last one
    scale       of the scores, 1 / sqrt(d) unless given
    Result      (batch, top_k or the pages of a sequence if these are fewer), -1 behind the last,
                and (batch), of the types of page_table and lengths
    """
    rank = rank_of(NAME, "q", q)
    if rank not in (3, 4):
        raise Error(f"{NAME}: q has shape {tuple(q.shape)}; it must have rank 3 or 4: (batch, heads, "
                    "d), or (batch, heads, queries, d)")
    for what, x, dims in (("lows", lows, 3), ("highs", highs, 3), ("page_table", page_table, 2),
                          ("lengths", lengths, 1)):
        if rank_of(NAME, what, x) != dims:
            raise Error(f"{NAME}: {what} has shape {tuple(x.shape)}; it must have rank {dims}")
    groups = lows.shape[1]
    if groups == 0 or q.shape[1] % groups:
        raise Error(f"{NAME}: q has {q.shape[1]} heads, lows has {groups}; each of these serves as "
                    "many of q's, so their number divides the other")
    if tuple(lows.shape) != tuple(highs.shape) or lows.shape[2] != q.shape[-1]:
        raise Error(f"{NAME}: lows has shape {tuple(lows.shape)}, highs {tuple(highs.shape)}, q "
                    f"{tuple(q.shape)}; bounds have one shape, and as many elements of a head as q")
    if not q.shape[0] == page_table.shape[0] == lengths.shape[0]:
        raise Error(f"{NAME}: q has a batch of {q.shape[0]}, page_table {page_table.shape[0]}, "
                    f"lengths {lengths.shape[0]}; they are equal")
    for name, number in (("page_size", page_size), ("top_k", top_k)):
        if number < 1:
            raise Error(f"{NAME}: {name} is {number}; it is 1 or more")
    arrays, count = arrays_of(q), page_table.shape[1]
    xp = arrays.xp
    if hasattr(q, "detach"):
        q, lows, highs = q.detach(), lows.detach(), highs.detach()
    if count == 0:
        return page_table, lengths * 0
    places = arrays.clipped(lengths, 0, count * page_size)[:, None]
    number, begin = arrays.places(count), arrays.places(count) * page_size
    there = (begin < places) & (page_table >= 0)
    scores = scores_of(arrays, q if rank == 4 else q[:, :, None], lows, highs,
                       xp.where(there, page_table, 0), there,
                       q.shape[-1] ** -0.5 if scale is None else scale)
    first = q.shape[1] * (q.shape[2] if rank == 4 else 1) + 1  # more than any score
    is_last = begin + page_size >= places
    if sinks is not None:
        scores = xp.where(begin < sinks, scores + first, scores)
    if window is not None:
        scores = xp.where(begin + page_size > places - window, scores + first, scores)
    scores = xp.where(is_last, scores + 4 * first, scores)
    top_k = min(top_k, count)
    chosen = largest(arrays, xp.where(there, scores, -math.inf), top_k)
    ordered, _ = arrays.sorted(xp.where(chosen, -number, -count))
    at = -ordered[:, :top_k]
    table = xp.where(at < count, arrays.taken(page_table, arrays.clipped(at, 0, count - 1)), -1)
    # All pages are full but the last one.
    behind = (number + 1) * page_size - places
    found = chosen.sum(-1) * page_size - xp.where(chosen & is_last, behind, 0).sum(-1)
    return arrays.cast(table, page_table), arrays.cast(found, lengths)
