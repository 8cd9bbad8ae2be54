"""Ops as torch's profilers and FlopCounterMode see them."""

import torch

from ..ops import _op
from . import _flops, _run

is_profiled = torch._C._autograd._profiler_enabled
count_modes = torch._C._len_torch_dispatch_stack


def route(arrays):
    """pit.ops._operand.route of tensors."""
    if count_modes():
        _flops.register()
    return run if is_profiled() else _run.route(arrays)


def run(op, arrays, out=None):
    """Runs an op under its name: none of torch's ops need be in it."""
    with torch.profiler.record_function(f"pit::{op.name}"):
        return (_run.route(arrays) or _op.call)(op, arrays, out)
