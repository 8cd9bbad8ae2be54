"""Live fraction: how much of a tensor each kind of micro-tile would leave. LiveFractions.h
says how it is counted."""

from ctypes import POINTER, byref, c_int64, c_void_p
from dataclasses import dataclass

from . import _library, _table
from ._context import expect_context
from ._index import (
    context_of, make_spec, pack_background, read_data, set_stream, shape_of, sizes, sources)
from ._library import CPU, MAX_RANK, Error, Tensor


@dataclass(frozen=True)
class Candidate:
    """A micro-tile along an axis, and what an index would have of it. A whole
    dimension is 0."""

    micro_tile: tuple
    axis: int
    step: tuple
    groups: int
    micro_tiles: int
    live: int
    fullest: int  # live micro-tiles of the fullest group
    live_fraction: float  # live / micro_tiles

    @property
    def label(self):
        return "x".join("*" if size == 0 else str(size) for size in self.micro_tile)


class LiveFractions:
    """A table of candidates: `live_fractions[0].live`, `len(live_fractions)`, a loop over
    them, `live_fractions.columns()` for a data frame."""

    HEADINGS = ("micro_tile", "axis", "groups", "micro_tiles", "live", "live_fraction", "fullest")

    def __init__(self, shape, candidates):
        self.shape = shape
        self.candidates = candidates

    def __len__(self):
        return len(self.candidates)

    def __getitem__(self, i):
        return self.candidates[i]

    def columns(self):
        """Lists by their headings."""
        return {name: [getattr(c, name) for c in self.candidates] for name in self.HEADINGS}

    def _cells(self):
        for c in self.candidates:
            yield (c.label, str(c.axis), str(c.groups), str(c.micro_tiles), str(c.live),
                   f"{c.live_fraction:.4f}", str(c.fullest))

    def _title(self):
        shape = "x".join(map(str, self.shape))
        return f"live fractions of {shape} by {len(self)} candidates"

    def __repr__(self):
        return "\n".join([self._title(), *_table.as_text(self.HEADINGS, self._cells())])

    def _repr_html_(self):
        return _table.as_html(self._title(), self.HEADINGS, self._cells())

    def plot(self, axes=None):
        """Draws a bar for each candidate, as long as its live fraction, into axes of
        matplotlib, or new ones. Returns the axes."""
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise Error("LiveFractions.plot draws with matplotlib, which is not installed; "
                            "repr() and columns() do without") from None
            height = 0.22 * len(self) + 1
            axes = pyplot.subplots(figsize=(6, height), layout="constrained")[1]
        for i, c in enumerate(self.candidates):
            axes.barh(i, c.live_fraction, color=f"C{c.axis}")
            axes.text(c.live_fraction, i, f" {c.live}", va="center", fontsize="small")
        axes.set_yticks(range(len(self)), [f"{c.label}, axis {c.axis}" for c in self.candidates])
        axes.invert_yaxis()
        axes.set_xlim(0, 1.15)
        axes.set_xlabel("live micro-tiles, of all")
        axes.set_title(self._title())
        return axes


def specs_of(shape, candidates):
    """The specs of the caller's candidates, or of those that the runtime
    proposes."""
    rank = len(shape)
    if candidates is None:
        dims = (c_int64 * rank)(*shape)
        propose = _library.runtime().pit_live_fraction_candidates
        room = propose(rank, dims, None, 0)
        specs = (_library.IndexSpec * room)()
        propose(rank, dims, specs, room)
        return specs
    specs = []
    for candidate in candidates:
        try:
            micro_tile, axis, *rest = candidate
        except (TypeError, ValueError):
            rest = [None, None]
        if len(rest) > 1:
            raise Error(f"a candidate is (micro_tile, axis) or (micro_tile, axis, step), not "
                        f"{candidate!r}")
        specs.append(make_spec(shape, micro_tile, axis, rest[0] if rest else None, 0, 0, 0))
    return (_library.IndexSpec * len(specs))(*specs)


def live_fractions(data, candidates=None, source="values", shape=None, background=None, context=None,
             stream=None):
    """How many micro-tiles of a tensor are live, for each candidate; one read of
    an array tells it exactly, on the CPU or on the GPU that the array is on.

    `candidates` are pairs (micro_tile, axis), or triples with a step; in a
    micro-tile 0 is the whole dimension. By default they are those of
    1, 2, 4, ..., 128 elements and of whole dimensions, along each axis. `source`,
    `shape` and `background` are those of build_index, but for "blocks". On a GPU
    the work goes to the data's framework's current stream, or to `stream`, and
    the call waits for it.
    """
    shape = sizes(shape_of(data, source, shape), "shape")
    if not 0 < len(shape) <= MAX_RANK:
        raise Error(f"a tensor of rank {len(shape)}; it must be in [1, {MAX_RANK}]")
    data, read = read_data(data, "live_fractions data")
    if context is None:
        context = context_of(read)
    expect_context(context)
    specs = specs_of(shape, candidates)
    library = _library.runtime()
    builder = c_void_p()
    context.check(library.pit_index_builder_create(context.handle, byref(builder)))
    try:
        if Tensor.from_address(read.address).device_type != CPU:
            set_stream(library, context, builder, data, stream)
        bitmap = POINTER(_library.BitmapStruct)()
        context.check(library.pit_bitmap_build(
            builder, len(shape), (c_int64 * len(shape))(*shape), sources()[source], read.address,
            pack_background(Tensor.from_address(read.address), background), byref(bitmap)))
        found = (_library.LiveFractionStruct * len(specs))()
        context.check(library.pit_bitmap_live_fractions(builder, bitmap, specs, len(specs), found))
    finally:
        library.pit_index_builder_destroy(builder)
    del read  # until here
    dims = lambda values: tuple(values[: len(shape)])
    return LiveFractions(tuple(shape), [
        Candidate(dims(spec.micro_tile), spec.axis, dims(spec.step), counts.groups,
                  counts.micro_tiles, counts.live, counts.max_count, counts.live_fraction)
        for spec, counts in zip(specs, found)])
