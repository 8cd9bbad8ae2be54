"""Which blocks of keys count, of all heads in one launch: those with the largest scores, and those that
lie in the right places. The program is one of tiles (_block_programs.py)."""

from dataclasses import dataclass

from ._op import Argument, Op, kind

ELEMENTS = 4096  # of a tile of scores, about, on a CPU
ROWS = 8  # of one, at most; on a GPU a warp has one row


@kind
@dataclass(frozen=True)
class BlockChoice(Op):
    """`numbers` has no elements, and sizes for top_k, sinks, window, queries and keys: so one program
    serves all of them, and nothing is copied to a device."""

    sizes: tuple  # of blocks of queries and of keys
    columns: int  # as many as blocks of keys, or more
    by: tuple  # which of "top_k", "top_p", "sinks" and "window"
    top_p: float | None
    segments: tuple | None
    lines: tuple | None
    scale: float  # of the scores
    causal: bool
    behind: bool  # the window is that of keys behind the query
    at_end: bool  # the last query is at the place of the last key

    name = "block_choice"
    differentiable = autocasts = False

    @property
    def by_scores(self):
        return "top_k" in self.by or self.top_p is not None

    def arguments(self):
        found = [Argument("numbers", ("t", "s", "w", "i", "j", "z"), ("i1",), alike=False)]
        if self.by_scores:
            found.append(Argument("scores", ("b", "h", "m", "n"), ("f32", "f64"), alike=False))
        return found

    def dynamic(self):
        return True

    def exact(self):
        return ("i", "j")

    def results(self, types, sizes):
        rows, columns = (-(-sizes[x] // size) for x, size in zip("ij", self.sizes))
        heads = tuple(sizes[x] for x in "bh") if self.by_scores else (1, 1)
        return [("i1", (*heads, rows, columns))]

    def text(self, builder, values, orders):
        from .. import tile
        from ._block_programs import Constants, by_places, by_scores

        program = by_scores if self.by_scores else by_places
        rows = 1 if builder.chip else max(1, min(ROWS, ELEMENTS // self.columns))
        constants = Constants(rows, self.columns, self.sizes, self.by, self.top_p, self.segments, self.lines,
                              self.scale, self.causal, self.behind, self.at_end)
        made = program.specialize(*(getattr(tile, x.type)[tuple(x.dims)] for x in values), c=constants)
        return made.mlir().replace(f"@{program.__name__}(", f"@{self.name}(", 1)
