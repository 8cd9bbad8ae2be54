"""Functions of pit.jit inside of functions that JAX compiles: the primitive `pit_program`.

Its custom call is that of ops, with the text of the program beside. So a function that
jax.export stores needs no source of Python to run.
"""

import ctypes
import functools
import hashlib
import json
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import _call, _library, _types
from .._context import default_by_word, device_word
from .._library import CPU, CUDA, Error
from ..tile._types import ELEMENTS, IndexType, TensorType
from . import _avals, _run
from ._avals import DTYPES, NAMES

primitive = Primitive("pit_program")
primitive.multiple_results = True
# `numbers` has the bytes of arguments that are numbers, where they are known.
PARAMETERS = ("name", "text", "numbers")

# --------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------


@dataclass(frozen=True)
class Traced:
    """The program that a function of pit.jit calls for arguments that are no memory."""

    entry: object


def find(function, arguments, constants):
    """The Traced for arguments, None if all of them are memory."""
    if _run.route(arguments) is None:
        return None
    return Traced(functools.partial(call, function, constants))


def call(function, constants, *arguments, out=None, context=None, stream=None):
    name = function.__name__
    if out is not None or context is not None or stream is not None:
        raise Error(f"{name}: out=, context= and stream= are no part of a function that JAX "
                    "compiles, whose arrays are immutable; use the result")
    wanted, given, numbers = [], [], []
    for parameter, x in zip(function.parameters, arguments):
        type_, array, number = read(f"{name}: {parameter.name}", parameter.type, x,
                                    function.constants)
        wanted.append(type_)
        given.append(array)
        numbers.append(number)
    specialized = function.specialize(*wanted, **constants)
    specialized.kept(_run.compile_options(trace_device()))  # an error points at the source
    found = primitive.bind(*_avals.alike(given), name=name, text=str(specialized.mlir()),
                           numbers=tuple(numbers))
    return found[0] if len(found) == 1 else tuple(found)


def read(where, wanted, x, constants):
    """(the type that a program is made for, an array of JAX, the bytes of a number)"""
    if isinstance(wanted, IndexType):
        raise Error(f"{where} is a pit.Index, which is no array; a function that JAX compiles "
                    "cannot pass one")
    if not isinstance(wanted, TensorType):
        return wanted, *read_number(where, wanted, x)
    if not isinstance(x, (jax.Array, numpy.ndarray)):
        raise Error(f"{where} must be an array, {wanted!r}, not {type(x).__name__} {x!r:.40}")
    array = x if isinstance(x, jax.Array) else jnp.asarray(x)
    if array.dtype != x.dtype:
        raise Error(f"{where} has elements of {x.dtype.name}, which JAX does not have unless "
                    "jax_enable_x64 is set; convert it")
    element = ELEMENTS.get(NAMES.get(array.dtype.name))
    if element is None:
        raise Error(f"{where} has elements of {array.dtype.name}; tile programs compute with "
                    f"{', '.join(ELEMENTS)}")
    if not all(isinstance(size, int) for size in array.shape):
        raise Error(f"{where} has a size that is left open; export it for given sizes")
    sizes = array.shape
    if len(sizes) == len(wanted.sizes):
        # Sizes with a name stay open, unless the name is a constant's.
        sizes = tuple(name if isinstance(name, str) and name not in constants else size
                      for name, size in zip(wanted.sizes, sizes))
    return TensorType(element, sizes), array, None


def read_number(where, wanted, x):
    """(an array of rank 0, its bytes; None: they are known when the call runs)"""
    type_ = _types.BY_NAME["i64" if wanted.name == "index" else wanted.name]
    dtype = DTYPES[type_.name]
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise Error(f"{where} is a number of {wanted.name}, which JAX does not have unless "
                    "jax_enable_x64 is set; make it a constant, behind *")
    if isinstance(x, jax.core.Tracer):
        if x.shape or x.dtype != dtype:
            raise Error(f"{where} must be a number, {wanted.name}, not an array "
                        f"{x.dtype.name}{list(x.shape)}")
        return x, None
    number = bytes(_call.pack_scalar(type_, x))
    return jnp.asarray(numpy.frombuffer(number, dtype).reshape(())), number


