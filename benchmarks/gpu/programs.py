"""The programs of programs.json: templates of MLIR with sizes and types to set."""

import json
import string
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXTENTS = ("M", "N", "K")


def listed():
    return json.loads((HERE / "programs.json").read_text())


def shrunk(extent, divisor):
    return max(1, extent // divisor)


def text(how, divisor=1):
    """The MLIR of an entry; its extents are divided where there is no GPU."""
    values = {"R": how["set"]["T"], "zero": "0.0", **how["set"]}
    values |= {d: shrunk(values[d], divisor) for d in EXTENTS}
    return string.Template((HERE / how["file"]).read_text()).substitute(values)
