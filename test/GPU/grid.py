"""Matrix products over a grid of rules, sources and element types, where draw.py
draws at random: every combination once, each with all of the shapes and patterns
of its form.

The wide forms are those that a GPU's matrix unit takes by whole tiles of 128 rows
and TMA. Their shapes have extents that are multiples of 8, as TMA needs, and some
that are not; and operands that lie off their alignment, which have to be copied, or
another kernel has to step in.
"""

from dataclasses import dataclass, replace

import patterns
from draw import Draw
from dtypes import BF16, E4M3, E5M2, F16, F32, F64, I32, I8, TF32
from forms import TILES_OF_ROWS
from linalg_ref import Op, Output, plain_map, product
from program import Dim, IndexType, TensorType

TYPES = [(F32, F32), (F16, F32), (F16, F16), (BF16, F32), (BF16, BF16), (I8, I32), (F64, F64),
         (I32, I32), (E4M3, F32)]
THOROUGH = [(F32, F32), (BF16, F32)]  # with every source

M, N, K = range(3)
PLAIN = ([M, K], [K, N], [M, N])
A_TRANSPOSED = ([K, M], [K, N], [M, N])
B_TRANSPOSED = ([M, K], [N, K], [M, N])
BOTH_TRANSPOSED = ([K, M], [N, K], [M, N])
# Experts: tokens, columns, k, experts; the routing comes first.
E = 3
UP = ([M, E], [M, K], [E, K, N], [M, E, N])
UP_B_TRANSPOSED = ([M, E], [M, K], [E, N, K], [M, E, N])
DOWN = ([M, E], [M, K], [E, K, N], [M, N])
# Blocks of k, each with a scale for each row and for each column; or for each block of
# columns. Of experts, weights are of blocks.
KB, KI = 2, 3
ROW_SCALES = ([M, KB, KI], [N, KB, KI], [M, KB], [N, KB], [M, N])
BLOCK_SCALES = ([0, 3, 4], [1, 2, 3, 4], [0, 3], [1, 3], [0, 1, 2])
# m, n, blocks of k, within them, experts, blocks of columns.
EXPERT_SCALES = ([0, 4], [0, 2, 3], [4, 5, 1, 2, 3], [0, 2], [4, 5, 2], [0, 4, 5, 1])

# Extents in the order m, n, k (, e), where the marked operand is live, and which
# operands lie one element off their alignment (o is the result).
RUNS = [
    ((33, 65, 129), "uniform", ""), ((1, 1, 1), "all", ""), ((0, 5, 7), "all", ""),
    ((5, 0, 7), "all", ""), ((5, 7, 0), "all", ""), ((257, 130, 71), "skewed", ""),
    ((128, 128, 128), "all", ""), ((64, 70, 513), "none", ""), ((130, 200, 300), "one", ""),
    ((300, 96, 257), "clustered", ""), ((3001, 17, 40), "all", ""), ((40, 17, 3001), "skewed", ""),
    ((31, 1000, 33), "band", ""),
]
WIDE_RUNS = [
    ((128, 256, 64), "all", ""), ((8, 8, 8), "all", ""), ((256, 512, 192), "uniform", ""),
    ((136, 264, 72), "skewed", ""), ((264, 520, 1000), "clustered", ""),
    ((2048, 16, 136), "uniform", ""), ((16, 2056, 520), "one", ""),
    ((1160, 4360, 72), "uniform", ""),  # more tiles than there are multiprocessors
    ((256, 264, 128), "none", ""), ((384, 264, 128), "all", ""),
    ((0, 256, 64), "all", ""), ((256, 0, 64), "all", ""), ((256, 256, 0), "all", ""),
    ((1, 1, 1), "all", ""),
    ((130, 256, 128), "uniform", ""), ((256, 260, 128), "uniform", ""),
    ((256, 256, 100), "uniform", ""), ((131, 259, 67), "clustered", ""),
    ((256, 512, 128), "uniform", "a"), ((256, 512, 128), "uniform", "b"),
    ((256, 512, 128), "uniform", "o"), ((136, 264, 72), "all", "abo"),
]
EXPERT_RUNS = [
    ((128, 256, 64, 1), "all", ""), ((300, 264, 136, 8), "uniform", ""),
    ((513, 520, 72, 5), "skewed", ""), ((1000, 256, 200, 8), "clustered", ""),
    ((40, 16, 1000, 40), "one", ""), ((256, 264, 64, 4), "none", ""), ((0, 8, 8, 3), "all", ""),
    ((5, 8, 8, 0), "all", ""), ((130, 0, 64, 2), "all", ""), ((130, 64, 0, 2), "all", ""),
    ((131, 259, 67, 3), "uniform", ""), ((300, 264, 136, 8), "uniform", "a"),
    ((300, 264, 136, 8), "uniform", "b"), ((300, 264, 136, 8), "uniform", "o"),
]

