"""Writes a function of level 3 as MLIR text, each op with its place in the Python
source."""

import contextlib
import re

from ._errors import Mistake
from ._types import index_


class Writer:
    """The text of one function, line by line. `at` is the place (path, line, column) of
    what is being written."""

    def __init__(self, name, at):
        self.name, self.at = name, at
        self.lines = []  # pairs of text and place
        self.indent = 2
        self.constants = {}  # at the start of the function
        self.maps = {}
        self.names = {}
        self.aliases = {}  # of carried tensors that nobody wrote after all

    # -- Names and lines --

    def fresh(self, hint):
        """A new name of a value, as "%acc_1"."""
        hint = re.sub(r"\W", "_", hint, flags=re.ASCII)
        if not hint or hint[0].isdigit():
            hint = "_" + hint
        number, name = self.names.get(hint, 0), hint
        while number or name in self.names:
            number += 1
            name = f"{hint}_{number}"
            if name not in self.names:
                break
        self.names[hint] = number
        self.names.setdefault(name, 0)
        return f"%{name}"

    def write(self, text):
        self.lines.append(("  " * self.indent + text, self.at))

    def op(self, hint, text):
        """Writes an op with one result, and gives its name."""
        name = self.fresh(hint)
        self.write(f"{name} = {text}")
        return name

    @contextlib.contextmanager
    def block(self):
        """Collects the lines of a region, one step further in."""
        outer, self.lines = self.lines, []
        self.indent += 1
        try:
            yield self.lines
        finally:
            self.lines = outer
            self.indent -= 1

    # -- Constants and maps --

    def constant(self, value, type_):
        """The name of a constant; `value` is Python's."""
        text = type_.constant(value)
        if text is None:
            raise Mistake(f"{value!r} is no value of {type_.name}")
        if type_ is index_:
            hint = f"c{text}".replace("-", "m")
        else:
            hint = "cst" if type_.name != "i1" else text
        return self.literal(hint, text if type_.name == "i1" else f"{text} : {type_.name}")

    def literal(self, hint, text):
        if text not in self.constants:
            self.constants[text] = self.fresh(hint)
        return self.constants[text]

    def map(self, rank, results):
        """An affine map; a result is a dimension's number, or None for 0."""
        dims = ", ".join(f"d{d}" for d in range(rank))
        listed = ", ".join("0" if r is None else f"d{r}" for r in results)
        text = f"affine_map<({dims}) -> ({listed})>"
        return self.maps.setdefault(text, f"#map{len(self.maps)}")

    # -- The text --

    def text(self, signature, returned, locations=True):
        """The module; `signature` and `returned` are the first and the last line of the
        function."""
        places = {}

        def place(at):
            if not locations:
                return ""
            return f" loc({places.setdefault(at, f'#loc{len(places)}')})"

        start = signature[1]
        body = [f"  func.func @{self.name}{signature[0]} {{"]
        for text, name in self.constants.items():
            body.append(f"    {name} = arith.constant {text}{place(start)}")
        for text, at in [*self.lines, ("    " + returned[0], returned[1])]:
            body.append(self.settled(text) + ("" if opens(text) else place(at)))
        body.append(f"  }}{place(start)}")
        heads = [f"{name} = {text}" for text, name in self.maps.items()]
        heads += [f"{name} = loc({mlir_string(path)}:{line}:{column})"
                  for (path, line, column), name in places.items()]
        return "\n".join([*heads, "module {", *body, f"}}{place(start)}", ""])

    def settled(self, text):
        """A line without names that turned out to be others."""
        if not self.aliases:
            return text

        def settle(found):
            name = found[0]
            while name in self.aliases:
                name = self.aliases[name]
            return name

        return re.sub(r"%\w+(#\d+)?", settle, text)


def opens(text):
    """Whether an op goes on behind a line: its place comes at its end."""
    return text.endswith("{") or text.lstrip().startswith("^")


def mlir_string(text):
    """A string literal of MLIR."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}"
        for b in text.encode()) + '"'
