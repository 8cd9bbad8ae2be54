"""The program of docs/HopperKernel.md is the one that tests run, for HopperKernel.test.

    hopper_kernel.py HopperKernel.md product.mlir

The mlir blocks of the page, one after another, are the lines of the file but its comments.
"""

import difflib
import re
import sys
from pathlib import Path

page, program = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])


def code(text):
    """The lines that are code."""
    return [line for line in text.splitlines()
            if line.strip() and not line.lstrip().startswith("//")]


shown = code("\n".join(re.findall(r"^```mlir\n(.*?)^```$", page, re.M | re.S)))
for line in difflib.unified_diff(code(program), shown, *sys.argv[2:0:-1], lineterm=""):
    print(line)
title = int(re.search(r"^# .* in (\d+) lines", page)[1])
if not title <= len(shown) < title + 10:
    print(f"the title says {title} lines, there are {len(shown)}")
print(f"{len(shown)} lines of the page are the program" if shown == code(program) else "they differ")