VERSION_RUNS = tuple(((m, 1032, 264), "uniform", skew) for m, skew in (
    (0, ""), (1, ""), (16, ""), (17, ""), (64, "a"), (72, ""), (200, "b"), (257, ""), (600, "o"),
    (1048, "")))
SCALED_RUNS = [
    ((128, 256, 2), "all", ""), ((8, 8, 1), "all", ""), ((257, 130, 3), "skewed", ""),
    ((131, 259, 9), "clustered", ""), ((1, 1, 1), "all", ""), ((300, 96, 4), "none", ""),
    ((256, 0, 2), "all", ""), ((0, 256, 2), "all", ""), ((256, 256, 0), "all", ""),
    ((136, 264, 2), "uniform", "a"), ((136, 264, 2), "uniform", "b"),
    ((136, 264, 2), "uniform", "o"), ((1160, 1100, 2), "uniform", ""),
]

# Of one run: under the sanitizer, in graphs, and for thousands of launches.
SHAPES = {"small": (67, 33, 70), "graph": (160, 104, 224), "stress": (320, 264, 776)}
WIDE_SHAPES = {"small": (136, 264, 200), "graph": (264, 520, 200), "stress": (1096, 4360, 328)}
EXPERT_SHAPES = {"small": (72, 264, 72, 3), "graph": (300, 264, 136, 8),
                 "stress": (520, 2056, 200, 8)}
# Chunks that end within a tile, and stores that hold warps up.
DOWN_SHAPES = {**EXPERT_SHAPES, "stress": (2056, 8200, 264, 8)}


@dataclass(frozen=True)
class Form:
    """A rule: the marked operand (the last is the result), its axis, its micro-tile
    (0 is the whole dimension)."""

    name: str
    operand: int | None
    axis: int = 0
    micro_tile: tuple = ()
    maps: tuple = PLAIN
    sources: tuple = ("values", "mask", "lengths", "routing", "index")
    types: tuple = ()  # () is TYPES
    runs: tuple = tuple(RUNS)
    shapes: tuple = tuple(SHAPES.items())
    wide: bool = False
    added: bool = True  # to an argument, not to 0
    static: tuple = ()  # extents that are known when it is compiled; None: is not
    scales: int = 0  # so many of the last inputs are f32
    epilogue: str = ""
    options: str = ""  # of pit-compile, for GPUs
    tiles: tuple = ()  # a tile program of forms.py, and its INDEX_OPTION

    @property
    def rank(self):
        return len({d for m in self.maps for d in m})


