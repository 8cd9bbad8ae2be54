"""The attention of the last queries to each key: their softmax, as rows of which a column is a key, and a diagonal
a distance from the query."""

from dataclasses import dataclass

from ._op import Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

KEYS = 128  # of a tile
PARTS = 16  # of the keys, whose sums of a row are taken apart


@kind
@dataclass(frozen=True)
class LastChances(Op):
    """q (batch, heads, rows, d) are the last queries, the last one first; `numbers`, without elements, has
    one size: the place behind the last query. Row i of the result has zeros behind the keys, as many as
    there are rows: read with rows of one column less, it has the same distances in a column."""

    most: int  # rows of q, or more
    group: int  # so many heads of q have the same keys
    scale: float
    causal: bool

    name = "last_chances"
    differentiable = autocasts = False

    def arguments(self):
        return [Argument("q", ("b", "h", "r", "d"), LAYER_FLOATS),
                Argument("k", ("b", "g", "j", "d"), LAYER_FLOATS),
                Argument("numbers", ("e", "z"), ("i1",), alike=False)]

    def dynamic(self):
        return ("b", "h", "r", "g", "j", "e", "z")

    def fixed(self):
        return ("d",)

    def exact(self):
        return ("r", "j")

    def results(self, types, sizes):
        b, h, r, j = (sizes[x] for x in "bhrj")
        return [(wide_type(types[0]), (b, h, r, j + r))]

    def text(self, builder, values, orders):
        from .. import tile
        from ._block_programs import last_chances

        q = values[0]
        d, rows = q.dims[3], -(-self.most // 64) * 64 if builder.chip else self.most
        made = last_chances.specialize(
            *(getattr(tile, x.type)[tuple(x.dims)] for x in values),
            c=(rows, KEYS, PARTS, self.group, 64 if d % 64 == 0 else d, d, self.scale, self.causal,
               getattr(tile, wide_type(q.type))))
        return made.mlir().replace(f"@{last_chances.__name__}(", f"@{self.name}(", 1)
