"""Texts of programs, as notebooks show them."""

import html
import re

from ._library import Error

# The name of a level, and the output of the compiler for it.
LEVELS = {1: None, 3: "mlir", "mlir-llvm": "mlir-llvm", "llvm": "llvm", "ptx": "ptx"}
STYLE = {"op": "color:#00598c", "value": "color:#6f4e00", "comment": "color:#6a737d",
         "ours": "color:#a1260d;font-weight:bold"}
TOKEN = re.compile(r"(?P<comment>//[^\n]*)|(?P<ours>\bpit\.\w+)|(?P<op>\b[a-z]\w*\.\w+)"
                   r"|(?P<value>%[\w$.]+)")


class Listing(str):
    """Text of MLIR, LLVM IR or PTX; coloured in a notebook."""

    def _repr_html_(self):
        parts, end = [], 0
        for found in TOKEN.finditer(self):
            parts.append(html.escape(self[end: found.start()]))
            parts.append(f'<span style="{STYLE[found.lastgroup]}">{html.escape(found[0])}</span>')
            end = found.end()
        parts.append(html.escape(self[end:]))
        return f"<pre>{''.join(parts)}</pre>"


def show(source, level):
    """A program of a level, from the text and the options that it was compiled from."""
    if level not in LEVELS:
        raise Error(f"no level {level!r} to show; there are: "
                    f"{', '.join(repr(known) for known in LEVELS)}")
    if source is None:
        raise Error("the program was loaded from a shared library, which has no text to show")
    text, options = source
    if LEVELS[level] is None:
        return Listing(text if isinstance(text, str) else bytes(text).decode(errors="replace"))
    from . import _compiler
    made = _compiler.compiler().artifact(text, LEVELS[level], **options)
    return Listing(made.decode(errors="replace"))
