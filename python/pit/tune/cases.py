"""The cases that are measured: products of several shapes, each by every rule and dense.

A shape stands for a size of B, by the caches, and for many or few rows of A. Micro-tiles
of height h are measured on zeros in blocks of just that height, whole rows on whole rows.
"""

from dataclasses import dataclass

import numpy as np

from .. import view

# bytes of an element, its type in a result
ELEMENTS = {"f32": (4, "f32"), "f64": (8, "f64"), "f16": (2, "f32"), "bf16": (2, "f32"),
            "i8": (1, "i32")}
RESULTS = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
DENSE, ROWS = -1, 0  # in place of a height
PART, WANTED = -2, -3  # of GPUs: parts of sums, and wanted parts of rows of the result
SIDE = 64  # of such a part
NAMES = {DENSE: "dense", ROWS: "rows", PART: f"parts of {SIDE}", WANTED: f"wanted parts of {SIDE}"}
LIVE_FRACTIONS = (0.5, 0.1, 0.02, 0.005)
PATTERNS = 3
COLUMNS = 128  # whose lists are read at once, list_columns of lib/Choice/CpuCosts.json


@dataclass(frozen=True)
class Shape:
    """A is m x k, B k x n. `level` is which size of B it stands for."""

    level: int
    m: int
    k: int
    n: int

    @property
    def name(self):
        return f"{self.m}x{self.k}x{self.n}"


@dataclass(frozen=True)
class Task:
    """A program on zeros of a kind."""

    rule: int  # a height, ROWS or DENSE
    live_fraction: float

    @property
    def name(self):
        what = NAMES.get(self.rule, f"{self.rule}x1")
        return what if self.rule == DENSE else f"{what} {100 * self.live_fraction:g} %"


def make_shapes(element, caches):
    """Each size of B with many rows of A and with few; a B of few columns, and a product so
    small that it is a call and nothing else."""
    second, third = caches
    size, _ = ELEMENTS[element]

    def shape(level, m, n, b_bytes):
        return Shape(level, m, max(64, round(b_bytes / (size * n) / 64) * 64), n)

    between = (second * third) ** 0.5
    return [Shape(0, 8, 8, 16), shape(0, 512, 16, second / 32),
            shape(0, 512, 256, second / 2), shape(0, 8, 256, second / 2),
            shape(1, 192, 1024, between), shape(1, 4, 1024, between),
            shape(2, 64, 4096, 2 * third), shape(2, 1, 4096, 2 * third)]


def level_limits(caches):
    """The most bytes of B that a level stands for; 0: any."""
    second, third = caches
    return [int(second), int(third / 2), 0]


def make_tasks(shape, heights):
    tasks = [Task(DENSE, 1.0)]
    if shape.m < 8 or shape.k >= 64:
        for rule in [h for h in heights if h <= shape.m] + [ROWS] * (shape.m >= 64):
            # A call of fewer rows than one has none or one.
            tasks += [Task(rule, live_fraction) for live_fraction in LIVE_FRACTIONS
                      if rule != ROWS or live_fraction * shape.m >= 1]
    return tasks


def make_program(shape, element, rule):
    _, result = ELEMENTS[element]
    a, b, c = (f"tensor<{x}x{y}x{e}>" for x, y, e in
               ((shape.m, shape.k, element), (shape.k, shape.n, element),
                (shape.m, shape.n, result)))
    zero = "0" if result == "i32" else "0.0"
    given = ("axis = 0, micro_tile = [1, *]" if rule <= ROWS
             else f"axis = 1, micro_tile = [{rule}, 1]")
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant {zero} : {result}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : {result}) outs(%e : {c}) -> {c}
  %s = pit.sparse %a rule(#pit.rule<{given}>) : {a}
  %r = linalg.matmul ins(%s, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}"""


def make_array(rng, element, rows, columns):
    """Numbers of a type, none of which is 0."""
    if element == "i8":
        return rng.integers(1, 100, (rows, columns), dtype=np.int8)
    # Parts of a large array repeat: what they are takes no time in a product.
    numbers = rng.uniform(0.5, 1.5, min(rows * columns, 1 << 20)).astype(np.float32)
    numbers = np.resize(numbers, (rows, columns))
    if element == "bf16":
        return (numbers.view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[element])


def as_argument(element, array):
    return view(array, "bf16") if element == "bf16" else array


def count_live(shape, task, mask):
    """Live micro-tiles (or rows) where `mask` says what is live."""
    if task.rule == ROWS:
        return int(mask.any(axis=1).sum())
    return int(mask[:: task.rule].sum())


def make_patterns(rng, shape, element, task):
    """(A, live micro-tiles) several times."""
    found = []
    for _ in range(PATTERNS if task.rule != DENSE else 1):
        a = make_array(rng, element, shape.m, shape.k)
        if task.rule == DENSE:
            found.append((a, 0))
            continue
        if task.rule == ROWS:
            mask = np.broadcast_to(rng.random((shape.m, 1)) < task.live_fraction, a.shape)
        else:
            blocks = rng.random((-(-shape.m // task.rule), shape.k)) < task.live_fraction
            mask = np.repeat(blocks, task.rule, axis=0)[: shape.m]
        a[~mask] = 0
        found.append((a, count_live(shape, task, mask)))
    return found
