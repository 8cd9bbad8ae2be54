"""pit.attention of few queries to many keys on a GPU, as of a decoder without pages. A block for each tile
of queries of a head would leave most of the GPU idle, and heads that share keys would each read them. So
queries of these heads are the rows of a tile, and if tiles are few the keys are split, and parts combined.
The program is that of pit.paged_attention, without pages (_paged_programs.py)."""

from dataclasses import dataclass

from ._op import Argument, Op, kind, make
from ._text import LAYER_FLOATS, wide_type

ROW_TILE, KEY_TILE = 64, 64
# Beside a GPU's 132 blocks that run at once; tiles of pit.attention's own program have 128 queries.
MOST_TILES, QUERIES_OF_TILE = 66, 128
WORKERS = 2 * 132  # of this program
FEWEST_KEYS = 256  # of a part
# Queries of a head are static: others than these would often be compiled anew. So few read their keys here
# however many tiles there are, if there are so many keys.
FEW_QUERIES, UNIT_OF_QUERIES, MANY_KEYS = 16, 64, 512
LONGEST_HEAD = 256
TYPES = "torch.float16", "torch.bfloat16"
MOST_KEPT = 4096  # choices of an op by shapes


@kind
@dataclass(frozen=True)
class AttentionInParts(Op):
    """q is (b, g, r, d): its rows r are queries of the heads that share keys."""

    queries: int  # of each head
    scale: float
    softcap: float | None
    causal: bool
    window: int | None
    splits: int
    with_lse: bool

    name = "attention_in_parts"
    differentiable = autocasts = False

    def arguments(self):
        return [Argument("q", ("b", "g", "r", "d"), LAYER_FLOATS),
                Argument("k", ("b", "g", "n", "d"), LAYER_FLOATS, permutable=True),
                Argument("v", ("b", "g", "n", "e"), LAYER_FLOATS, permutable=True)]

    def dynamic(self):
        return ("b", "n")

    def fixed(self):
        return ("g", "r", "d", "e")

    def exact(self):
        return self.fixed()

    def results(self, types, sizes):
        found = [(types[0], tuple(sizes[x] for x in "bgre"))]
        if self.with_lse:
            found.append((wide_type(types[0]), tuple(sizes[x] for x in "bgr")))
        return found

    def text(self, builder, values, orders):
        from .. import tile
        from ._paged_programs import Constants, in_parts

        q = values[0]
        rows, type_ = q.dims[2], q.type
        wgmma = builder.chip == "sm_90a"
        m = ROW_TILE if wgmma else max(16, -(-min(rows, ROW_TILE) // 16) * 16)
        heads = [list(order or range(4)).index(1) for order in orders[1:]]
        wide = getattr(tile, wide_type(type_))
        made = in_parts.specialize(
            *(getattr(tile, x.type)[tuple(x.dims)] for x in values),
            c=Constants(
                S=None, T=KEY_TILE, M=self.queries, m=m, step=KEY_TILE, splits=self.splits,
                scale=self.scale, softcap=self.softcap, causal=self.causal, window=self.window,
                k_heads=heads[0], v_heads=heads[1], k_dims=(), v_dims=(),
                product=getattr(tile, type_), wide=wide, fast=True, with_lse=self.with_lse))
        return made.mlir().replace(f"@{in_parts.__name__}(", f"@{self.name}(", 1)


def op_in_parts(*fields):
    return make(AttentionInParts, *fields)


def splits_of(tiles, keys):
    """A power of two, lest there be many programs."""
    splits = 1
    while 2 * splits * tiles <= WORKERS and 2 * splits * FEWEST_KEYS <= keys:
        splits *= 2
    return splits


def lies_by_sequence(x):
    """Whether a tensor lies in memory sequence by sequence, and its elements of a head last."""
    whole, heads, places, element = x.stride()
    return element == 1 and whole >= heads and whole >= places


def has_options(op):
    """Whether pit.attention has no option but what the program knows."""
    return op.select is None and not op.packed and not op.narrow and not op.quantized and (
        op.sinks is None and op.orders == (None, None)) and (
        op.end or not op.causal and op.window is None)


def choose(op, q_shape, k_shape, v_shape):
    """The op for such shapes of a call of pit.attention, or None. A call with an error has none."""
    (batch, heads, queries, d), (_, groups, keys, _), e = q_shape, k_shape, v_shape[3]
    if (k_shape[0], k_shape[3]) != (batch, d) or v_shape[:3] != k_shape[:3] or (
            0 in q_shape or 0 in k_shape or heads % groups or d > LONGEST_HEAD or not 0 < e <= LONGEST_HEAD):
        return None
    rows = heads // groups * queries
    splits = splits_of(batch * groups * -(-rows // ROW_TILE), keys)
    if queries <= FEW_QUERIES:
        fits = keys >= MANY_KEYS
    else:
        fits = queries % UNIT_OF_QUERIES == 0 and splits > 1 and (
            batch * heads * -(-queries // QUERIES_OF_TILE) <= MOST_TILES)
    if not fits:
        return None
    scale = float(d ** -0.5 if op.scale is None else op.scale)
    return op_in_parts(queries, scale, op.softcap, op.causal, op.window, splits, op.with_lse)


def find(op, arrays, out):
    """The op by which a call of pit.attention runs, if it is one of these: of torch's tensors. `op`
    keeps in `in_parts` what was found."""
    q = arrays[0]
    if not getattr(q, "is_cuda", False) or len(arrays) != 3:
        return None
    _, k, v = arrays
    key = q.dtype, k.dtype, v.dtype, q.shape, k.shape, v.shape
    if key not in op.in_parts:
        if len(op.in_parts) >= MOST_KEPT:
            op.in_parts.clear()
        is_known = str(q.dtype) in TYPES and q.dtype == k.dtype == v.dtype and has_options(op)
        op.in_parts[key] = choose(op, *map(tuple, key[3:])) if is_known else None
    parts = op.in_parts[key]
    if parts is None or not lies_by_sequence(k) or not lies_by_sequence(v) or (
            out is not None and not takes(op, q, v.shape[3], out)):
        return None
    return parts


def takes(op, q, e, out):
    """Whether results may be written there as they are."""
    wanted = [((*q.shape[:3], e), str(q.dtype)), (tuple(q.shape[:3]), "torch.float32")]
    outs = out if isinstance(out, tuple) else (out,)
    return [(tuple(x.shape), str(x.dtype)) for x in outs] == wanted[:1 + op.with_lse] and all(
        x.is_contiguous() for x in outs)


def run(call, parts, arrays, out):
    """The result of such a call, by `call(op, arrays, out)`."""
    q, k, v = arrays
    batch, heads, queries, d = q.shape
    groups = k.shape[1]
    rows = heads // groups * queries

    def joined(x):
        return x.reshape(batch, groups, rows, *x.shape[3:])

    q = q.reshape(batch, groups, rows, d)
    if out is not None:
        call(parts, (q, k, v), tuple(map(joined, out)) if parts.with_lse else joined(out))
        return out
    found = call(parts, (q, k, v))
    if not parts.with_lse:
        return found.reshape(batch, heads, queries, found.shape[3])
    return tuple(x.reshape(batch, heads, queries, *x.shape[3:]) for x in found)
