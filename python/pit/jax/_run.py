"""The primitive `pit_run`: any op of pit.ops, inside of a function that JAX compiles.

Its lowering is a custom call of XLA's FFI with the op as a string. The program is
compiled when the call is lowered, for the shapes and the platform that it has then.
"""

import ctypes
import functools
import json

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import _cache, _library, _types
from .._context import default_by_word, device_word
from .._library import CPU, CUDA, Error
from ..ops import _op
from ..ops._attention import Attention
from ..ops._paged_attention import PagedAttention
from ..ops._operand import Info, compile_options
from . import _avals, _batching, _tangents, _training
from ._avals import DTYPES, NAMES

TARGET = "pit_run"
UNDECIDED = (jax.errors if hasattr(jax.errors, "InconclusiveDimensionOperation")
             else jax.core).InconclusiveDimensionOperation

# --------------------------------------------------------------------------
# Programs
# --------------------------------------------------------------------------


def entry_of(op, types, shapes, device):
    infos = [Info(type_, tuple(shape), device, framework="jax")
             for type_, shape in zip(types, shapes)]
    return _op.plan_of(op, infos).program()[op.name]


def program_of(name, text, device):
    """The entry point of a program whose text a custom call has beside its op."""
    return _cache.program(text, name, **compile_options(device))[name]


def resolve(op, text, args, count, found, message, message_size):
    """A pit_jax_resolver (lib/Jax/Handler.c): what a custom call runs."""
    try:
        tensors = args[:count]
        types = [_types.BY_CODE[t.code, t.bits].name for t in tensors]
        shapes = [(ctypes.c_int64 * t.ndim).from_address(t.shape)[:] if t.ndim else ()
                  for t in tensors]
        device = (tensors[0].device_type, tensors[0].device_id)
        if text is None:
            entry = entry_of(_op.decode(op.decode()), types, shapes, device)
        else:
            entry = program_of(json.loads(op)[1], text.decode(), device)
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


def abstract_all(*avals, op, layer=None):
    try:
        results = _op.result_infos(op, types_of(op, avals), [a.shape for a in avals])
    except UNDECIDED as error:
        said = str(error).partition("\n")[0]
        raise Error(f"{op.name}: {said} Give jax.export.symbolic_shape constraints=, a list as "
                    '["h >= 3"], that decide it') from None
    found = []
    for type_, shape in results:
        dtype = DTYPES[type_]
        if jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise Error(f"{op.name}: the result is {type_}, which JAX does not have unless "
                        "jax_enable_x64 is set")
        found.append(_avals.result(avals, shape, dtype))
    return found


@primitive.def_abstract_eval
def abstract(*avals, op):
    return abstract_all(*avals, op=op)[0]


def bind(*arrays, op):
    return primitive.bind(*_avals.alike(arrays), op=op)


def lower(device_type, ctx, *args, op, layer=None):
    avals = ctx.avals_in
    types, shapes = types_of(op, avals), [a.shape for a in avals]
    # If sizes are left open, as jax.export may, the program is compiled by the first call.
    if all(isinstance(size, int) for shape in shapes for size in shape):
        # For the first device: those of a machine are alike.
        entry_of(op, types, shapes, (device_type, 0))
    return jax.ffi.ffi_lowering(TARGET)(ctx, *args, op=op.encode())


def compile_alone(primitive, parameters):
    """The rule of a primitive for values: it is compiled by itself, also where
    jax.disable_jit says that functions are not."""
    compiled = jax.jit(primitive.bind, static_argnames=parameters)

    def call(*arrays, **parameters):
        with jax.disable_jit(False):
            return compiled(*arrays, **parameters)

    primitive.def_impl(call)


_training.primitive.def_abstract_eval(abstract_all)
for _primitive in (primitive, _training.primitive):
    mlir.register_lowering(_primitive, functools.partial(lower, CPU), platform="cpu")
    mlir.register_lowering(_primitive, functools.partial(lower, CUDA), platform="cuda")
compile_alone(primitive, ("op",))
compile_alone(_training.primitive, ("op", "layer"))
compile_alone(_tangents.primitive, _tangents.PARAMETERS)
batching.primitive_batchers[primitive] = functools.partial(_batching.batch, bind)
ad.primitive_jvps[primitive] = functools.partial(_tangents.differentiate, primitive.bind)
ad.primitive_transposes[primitive] = _tangents.transpose_op

# --------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def is_memory(devices):
    """Whether an array on these devices is one piece of memory of the CPU, beside which a
    call may put its result: JAX may have several devices of one CPU."""
    first, *others = devices
    return (not others and first.platform == "cpu"
            and first == jax.local_devices(backend="cpu")[0])


def route(arrays):
    """pit.ops._operand.route of JAX's arrays: tracers, and arrays that are not in
    memory of the CPU or are split."""
    for x in arrays:
        if isinstance(x, jax.core.Tracer):
            return run
        if isinstance(x, jax.Array) and not is_memory(frozenset(x.devices())):
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
    if isinstance(op, (Attention, PagedAttention)):
        from . import _attention
        run_it = _attention.run if isinstance(op, Attention) else _attention.run_paged
        return run_it(op, given)
    return bind(*given, op=op)


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
