"""Rows on the wire: as they are, or floats of 8 bits with a scale for each row."""

import torch

from ..._library import Error

WIRES = {None: 0, "fp8": 1}
LARGEST = 448.0  # of float8_e4m3fn


def check_wire(wire, x):
    if wire not in WIRES:
        raise Error(f"moe: wire={wire!r}; there are: {', '.join(map(repr, WIRES))}")
    if wire is not None and x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise Error(f"moe: wire={wire!r} and x of {x.dtype}; it takes f32, f16 and bf16")


def pack(rows, wire):
    """The tensors that are sent for rows."""
    if wire is None:
        return [rows]
    wide = rows.float()
    scale = wide.abs().amax(1, keepdim=True).clamp_(min=1e-30) / LARGEST
    return [(wide / scale).to(torch.float8_e4m3fn), scale]


def unpack(parts, dtype):
    """The rows, from what was sent."""
    rows, *scale = parts
    return (rows.float() * scale[0]).to(dtype) if scale else rows


def bytes_of(columns, itemsize, wire):
    return columns * itemsize if wire is None else columns + 4
