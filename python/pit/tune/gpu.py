"""The costs of an NVIDIA GPU: products of a few shapes, each by every rule and dense.

How the operands lie is a part of the costs (`layout`, lib/Choice/CostTable.h), so all
is measured for each: weights as (k, n), as (n, k), and zeros in the right operand, where
columns are what rows are in the left one. A program runs several times in a CUDA graph;
the median of graphs counts. The costs are those of least squares (fit.py).
"""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .. import Context, _library
from .. import compile as compile_program
from . import cases, fit
from .cases import COLUMNS, DENSE, PART, ROWS, SIDE, WANTED
from .driver import DeviceArray, Driver
from .measure import Measured

ELEMENTS = ("f16", "bf16", "f32")
LAYOUTS = ("left", "left-bt", "right")
HEIGHTS = (1, 4, 8, 16, 32, 64, 128)
# Which height programs choose at run time. Each of them is a kernel that others wait for.
VARIANTS = {"left": {"f16": 64, "bf16": 64, "f32": 16}, "left-bt": {"f16": 64, "bf16": 64, "f32": 32},
            "right": {"f32": 64}}
# The times of a variant's kernels if it is not chosen, and of a choice that ends dense beside
# these: on an H200, in picoseconds, not measured here.
LEAVE_ROWS, LEAVE, ASK = 1400000, 3000000, 1200000
LIVE_FRACTIONS = (0.5, 0.2, 0.05, 0.01)
STEP = 32  # of sums that a kernel takes at once for wanted parts of rows
CALLS = 10  # of a graph, at most
LEAST_GRAPHS = 3


@dataclass(frozen=True)
class Unit:
    """The unit that is measured at once. The left operand is m x k, the right one k x n."""

    element: str
    layout: str
    m: int
    k: int
    n: int

    @property
    def key(self):
        return f"{self.element} {self.layout} {self.m}x{self.k}x{self.n}"

    @property
    def marked_shape(self):
        return (self.k, self.n) if self.layout == "right" else (self.m, self.k)

    @property
    def lines(self):
        """Rows of a left operand, columns of a right one; and of the other operand."""
        return (self.n, self.m) if self.layout == "right" else (self.m, self.n)


def block_of(unit, rule):
    """The micro-tile of a rule, 0 for all there is, and its axis."""
    block, axis = {ROWS: ((1, 0), 0), PART: ((1, SIDE), 0),
                   WANTED: ((1, SIDE), 0)}.get(rule, ((rule, 1), 1))
    return (block[::-1], 1 - axis) if unit.layout == "right" else (block, axis)


def make_program(unit, rule):
    m, k, n, element = unit.m, unit.k, unit.n, unit.element
    right_marked = unit.layout == "right"
    left, right = "(m, k)", "(n, k)" if unit.layout == "left-bt" else "(k, n)"
    maps = (right, left) if right_marked else (left, right)
    sizes = {"(m, k)": (m, k), "(k, n)": (k, n), "(n, k)": (n, k)}
    a, b = ("tensor<{}x{}x{}>".format(*sizes[one], element) for one in maps)
    c, mask = f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}xi8>"
    block, axis = block_of(unit, rule)
    given = ", ".join("*" if size == 0 else str(size) for size in block)
    forced = f"rule(#pit.rule<axis = {axis}, micro_tile = [{given}]>)"
    before = f"%s = pit.sparse %a {forced} : {a}" if rule not in (DENSE, WANTED) else ""
    after = f"%w = pit.sparse %r mask(%m : {mask}) {forced} : {c}" if rule == WANTED else ""
    widen = "" if element == "f32" else f"""
    %u = arith.extf %x : {element} to f32
    %v = arith.extf %y : {element} to f32"""
    x, y = ("%x", "%y") if element == "f32" else ("%u", "%v")
    return f"""func.func @f(%a: {a}, %b: {b}{f", %m: {mask}" if after else ""}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %i = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  {before}
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {maps[0]}>,
    affine_map<(m, n, k) -> {maps[1]}>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}}
    ins({"%s" if before else "%a"}, %b : {a}, {b}) outs(%i : {c}) {{
  ^bb0(%x: {element}, %y: {element}, %q: f32):{widen}
    %p = arith.mulf {x}, {y} : f32
    %t = arith.addf %q, %p : f32
    linalg.yield %t : f32
  }} -> {c}
  {after}
  return {"%w" if after else "%r"} : {c}
}}"""


