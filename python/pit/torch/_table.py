"""What sparsify prints."""

from dataclasses import dataclass

from .. import _table


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
    rule: str = ""  # what the program chose
    dense: float | None = None
    sparse: float | None = None
    taken: bool = False
    why: str = ""  # it was not taken

    @property
    def speed_up(self):
        return None if self.sparse is None else self.dense / self.sparse


class Table:
    """A row for each layer, and `speed_up` of the whole model with those that were
    taken (1.0 if none was): `table[0].taken`, `len(table)`, a loop over rows,
    `table.columns()` for a data frame."""

    HEADINGS = ("layer", "shape", "rows", "zeros", "of weight", "rule", "us", "us by pit",
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
        cells = list(zip(*self._cells())) or [()] * len(self.HEADINGS)
        return {name: list(column) for name, column in zip(self.HEADINGS, cells)}

    def _cells(self):
        def percent(part):
            return "" if part is None else f"{100 * part:.0f} %"

        def number(value, digits, factor=1):
            return "" if value is None else f"{value * factor:.{digits}f}"

        for row in self.rows:
            yield (row.name, "x".join(map(str, row.shape)), str(row.rows), percent(row.zeros),
                   percent(row.weight_zeros), row.rule, number(row.dense, 0, 1e6),
                   number(row.sparse, 0, 1e6), number(row.speed_up, 2),
                   "yes" if row.taken else f"no: {row.why}")

    def _title(self):
        taken = len(self.taken)
        text = f"{taken} of {len(self)} layers replaced"
        if taken:
            text += f"; the model takes {1 / self.speed_up:.2f} of its time"
        return text

    def __repr__(self):
        lines = _table.as_text(self.HEADINGS, self._cells(), left={0, 5, 9})
        return "\n".join([self._title(), *lines])

    def _repr_html_(self):
        return _table.as_html(self._title(), self.HEADINGS, self._cells())
