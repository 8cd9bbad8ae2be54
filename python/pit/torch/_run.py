"""The custom op `pit::run`: any op of pit.ops, for everything of torch that calls
ops by their names, as graphs do. Plain tensors do not come here."""

import sys
import weakref

import torch

from .. import _arrays, _types
from .._index import Index
from .._library import Error
from ..ops import _op
from ..ops._operand import constant_in_graphs
from . import _attention, _compositions, _convolutions, _dense, _gradients, _relu, _sharding, _training, _vmap
from ._plain import PLAIN

library = torch.library.Library("pit", "DEF")
# `op` is what Op.encode makes. `index` is a handle of a pit.Index, the last argument of
# ops that take one; 0: no such argument.
library.define("run(Tensor[] inputs, str op, int index) -> Tensor",
               tags=[torch.Tag.pt2_compliant_tag])
indices = weakref.WeakValueDictionary()  # by handle

TORCH_TYPES = {t.name: getattr(torch, t.array) for t in _types.TYPES if hasattr(torch, t.array)}
NAMES = {dtype: name for name, dtype in TORCH_TYPES.items()}


ONNX_MODULES = {"torch.onnx._internal.exporter._flags",
                "torch.onnx._internal.torchscript_exporter._globals"}
is_grad_enabled = torch.is_grad_enabled
any_autocast, transforms, count_modes, any_level, is_jit_tracing = _arrays.torch_modes()


def kernel(inputs, op, index):
    arrays = list(inputs)
    if index:
        arrays.append(indices[index])
    return _op.call(_op.decode(op), arrays)


def eager(inputs, op, index):
    """The same where nothing but the call asks for the result: it may lie in memory as it likes."""
    found = None if index else _convolutions.forward(_op.decode(op), inputs)
    return kernel(inputs, op, index) if found is None else found


for key in ("CPU", "CUDA"):
    library.impl("run", kernel, key)


@torch.library.register_fake("pit::run")
def fake(inputs, op, index):
    op = _op.decode(op)
    for x in inputs:
        if x.device != inputs[0].device:
            raise Error(f"{op.name}: one tensor is on {x.device}, another on {inputs[0].device}; "
                        "all must be on one device")
        if x.dtype not in NAMES:
            raise Error(f"{op.name}: a tensor of {x.dtype}; pit has "
                        f"{', '.join(str(t) for t in NAMES)}")
    shapes = [x.shape for x in inputs]
    types = [NAMES[x.dtype] for x in inputs]
    if index:
        shapes.append(indices[index].shape)
        types.append("index")
    (type_, shape), = _op.result_infos(op, types, shapes)
    return inputs[0].new_empty(shape, dtype=TORCH_TYPES[type_])


# --------------------------------------------------------------------------
# Gradients and vmap
# --------------------------------------------------------------------------


def keep(ctx, op, index, tensors, output, needs):
    """Keeps in ctx what gradients need."""
    ctx.op, ctx.index = _op.decode(op), indices[index] if index else None
    ctx.version = ctx.index.version if index else 0
    ctx.kept, ctx.with_output = _gradients.saved(ctx.op, tuple(needs))
    ctx.shapes = [x.shape for x in tensors]
    ctx.orders = _gradients.orders_of_memory(ctx.op, tensors)
    found = [tensors[i] for i in ctx.kept]
    ctx.save_for_backward(*found, output) if ctx.with_output else ctx.save_for_backward(*found)


def keep_forward(ctx, tensors, output):
    """Keeps what gradients that are taken forwards need, where they are."""
    if any_level():
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(*tensors, output)


def expect_index(ctx):
    """Gradients read what the result was made of. torch sees to that for tensors."""
    if ctx.index is not None and ctx.index.version != ctx.version:
        raise Error(f"{ctx.op.name}: its index was built again after the call whose gradients are "
                    f"asked for: it is at version {ctx.index.version}, the call read version "
                    f"{ctx.version}; call index.rebuild() after backward(), or build another index")


def gradients(ctx, grad, needs):
    """The gradient of each tensor, None where `needs` has False."""
    if grad is None:
        return [None] * len(ctx.shapes)
    saved = list(ctx.saved_tensors)
    output = saved.pop() if ctx.with_output else None
    inputs = [None] * len(ctx.shapes)
    for i, x in zip(ctx.kept, saved):
        inputs[i] = x
    if ctx.index is not None:
        expect_index(ctx)
        inputs.append(ctx.index)
    op = _relu.op_of_gradients(ctx, ctx.op, inputs)
    with _vmap.levels_of(grad):
        return _gradients.backward(op, inputs, output, grad, needs, ctx.shapes,
                                   ctx.orders)


def tangent(ctx, tangents):
    """The tangent of the result, from those of the tensors, None where one has none."""
    *inputs, output = ctx.saved_tensors
    if ctx.index is not None:
        expect_index(ctx)
        inputs.append(ctx.index)
    return _gradients.forward(ctx.op, inputs, output, tangents)


def setup_context(ctx, inputs, output):
    tensors, op, index = inputs
    keep(ctx, op, index, tensors, output, ctx.needs_input_grad[: len(tensors)])


def backward(ctx, grad):
    return list(gradients(ctx, grad, ctx.needs_input_grad[0])), None, None


torch.library.register_autograd("pit::run", backward, setup_context=setup_context)


