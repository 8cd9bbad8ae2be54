"""Makes bytecode of one version of the pit dialect into that of another.

    set_version.py FILE NUMBER OUT

Of the sections of a dialect only the one with its version (number 7) is one byte long:
the number as a variable-width integer, 2 n + 1 for a small n.
"""

import sys

file, number, out = sys.argv[1:]
data = open(file, "rb").read()
head, tail = data[:64], data[64:]
assert head.count(b"\x07\x03\x05") == 1, "no version 2 where the dialects are"
open(out, "wb").write(head.replace(b"\x07\x03\x05", bytes([7, 3, 2 * int(number) + 1])) + tail)