FORMS = [
    Form("dense", None),
    Form("dense-at", None, maps=A_TRANSPOSED),
    Form("dense-bt", None, maps=B_TRANSPOSED),
    Form("a-k-32x1", 0, 1, (32, 1)),
    Form("a-k-16x1-at", 0, 0, (1, 16), A_TRANSPOSED, ("values", "mask")),
    Form("a-m-1x64", 0, 0, (1, 64)),
    Form("a-rows", 0, 0, (1, 0)),
    Form("a-rows-bt", 0, 0, (1, 0), B_TRANSPOSED, ("values", "mask")),
    Form("b-k-1x64", 1, 0, (1, 64), sources=("values", "mask", "index")),
    Form("b-n-64x1", 1, 1, (64, 1), sources=("values", "mask", "index")),
    Form("c-n-32x1", 2, 1, (32, 1), sources=("mask", "lengths", "routing", "index")),
    Form("c-rows", 2, 0, (1, 0), sources=("mask", "lengths", "index")),
]


def wide(name, types, operand=None, axis=0, micro_tile=(), maps=PLAIN, sources=("index",),
         added=False, **more):
    chosen = "runs" in more
    more = {"runs": tuple(WIDE_RUNS), "shapes": tuple(WIDE_SHAPES.items()), **more}
    if "static" in more and not chosen:
        # What lies off its alignment and what is live is all that can differ.
        more["runs"] = tuple((more["static"], "uniform", skew) for skew in ("", "a", "b", "o"))
        if operand is not None:
            more["runs"] += tuple((more["static"], live, "")
                                  for live in ("all", "none", "one", "clustered"))
    return Form(f"wide-{name}", operand, axis, micro_tile, maps, sources, tuple(types), wide=True,
                added=added, **more)


def scaled(name, types, block, maps=ROW_SCALES, **more):
    """Sums over blocks of k, of a known extent, that are scaled."""
    def extents(m, n, blocks):
        if maps is ROW_SCALES:
            return (m, n, blocks, block)
        columns = n and n // 128  # blocks of them
        return ((m, columns, 128, blocks, block) if maps is BLOCK_SCALES else
                (m, 128, blocks, block, 5, columns))

    static = extents(None, None, None)
    runs = tuple((extents(*sizes), live, skew) for sizes, live, skew in SCALED_RUNS)
    shapes = {"small": (72, 264, 2), "graph": (264, 264, 3), "stress": (1096, 2056, 4)}
    return wide(f"{name}-{block}", types, *more.pop("rule", ()), maps=maps, scales=2, runs=runs,
                shapes=tuple((step, extents(*sizes)) for step, sizes in shapes.items()),
                static=static, **more)


def experts(name, types, maps, shapes=EXPERT_SHAPES, **more):
    return wide(name, types, 0, 0, (1, 1), maps, runs=tuple(EXPERT_RUNS),
                shapes=tuple(shapes.items()), **more)


# What groups add to results of 16 bits is rounded first.
ROUNDED = "--pipeline=round-partials=true"


def tf32(form):
    """A form of f32 whose factors may round to tf32."""
    return replace(form, name=f"{form.name}-tf32", types=((F32, F32),), sources=form.sources[:1],
                   options="--pipeline=tf32=true")


