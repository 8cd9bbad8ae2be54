"""pit.attention of few queries to many keys on a GPU, as of a decoder without pages. A block for each tile
of queries of a head would leave most of the GPU idle, and heads that share keys would each read them. So
queries of these heads are the rows of a tile, and if tiles are few the keys are split, and parts combined.
The program is that of pit.paged_attention, without pages (_paged_programs.py)."""

from dataclasses import dataclass

from . import _paged_programs
from ._op import Argument, Op, kind, make
from ._operand import makes_op
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

        q = values[0]
        rows, type_ = q.dims[2], q.type
        wgmma = builder.chip == "sm_90a"
        m = ROW_TILE if wgmma else max(16, -(-min(rows, ROW_TILE) // 16) * 16)
        heads = [list(order or range(4)).index(1) for order in orders[1:]]
        wide = getattr(tile, wide_type(type_))
        made = _paged_programs.in_parts.specialize(
            *(getattr(tile, x.type)[tuple(x.dims)] for x in values),
            c=_paged_programs.Constants(
                S=None, T=KEY_TILE, M=self.queries, m=m, step=KEY_TILE, splits=self.splits,
                scale=self.scale, softcap=self.softcap, causal=self.causal, window=self.window,
                k_heads=heads[0], v_heads=heads[1], k_dims=(), v_dims=(),
                product=getattr(tile, type_), wide=wide, fast=True, with_lse=self.with_lse))
        return made.mlir().replace(f"@{_paged_programs.in_parts.__name__}(", f"@{self.name}(", 1)


@makes_op
def op_in_parts(*fields):
    return make(AttentionInParts, *fields)


def splits_of(tiles, keys):
    """A power of two, lest there be many programs."""
    splits = 1
    while 2 * splits * tiles <= WORKERS and 2 * splits * FEWEST_KEYS <= keys:
        splits *= 2
    return splits


def parts_of(q, k):
    """Into how many parts the keys of a call of pit.attention are split."""
    (batch, heads, queries, _), (_, groups, keys, _) = q.shape, k.shape
    rows = heads // groups * queries
    return splits_of(batch * groups * -(-rows // ROW_TILE), keys)


def lies_by_sequence(x):
    """Whether a tensor lies in memory sequence by sequence, and its elements of a head last."""
    strides = x.stride()
    return strides[3] == 1 and all(strides[0] >= each for each in strides[1:3])


def has_few_tiles(op, arrays, out):
    """Whether a call of pit.attention is one of these: of torch's tensors, with no option that the
    program does not know. A call with an error is none."""
    q = arrays[0]
    if not getattr(q, "is_cuda", False) or len(arrays) != 3 or str(q.dtype) not in TYPES:
        return False
    if op.select is not None or op.packed or op.narrow or op.quantized or op.sinks is not None or (
            op.orders != (None, None) or not op.end and (op.causal or op.window is not None)):
        return False
    _, k, v = arrays
    batch, heads, queries, d = q.shape
    _, groups, keys, _ = k.shape
    e = v.shape[3]
    if k.dtype != q.dtype or v.dtype != q.dtype or (k.shape[0], k.shape[3]) != (batch, d) or (
            v.shape[:3] != k.shape[:3]) or 0 in q.shape or 0 in k.shape or heads % groups:
        return False
    if d > LONGEST_HEAD or not 0 < e <= LONGEST_HEAD:
        return False
    if queries <= FEW_QUERIES:
        fits = keys >= MANY_KEYS
    else:
        fits = queries % UNIT_OF_QUERIES == 0 and parts_of(q, k) > 1 and (
            batch * heads * -(-queries // QUERIES_OF_TILE) <= MOST_TILES)
    return fits and lies_by_sequence(k) and lies_by_sequence(v) and (
        out is None or takes(op, q, e, out))


def takes(op, q, e, out):
    """Whether results may be written there as they are."""
    wanted = [((*q.shape[:3], e), str(q.dtype)), (tuple(q.shape[:3]), "torch.float32")]
    outs = out if isinstance(out, tuple) else (out,)
    return [(tuple(x.shape), str(x.dtype)) for x in outs] == wanted[:1 + op.with_lse] and all(
        x.is_contiguous() for x in outs)


def run_in_parts(call, op, arrays, out):
    """The result of such a call by `call(op, arrays, out)`."""
    q, k, v = arrays
    batch, heads, queries, d = q.shape
    groups = k.shape[1]
    rows = heads // groups * queries
    scale = float(d ** -0.5 if op.scale is None else op.scale)
    parts = op_in_parts(queries, scale, op.softcap, op.causal, op.window, parts_of(q, k),
                        op.with_lse)

    def joined(x):
        return x.reshape(batch, groups, rows, *x.shape[3:])

    if out is not None:
        call(parts, (joined(q), k, v), tuple(map(joined, out)) if op.with_lse else joined(out))
        return out
    found = call(parts, (joined(q), k, v))
    results = tuple(x.reshape(batch, heads, queries, *x.shape[3:])
                    for x in (found if op.with_lse else (found,)))
    return results if op.with_lse else results[0]
