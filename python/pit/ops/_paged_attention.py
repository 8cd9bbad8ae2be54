"""Attention of few queries to keys that lie in pages, as a decoder has them. The program is one of
tiles (_paged_programs.py): what a page table gathers has no form in linalg that a loop is made of."""

import os
import sys
from dataclasses import dataclass

from .._library import Error
from . import _numbers
from ._attention import BYTES, LONGEST_HEAD, SCALES, STORED, to_rank, dims_of, is_narrow, pattern
from ._op import SELECTOR_TYPES, Argument, Op, kind, make, run
from ._operand import makes_op
from ._products import rank_of
from ._text import LAYER_FLOATS, wide_type

ROW_TILE, KEY_TILE = 64, 64
# The fewest keys of a part: where parts give idle blocks or cores work, and where there are more than blocks
# of a GPU that run at once, lest a long sequence ends last.
KEYS_OF_SMALL_PART, KEYS_OF_PART = 256, 2048
GPU_WORKERS = 2 * 132  # blocks that run at once
CPU_WORKERS = os.cpu_count() or 1


@kind
@dataclass(frozen=True)
class PagedAttention(Op):
    """q is (b, g, r, d): its rows r are queries of the heads that share keys."""

    queries: int  # of each head
    scale: float | None
    softcap: float | None
    causal: bool
    window: int | None
    splits: int
    narrow: bool  # whether the cache has another type than q
    scales: tuple  # the dims of what keys and values are multiplied by, as letters; None: nothing
    with_lse: bool

    name = "paged_attention"
    differentiable = False
    autocasts = False

    def arguments(self):
        places = SELECTOR_TYPES["lengths"]
        return [Argument("q", ("b", "g", "r", "d"), LAYER_FLOATS),
                *(Argument(name, ("c", "s", "g", d), STORED if self.narrow else LAYER_FLOATS,
                           alike=not self.narrow, permutable=True, remedy=BYTES if self.narrow else "")
                  for name, d in (("k_cache", "d"), ("v_cache", "e"))),
                Argument("page_table", ("b", "p"), places, alike=False),
                Argument("lengths", ("b",), places, alike=False),
                *(Argument(name, dims_of(dims), LAYER_FLOATS, alike=False)
                  for name, dims in zip(SCALES, self.scales) if dims is not None)]

    def dynamic(self):
        return ("b", "c", "p")

    def fixed(self):
        return ("s", "g", "r", "d", "e")

    def exact(self):
        return self.fixed()

    def results(self, types, sizes):
        for d, what in (("d", "q and k_cache"), ("e", "v_cache")):
            if not 0 < sizes[d] <= LONGEST_HEAD:
                raise Error(f"{self.name}: heads of {what} have {sizes[d]} elements; they may have "
                            f"1 to {LONGEST_HEAD}")
        if sizes["s"] == 0:
            raise Error(f"{self.name}: pages of k_cache have no places")
        found = [(types[0], tuple(sizes[x] for x in "bgre"))]
        if self.with_lse:
            found.append((wide_type(types[0]), tuple(sizes[x] for x in "bgr")))
        return found

    def text(self, builder, values, orders):
        return self.program(values, orders, builder.chip)

    def program(self, values, orders, chip):
        """The text for a chip, or None for a CPU."""
        from .. import tile
        from ._paged_programs import PROGRAMS, Constants

        q, k, v = values[:3]
        size = k.dims[(orders[1] or range(4)).index(1)]
        heads = [place_of_heads(self.name, name, order)
                 for name, order in (("k_cache", orders[1]), ("v_cache", orders[2]))]
        rows, d, e, type_ = q.dims[2], q.dims[3], v.dims[3], q.type
        narrow = type_ in ("f16", "bf16")
        wgmma = chip == "sm_90a" and narrow
        unit = 16 if chip else 1
        m = min(rows, ROW_TILE)
        if chip:
            m = ROW_TILE if wgmma else max(16, -(-m // 16) * 16) if narrow else 16
        step = KEY_TILE if wgmma or max(d, e) <= 128 and (narrow or not chip) else 16 if (
            not narrow and chip) else 32
        part = next((t for t in range(step // unit * unit, 0, -unit) if size % t == 0), None)
        if part is None:
            raise Error(f"{self.name}: pages of k_cache have {size} places; on a GPU they have a "
                        "multiple of 16")
        if step // part not in (1, 2, 4) or step % part:
            step = part
        paged = PROGRAMS[tuple(dims is not None for dims in self.scales)]
        wide = getattr(tile, wide_type(type_))
        # An operand that is computed as it is read is not rounded before a CPU's products.
        computed = self.narrow or self.scales != (None, None)
        constants = Constants(
            S=size, T=part, M=self.queries, m=max(m, 1), step=step, splits=self.splits,
            scale=float(self.scale if self.scale is not None else d ** -0.5), softcap=self.softcap,
            causal=self.causal, window=self.window, k_heads=heads[0], v_heads=heads[1],
            k_dims=places_of(self.scales[0]), v_dims=places_of(self.scales[1]),
            product=wide if computed and not chip else getattr(tile, type_), wide=wide, fast=narrow,
            with_lse=self.with_lse)
        made = paged.specialize(*(getattr(tile, x.type)[tuple(x.dims)] for x in values), c=constants)
        return made.mlir().replace(f"@{paged.__name__}(", f"@{self.name}(", 1)  # which calls look for


def places_of(dims):
    """Whether each of the dims of a scale is one of the cache."""
    return tuple(int(x != "1") for x in dims or "")


def place_of_heads(op, name, order):
    """Which dimension numbers heads in memory, of a cache that is passed in this order."""
    order = list(order or range(4))
    at = order.index(2)
    if order[:at] + order[at + 1:] != [0, 1, 3] or at == 3:
        raise Error(f"{op}: dimensions of {name} lie in memory in the order {tuple(order)}; pages are "
                    "before places, and elements of a head last")
    return at


@makes_op
def paged_op(*fields):
    return make(PagedAttention, *fields)


def is_on_gpu(x):
    """The device that a call will run on, as far as that is known before."""
    if hasattr(x, "is_cuda"):
        return x.is_cuda
    module = type(x).__module__
    if module.startswith("jax"):
        return sys.modules["jax"].default_backend() == "gpu"
    return module.startswith("cupy")


def splits_of(on_gpu, tiles, keys):
    """Into how many parts the keys of a sequence are split: a power of two, lest there be many
    programs."""
    splits = 1
    while tiles:
        least = KEYS_OF_SMALL_PART
        if on_gpu and 2 * splits * tiles > GPU_WORKERS:
            least = KEYS_OF_PART
        if 2 * splits * least > keys or not on_gpu and splits * tiles >= CPU_WORKERS:
            break
        splits *= 2
    return splits


def paged_attention(q, k_cache, v_cache, page_table, lengths, *, causal=True, window=None,
                    scale=None, softcap=None, k_scale=None, v_scale=None, splits=None,
                    return_lse=False, out=None):
    """Attention of few queries of each sequence to keys and values that lie in pages.

        y = pit.paged_attention(q, k_cache, v_cache, page_table, lengths)

    q           (batch, heads, d), one query for each, or (batch, heads, queries, d)
    k_cache     (pages, places of a page, heads of keys, d)
    v_cache     (pages, places of a page, heads of keys, e); fewer heads than q has serve as
                many of q's each; both also of float8_e4m3fn, float8_e5m2 or int8
    k_scale     of the caches: what they are multiplied by as they are read. They broadcast to
    v_scale     (pages, places of a page, heads of keys)
    page_table  (batch, pages of a sequence): where they are; -1 is none, whose keys are left out
    lengths     (batch): so many places of the sequence's pages are there, on the arrays' device;
                the host does not read them
    causal      query i is at place lengths - queries + i, and has keys up to there
    window      keys nearer than this many places
    scale       of the scores, 1 / sqrt(d) unless given
    softcap     c * tanh(scores / c)
    splits      parts of the keys of a sequence that are computed apart, and then combined; chosen
                unless given
    return_lse  also returns the logarithms of the sums, (batch, heads[, queries])
    Result      (batch, heads[, queries], e), of q's type. A sequence of no keys is 0, and its
                logarithm -inf.
    """
    name = PagedAttention.name
    rank = rank_of(name, "q", q)
    shape = tuple(q.shape)  # once: a tensor makes one each time
    if rank not in (3, 4):
        raise Error(f"{name}: q has shape {shape}; it must have rank 3 or 4: (batch, heads, "
                    "d), or (batch, heads, queries, d)")
    for what, x in (("k_cache", k_cache), ("v_cache", v_cache)):
        if rank_of(name, what, x) != 4:
            raise Error(f"{name}: {what} has shape {tuple(x.shape)}; it must have rank 4: (pages, "
                        "places of a page, heads, elements of a head)")
    if rank_of(name, "page_table", page_table) != 2:
        raise Error(f"{name}: page_table has shape {tuple(page_table.shape)}; it must have rank 2: "
                    "(batch, pages of a sequence)")
    (batch, heads), d = shape[:2], shape[-1]
    cache = k_cache.shape
    queries, groups = (shape[2] if rank == 4 else 1), cache[2]
    if groups == 0 or heads % groups:
        raise Error(f"{name}: q has {heads} heads, k_cache has {groups}; each of these serves as many "
                    "of q's, so their number divides the other")
    rows = heads // groups * queries
    scale = _numbers.real(name, "scale", scale)
    softcap = _numbers.real(name, "softcap", softcap, positive=True)
    window = _numbers.whole(name, "window", window, what="has 1 place or more")
    splits = _numbers.whole(name, "splits", splits)
    if splits is None:
        splits = splits_of(is_on_gpu(q), batch * groups * -(-rows // ROW_TILE),
                           page_table.shape[1] * cache[1])
    given = [(n, x) for n, x in zip(SCALES, (k_scale, v_scale)) if x is not None]
    for what, x in given:
        rank_of(name, what, x)
    scales = tuple(None if x is None else pattern(
        what, x.shape, cache[:3], "(pages, places of a page, heads of keys)", "csg", name)
        for what, x in zip(SCALES, (k_scale, v_scale)))
    outs = None
    if out is not None:
        outs = out if return_lse else (out,)
        outs = tuple(x.reshape((batch, groups, rows, *x.shape[rank - 1:])) for x in outs)
        outs = outs if return_lse else outs[0]
    op = paged_op(queries, scale, softcap, bool(causal), window, splits,
                  is_narrow(k_cache) or is_narrow(v_cache), scales, bool(return_lse))
    found = run(op, (q.reshape((batch, groups, rows, d)), k_cache, v_cache, page_table, lengths,
                     *(to_rank(x, 3) for _, x in given)), outs)
    if out is not None:
        return out
    results = found if return_lse else (found,)
    results = tuple(x.reshape((*shape[:-1], *x.shape[3:])) for x in results)
    return results if return_lse else results[0]