H, B, HF, BF = (F16, F16), (BF16, BF16), (F16, F32), (BF16, F32)
E4, E5 = (E4M3, F32), (E5M2, F32)
WIDE = [
    wide("dense", (H, B, BF)),
    wide("dense-bt", (H, B, HF), maps=B_TRANSPOSED),
    wide("dense-at", (B, HF), maps=A_TRANSPOSED),
    wide("dense-at-bt", (H,), maps=BOTH_TRANSPOSED),
    wide("dense-added", (B, HF), added=True),
    wide("dense-bias-relu", (H, BF), epilogue="bias-relu"),
    wide("dense-bt-scale", (B,), maps=B_TRANSPOSED, epilogue="scale"),
    wide("dense-static", (B, HF), static=(264, 520, 200)),
    wide("dense-bt-static", (H,), maps=B_TRANSPOSED, static=(384, 512, 256)),
    # Each consumer has a part of few columns, which blocks share along k.
    wide("dense-few-bt", (H,), maps=B_TRANSPOSED, static=(16, 64, 1160)),
    wide("dense-few-bt", (B, HF), maps=B_TRANSPOSED, static=(40, 96, 4104)),
    wide("rows", (B,), 0, 0, (1, 0), sources=("index", "values", "mask")),
    wide("rows", (H, HF), 0, 0, (1, 0)),
    wide("rows-bt", (H,), 0, 0, (1, 0), B_TRANSPOSED, ("index", "values")),
    wide("rows-relu", (B,), 0, 0, (1, 0), epilogue="relu"),
    wide("rows-static", (B,), 0, 0, (1, 0), static=(264, 520, 200)),
    # What no tile writes is filled: by blocks of several tiles, and of a part of one.
    wide("rows-filled", (HF,), 0, 0, (1, 0), sources=("index", "values"), static=(2056, 4360, 72)),
    wide("rows-filled-bt", (B,), 0, 0, (1, 0), B_TRANSPOSED, ("values",), epilogue="relu",
         static=(520, 1032, 1160)),
    # Long along k, so that blocks share tiles.
    wide("dense-long-bt", (B, HF), maps=B_TRANSPOSED, static=(264, 520, 4104)),
    wide("rows-long", (H,), 0, 0, (1, 0), sources=("index", "values"), static=(1032, 520, 2056)),
    wide("tiles-of-rows", (BF,), 0, 0, (1, 0), sources=("values",), tiles=(TILES_OF_ROWS, "")),
    wide("tiles-of-rows-unordered", (HF,), 0, 0, (1, 0), sources=("values",),
         tiles=(TILES_OF_ROWS, " unordered")),
    wide("k-128x1-at", (B,), 0, 0, (1, 128), A_TRANSPOSED, ("index", "values", "mask")),
    wide("k-128x1-at", (H, HF), 0, 0, (1, 128), A_TRANSPOSED),
    wide("k-64x1-at", (B,), 0, 0, (1, 64), A_TRANSPOSED, ("index", "values")),
    wide("k-64x1-at", (HF,), 0, 0, (1, 64), A_TRANSPOSED),
    wide("k-128x1-at-static", (B,), 0, 0, (1, 128), A_TRANSPOSED, static=(264, 520, 400)),
    wide("k-128x1", (B,), 0, 1, (128, 1)),
    # Few rows: tiles are computed transposed.
    wide("k-32x1", (H,), 0, 1, (32, 1), sources=("index", "values", "mask")),
    wide("k-32x1", (BF,), 0, 1, (32, 1)),
    wide("k-32x1-relu", (B,), 0, 1, (32, 1), epilogue="bias-relu"),
    wide("k-32x1-static", (H,), 0, 1, (32, 1), static=(264, 1032, 400)),
    wide("k-32x1-one-tile", (H,), 0, 1, (32, 1), static=(264, 520, 400)),
    wide("k-16x1", (B,), 0, 1, (16, 1), sources=("index", "values")),
    wide("k-8x1", (H,), 0, 1, (8, 1)),
    wide("k-40x1", (HF,), 0, 1, (40, 1), added=True),
    wide("k-64x1", (B,), 0, 1, (64, 1)),
    wide("k-32x1-at", (B,), 0, 0, (1, 32), A_TRANSPOSED, ("index", "values")),
    wide("k-16x1-at", (H,), 0, 0, (1, 16), A_TRANSPOSED),
    wide("k-8x1-at", (HF,), 0, 0, (1, 8), A_TRANSPOSED, added=True),
    wide("k-48x1-at", (B,), 0, 0, (1, 48), A_TRANSPOSED),
    # So few tiles that blocks share the lists of ids.
    wide("k-1x1-shared", (H,), 0, 1, (1, 1), sources=("index", "values"), static=(1, 136, 8200)),
    wide("k-8x1-shared", (H,), 0, 1, (8, 1), static=(7, 136, 8200)),
    wide("k-16x1-shared", (H,), 0, 1, (16, 1), sources=("index", "values"), static=(16, 264, 8200)),
    wide("k-32x1-shared", (BF,), 0, 1, (32, 1), sources=("values",), added=True, epilogue="relu",
         static=(40, 136, 8200)),
    wide("k-64x1-shared", (B,), 0, 1, (64, 1), static=(136, 136, 8200)),
    wide("k-64x1-shared-dynamic", (H,), 0, 1, (64, 1), sources=("values",),
         runs=tuple((sizes, live, "") for sizes in ((16, 520, 8200), (72, 136, 4104), (1, 8, 8200))
                    for live in ("all", "uniform", "one", "none"))),
    wide("b-k-1x32-at-shared", (B,), 1, 0, (1, 32), A_TRANSPOSED, static=(136, 40, 8200)),
    # So few tiles that blocks share their steps (split-K), where kernels are portable.
    wide("dense-split", ((F32, F32), (I8, I32), (F64, F64)), static=(5, 72, 1040)),
    wide("dense-split", (H, BF), static=(16, 136, 2056)),
    wide("dense-split-bt", ((F32, F32), H), maps=B_TRANSPOSED, added=True, epilogue="bias-relu",
         static=(20, 136, 1032)),
    wide("dense-split-dynamic", ((F32, F32), B), epilogue="relu",
         runs=tuple((sizes, "uniform", "") for sizes in ((1, 8, 4104), (72, 136, 520), (200, 264, 264),
                                                         (64, 64, 0), (64, 64, 7), (1032, 1032, 264)))),
    tf32(wide("dense-split", (), static=(16, 136, 1040))),
    wide("k-16x1-split", ((F32, F32),), 0, 1, (16, 1), sources=("index", "values"),
         static=(16, 136, 2056)),
    wide("k-32x1-split-dynamic", ((F32, F32), H), 0, 1, (32, 1), sources=("values",), added=True,
         runs=tuple((sizes, live, "") for sizes in ((16, 520, 8200), (72, 136, 4104), (1, 8, 1032))
                    for live in ("all", "uniform", "one", "none"))),
    # Tiles for few rows and for many, which only a call knows.
    wide("dense-versions", (H, (F32, F32)), epilogue="bias-relu", static=(None, 1032, 264),
         runs=VERSION_RUNS),
    wide("dense-versions-bt", (BF,), maps=B_TRANSPOSED, added=True, static=(None, 520, 1032),
         runs=tuple(((m, 520, 1032), *more) for (m, _, _), *more in VERSION_RUNS)),
    tf32(wide("dense-versions", (), static=(None, 1032, 264), runs=VERSION_RUNS)),
    # Ids select elements within rows of the other operand, which is transposed before.
    wide("k-32x1-bt", (H, BF), 0, 1, (32, 1), B_TRANSPOSED, ("index", "values")),
    wide("k-16x1-bt-static", (B,), 0, 1, (16, 1), B_TRANSPOSED, static=(264, 1032, 400)),
    wide("k-64x1-bt", (HF,), 0, 1, (64, 1), B_TRANSPOSED, added=True),
    wide("k-128x1-bt", (B,), 0, 1, (128, 1), B_TRANSPOSED),
    wide("k-32x1-at-bt", (H,), 0, 0, (1, 32), BOTH_TRANSPOSED),
    # Few columns.
    wide("b-k-1x32", (H,), 1, 0, (1, 32), sources=("index", "values", "mask")),
    wide("b-k-1x32-relu", (B,), 1, 0, (1, 32), epilogue="bias-relu"),
    wide("b-k-1x32-static", (BF,), 1, 0, (1, 32), static=(1032, 264, 400)),
    wide("b-k-1x32-one-tile", (H,), 1, 0, (1, 32), static=(520, 264, 400)),
    wide("b-k-1x16", (B,), 1, 0, (1, 16), sources=("index", "values")),
    wide("b-k-1x8", (H,), 1, 0, (1, 8)),
    wide("b-k-1x64", (B, HF), 1, 0, (1, 64)),
    wide("b-k-32x1-bt", (B,), 1, 1, (32, 1), B_TRANSPOSED, ("index", "values")),
    wide("b-k-64x1-bt", (H,), 1, 1, (64, 1), B_TRANSPOSED, added=True),
    wide("b-k-1x32-at", (HF,), 1, 0, (1, 32), A_TRANSPOSED),
    wide("b-k-16x1-at-bt", (B,), 1, 1, (16, 1), BOTH_TRANSPOSED),
    # Wanted results.
    wide("c-n-32x1", (H,), 2, 1, (32, 1), sources=("index", "mask")),
    wide("c-n-64x1-bt", (B,), 2, 1, (64, 1), B_TRANSPOSED, ("index", "mask")),
    wide("c-n-8x1-bt", (HF,), 2, 1, (8, 1), B_TRANSPOSED),
    wide("c-m-1x32", (B,), 2, 0, (1, 32), sources=("index", "mask")),
    wide("c-m-1x16-bt", (H,), 2, 0, (1, 16), B_TRANSPOSED),
    wide("c-m-1x64-at", (BF,), 2, 0, (1, 64), A_TRANSPOSED),
    wide("c-m-1x128-static", (H,), 2, 0, (1, 128), sources=("mask",), static=(264, 520, 200)),
    wide("b-k-1x128", (B,), 1, 0, (1, 128)),
    wide("b-k-1x128-at", (B,), 1, 0, (1, 128), A_TRANSPOSED),
    wide("b-rows-bt", (B,), 1, 0, (1, 0), B_TRANSPOSED),
    tf32(wide("dense", ())),
    tf32(wide("dense-at", (), maps=A_TRANSPOSED)),
    tf32(wide("dense-bt", (), maps=B_TRANSPOSED)),
    tf32(wide("dense-at-bt", (), maps=BOTH_TRANSPOSED)),
    tf32(wide("rows-bt", (), 0, 0, (1, 0), B_TRANSPOSED)),
    tf32(wide("rows", (), 0, 0, (1, 0))),
    wide("dense", ((I8, I32),)),
    wide("dense-at", ((I8, I32),), maps=A_TRANSPOSED),
    wide("dense-bt", ((I8, I32),), maps=B_TRANSPOSED),
    wide("dense-at-bt", ((I8, I32),), maps=BOTH_TRANSPOSED),
    # wgmma multiplies bytes along k; others are copied.
    wide("dense", (E4,)),
    wide("dense-at", (E5,), maps=A_TRANSPOSED),
    wide("dense-at-bt", (E4,), maps=BOTH_TRANSPOSED),
    wide("rows", (E4,), 0, 0, (1, 0)),
    experts("up", (E4,), UP),
    wide("dense-bt", (E4, E5), maps=B_TRANSPOSED),
    wide("dense-bt-bias-relu", (E4,), maps=B_TRANSPOSED, epilogue="bias-relu"),
    wide("dense-long-bt", (E4,), maps=B_TRANSPOSED, static=(264, 520, 4112)),
    wide("rows-bt", (E4,), 0, 0, (1, 0), B_TRANSPOSED, ("index", "values", "mask")),
    wide("b-rows-bt", (E5,), 1, 0, (1, 0), B_TRANSPOSED),
    wide("rows-filled-bt", (E4,), 0, 0, (1, 0), B_TRANSPOSED, ("values",), epilogue="relu",
         static=(520, 1032, 1168)),
    scaled("scales", (E4, E5), 128),
    scaled("scales", (E4,), 32),
    scaled("scales", (E4,), 160),
    scaled("scales", (E4,), 256),
    scaled("scales", (E4,), 40),  # no multiple of 16 bytes
    scaled("scales", (BF,), 64),
    scaled("scales-of-blocks", (E4,), 128, BLOCK_SCALES),
    scaled("scales-rows", (E4,), 128, BLOCK_SCALES, rule=(0, 0, (1, 0, 0)),
           sources=("index", "values", "mask")),
    scaled("scales-experts", (E4,), 128, EXPERT_SCALES, rule=(0, 0, (1, 1)),
           sources=("routing", "index")),
    experts("up-bt", (E4,), UP_B_TRANSPOSED, sources=("routing", "index")),
    experts("up", (B,), UP, sources=("routing", "index")),
    experts("up", (HF,), UP, sources=("values",)),
    experts("down", (BF,), DOWN, DOWN_SHAPES, sources=("routing", "index")),
    experts("down-rounded", (B,), DOWN, DOWN_SHAPES, sources=("routing",), options=ROUNDED),
    wide("m-1x64-rounded", (H,), 0, 0, (1, 64), sources=("values",), options=ROUNDED),
]


