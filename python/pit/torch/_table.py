"""The table that sparsify prints."""

import re
from dataclasses import dataclass, replace

from .. import _table

NUMBER = re.compile(r"(^|\.)\d+(?=\.|$)")  # of a layer, in its name
MEANS = ("zeros", "weight_zeros", "grad_zeros", "dense", "sparse")


@dataclass
class Row:
    """A layer: seconds as it was (`dense`) and as it would be (`sparse`) for the inputs
    that were measured, whether it was taken, and else why not."""

    name: str
    kind: str
    shape: tuple  # of the weight; experts, f and k of a mixture
    rows: int  # of an input
    zeros: float | None = None  # the part of the inputs that is zero
    weight_zeros: float | None = None
    grad_zeros: float | None = None  # of gradients of its result, in training
    rule: str = ""  # what the program chose
    dense: float | None = None
    sparse: float | None = None
    taken: bool = False
    why: str = ""  # it was not taken

    @property
    def speed_up(self):
        return None if self.sparse is None else self.dense / self.sparse


def fold(rows):
    """Rows whose names differ in numbers of layers alone, and that tell the same, as one each, with means."""
    groups = {}
    for row in rows:
        key = (NUMBER.sub(r"\1*", row.name), row.kind, row.shape, row.rows, row.rule, row.taken,
               re.sub(r"\d", "", row.why))
        groups.setdefault(key, []).append(row)
    for (name, *_), same in groups.items():
        if len(same) == 1:
            yield same[0]
            continue
        found = {each: [getattr(row, each) for row in same] for each in MEANS}
        found = {each: None if None in values else sum(values) / len(same)
                 for each, values in found.items()}
        yield replace(same[0], name=f"{name} ({len(same)})", **found)


class Table:
    """A row for each layer, and `speed_up` of the whole model with those that were
    taken (1.0 if none was): `table[0].taken`, `len(table)`, a loop over rows,
    `table.columns()` for a data frame. The printed form has one line for layers that differ in their
    numbers alone: `layers.*.fc2 (24)`, with means."""

    HEADINGS = ("layer", "shape", "rows", "zeros", "of weight", "of gradient", "rule", "us", "us by pit",
                "speed-up", "taken")

    def __init__(self, rows, speed_up):
        self.rows = rows
        self.speed_up = speed_up

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]

    @property
    def taken(self):
        """Names of the layers that were."""
        return [row.name for row in self.rows if row.taken]

    def columns(self):
        """Lists by their headings."""
        cells = list(zip(*self._cells(self.rows))) or [()] * len(self.HEADINGS)
        return {name: list(column) for name, column in zip(self.HEADINGS, cells)}

    def _cells(self, rows):
        def percent(part):
            return "" if part is None else f"{100 * part:.0f} %"

        def number(value, digits, factor=1):
            return "" if value is None else f"{value * factor:.{digits}f}"

        for row in rows:
            yield (row.name, "x".join(map(str, row.shape)), str(row.rows), percent(row.zeros),
                   percent(row.weight_zeros), percent(row.grad_zeros), row.rule, number(row.dense, 0, 1e6),
                   number(row.sparse, 0, 1e6), number(row.speed_up, 2),
                   "yes" if row.taken else f"no: {row.why}")

    def _title(self):
        taken = len(self.taken)
        text = f"{taken} of {len(self)} layers replaced"
        if taken:
            text += f"; the model takes {1 / self.speed_up:.2f} of its time"
        return text

    def __repr__(self):
        lines = _table.as_text(self.HEADINGS, self._cells(fold(self.rows)), left={0, 6, 10})
        return "\n".join([self._title(), *lines])

    def _repr_html_(self):
        return _table.as_html(self._title(), self.HEADINGS, self._cells(fold(self.rows)))
