"""The plan that pit would make of a call, and why."""

import html
import re
from dataclasses import dataclass

from .. import _arrays, _compiler, _listing, _table
from .._library import Error
from . import _op

CANDIDATE = re.compile(
    r"candidate (?P<rule>\S+) along axis (?P<axis>\d+) of (?P<of>\w+ \d+): "
    r"live fraction (?P<live_fraction>[\d.]+), (?P<time>[\d.]+) (?P<unit>\w+), (?P<ratio>[\d.]+) of dense"
    r"(?P<chosen>, chosen)?")
DENSE = re.compile(r"dense takes (?P<time>[\d.]+) (?P<unit>\w+)")
VARIANT = re.compile(r"micro_tile = \[(.*?)\], axis = (\d+)")
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True)
class Candidate:
    """A rule that was compared for the arrays of the call, or the dense program
    (`rule` is "dense"). Times are predictions for one thread."""

    rule: str  # a micro-tile, as 32x1; * is a whole dim
    axis: int | None  # along which it is packed
    of: str  # "operand 0", "result 0"
    live_fraction: float  # the part of its micro-tiles that is live
    milliseconds: float
    of_dense: float  # time, of the dense program's
    chosen: bool


class Explanation:
    """The result of pit.explain: `candidates` for the zeros of this call's arrays,
    `variants` among which the compiled program chooses at each call, all `remarks` of
    the compiler, and the program itself: `show(level)`."""

    def __init__(self, plan, sampled, blind):
        self.what = plan.what
        self.source = plan.text, plan.options
        self.remarks = messages(sampled or blind)
        self.variants = read_variants(messages(blind))
        self.candidates = read_candidates(messages(sampled))

    def show(self, level=3):
        """The program of a level: 1 (linalg with marks), 3 (tiles), "mlir-llvm",
        "llvm", or "ptx" of a program for GPUs."""
        return _listing.show(self.source, level)

    HEADINGS = ("rule", "axis", "of", "live_fraction", "ms", "of dense", "")

    def _cells(self):
        for c in self.candidates:
            yield (c.rule, "" if c.axis is None else str(c.axis), c.of, f"{c.live_fraction:.4f}",
                   f"{c.milliseconds:.3g}", f"{c.of_dense:.3g}", "chosen" if c.chosen else "")

    def __repr__(self):
        lines = [self.what]
        if self.candidates:
            lines += _table.as_text(self.HEADINGS, self._cells())
        if self.variants:
            lines.append(self._choice())
        if not self.candidates and not self.variants:
            lines += self.remarks
        return "\n".join(lines)

    def _choice(self):
        return f"At each call the program chooses among {', '.join(self.variants)}."

    def _repr_html_(self):
        table = (_table.as_html(self.what, self.HEADINGS, self._cells()) if self.candidates
                 else "")
        lines = [self._choice()] if self.variants else [] if self.candidates else self.remarks
        lines = lines or [self.what]
        return table + "".join(f"<div><code>{html.escape(line)}</code></div>" for line in lines)


def messages(diagnostics):
    """The compiler's remarks without their places in a text that nobody wrote."""
    lines = (line.partition("remark: ")[2] for line in (diagnostics or "").splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def read_candidates(lines):
    """The table in the remarks; that nothing else is chosen means dense."""
    found, dense = [], None
    for line in lines:
        if match := CANDIDATE.search(line):
            found.append(Candidate(
                match["rule"], int(match["axis"]), match["of"], float(match["live_fraction"]),
                milliseconds(match), float(match["ratio"]), bool(match["chosen"])))
        elif match := DENSE.search(line):
            dense = milliseconds(match)
    if dense is not None:
        found.append(Candidate("dense", None, "", 1.0, dense, 1.0,
                               not any(c.chosen for c in found)))
    return sorted(found, key=lambda c: c.milliseconds)


def read_variants(lines):
    """The variants that the compiled program chooses among, as "32x1 along axis 1"."""
    for line in lines:
        if "chooses at run time: dense" in line:
            return ["dense", *(f"{tile.replace(', ', 'x')} along axis {axis}"
                               for tile, axis in VARIANT.findall(line))]
    return []


def milliseconds(match):
    return float(match["time"]) * MILLISECONDS[match["unit"]]


def explain(function, *args, **kwargs):
    """The plan that pit would make of a call of one of its ops, and why.

        print(pit.explain(pit.matmul, x, w))
        pit.explain(pit.matmul, x, w).show(level=3)

    `function` is an op of this package; the rest are its arguments. The arrays are
    looked at as samples: what each candidate rule would leave to compute, the time
    that is predicted, which is chosen. Nothing is run. Returns an Explanation, which
    prints as a table, and shows as one in a notebook.
    """
    with _op.capture() as plans:
        function(*args, **kwargs)
    if not plans:
        raise Error(f"explain: {getattr(function, '__name__', function)!s} called no op of pit; "
                    "pass the op itself, as in pit.explain(pit.matmul, x, w)")
    plan, arrays = plans[0]
    compiler = _compiler.compiler()

    def diagnostics(**more):
        compiler.artifact(plan.text, "mlir", explain=True, **plan.options, **more)
        return compiler.diagnostics

    blind = diagnostics()
    samples = samples_of(plan, arrays)
    return Explanation(plan, diagnostics(samples=samples) if samples else "", blind)


def samples_of(plan, arrays):
    """Arrays by the labels of the marks that they are samples of."""
    found = {}
    for mark in getattr(plan.op, "marks", ()):
        # Lengths, routings and indices leave nothing to compare: rows are skipped.
        if mark.source in ("values", "mask") and mark.micro_tile is None and mark.axis is None:
            at = mark.operand if mark.source == "values" else len(arrays) - 1
            prepare = plan.prepare[at]
            sample = arrays[at] if prepare is None else prepare(arrays[at])
            shape = plan.op.shape_of_mark(mark, [info.shape for info in plan.infos])
            found[mark.label] = _arrays.broadcast(sample, shape)
    return found
