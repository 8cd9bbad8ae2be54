"""Errors that point at a line of Python."""

import linecache
import re

from .._library import Error


class SourceError(Error):
    """A mistake in a function of `pit.jit`, and its place: `path`, `line` and
    `column` (from 1) of the Python source. The message has the line's text and a
    caret below the place."""

    def __init__(self, reason, at, notes=()):
        self.reason, (self.path, self.line, self.column) = reason, at
        shown = []
        for kind, text, (path, line, column) in [
                ("error", reason, at), *(("note", *note) for note in notes)]:
            shown += [f"{path}:{line}:{column}: {kind}: {text}", *excerpt(path, line, column)]
        super().__init__("\n".join(shown))


def excerpt(path, line, column):
    """A line of a file, and a caret below one of its columns."""
    text = linecache.getline(path, line).rstrip("\n")
    if not text.strip():
        return []
    before = "".join(c if c == "\t" else " " for c in text[: column - 1])
    return ["    " + text, "    " + before + "^"]


class Mistake(Exception):
    """An error whose place the front end knows: that of what it evaluates."""

    def __init__(self, reason, notes=()):
        super().__init__(reason)
        self.reason, self.notes = reason, notes


DIAGNOSTIC = re.compile(r"(?P<path>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?P<kind>\w+): ")


def with_sources(diagnostics):
    """The compiler's messages; places of Python have the text of their lines."""
    shown = []
    for text in diagnostics.split("\n"):
        shown.append(text)
        found = DIAGNOSTIC.match(text)
        if found:
            shown += excerpt(found["path"], int(found["line"]), int(found["column"]))
    return "\n".join(shown)


def point_at_source(error):
    """An error of the compiler as one that points at a line of Python: the first that it
    names."""
    for text in error.message.split("\n"):
        found = DIAGNOSTIC.match(text)
        if found and found["kind"] == "error":
            at = found["path"], int(found["line"]), int(found["column"])
            made = SourceError(text[found.end():], at)
            made.message, made.status = with_sources(error.message), error.status
            made.args = (made.message,)
            return made
    return error
