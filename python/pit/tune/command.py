"""The command line of pit-tune."""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .. import Compiler, Error
from . import cases, fit, machine, measure
from .state import State, StateError

DESCRIPTION = """Measures, on the machine at hand and on one thread, what pit's choice among
rules weighs: a multiplication of the dense program and of micro-tiles of each height, by the
size of the other operand, looking at an element, and a list. The result is a table of costs
for the option tile-table of pit-to-cpu, pit-plan and pit-tile-dense; tiles, and what was not
measured, are those of the built-in table. After each shape the state is saved: an
interrupted run goes on where it was."""
HEIGHTS = "1,4,32"


@dataclass(frozen=True)
class Unit:
    """What is measured at once."""

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
        raise argparse.ArgumentTypeError(f"'{text}' is no list of heights of 1 to 128, as {HEIGHTS}")
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
    parser.add_argument("--element", type=list_of(list(cases.ELEMENTS)), metavar="LIST",
                        default=list(cases.ELEMENTS),
                        help=f"element types (default: {','.join(cases.ELEMENTS)})")
    parser.add_argument("--isa", type=list_of(here), metavar="LIST", default=here[-1:],
                        help=f"kinds of CPU to compile for; here run {','.join(here)} (default: "
                             f"{here[-1]})")
    parser.add_argument("--target", choices=["cpu"], default="cpu",
                        help="what is measured; the tables of GPUs come with pit")
    parser.add_argument("--heights", type=heights, default=heights(HEIGHTS), metavar="LIST",
                        help="of micro-tiles. Each is a variant of every program that chooses at "
                             f"run time, and takes time to compile (default: {HEIGHTS})")
    parser.add_argument("--seconds", type=seconds, default=4, metavar="S",
                        help="at most, for each of the shapes of an element type (default: 4); "
                             "less if the medians are sure before")
    parser.add_argument("--resume", type=Path, metavar="FILE",
                        help="where the state is kept (default: the table's name with .state)")
    parser.add_argument("--dry-run", action="store_true",
                        help="print what would be measured, and how long that takes at most")
    return parser


def make_units(arguments, caches):
    return [Unit(isa, element, shape) for isa in arguments.isa for element in arguments.element
            if isa != "amx" or element in ("bf16", "i8")  # what its tiles multiply
            for shape in cases.make_shapes(element, caches)]


def format_seconds(value):
    return f"{int(value) // 60}:{int(value) % 60:02}"


def describe_progress(done, unit, measured, left):
    spread = 100 * max(one.spread for one in measured)
    return (f"{done} {unit.key}: dense {1e6 * measured[0].seconds:.1f} us, spread of quartiles up "
            f"to {spread:.0f} %, left {format_seconds(left)}")


def measure_units(arguments, units, state):
    """Measures what the state lacks."""
    missing = [unit for unit in units if unit.key not in state.measured]
    if len(missing) < len(units):
        print(f"{len(units) - len(missing)} of {len(units)} shapes were measured before "
              f"({state.path})")
    compiler, begin = Compiler(), time.monotonic()
    for i, unit in enumerate(missing):
        _, _, options = machine.KINDS[unit.isa]
        found = measure.measure_shape(compiler, unit.shape, unit.element, arguments.heights,
                                      options, arguments.seconds)
        state.add(unit.key, found)
        passed = time.monotonic() - begin
        left = passed / (i + 1) * (len(missing) - i - 1)
        done = f"[{len(units) - len(missing) + i + 1}/{len(units)}]"
        print(describe_progress(done, unit, found, left), flush=True)


def make_table(arguments, units, state, caches):
    """The costs of all element types, and for each type what the model says of it."""
    costs = []
    for isa in arguments.isa:
        bits, _, _ = machine.KINDS[isa]
        for element in arguments.element:
            mine = [unit for unit in units if (unit.isa, unit.element) == (isa, element)]
            if not mine:
                continue
            sums = cases.RESULTS[cases.ELEMENTS[element][1]]().itemsize * 8
            found = fit.fit([(unit.shape, state.measured[unit.key]) for unit in mine],
                            bits // sums)
            error, where = found.worst
            print(f"{isa} {element}: the model is off by {100 * found.error:.0f} % (root mean "
                  f"square), most at {where}: {100 * error:+.0f} %")
            costs += fit.entries(f"{isa} {element}", found, cases.level_limits(caches),
                                 arguments.heights)
    return {"target": arguments.target, "costs": costs}


def write_table(path, table):
    """An entry a line, as the built-in tables are."""
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in table["costs"])
    path.write_text(f'{{\n  "target": "{table["target"]}",\n  "costs": [\n{lines}\n  ]\n}}\n')


def run(arguments):
    described = machine.describe()
    caches = machine.read_caches()
    units = make_units(arguments, caches)
    path = arguments.resume or arguments.out.with_name(arguments.out.name + ".state")
    state = State(path, {**described, "heights": arguments.heights})
    state.load()
    print(f"{described['cpu']}: second cache {caches[0] >> 10} KB, last {caches[1] >> 10} KB")
    if arguments.dry_run:
        missing = [unit for unit in units if unit.key not in state.measured]
        for unit in missing:
            tasks = cases.make_tasks(unit.shape, arguments.heights)
            print(f"{unit.key}: {', '.join(task.name for task in tasks)}")
        print(f"{len(missing)} of {len(units)} shapes, at most "
              f"{format_seconds(len(missing) * arguments.seconds)} of runs, and as much for "
              f"compiling")
        return
    measure_units(arguments, units, state)
    write_table(arguments.out, make_table(arguments, units, state, caches))
    print(f"wrote {arguments.out}: pit-compile --pipeline=tile-table={arguments.out}")


def main():
    arguments = make_parser().parse_args()
    try:
        run(arguments)
    except KeyboardInterrupt:
        print("pit-tune: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except (StateError, Error, OSError) as error:
        print(f"pit-tune: error: {error}", file=sys.stderr)
        return 1
    return 0