class Run(torch.autograd.Function):
    """The same for calls that are made at once."""

    @staticmethod
    def forward(ctx, op, index, *inputs):
        plain = not count_modes() and all([type(x) in PLAIN and not x.is_meta for x in inputs])
        if not plain:
            _sharding.see(inputs)
        output = (eager if plain else torch.ops.pit.run)(inputs, op, index)
        keep(ctx, op, index, inputs, output, ctx.needs_input_grad[2:])
        keep_forward(ctx, inputs, output)
        return output

    @staticmethod
    def backward(ctx, grad):
        return None, None, *gradients(ctx, grad, ctx.needs_input_grad[2:])

    @staticmethod
    def jvp(ctx, op, index, *tangents):
        return tangent(ctx, tangents)


class Transformed(torch.autograd.Function):
    """The same for torch.func, which asks for this form. It is slower."""

    backward, jvp = Run.backward, Run.jvp

    @staticmethod
    def forward(op, index, *inputs):
        return torch.ops.pit.run(inputs, op, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        op, index, *tensors = inputs
        keep(ctx, op, index, tensors, output, ctx.needs_input_grad[2:])
        keep_forward(ctx, tensors, output)

    @staticmethod
    def vmap(info, in_dims, op, index, *inputs):
        def apply(op, inputs):
            return Transformed.apply(op.encode(), index, *inputs)

        return _vmap.call(apply, _op.decode(op), bool(index), info.batch_size, in_dims[2:], inputs)


# --------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------


def route(arrays):
    """pit.ops._operand.route of tensors."""
    if (any_autocast() or transforms() is not None or count_modes() or any_level()
            or is_jit_tracing() or _vmap.level()):
        return run
    for x in arrays:
        if type(x) in PLAIN:
            if x.requires_grad and is_grad_enabled() or x.is_meta:
                return run
        elif isinstance(x, torch.Tensor):
            return run
    return None


def run(op, arrays, out=None):
    """Runs an op on tensors that are more than memory."""
    if is_jit_tracing():
        return run_in_graph(op.encode(), arrays, out)  # a node of its graph
    if transforms() is None and _vmap.is_batch(arrays):
        return _vmap.run(op, arrays, out)
    if out is None and _convolutions.is_plain(op) and not any_autocast():
        found = _convolutions.by_torch(op, arrays)
        if found is not None:
            return found
    function = Run if transforms() is None else Transformed
    return run_by(function.apply, op.encode(), arrays, out, any_level())


def run_in_graph(op, arrays, out=None):
    """The same where torch.compile traces; op is a string."""
    return run_by(call_op, op, arrays, out)


def call_op(op, index, *tensors):
    return torch.ops.pit.run(tensors, op, index)


def run_by(apply, op, arrays, out, forward=False):
    """`forward`: gradients are taken forwards."""
    if exports_to_onnx():
        return _dense.run(op, arrays)
    arrays = autocast(arrays, stored_places(op)) if autocasts(op) else list(arrays)
    index = handle_of(op, arrays)
    tensors = arrays[:-1] if index else arrays
    differentiated = torch.is_grad_enabled() and any([x.requires_grad for x in tensors])
    if _attention.is_attention(op) and not (out is not None and differentiated):
        return _attention.run(op, tensors, indices[index] if index else None, differentiated, out)
    if _attention.is_paged(op):
        return _attention.run_paged(op, tensors, differentiated, out)
    if out is not None:
        if differentiated:
            raise Error(f"{name_of(op)}: out= takes no part in gradients; call it without out=, "
                        "or under torch.no_grad()")
        return out.copy_(apply(op, index, *tensors))
    if (differentiated or forward) and consists_of_others(op):
        if not forward and _training.is_layer(op) and not in_transform():
            return _training.run(op, tensors, apply is call_op)
        if (not forward and apply is not call_op and not in_transform()
                and _training.is_frozen_mlp(op, tensors)):
            return _training.run_frozen(op, tensors)
        return _compositions.run(op, tensors)
    return apply(op, index, *tensors)


@constant_in_graphs
def exports_to_onnx():
    """Whether torch.onnx.export runs. The module that torch knows it by is imported only then."""
    # Not the other way round: that would go through all modules of the process.
    return not sys.modules.keys().isdisjoint(ONNX_MODULES) and torch.onnx.is_in_onnx_export()


@constant_in_graphs
def in_transform():
    """Whether a transform of torch.func runs. A graph of torch.compile would hold the question in
    place of the answer, and that as yes."""
    return transforms() is not None


@constant_in_graphs
def name_of(op):
    return _op.decode(op).name


@constant_in_graphs
def autocasts(op):
    return _op.decode(op).autocasts


@constant_in_graphs
def stored_places(op):
    op = _op.decode(op)
    return tuple(i for i, x in enumerate(op.arguments()) if x.name in op.stored_names())


@constant_in_graphs
def consists_of_others(op):
    return type(_op.decode(op)) in _compositions.FUNCTIONS


def handle_of(op, arrays):
    """The handle of the index that an op takes as its last argument, or 0."""
    for i, x in enumerate(arrays):
        if isinstance(x, torch.Tensor):
            continue
        if not isinstance(x, Index) or i + 1 < len(arrays):
            raise Error(f"{name_of(op)}: a {type(x).__name__} beside tensors of torch; pass "
                        "tensors alone")
        if torch.compiler.is_compiling():
            raise Error(f"{name_of(op)}: index= cannot be part of a graph; pass mask= in its place")
        indices[id(x)] = x
        return id(x)
    return 0


def autocast(arrays, stored=()):
    """Autocast as torch's own products have it: floats other than f64 become autocast's type; `stored` ones are
    other arguments, as they lie in memory."""
    device = arrays[0].device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return list(arrays)
    dtype = torch.get_autocast_dtype(device)
    return [x.to(dtype) if isinstance(x, torch.Tensor) and x.is_floating_point()
            and x.dtype != torch.float64 and i not in stored else x for i, x in enumerate(arrays)]
