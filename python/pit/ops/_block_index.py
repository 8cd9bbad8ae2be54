"""Which blocks of keys an attention reads: those with large scores of pooled queries and keys, those
that vertical and slash lines cross, those near the first key or near the query, those of a grid's
segments and lines. Ops of the arrays' framework compute the mask for all heads, where the arrays lie.
The host waits for nothing, so graphs hold it."""

import math

from .._arrays import framework_of
from .._library import Error
from . import _numbers, _orders
from ._attention import blocks_of, pattern
from ._block_choice import BlockChoice, BlockPicks
from ._block_means import BlockMeans
from ._frameworks import Torch, arrays_of
from ._last_chances import LastChances
from ._op import make, run
from ._operand import makes_op
from ._products import rank_of

NAME = "block_index"
LEAST_COLUMNS = 32  # of a row of blocks, of which a program has powers of two


def softmax(arrays, x):
    """Rows without a number are 0."""
    xp, most = arrays.xp, arrays.most(x)
    powers = xp.exp(x - xp.where(most == -math.inf, 0.0, most))
    total = arrays.sums(powers, -1)[..., None]
    return powers / xp.where(total == 0, 1.0, total)


def largest(arrays, scores, count):
    """Which are the `count` largest of each row; -inf is none."""
    size = scores.shape[-1]
    order = arrays.order_of_largest(scores, min(count, size))
    return arrays.put(order, order >= 0, size) & (scores > -math.inf)


@makes_op
def means_op(size):
    return make(BlockMeans, size)


@makes_op
def chances_op(*fields):
    return make(LastChances, *fields)


@makes_op
def choice_op(*fields):
    return make(BlockChoice, *fields)


@makes_op
def picks_op(*fields):
    return make(BlockPicks, *fields)


