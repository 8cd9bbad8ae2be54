"""Which blocks of keys count, of all heads in one launch: those with the largest scores, and those that
lie in the right places. The program is one of tiles (_block_programs.py). With the means of blocks and their
scores it is one call."""

from dataclasses import dataclass

from ._block_means import PARTS, BlockMeans, BlockScores
from ._op import Argument, Op, kind
from ._text import LAYER_FLOATS, Builder, Value, wide_type

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
        return made.mlir().replace(f"@{program.__name__}(", f"@{BlockChoice.name}(", 1)


@kind
@dataclass(frozen=True)
class BlockPicks(BlockChoice):
    """The choice by scores of q and k. A GPU has tensor cores for f16 and bf16, so that means have parts:
    (q + q') (k + k') = q k + q' k + q k', and q' k', which is left out."""

    name = "block_picks"

    def arguments(self):
        return [super().arguments()[0], *(Argument(name, dims, LAYER_FLOATS, permutable=True)
                                          for name, dims in (("q", tuple("bhid")), ("k", tuple("bgjd"))))]

    def dynamic(self):
        return tuple("tswijzbhg")

    def fixed(self):
        return ("d",)

    def text(self, builder, values, orders):
        numbers, *places = values
        d, wide = places[0].dims[(orders[1] or range(4)).index(3)], wide_type(places[0].type)
        by_parts = builder.chip and places[0].type != wide
        rests, e = ((1, 2), PARTS * d) if by_parts else ((None, None), d)
        texts, lines = [], []

        def add(text, name, called, arguments, result):
            texts.append(text.replace(f"func.func @{name}(", f"func.func private @{called}("))
            types = ", ".join(x.mlir for x in arguments)
            lines.append(f"  {result.name} = func.call @{called}({', '.join(x.name for x in arguments)}) : "
                         f"({types}) -> {result.mlir}")

        def reshape(name, x, to, dims):
            """A tensor in three dims, and those of it as `dims`, of which the rest of the second is known."""
            flat = Value(f"%flat_{name}", ("B", "R", x.dims[3] if len(x.dims) == 4 else e), x.type)
            last = "[3]" if len(x.dims) == 4 else "[3, 4]"
            made = Value(f"%{name}", to, x.type)
            lines.append(f"""  {flat.name} = tensor.collapse_shape {x.name} [[0], [1, 2], {last}] : {x.mlir} into {flat.mlir}
  {made.name} = tensor.expand_shape {flat.name} [[0], [1, 2], [3]] output_shape [{dims}] : {flat.mlir} into {made.mlir}""")
            return made

        means = []
        for x, order, size, rest in zip(places, orders[1:], self.sizes, rests):
            op = BlockMeans(size, rest)
            parts = () if rest is None else (PARTS,)
            mean = Value(f"%means_of_{x.name[1:]}", ("B", "H", "M", *parts, d), x.type if parts else wide)
            add(op.text(builder, [Value("%x", x.dims, x.type)], [order]), op.name, mean.name[1:], [x], mean)
            means.append(mean)
        lines.append(f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %means_of_q, %c0 : {means[0].mlir}
  %H = tensor.dim %means_of_q, %c1 : {means[0].mlir}
  %M = tensor.dim %means_of_q, %c2 : {means[0].mlir}
  %G = tensor.dim %means_of_k, %c1 : {means[1].mlir}
  %N = tensor.dim %means_of_k, %c2 : {means[1].mlir}
  %all = arith.muli %H, %M : index
  %rows = arith.divui %all, %G : index""")
        q, k = (reshape(name, x, ("B", "G", "R", e), f"%B, %G, {rows}, {e}")
                for name, x, rows in (("by_groups", means[0], "%rows"), ("keys", means[1], "%N")))
        scoring = BlockScores()
        inner = Builder(scoring.name, builder.on_gpu)
        made = scoring.build(inner, [inner.argument("q", ("b", "g", "m", e), q.type),
                                     inner.argument("k", ("b", "g", "n", e), k.type)], None)
        products = Value("%products", ("B", "G", "R", "N"), wide)
        add(inner.text(*made).replace(f"({made[0].mlir})", made[0].mlir), scoring.name, scoring.name, [q, k], products)
        scores = reshape("scores", products, ("B", "H", "M", "N"), "%B, %H, %M, %N")
        live = Value("%live", ("B", "H", "M", "N"), "i1")
        add(super().text(builder, [numbers, scores], None), BlockChoice.name, BlockChoice.name, [numbers, scores], live)
        head = ", ".join(f"{x.name}: {x.mlir}" for x in values)
        body = "\n".join(lines)
        texts.insert(0, f"func.func @{self.name}({head}) -> {live.mlir} {{\n{body}\n  return %live : {live.mlir}\n}}\n")
        module = texts.pop()  # what the tile language makes
        return module.replace("func.func private", "\n".join([*texts, "func.func private"]), 1)
