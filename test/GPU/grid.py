"""Matrix products over a grid of rules, sources and element types, where draw.py
draws at random: every combination once, each with all of the shapes and patterns
in RUNS."""

from dataclasses import dataclass

import numpy as np

import patterns
from draw import BF16, F16, F32, F64, I32, I8, Draw, IndexType
from linalg_ref import Op, Output, plain_map, product
from program import Dim

TYPES = [(F32, F32), (F16, F32), (F16, F16), (BF16, F32), (BF16, BF16), (I8, I32), (F64, F64),
         (I32, I32)]
THOROUGH = [(F32, F32), (BF16, F32)]  # with every source

M, N, K = range(3)
PLAIN = ([M, K], [K, N], [M, N])
A_TRANSPOSED = ([K, M], [K, N], [M, N])
B_TRANSPOSED = ([M, K], [N, K], [M, N])


@dataclass(frozen=True)
class Form:
    """A rule: the marked operand (2 is the result), its axis, its micro-tile (0
    is the whole dimension)."""

    name: str
    operand: int | None
    axis: int = 0
    micro_tile: tuple = ()
    maps: tuple = PLAIN
    sources: tuple = ("values", "mask", "lengths", "assignment", "index")


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
    Form("c-n-32x1", 2, 1, (32, 1), sources=("mask", "lengths", "assignment", "index")),
    Form("c-rows", 2, 0, (1, 0), sources=("mask", "lengths", "index")),
]

# (m, n, k) and where the marked operand is live.
RUNS = [
    ((33, 65, 129), "uniform"), ((1, 1, 1), "all"), ((0, 5, 7), "all"), ((5, 0, 7), "all"),
    ((5, 7, 0), "all"), ((257, 130, 71), "skewed"), ((128, 128, 128), "all"),
    ((64, 70, 513), "none"), ((130, 200, 300), "one"), ((300, 96, 257), "clustered"),
    ((3001, 17, 40), "all"), ((40, 17, 3001), "skewed"), ((31, 1000, 33), "band"),
]


def cases():
    """(form, source, types) of every program."""
    listed = []
    for types in TYPES:
        for form in FORMS:
            sources = form.sources if types in THOROUGH else form.sources[:1]
            for source in sources if form.operand is not None else (None,):
                listed.append((form, source, types))
    return listed


def name_of(form, source, types):
    named = f"{types[0].mlir}-{types[1].mlir}-{form.name}"
    return f"{named}-{source}" if source else named


class Grid(Draw):
    """A case as Draw makes one."""

    runs = len(RUNS)

    def __init__(self, number, shape=None, integral=False):
        """With a shape, every run has it, and half of what is marked is live.
        `integral`: small integers, whose sums are exact in any order."""
        self.form, self.source, self.types = cases()[number]
        super().__init__(0, number)
        self.run_number = 0
        self.shape, self.all_integral = shape, integral
        self.integral = "small"
        self.nan_live = False
        self.dims = [Dim(False) for _ in range(3)]

    def chance(self, probability):
        return False  # nothing odd

    def set_run(self):
        shape, self.live = (self.shape, "uniform") if self.shape else RUNS[self.run_number]
        for dim, size in zip(self.dims, shape):
            dim.drawn = size
        # Every other run has values that have to be rounded.
        self.integral = "small" if self.all_integral or self.run_number % 2 == 0 else False

    def new_run(self):
        self.cache = {}
        self.run_number += 1
        self.set_run()

    def pattern(self, key, shape, names):
        if key not in self.cache:
            self.cache[key] = (self.data.random(shape) < 0.5 if self.shape
                               else patterns.live(self.data, shape, self.live))
        return self.cache[key]

    def selector(self, source, key, dims, names):
        if source != "index":
            return super().selector(source, key, dims, names)
        tile = [t or None for t in self.form.micro_tile]
        type_ = IndexType(list(dims), tile, self.form.axis)

        def make():
            live = self.pattern(key + " tiles", type_.shape, names)
            self.cache[key] = type_.selected(live)
            return live

        return self.program.argument("i", type_, make)

    def rule(self):
        tile = ", ".join(str(t or "*") for t in self.form.micro_tile)
        return f"axis = {self.form.axis}, micro_tile = [{tile}]"

    def run(self):
        self.set_run()
        in_type, out_type = self.types
        form, program = self.form, self.program
        op = Op([True, True, False], [plain_map(m) for m in form.maps], 2,
                [Output(product([0, 1]))], out_type)
        dims = [[self.dims[d] for d in m] for m in form.maps]
        ins = []
        for i in range(2):
            if i == form.operand:
                ins.append(self.marked_argument("ab"[i], in_type, dims[i], 0.0, self.rule(),
                                                self.source))
            else:
                ins.append(self.plain("ab"[i], in_type, dims[i]))
        out = self.plain("o", out_type, dims[2])
        result = program.linalg(op, ins, [out], self.dims)[0]
        if form.operand == 2:
            selector = self.selector(self.source, "result", dims[2], ())
            result = program.mark(result, self.source, selector, None, False, self.rule())
        program.returns(result)
        return program
