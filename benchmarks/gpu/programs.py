"""The programs of programs.json: templates of MLIR with sizes and types to set."""

import json
import string
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXTENTS = ("M", "N", "K")
# How B is stored.
MAPS = """indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({}, {})>,
                                      affine_map<(m, n, k) -> (m, n)>]
        """


def listed():
    return json.loads((HERE / "programs.json").read_text())


def shrunk(extent, divisor):
    return max(1, extent // divisor)


def stored_b(how):
    """In which order an entry has the dims of B: "kn", unless it says "nk"."""
    return how["set"].get("B", "kn")


def text(how, divisor=1):
    """The MLIR of an entry; its extents are divided where there is no GPU."""
    values = {"R": how["set"]["T"], "zero": "0.0", **how["set"]}
    values |= {d: shrunk(values[d], divisor) for d in EXTENTS}
    stored = stored_b(how)
    values |= {"B_SHAPE": "x".join(str(values[d.upper()]) for d in stored),
               "B_MAPS": MAPS.format(*stored)}
    return string.Template((HERE / how["file"]).read_text()).substitute(values)
