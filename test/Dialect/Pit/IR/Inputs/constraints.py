"""Compares the constraints of ops that are described, verified and tested.

    constraints.py ROOT

A constraint has a name such as "tile 3". It stands before the constraint in the
.td files, is a string of the verifiers, and stands in the messages that the tests
of invalid IR expect.
"""

import pathlib
import re
import sys


def find(root, pattern, expression):
    """The names that `expression` finds in the files that match `pattern`."""
    names = set()
    for path in root.glob(pattern):
        names.update(re.findall(expression, path.read_text()))
    return names


def check(root, ir):
    """Compares what a dialect's folders have; prints what one of them lacks."""
    places = {
        "described": find(root, f"include/pit/{ir}*.td", r"- \[(\w+ \d+)\]"),
        "verified": find(root, f"lib/{ir}*", r'"([a-z]\w* \d+)"'),
        "tested": find(root, f"test/{ir}invalid*.mlir",
                       r"expected-error[^\n]*\[(\w+ \d+)\]"),
    }
    for name in sorted(set.union(*places.values())):
        where = [place for place, names in places.items() if name in names]
        if len(where) < len(places):
            print(f"{ir}: [{name}] is only {' and '.join(where)}")
    print(f"{ir}:", len(set.intersection(*places.values())),
          "constraints are described, verified and tested")


for folder in ("Dialect/Pit/IR/", "Dialect/PitGPU/IR/"):
    check(pathlib.Path(sys.argv[1]), folder)