def make_mask(rng, shape, block, live_fraction):
    """The size of live blocks, 0 for all there is, and how many blocks are live."""
    h, w = (size or extent for size, extent in zip(block, shape))
    blocks = rng.random((-(-shape[0] // h), -(-shape[1] // w))) < live_fraction
    mask = np.repeat(np.repeat(blocks, h, axis=0), w, axis=1)
    return mask[: shape[0], : shape[1]], int(blocks.sum())


class Arguments:
    """The arrays of all programs of a unit: memory of the device, and the numbers in it."""

    def __init__(self, driver, unit):
        self.unit, self.rng = unit, np.random.default_rng(1)
        self.numbers = cases.make_array(self.rng, unit.element, *unit.marked_shape)
        lines, others = unit.lines
        shape = (others, unit.k) if unit.layout != "left" else (unit.k, others)
        self.a = DeviceArray(driver, self.numbers)
        self.b = DeviceArray(driver, cases.make_array(self.rng, unit.element, *shape))
        self.mask = DeviceArray(driver, np.ones((unit.m, unit.n), np.int8))
        self.out = DeviceArray(driver, np.zeros((unit.m, unit.n), np.float32))

    def prepare(self, task):
        """Makes them those of a task; how many micro-tiles are live."""
        if task.rule == DENSE:
            self.a.write(self.numbers)
            return 0
        block, _ = block_of(self.unit, task.rule)
        shape = ((self.unit.m, self.unit.n) if task.rule == WANTED else self.unit.marked_shape)
        mask, live = make_mask(self.rng, shape, block, task.live_fraction)
        if task.rule == WANTED:
            self.mask.write(mask.astype(np.int8))
        else:
            self.a.write(np.where(mask, self.numbers, self.numbers.dtype.type(0)))
        return live

    def of(self, rule):
        given = [cases.as_argument(self.unit.element, one) for one in (self.a, self.b)]
        return given + [self.mask] * (rule == WANTED)


def time_task(driver, context, program, arguments, task, seconds):
    """The Measured of a task, in `seconds` if that is enough for a few graphs."""
    live = arguments.prepare(task)
    given = arguments.of(task.rule)

    def call():
        program(*given, out=arguments.out, context=context, stream=driver.stream)

    call()  # allocates, and assembles the kernels
    driver.wait()
    start = time.perf_counter()
    call()
    driver.wait()
    once = max(time.perf_counter() - start, 1e-6)
    calls = int(min(max(seconds / (4 * once), 1), CALLS))
    graph = driver.capture(lambda: [call() for _ in range(calls)])
    graph.run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < LEAST_GRAPHS or time.perf_counter() < end:
        start = time.perf_counter()
        graph.run()
        times.append((time.perf_counter() - start) / calls)
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75))
    return Measured(task.rule, task.live_fraction, float(median), float((high - low) / median), live)


def solve(pairs):
    """(costs, relative errors) of [(unit, Measured)]."""
    times = np.array([one.seconds * 1e12 for _, one in pairs])
    costs, errors = fit.solve([count(*pair) for pair in pairs], times)
    if costs["dense"] > 0:
        return costs, errors
    # Products so small that all of their time seemed to be that of a call.
    return fit.solve([count(*pair, has_call=False) for pair in pairs], times)


def count(unit, measured, has_call=True):
    """How often each cost is in a time."""
    lines, others = unit.lines
    if measured.rule == DENSE:
        return ({"call": 1} if has_call else {}) | {"dense": unit.m * unit.k * unit.n}
    if measured.rule == WANTED:  # gathered as whole rows are
        lists = -(-unit.n // SIDE) * -(-unit.k // STEP)
        return {f"fixed {ROWS}": 1, "scan": unit.m * unit.n, f"group {ROWS}": lists,
                "wanted": measured.live * SIDE * unit.k}
    terms = {f"fixed {measured.rule}": 1, "scan": lines * unit.k}
    if measured.rule == ROWS:
        return terms | {"multiply 0": measured.live * unit.k * others}
    if measured.rule == PART:
        return terms | {"partial": measured.live * SIDE * others}
    groups, strips = -(-lines // measured.rule), -(-others // COLUMNS)
    terms |= {f"group {measured.rule}": groups * strips,
              f"multiply {measured.rule}": measured.live * measured.rule * others}
    if unit.layout == "right":
        terms[f"pack {measured.rule}"] = unit.k * others
    return terms


def describe(unit, measured):
    task = cases.Task(measured.rule, measured.live_fraction)
    return f"{unit.m}x{unit.k}x{unit.n} {task.name}{' live' * (measured.rule != DENSE)}"


def make_entry(element, layout, costs, heights):
    """An entry of a table; None if the model found no micro-tile, or no dense program, to take time:
    such an entry the compiler refuses."""
    wanted = VARIANTS[layout].get(element)
    variant = min(heights, key=lambda h: abs(np.log2(h / wanted))) if wanted else None

    def micro(rule):
        entry = {"rows": max(rule, 0), "multiply": fit.digits(costs[f"multiply {rule}"])}
        found = {name: fit.digits(costs.get(f"{name} {rule}", 0)) for name in
                 ("fixed", "group", "pack")}
        entry |= {name: value for name, value in found.items() if value > 0}
        if rule not in (ROWS, variant):
            return entry | {"compile_time_only": True}
        return entry | {"leave": LEAVE_ROWS if rule == ROWS else LEAVE}

    rules = [rule for rule in [ROWS, *heights] if costs.get(f"multiply {rule}", 0) > 0]
    if not rules or costs.get("dense", 0) <= 0:
        return None
    rules.sort(key=lambda rule: rule not in (ROWS, variant))
    entry = {"element": element} | ({"layout": layout} if layout != "left" else {})
    entry |= {"dense": fit.digits(costs["dense"]), "scan": fit.digits(max(costs["scan"], 0.01)),
              "group": max(fit.digits(costs.get(f"group {variant or heights[-1]}", 0)), 1)}
    entry |= {name: fit.digits(costs[name]) for name in ("partial", "wanted") if costs.get(name)}
    return entry | {"ask": ASK, "micro": [micro(rule) for rule in rules]}


class Gpu:
    """The GPU at hand."""

    target = "cuda"
    heights = HEIGHTS
    elements = ELEMENTS

    def __init__(self, arguments):
        self.arguments = arguments
        self.context, self.driver = Context("cuda"), Driver()
        info = _library.DeviceInfo()
        self.context.check(_library.runtime().pit_device_query(
            self.context.handle, ctypes.byref(info)))
        self.name = info.name.decode()
        self.chip = "sm_90a" if info.capability == 90 else f"sm_{info.capability}"

    def describe(self):
        return {"gpu": self.name, "chip": self.chip,
                "pit": _library.runtime().pit_version().decode()}

    def introduce(self):
        return f"{self.name}: {self.chip}"

    def make_units(self):
        side = self.arguments.size
        shapes = [(side, side, side), (side // 4, side, side), (side, side // 4, side // 8),
                  (side // 2, side // 2, side // 2)]
        return [Unit(element, layout, *shape) for element in self.arguments.element
                for layout in self.arguments.layout for shape in shapes]

    def make_tasks(self, unit):
        lines, _ = unit.lines
        rules = [ROWS, *(h for h in self.arguments.heights if h <= lines)]
        rules += [PART] * (unit.k >= SIDE) + [WANTED] * (unit.layout == "left" and unit.n >= SIDE)
        return [cases.Task(DENSE, 1.0)] + [cases.Task(rule, live_fraction) for rule in rules
                                           for live_fraction in LIVE_FRACTIONS]

    def compile(self, unit, rule):
        """By the compiler of this thread. The driver assembles what it is to run."""
        return compile_program(make_program(unit, rule), target="cuda", chip=self.chip,
                               device_code="ptx").f

    def measure(self, unit, seconds):
        tasks, arguments = self.make_tasks(unit), Arguments(self.driver, unit)
        rules = list(dict.fromkeys(task.rule for task in tasks))
        with ThreadPoolExecutor() as threads:
            programs = dict(zip(rules, threads.map(lambda rule: self.compile(unit, rule), rules)))
        return [time_task(self.driver, self.context, programs[task.rule], arguments, task,
                          seconds / len(tasks)) for task in tasks]

    def make_costs(self, units, measured):
        """The entries of a table; what the model says of each is printed."""
        made = []
        for element, layout in dict.fromkeys((unit.element, unit.layout) for unit in units):
            pairs = [(unit, one) for unit in units if (unit.element, unit.layout) ==
                     (element, layout) for one in measured[unit.key]]
            costs, errors = solve(pairs)
            at = int(np.abs(errors).argmax())
            print(f"{element} {layout}: the model is off by "
                  f"{100 * np.sqrt(np.mean(errors ** 2)):.0f} % (root mean square), most at "
                  f"{describe(*pairs[at])}: {100 * errors[at]:+.0f} %")
            if entry := make_entry(element, layout, costs, self.arguments.heights):
                made.append(entry)
            else:
                print(f"{element} {layout}: left out, the times differ too much for the model; "
                      "give more --seconds, on a machine that is idle")
        return made