# --------------------------------------------------------------------------
# The primitive
# --------------------------------------------------------------------------


def trace_device():
    return (CPU if jax.default_backend() == "cpu" else CUDA), 0


PROBES = (1, 1 << 20)  # for numbers that only the call knows


def result_shape(entry, device, avals, numbers, result, probe):
    """The shape of a result for arguments of such types."""
    tensors, kept = [], []
    for signature, aval, number in zip(entry.arguments, avals, numbers):
        type_ = _types.BY_NAME[signature.type]
        shape = (ctypes.c_int64 * max(aval.ndim, 1))(*aval.shape)
        if number is None and signature.kind == "scalar":
            number = int(min(probe, 100) if type_.bits == 8 else probe).to_bytes(8, "little")
        data = ctypes.create_string_buffer(number, 8) if number is not None else None
        kept += [shape, data]
        tensors.append(_library.Tensor(
            data=None if data is None else ctypes.addressof(data), device_type=CPU, device_id=0,
            ndim=aval.ndim, code=type_.code, bits=type_.bits, lanes=1,
            shape=ctypes.addressof(shape), strides=None, byte_offset=0))
    values = (_library.Value * max(len(tensors), 1))(
        *(_library.Value(tensor=ctypes.pointer(tensor)) for tensor in tensors))
    shape = (ctypes.c_int64 * _library.MAX_RANK)()
    context = default_by_word(device_word(*device))
    context.check(_library.runtime().pit_entry_result_shape(
        context.handle, entry.handle, values, len(tensors), result, shape))
    return tuple(shape[: len(entry.results[result].shape)])


@primitive.def_abstract_eval
def abstract(*avals, name, text, numbers):
    device = trace_device()
    entry = _run.program_of(name, text, device)
    open_numbers = [i for i, signature in enumerate(entry.arguments)
                    if signature.kind == "scalar" and numbers[i] is None]
    found = []
    for i, signature in enumerate(entry.results):
        try:
            shape, other = (result_shape(entry, device, avals, numbers, i, p) for p in PROBES)
        except Error as error:
            if not open_numbers:
                raise
            raise Error(f"{name}: sizes depend on argument {open_numbers[0]}, a number that JAX "
                        f"traces; give it as a number of Python ({error.message})") from None
        if shape != other or -1 in shape:
            raise Error(f"{name}: the shape of result {i} depends on what a call computes or on a "
                        "number that JAX traces; in a function that JAX compiles it has to follow "
                        "from the arguments' shapes and numbers of Python")
        dtype = DTYPES[signature.type]
        if jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise Error(f"{name}: result {i} is {signature.type}, which JAX does not have unless "
                        "jax_enable_x64 is set")
        found.append(_avals.result(avals, shape, dtype))
    return found


def lower(device_type, ctx, *args, name, text, numbers):
    entry = _run.program_of(name, text, (device_type, 0))
    if device_type != CPU:
        for i, signature in enumerate(entry.arguments):
            if signature.kind == "scalar":
                raise Error(f"{name}: argument {i} is a number, which programs for GPUs take from "
                            "the host; inside of a function that JAX compiles make it a constant, "
                            "behind *")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return jax.ffi.ffi_lowering(_run.TARGET)(
        ctx, *args, op=json.dumps(["Program", name, digest]), text=text)


def batch(arrays, dims, **parameters):
    """One call after the other."""
    mapped = [jnp.moveaxis(x, d, 0) for x, d in zip(arrays, dims) if d is not None]

    def one(slices):
        slices = iter(slices)
        given = [x if d is None else next(slices) for x, d in zip(arrays, dims)]
        return primitive.bind(*_avals.alike(given), **parameters)

    found = jax.lax.map(one, mapped)
    return found, [0] * len(found)


def no_gradients(primals, tangents, *, name, **_):
    raise Error(f"{name}: functions of pit.jit have no gradients; give it some by jax.custom_vjp "
                "or jax.custom_jvp")


for platform, device_type in (("cpu", CPU), ("cuda", CUDA)):
    mlir.register_lowering(primitive, functools.partial(lower, device_type), platform=platform)
_run.compile_alone(primitive, PARAMETERS)
batching.primitive_batchers[primitive] = batch
ad.primitive_jvps[primitive] = no_gradients
