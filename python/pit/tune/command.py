"""The command line of pit-tune."""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .. import Compiler, Error
from . import cases, fit, gpu, machine, measure
from .state import State, StateError

DESCRIPTION = """Measures, on the machine at hand, what pit's choice among rules weighs: a
multiplication of the dense program and of micro-tiles of each height, looking at an element,
and a list; on one thread of the CPU by the size of the other operand, on its GPU
(--target=cuda) by how the operands lie. The result is a table of costs for the option
tile-table of pit-to-cpu, pit-to-cuda, pit-plan and pit-tile-dense; tiles, and what was not
measured, are those of the built-in table. After each shape the state is saved: an
interrupted run goes on where it was."""


@dataclass(frozen=True)
class Unit:
    """The unit that is measured at once."""

    isa: str
    element: str
    shape: cases.Shape

    @property
    def key(self):
        return f"{self.isa} {self.element} {self.shape.name}"


def list_of(known):
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"'{name}' is none of {', '.join(known)}")
        return names
    return parse


def heights(text):
    try:
        found = sorted({int(height) for height in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1 or found[-1] > 128:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of heights of 1 to 128, as 1,4,32")
    return found


def names(text):
    return text.split(",")


def size(text):
    found = int(text) if text.isdecimal() else 0
    if not 0 < found <= 1 << 15 or found % 64:
        raise argparse.ArgumentTypeError(f"'{text}' is no multiple of 64 of at most {1 << 15}")
    return found


def seconds(text):
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not 0 < found <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds, from 0 to 3600")
    return found


def make_parser():
    here = machine.kinds_here()
    parser = argparse.ArgumentParser(prog="pit-tune", description=DESCRIPTION)
    parser.add_argument("--out", type=Path, default=Path("tiles.json"), metavar="FILE",
                        help="the table (default: tiles.json)")
    parser.add_argument("--element", type=names, metavar="LIST",
                        help=f"element types (default: {','.join(Cpu.elements)}; of a GPU "
                             f"{','.join(gpu.ELEMENTS)})")
    parser.add_argument("--isa", type=list_of(here), metavar="LIST", default=here[-1:],
                        help=f"kinds of CPU to compile for; here run {','.join(here)} (default: "
                             f"{here[-1]})")
    parser.add_argument("--target", choices=list(TARGETS), default="cpu",
                        help="what is measured (default: cpu)")
    parser.add_argument("--heights", type=heights, metavar="LIST",
                        help="of micro-tiles (default: 1,4,32; of a GPU "
                             f"{','.join(map(str, gpu.HEIGHTS))}). On a CPU each is a variant of "
                             "every program that chooses at run time, and takes time to compile")
    parser.add_argument("--layout", type=list_of(list(gpu.LAYOUTS)), metavar="LIST",
                        default=list(gpu.LAYOUTS),
                        help="how operands lie on a GPU: weights as (k, n), as (n, k), zeros in "
                             f"the right operand (default: {','.join(gpu.LAYOUTS)})")
    parser.add_argument("--size", type=size, default=4096, metavar="N",
                        help="of the largest product on a GPU, a multiple of 64 (default: 4096)")
    parser.add_argument("--seconds", type=seconds, default=4, metavar="S",
                        help="at most, for each of the shapes of an element type (default: 4); "
                             "less if the medians are sure before")
    parser.add_argument("--resume", type=Path, metavar="FILE",
                        help="where the state is kept (default: the table's name with .state)")
    parser.add_argument("--dry-run", action="store_true",
                        help="print what would be measured, and how long that takes at most")
    return parser


class Cpu:
    """The CPU at hand, one thread of it."""

    target = "cpu"
    heights = (1, 4, 32)
    elements = tuple(cases.ELEMENTS)

    def __init__(self, arguments):
        self.arguments, self.caches = arguments, machine.read_caches()
        self.compiler = Compiler()

    def describe(self):
        return machine.describe()

    def introduce(self):
        second, last = self.caches
        return f"{machine.describe()['cpu']}: second cache {second >> 10} KB, last {last >> 10} KB"

    def make_units(self):
        return [Unit(isa, element, shape) for isa in self.arguments.isa
                for element in self.arguments.element
                if isa != "amx" or element in ("bf16", "i8")  # what its tiles multiply
                for shape in cases.make_shapes(element, self.caches)]

    def make_tasks(self, unit):
        return cases.make_tasks(unit.shape, self.arguments.heights)

    def measure(self, unit, seconds):
        _, _, options = machine.KINDS[unit.isa]
        return measure.measure_shape(self.compiler, unit.shape, unit.element,
                                     self.arguments.heights, options, seconds)

    def make_costs(self, units, measured):
        """The costs of all element types, and for each type what the model says of it."""
        costs = []
        for isa, element in dict.fromkeys((unit.isa, unit.element) for unit in units):
            bits, _, _ = machine.KINDS[isa]
            mine = [unit for unit in units if (unit.isa, unit.element) == (isa, element)]
            sums = cases.RESULTS[cases.ELEMENTS[element][1]]().itemsize * 8
            found = fit.fit([(unit.shape, measured[unit.key]) for unit in mine], bits // sums)
            error, where = found.worst
            print(f"{isa} {element}: the model is off by {100 * found.error:.0f} % (root mean "
                  f"square), most at {where}: {100 * error:+.0f} %")
            costs += fit.entries(f"{isa} {element}", found, cases.level_limits(self.caches),
                                 self.arguments.heights)
        return costs


TARGETS = {"cpu": Cpu, "cuda": gpu.Gpu}


def format_seconds(value):
    return f"{int(value) // 60}:{int(value) % 60:02}"


def describe_progress(done, unit, measured, left):
    spread = 100 * max(one.spread for one in measured)
    return (f"{done} {unit.key}: dense {1e6 * measured[0].seconds:.1f} us, spread of quartiles up "
            f"to {spread:.0f} %, left {format_seconds(left)}")


def measure_units(arguments, tuned, units, state):
    """Measures what the state lacks."""
    missing = [unit for unit in units if unit.key not in state.measured]
    if len(missing) < len(units):
        print(f"{len(units) - len(missing)} of {len(units)} shapes were measured before "
              f"({state.path})")
    begin = time.monotonic()
    for i, unit in enumerate(missing):
        found = tuned.measure(unit, arguments.seconds)
        state.add(unit.key, found)
        passed = time.monotonic() - begin
        left = passed / (i + 1) * (len(missing) - i - 1)
        done = f"[{len(units) - len(missing) + i + 1}/{len(units)}]"
        print(describe_progress(done, unit, found, left), flush=True)


def write_table(path, table):
    """An entry a line, as the built-in tables are."""
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in table["costs"])
    path.write_text(f'{{\n  "target": "{table["target"]}",\n  "costs": [\n{lines}\n  ]\n}}\n')


def run(arguments):
    tuned = TARGETS[arguments.target](arguments)
    units = tuned.make_units()
    path = arguments.resume or arguments.out.with_name(arguments.out.name + ".state")
    state = State(path, {**tuned.describe(), "heights": arguments.heights})
    state.load()
    print(tuned.introduce())
    if arguments.dry_run:
        missing = [unit for unit in units if unit.key not in state.measured]
        for unit in missing:
            print(f"{unit.key}: {', '.join(task.name for task in tuned.make_tasks(unit))}")
        print(f"{len(missing)} of {len(units)} shapes, at most "
              f"{format_seconds(len(missing) * arguments.seconds)} of runs, and as much for "
              f"compiling")
        return
    measure_units(arguments, tuned, units, state)
    write_table(arguments.out, {"target": arguments.target,
                                "costs": tuned.make_costs(units, state.measured)})
    options = " --target=cuda" if arguments.target == "cuda" else ""
    print(f"wrote {arguments.out}: pit-compile{options} --pipeline=tile-table={arguments.out}")


def main():
    parser = make_parser()
    arguments = parser.parse_args()
    tuned = TARGETS[arguments.target]
    arguments.heights = arguments.heights or list(tuned.heights)
    arguments.element = arguments.element or list(tuned.elements)
    for element in arguments.element:
        if element not in tuned.elements:
            parser.error(f"argument --element: '{element}' is none of "
                         f"{', '.join(tuned.elements)}")
    try:
        run(arguments)
    except KeyboardInterrupt:
        print("pit-tune: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except (StateError, Error, OSError) as error:
        print(f"pit-tune: error: {error}", file=sys.stderr)
        return 1
    return 0