def cases():
    """(form, source, types) of every program."""
    listed = []
    for types in TYPES:
        for form in FORMS:
            sources = form.sources if types in THOROUGH else form.sources[:1]
            for source in sources if form.operand is not None else (None,):
                listed.append((form, source, types))
    for form in (*WIDE, *map(tf32, FORMS)):
        for types in form.types:
            for source in form.sources if form.operand is not None else (None,):
                listed.append((form, source, types))
    return listed


def name_of(form, source, types):
    named = f"{types[0].mlir}-{types[1].mlir}-{form.name}"
    return f"{named}-{source}" if source else named


class Grid(Draw):
    """A case as Draw makes one."""

    def __init__(self, number, step=None):
        """`step` is one of those that have a single run, of one shape: half of what is
        marked is live there, and for stress, values are small integers, whose sums are
        exact in any order."""
        self.form, self.source, self.types = cases()[number]
        super().__init__(0, number)
        self.run_number = 0
        self.step, self.all_integral = step, step == "stress"
        self.integral = "small"
        self.nan_live = False
        self.dims = [Dim(size is not None, size) for size in self.form.static] or [
            Dim(False) for _ in range(self.form.rank)]

    @property
    def runs(self):
        return len(self.form.runs)

    def chance(self, probability):
        return False  # nothing odd

    def set_run(self):
        shape, self.live, self.skewed = self.form.runs[self.run_number]
        if self.step:
            shape, self.live, self.skewed = dict(self.form.shapes)[self.step], "uniform", ""
        for dim, size in zip(self.dims, shape):
            dim.drawn = dim.drawn if dim.static else size
        # Every other run has values that have to be rounded.
        self.integral = "small" if self.all_integral or self.run_number % 2 == 0 else False

    def new_run(self):
        self.cache = {}
        self.run_number += 1
        self.set_run()

    def argument_offset(self, name):
        return int(name[1] in self.skewed)

    def result_offset(self):
        return int("o" in self.skewed) if self.form.wide else super().result_offset()

    def fits_tma(self):
        """Whether Hopper's kernel computes a dense product: TMA reads its operands as they
        lie, or so many products are added that copies of them pay."""
        form = self.form
        if not form.wide or form.operand is not None or form.scales:
            return None
        if any(d.size == 0 for d in self.dims):
            return False
        copied, element_bytes = 0, self.types[0].bits // 8
        for letter, (row, column) in zip("ab", form.maps):
            is_aligned = self.dims[column].size * element_bytes % 16 == 0 and (
                letter not in self.skewed)
            # wgmma transposes elements of 16 bits alone.
            if not is_aligned or (element_bytes != 2 and column != K):
                copied += self.dims[row].size * self.dims[column].size
        least = 384 if element_bytes >= 4 else 2  # LaunchedMaps::copyPays
        return self.dims[M].size * self.dims[N].size * self.dims[K].size >= least * copied

    def drawn_pattern(self, shape):
        return (self.data.random(shape) < 0.5 if self.step
                else patterns.live(self.data, shape, self.live))

    def pattern(self, key, shape, names):
        """Of a wide form, whole micro-tiles are live, or none of them would not be."""
        if key not in self.cache:
            tiles = self.marked_tiles() if self.form.wide else None
            if tiles and tuple(d.size for d in tiles.dims) == shape:
                self.cache[key] = tiles.selected(self.drawn_pattern(tiles.shape))
            else:
                self.cache[key] = self.drawn_pattern(shape)
        return self.cache[key]

    def marked_tiles(self):
        """The index of what is marked."""
        form = self.form
        dims = [self.dims[d] for d in form.maps[form.operand]]
        return IndexType(dims, list(form.micro_tile), form.axis)

    def selector(self, source, key, dims, names):
        if source != "index":
            return super().selector(source, key, dims, names)
        type_ = self.marked_tiles()

        def make():
            live = self.drawn_pattern(type_.shape)
            self.cache[key] = type_.selected(live)
            return live

        return self.program.argument("i", type_, make)

    def rule(self):
        tile = ", ".join(str(t or "*") for t in self.form.micro_tile)
        return f"axis = {self.form.axis}, micro_tile = [{tile}]"

    def epilogue_of(self, value, dims, dtype):
        """An element-wise op on the result."""
        x, y, zero = ("arg", 0), ("arg", 1), ("const", 0.0)
        expr, on = {"relu": (("max", x, zero), None),
                    "bias-relu": (("max", ("add", x, y), zero), 1),
                    "scale": (("mul", x, y), 0)}[self.form.epilogue]
        full = list(range(len(dims)))
        maps = [full, full] if on is None else [full, [on], full]
        op = Op([True] * len(dims), [plain_map(m) for m in maps], len(maps) - 1,
                [Output(expr, None)], dtype)
        ins = [value] + [self.plain("y", dtype, [dims[on]]) for _ in maps[1:-1]]
        out = self.zeros(dtype, dims)
        return self.program.linalg(op, ins, [out], list(dims))[0]

    def zeros(self, dtype, dims):
        return self.program.filled(TensorType(dtype, list(dims), [d.static for d in dims]), 0.0)

    def run(self):
        self.set_run()
        in_type, out_type = self.types
        form, program = self.form, self.program
        *ins_maps, out_map = form.maps
        op = Op([d in out_map for d in range(form.rank)], [plain_map(m) for m in form.maps],
                len(ins_maps), [Output(product(range(len(ins_maps))))], out_type,
                rounds_once=form.wide and form.options != ROUNDED,
                factors=TF32 if "tf32" in form.options else None,
                # Hopper's tensor cores add products of 8-bit floats with about 14 bits, 32 at
                # once and 128 before a sum of f32 takes over (docs/Semantics.md).
                loss=2.0**-11 if in_type in (E4M3, E5M2) else 0.0)
        dims = [[self.dims[d] for d in m] for m in form.maps]
        plain = len(ins_maps) - form.scales
        letters = ("rab" if plain == 3 else "ab") + "st"[:form.scales]
        ins = []
        for i, letter in enumerate(letters):
            if i == form.operand:
                ins.append(self.marked_argument(letter, in_type, dims[i], 0.0, self.rule(),
                                                self.source, mark=not form.tiles))
            else:
                ins.append(self.plain(letter, in_type if i < plain else F32, dims[i]))
        if form.tiles:
            text, option = form.tiles
            sizes = {"MT": 128, "NT": 256, "KT": 64, "INDEX_OPTION": option}
            operands = (*ins, self.plain("o", out_type, dims[-1]))
            program.returns(self.tiles(text, sizes, operands, self.dims, in_type, out_type))
            return program
        out = self.plain("o", out_type, dims[-1]) if form.added else self.zeros(out_type, dims[-1])
        result = program.linalg(op, ins, [out], self.dims)[0]
        if form.operand == len(ins_maps):
            selector = self.selector(self.source, "result", dims[-1], ())
            result = program.mark(result, self.source, selector, None, False, self.rule())
        if form.epilogue:
            result = self.epilogue_of(result, dims[-1], out_type)
        program.returns(result)
        return program
