"""The primitive `pit_run`: any op of pit.ops, inside of a function that JAX compiles.

Its lowering is a custom call of XLA's FFI with the op as a string. The program is
compiled when the call is lowered, for the shapes and the platform that it has then.
"""

import ctypes
import functools

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from .. import _library, _types
from .._context import default_by_word, device_word
from .._library import CPU, CUDA, Error
from ..ops import _op
from ..ops._operand import Info
from . import _batching, _gradients

NAMES = {t.array: t.name for t in _types.TYPES}  # of element types
DTYPES = {t.name: numpy.dtype(jnp.dtype(t.array)) for t in _types.TYPES}
TARGET = "pit_run"

# --------------------------------------------------------------------------
# Programs
# --------------------------------------------------------------------------


def entry_of(op, types, shapes, device):
    infos = [Info(type_, tuple(shape), device, framework="jax")
             for type_, shape in zip(types, shapes)]
    return _op.plan_of(op, infos).program()[op.name]


def resolve(op, args, count, found, message, message_size):
    """A pit_jax_resolver (lib/Jax/Handler.c): what a custom call runs."""
    try:
        tensors = args[:count]
        types = [_types.BY_CODE[t.code, t.bits].name for t in tensors]
        shapes = [(ctypes.c_int64 * t.ndim).from_address(t.shape)[:] if t.ndim else ()
                  for t in tensors]
        device = (tensors[0].device_type, tensors[0].device_id)
        entry = entry_of(_op.decode(op.decode()), types, shapes, device)
        found[0].context = default_by_word(device_word(*device)).handle
        found[0].entry = entry.handle
        return 0
    except BaseException as error:  # XLA's thread has nobody else to tell
        text = f"pit: {error}".encode(errors="replace")[: message_size - 1]
        ctypes.memmove(message, text + b"\0", len(text) + 1)
        return 1


RESOLVER = _library.JaxResolver(resolve)


@functools.lru_cache(maxsize=None)
def register():
    """Tells XLA of the custom call, before the first one is lowered."""
    library = _library.jax_handler()
    library.pit_jax_set_resolver(RESOLVER)
    for platform, handler in (("cpu", library.pit_jax_run_cpu),
                              ("CUDA", library.pit_jax_run_cuda)):
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(handler), platform=platform)


register()

# --------------------------------------------------------------------------
# The primitive
# --------------------------------------------------------------------------

primitive = Primitive("pit_run")


def types_of(op, avals):
    types = []
    for argument, aval in zip(op.arguments(), avals):
        name = NAMES.get(aval.dtype.name)
        if name is None:
            raise Error(f"{op.name}: {argument.name} has elements of {aval.dtype.name}; pit has "
                        f"{', '.join(NAMES)}")
        types.append(name)
    return types


@primitive.def_abstract_eval
def abstract(*avals, op):
    (type_, shape), = _op.result_infos(op, types_of(op, avals), [a.shape for a in avals])
    dtype = DTYPES[type_]
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise Error(f"{op.name}: the result is {type_}, which JAX does not have unless "
                    "jax_enable_x64 is set")
    return jax.core.ShapedArray(shape, dtype)


def lower(device_type, ctx, *args, op):
    avals = ctx.avals_in
    if not all(isinstance(size, int) for aval in avals for size in aval.shape):
        raise Error(f"{op.name}: in a function that is exported with sizes left open; export it "
                    "for given sizes")
    # That of the first device: those of a machine are alike.
    entry_of(op, types_of(op, avals), [a.shape for a in avals], (device_type, 0))
    return jax.ffi.ffi_lowering(TARGET)(ctx, *args, op=op.encode())


mlir.register_lowering(primitive, functools.partial(lower, CPU), platform="cpu")
mlir.register_lowering(primitive, functools.partial(lower, CUDA), platform="cuda")
compiled = jax.jit(primitive.bind, static_argnames="op")
primitive.def_impl(compiled)
batching.primitive_batchers[primitive] = functools.partial(_batching.batch, primitive.bind)

# --------------------------------------------------------------------------
# Gradients
# --------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def differentiable(op):
    """The op as a function of arrays that has gradients."""
    call = jax.custom_vjp(lambda *arrays: primitive.bind(*arrays, op=op))

    def forward(*arrays):
        needs = tuple(a.perturbed for a in arrays)
        values = [a.value for a in arrays]
        output = call(*values)
        needed = _gradients.saved(op, needs)
        kept = [x if needed(i) else None for i, x in enumerate(values)]
        shapes = tuple(x.shape for x in values)
        return output, (kept, output if needed("output") else None, Static((needs, shapes)))

    def backward(residuals, grad):
        inputs, output, static = residuals
        needs, shapes = static.value
        if isinstance(grad, jax.custom_derivatives.SymbolicZero):
            return (None,) * len(inputs)
        return tuple(_gradients.backward(op, inputs, output, grad, needs, shapes))

    call.defvjp(forward, backward, symbolic_zeros=True)
    return call


@jax.tree_util.register_static
class Static:
    """A residual that is no array."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


# --------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------


def route(arrays):
    """pit.ops._operand.route of JAX's arrays: tracers, and arrays that are not in
    memory of the CPU."""
    for x in arrays:
        if isinstance(x, jax.core.Tracer):
            return run
        if isinstance(x, jax.Array) and any(d.platform != "cpu" for d in x.devices()):
            return run
    return None


def run(op, arrays, out=None):
    """Runs an op through the primitive."""
    if out is not None:
        raise Error(f"{op.name}: out= is no part of a function that JAX compiles, whose arrays are "
                    "immutable; use the result")
    given = []
    for argument, x in zip(op.arguments(), arrays):
        if not isinstance(x, jax.Array):
            x = as_jax(op, argument.name, x)
        given.append(x)
    return differentiable(op)(*given)


def as_jax(op, name, x):
    """An array of numpy beside those of JAX."""
    if not isinstance(x, numpy.ndarray):
        advice = "; pass mask= in its place" if name == "index" else ""
        raise Error(f"{op.name}: {name} is a {type(x).__name__}, beside arrays of JAX{advice}")
    found = jnp.asarray(x)
    if found.dtype != x.dtype:
        raise Error(f"{op.name}: {name} has elements of {x.dtype.name}, which JAX does not have "
                    "unless jax_enable_x64 is set; convert it")
    return found
