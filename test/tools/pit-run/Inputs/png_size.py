"""Prints the width and height of a PNG file."""
import struct
import sys

data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
print(*struct.unpack(">II", data[16:24]))
