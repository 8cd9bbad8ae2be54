#!/usr/bin/env python3
"""Prints the PTX in the gpu.binary ops of an MLIR module on standard input."""

import re
import sys


def unescape(text):
    r"""An MLIR string: backslash, then one of \\ " n t, or two hex digits."""
    names = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}

    def one(match):
        code = match.group(1)
        return names[code] if code in names else chr(int(code, 16))

    return re.sub(r'\\([0-9A-Fa-f]{2}|[nt"\\])', one, text)


def main():
    objects = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', sys.stdin.read())
    if not objects:
        sys.exit("no PTX in the module")
    for text in objects:
        sys.stdout.write(unescape(text).rstrip("\0"))


if __name__ == "__main__":
    main()