def of_heads(q, k):
    """q k.T, where fewer heads of keys serve as many of q's."""
    (batch, heads, queries, d), groups = q.shape, k.shape[1]
    if heads == groups:
        return q @ k.swapaxes(2, 3)
    q = q.reshape((batch, groups, heads // groups * queries, d))
    return (q @ k.swapaxes(2, 3)).reshape((batch, heads, queries, k.shape[2]))


def crossed_by_columns(arrays, columns, count, size):
    """Blocks of `size` places in which a column is."""
    heads, keys = columns.shape[:2], columns.shape[2]
    columns = arrays.joined([columns, arrays.zeros((*heads, count * size - keys))])
    return columns.reshape((*heads, count, size)).any(-1)[:, :, None]


def extremes(arrays, places, size):
    """The first and the last of the places of each block."""
    count = -(-places.shape[-1] // size)
    at = arrays.clipped(arrays.places(count * size), None, places.shape[-1] - 1)
    blocks = places[..., at].reshape((*places.shape[:-1], count, size))
    return -arrays.most(-blocks)[..., 0], arrays.most(blocks)[..., 0]


def ordered(arrays, q, k, orders):
    """Queries and keys in their orders; fewer heads of keys are repeated where each has its own."""
    if orders[0] is not None:
        q = arrays.rows(q, orders[0])
    if orders[1] is not None:
        if orders[1].shape[1] > 1:
            k = k[:, arrays.places(q.shape[1]) // (q.shape[1] // k.shape[1])]
        k = arrays.rows(k, orders[1])
    return q, k


def crossed_by_diagonals(arrays, lines, nearest, blocks, sizes, shift):
    """Blocks that a diagonal crosses; line c is that of keys `nearest` - c places before their
    queries."""
    heads, count = lines.shape[:2], lines.shape[2]
    passed = lines.cumsum(-1)
    passed = arrays.joined([passed[..., :1] * 0, passed])
    # Distances of the first query of a block from the first key of one are multiples of a unit.
    (rows, columns), unit = blocks, math.gcd(*sizes)
    row, column = (size // unit for size in sizes)
    apart = arrays.places((rows - 1) * row + (columns - 1) * column + 1) - (columns - 1) * column
    apart = apart * unit + shift
    begin = arrays.clipped(nearest - (sizes[0] - 1) - apart, 0, count)
    end = arrays.clipped(nearest + sizes[1] - apart, 0, count)
    crossed = passed[..., end] > passed[..., begin]
    at = (arrays.places(rows) * row)[:, None] - arrays.places(columns) * column
    return crossed[..., at + (columns - 1) * column]


def crossed_by_lines(arrays, q, k, scale, shift, vertical, slash, last, causal, blocks, sizes):
    """Blocks that columns and diagonals cross, of those that count most for the last queries."""
    queries, keys = q.shape[2], k.shape[2]
    last = min(last, queries)
    behind = queries + shift  # the place behind the last query
    rows = arrays.reversed_rows(q[:, :, queries - last:])
    op = chances_op(1 << (last - 1).bit_length(), q.shape[1] // k.shape[1], scale, bool(causal))
    chances = run(op, (rows, k, arrays.zeros((max(behind, 0), 0))))
    found, heads, width = [], chances.shape[:2], keys + last
    if vertical:
        columns = largest(arrays, arrays.sums(chances, 2)[..., :keys], vertical)
        found.append(crossed_by_columns(arrays, columns, blocks[1], sizes[1]))
    if slash:
        # Row i has the query i places before the last one: in shorter rows a diagonal is a column.
        shorter = chances.reshape((*heads, last * width))[..., :last * (width - 1)]
        sums = arrays.sums(shorter.reshape((*heads, last, width - 1)), 2)
        lines = largest(arrays, arrays.xp.where(sums > 0, sums, -math.inf), slash)
        found.append(crossed_by_diagonals(arrays, lines, behind - 1, blocks, sizes, shift))
    return found


def block_index(q, k, *, block_size=64, top_k=None, top_p=None, vertical=None, slash=None,
                last_queries=64, sinks=None, window=None, segments=None, lines=None, order=None,
                causal=False, align="start", scale=None):
    """Which blocks of keys each block of queries reads: True where one of these says so.

        live = pit.block_index(q, k, top_k=32, sinks=64, window=256, causal=True)
        y = pit.attention(q, k, v, blocks=live, causal=True)

    q, k        (batch, heads, queries, d) and (batch, heads of keys, keys, d)
    block_size  a number, or one for queries and one for keys
    top_k       the blocks of keys with the largest scores, so many; a score is that of the
                means of queries and of keys
    top_p       or the fewest whose softmax adds up to this share
    vertical    the keys that count most for the last queries, so many, and
    slash       the distances of a key from its query that do, so many
    last_queries  that these are computed of
    sinks       the first keys, so many
    window      keys nearer than this many places
    segments    keys of the query's segment of so many places, as of a frame; (n, p): segments of n
                places, of which one begins at place p
    lines       (s, p): the keys at places p, p + s, p + 2 s, ...
    order       in which blocks have queries and keys, as pit.attention takes it: places are those in
                the order, but sinks, lines and causal go by those without it. Not with
                vertical and slash
    causal      no keys behind the query; align as of pit.attention
    scale       of the scores, 1 / sqrt(d) unless given
    Result      (batch, heads, blocks of queries, blocks of keys), bool, where q lies. By places
                alone (1, 1, ..), or the dims of the order
    """
    sizes = blocks_of(NAME, block_size)
    if segments is not None and not isinstance(segments, (tuple, list)):
        segments = segments, 0
    check(q, k, sizes, align, top_k, top_p, last_queries, window, segments, lines, vertical=vertical,
          slash=slash, sinks=sinks)
    orders, dims = _orders.of_argument(NAME, order, (*q.shape[:3], k.shape[2]), pattern)
    if dims[1] == _orders.SAME:
        orders = orders[:1] * 2
    if order is not None and (vertical or slash):
        raise Error(f"{NAME}: vertical and slash lines are those of places, not of an order; list blocks "
                    "of them without order=")
    (batch, heads, queries, d), keys = q.shape, k.shape[2]
    arrays = arrays_of(q)
    xp = arrays.xp
    if isinstance(arrays, Torch):
        q, k = (x.detach() if x.requires_grad else x for x in (q, k))
    blocks = tuple(-(-places // size) for places, size in zip((queries, keys), sizes))
    if 0 in (batch, queries, keys):
        return arrays.zeros((batch, heads, *blocks))
    shift = keys - queries if align == "end" else 0
    scale = float(max(d, 1) ** -0.5 if scale is None else scale)
    there, found = None, []  # what programs do not know
    if causal and (order is not None or vertical or slash):
        latest = arrays.clipped((arrays.places(blocks[0]) + 1) * sizes[0], None, queries)[:, None] - 1
        earliest = arrays.places(blocks[1]) * sizes[1]
    if order is not None:
        # Places of queries and keys that blocks have, (batch or 1, heads or 1, places).
        orders = [None if x is None else
                  arrays.given(x).reshape((1,) * (3 - len(x.shape)) + tuple(x.shape)) for x in orders]
        of_queries, of_keys = (arrays.places(count)[None, None] if x is None else x
                               for x, count in zip(orders, (queries, keys)))
        if causal:
            latest = extremes(arrays, of_queries, sizes[0])[1][..., :, None]
            earliest = extremes(arrays, of_keys, sizes[1])[0][..., None, :]
        if sinks is not None:
            found.append(crossed_by_columns(arrays, of_keys < sinks, blocks[1], sizes[1]))
        if lines is not None:
            found.append(crossed_by_columns(arrays, (of_keys - lines[1]) % lines[0] == 0, blocks[1], sizes[1]))
        sinks = lines = None
    if causal and (order is not None or vertical or slash):
        there = earliest <= latest + shift
    if vertical or slash:
        found += crossed_by_lines(arrays, q, k, scale, shift, vertical, slash, last_queries, causal,
                                  blocks, sizes)
    given = ()
    if top_k is not None or top_p is not None:
        given = q, k = ordered(arrays, q, k, orders)
        if there is not None and order is not None:
            scores = of_heads(*(run(means_op(size), (x,)) for x, size in zip((q, k), sizes)))
            given, scale = (arrays.xp.where(there, scores * scale, -math.inf),), 1.0
    live = None
    if given or not (sinks is window is segments is lines is None and found):
        live = chosen(arrays, given, blocks, (queries, keys), sizes=sizes, top_k=top_k, top_p=top_p,
                      sinks=sinks, window=window, segments=segments, lines=lines, scale=scale,
                      causal=causal and order is None, behind=causal, at_end=align == "end")
    for each in found:
        live = each if live is None else live | each
    if there is not None:
        live = live & there
    return live if len(live.shape) == 4 else live[None, None]


def chosen(arrays, given, blocks, places, *, top_k, sinks, window, top_p, scale, **options):
    """By a program: of q and k, of scores, or of places alone."""
    numbers = {"top_k": top_k, "sinks": sinks, "window": window}
    shape = tuple(0 if x is None else int(x) for x in numbers.values())
    op = (picks_op if len(given) == 2 else choice_op)(options["sizes"], max(LEAST_COLUMNS, 1 << (blocks[1] - 1).bit_length()),
                   tuple(name for name, x in numbers.items() if x is not None),
                   None if top_p is None else float(top_p), options["segments"], options["lines"], scale,
                   *(bool(options[name]) for name in ("causal", "behind", "at_end")))
    numbers = arrays.zeros((*shape, *places, 0))
    return run(op, (numbers, *given))


def check(q, k, sizes, align, top_k, top_p, last_queries, window, segments, lines, **others):
    for name, x in (("q", q), ("k", k)):
        if rank_of(NAME, name, x) != 4:
            raise Error(f"{NAME}: {name} has shape {tuple(x.shape)}; it must have rank 4: (batch, "
                        "heads, places, elements of a head)")
    of_q, of_k = framework_of(type(q)), framework_of(type(k))
    if of_q != of_k and "torch" in (of_q, of_k):
        raise Error(f"{NAME}: q is an array of {of_q}, k one of {of_k}; pass "
                    "arrays of one framework")
    of_q, of_k = q.shape, k.shape  # once: a tensor makes one each time
    for at, what in ((0, "a batch of"), (3, "elements of a head:")):
        if of_q[at] != of_k[at]:
            raise Error(f"{NAME}: q has {what} {of_q[at]}, k {of_k[at]}; they are equal")
    if of_k[1] == 0 or of_q[1] % of_k[1]:
        raise Error(f"{NAME}: q has {of_q[1]} heads, k has {of_k[1]}; each of these serves as "
                    "many of q's, so their number divides the other")
    if align not in ("start", "end"):
        raise Error(f"{NAME}: align is {align!r}; it is 'start' or 'end'")
    if top_k is not None and top_p is not None:
        raise Error(f"{NAME}: top_k and top_p are given; one of them says how many blocks count")
    if top_k is top_p is window is segments is lines is None and all(
            x is None for x in others.values()):
        raise Error(f"{NAME}: nothing says which blocks count; give top_k, top_p, vertical, slash, "
                    "sinks, window, segments or lines")
    for name, pair, what in (("segments", segments, "it is n or (n, p), of n places each"),
                             ("lines", lines, "it is (s, p), of every s-th key from place p on")):
        if pair is not None and (len(pair) != 2 or pair[0] < 1):
            raise Error(f"{NAME}: {name} is {pair}; {what}")
    for name, number in (("top_k", top_k), *others.items()):
        _numbers.whole(NAME, name, number, 0)
    for name, number in (("window", window), ("last_queries", last_queries)):
        _numbers.whole(NAME, name, number, 1, "has 1 place or more")
    if top_p is not None and not 0 <= top_p <= 1:
        raise Error(f"{NAME}: top_p is {top_p}; it is a share of the probabilities, 0 to 1")
