"""Writes a .npy file: PATH, the header's dict, the data in hex[, version]."""
import sys

path, header, data = sys.argv[1:4]
version = int(sys.argv[4]) if len(sys.argv) > 4 else 1
header = header.encode() + b"\n"
length = len(header).to_bytes(2 if version == 1 else 4, "little")
with open(path, "wb") as file:
    file.write(b"\x93NUMPY" + bytes([version, 0]) + length + header)
    file.write(bytes.fromhex(data))
