"""Arrays of any framework as DLTensors, without copies.

What a framework needs is an *adapter*, found once for each type of array:

    view(array, slot, write)   (address of a DLTensor, what keeps it alive);
                               `slot` is a Tensor that it may fill in
    stream(device_id)          the framework's current CUDA stream
    empty(shape, type, like)   memory for a new array beside `like`
    finish(memory)             the new array, once it has been written
    share(array)               what holds its memory, whatever becomes of it

Most arrays are read through a capsule of DLPack's protocol (`__dlpack__`). The
call passes the address of the DLTensor in that capsule on; nothing is parsed.
torch fills in the slot through DLPack's exchange interface where it has it,
which takes a quarter of the time. `__array_interface__` and
`__cuda_array_interface__` serve what DLPack does not: read-only arrays and
masks of old versions of numpy, and everything that has nothing else.
"""

import ctypes
from ctypes import byref, c_char_p, c_int, c_int64, c_uint32, c_uint64, c_void_p, py_object

from . import _types
from ._library import CPU, CUDA, Error, Tensor

VERSIONED = b"dltensor_versioned"
UNVERSIONED = b"dltensor"
# Of a DLManagedTensorVersioned: version, manager, deleter, flags, tensor.
FLAGS_OFFSET, TENSOR_OFFSET = 24, 32
READ_ONLY, IS_COPIED = 1, 2

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = c_void_p, (py_object, c_char_p)

TENSOR_SIZE = ctypes.sizeof(Tensor)


def read_only():
    return Error("the array is read-only; a result is written to")


def immutable(array):
    framework = IMMUTABLE[framework_of(type(array))]
    return Error(f"an array of {framework} is immutable; without out= the call makes its result, "
                 "and an array of numpy can be given")


def read_capsule(capsule, write):
    """The address of the DLTensor in a capsule."""
    try:
        managed = capsule_pointer(capsule, VERSIONED)
    except ValueError:
        return capsule_pointer(capsule, UNVERSIONED)
    major = c_uint32.from_address(managed).value
    if major != 1:
        raise Error(f"the array speaks version {major} of DLPack; pit reads version 1")
    if write:
        flags = c_uint64.from_address(managed + FLAGS_OFFSET).value
        if flags & READ_ONLY:
            raise read_only()
        if flags & IS_COPIED:
            raise Error("DLPack made a copy of the array; a result is written to the array itself")
    return managed + TENSOR_OFFSET


def first_line(error):
    """What a framework says, without its stack."""
    return Error(str(error).partition("\n")[0])


class Adapter:
    """Any array with `__dlpack__`. Its framework waits for its own work, on the
    default stream, where the program then runs."""

    def __init__(self, type_):
        # Arguments of __dlpack__ that this type understands.
        self.arguments = {"max_version": (1, 0)}

    def capsule(self, array, **stream):
        try:
            return array.__dlpack__(**self.arguments, **stream)
        except TypeError:
            if not self.arguments:
                raise
        self.arguments = {}
        return self.capsule(array, **stream)

    def view(self, array, slot, write):
        if write and framework_of(type(array)) in IMMUTABLE:
            raise immutable(array)
        try:
            device, _ = array.__dlpack_device__()
            stream = {"stream": 1} if device == CUDA else {}  # the legacy default stream
            capsule = self.capsule(array, **stream)
        except Exception as error:  # whatever the framework raises
            raise first_line(error) from None
        return read_capsule(capsule, write), capsule

    def stream(self, device_id):
        return None

    def share(self, array):
        return array

    def empty(self, shape, type_, like):
        raise Error(f"cannot make a result like a {type(like).__name__}; give it with out=")

    def finish(self, memory):
        return memory


class NumpyAdapter(Adapter):
    def __init__(self, type_):
        super().__init__(type_)
        import numpy
        self.numpy = numpy
        self.masked = issubclass(type_, numpy.ma.MaskedArray)

    def view(self, array, slot, write):
        if self.masked:
            raise Error("pit would not see the mask of a masked array; pass array.filled(...), or "
                        "array.data for the values without the mask")
        try:
            capsule = self.capsule(array)
        except BufferError:  # numpy exports no such array, or only newer ones do
            return view_interface(array, array.__array_interface__, CPU, 0, write)
        return read_capsule(capsule, write), capsule

    def empty(self, shape, type_, like):
        if type_.name == "bf16":
            try:
                from ml_dtypes import bfloat16
            except ImportError:
                raise Error("numpy has no bf16; give the result with out=, as "
                            "pit.view(uint16_array, 'bf16')") from None
            return self.numpy.empty(shape, bfloat16)
        return self.numpy.empty(shape, type_.array)


class TorchAdapter(Adapter):
    """Tensors of torch, on its current stream."""

    def __init__(self, type_):
        super().__init__(type_)
        import torch
        self.torch = torch
        self.strided = torch.strided
        self.fill = self.current_stream = None
        exchange = getattr(type_, "__dlpack_c_exchange_api__", None)
        if exchange is not None:
            self.read_exchange(exchange)

    def read_exchange(self, capsule):
        table = capsule_pointer(capsule, b"dlpack_exchange_api")
        if c_uint32.from_address(table).value != 1:
            return
        # version, previous table, allocate, export, import, view, stream
        words = (c_uint64 * 7).from_address(table)
        if words[5]:
            self.fill = ctypes.PYFUNCTYPE(c_int, py_object, c_void_p)(words[5])
        self.current_stream = ctypes.PYFUNCTYPE(c_int, c_int, c_int, c_void_p)(words[6])

    def view(self, array, slot, write):
        if array.requires_grad:
            raise Error("a tensor that requires a gradient would lose it; use tensor.detach()")
        if array.is_neg():
            raise Error("the tensor's memory holds its negation; use tensor.resolve_neg()")
        try:
            # What the exchange interface does not check.
            if self.fill is None or array.layout is not self.strided or array.is_conj():
                # No waiting: the program runs on the same stream.
                stream = {"stream": -1} if array.is_cuda else {}
                capsule = self.capsule(array, **stream)
                return read_capsule(capsule, write), capsule
            address = ctypes.addressof(slot)
            self.fill(array, address)
            return address, None
        except (BufferError, RuntimeError) as error:
            raise first_line(error) from None

    def share(self, array):
        return array.detach()  # the array may be given other memory

    def stream(self, device_id):
        if self.current_stream is None:
            return self.torch.cuda.current_stream(device_id).cuda_stream
        handle = c_void_p()
        self.current_stream(CUDA, device_id, byref(handle))
        return handle.value

    def empty(self, shape, type_, like):
        torch = self.torch
        return torch.empty(shape, dtype=getattr(torch, type_.array), device=like.device)


class JaxAdapter(Adapter):
    """Arrays of JAX, which are immutable. A result is memory of numpy's, of which JAX
    makes an array in the end."""

    def empty(self, shape, type_, like):
        import jax
        import numpy
        if like.__dlpack_device__()[0] != CPU:
            raise Error("cannot make a result like an array of JAX on a GPU; give it with out=, an "
                        "array of torch or CuPy")
        wanted = numpy.dtype(jax.numpy.bfloat16 if type_.name == "bf16" else type_.array)
        if jax.dtypes.canonicalize_dtype(wanted) != wanted:
            raise Error(f"JAX has no {type_.name} unless jax_enable_x64 is set; give the result "
                        "with out=, an array of numpy")
        return numpy.empty(shape, wanted)

    def finish(self, memory):
        import jax
        return jax.numpy.asarray(memory)


class CupyAdapter(Adapter):
    """Arrays of CuPy, on its current stream."""

    def __init__(self, type_):
        super().__init__(type_)
        import cupy
        self.cupy = cupy

    def view(self, array, slot, write):
        capsule = self.capsule(array, stream=-1)
        return read_capsule(capsule, write), capsule

    def stream(self, device_id):
        return self.cupy.cuda.get_current_stream(device_id).ptr

    def empty(self, shape, type_, like):
        if type_.name == "bf16":
            raise Error("CuPy has no bf16; give the result with out=")
        with like.device:
            return self.cupy.empty(shape, type_.array)


class InterfaceAdapter(Adapter):
    """Anything with `__array_interface__` or `__cuda_array_interface__`."""

    def view(self, array, slot, write):
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            return view_interface(array, array.__array_interface__, CPU, 0, write)
        if interface.get("stream") not in (None, 1):
            raise Error("the array asks for a stream of its own to be waited for; synchronize "
                        "it, or pass stream= and an array of a framework that DLPack knows")
        return view_interface(array, interface, CUDA, getattr(array, "device_id", 0), write)


def view_interface(array, interface, device_type, device_id, write):
    """The same of `__array_interface__`."""
    typestr = interface["typestr"]
    type_ = _types.BY_TYPESTR.get(typestr[1:])
    if typestr[1:] == "V2" and getattr(getattr(array, "dtype", None), "name", "") == "bfloat16":
        type_ = _types.BY_NAME["bf16"]
    if type_ is None or typestr[0] == ">":
        raise Error(f"pit has no element type '{typestr}'")
    address, is_read_only = interface["data"]
    if write and is_read_only:
        raise read_only()
    shape = interface["shape"]
    strides = interface.get("strides")
    if strides is not None and any(s % type_.size for s in strides):
        raise Error(f"strides of {tuple(strides)} bytes are no multiples of the element's "
                    f"{type_.size}")
    rank = len(shape)
    extents = (c_int64 * max(1, 2 * rank))(*shape)
    tensor = Tensor(address, device_type, device_id, rank, type_.code, type_.bits, 1,
                    ctypes.addressof(extents), None, 0)
    if strides is not None:
        extents[rank: 2 * rank] = [s // type_.size for s in strides]
        tensor.strides = ctypes.addressof(extents) + 8 * rank
    return ctypes.addressof(tensor), (tensor, extents)


class View:
    """An array whose elements are read as another type of the same size."""

    def __init__(self, array, type_):
        self.array = array
        self.type = type_

    def __repr__(self):
        return f"pit.view({self.array!r}, {self.type.name!r})"

    @property
    def shape(self):
        return self.array.shape


def view(array, type_name):
    """`array` with its elements read as `type_name`, of the same size and MLIR's
    name: `view(bits, "bf16")` is a bf16 array of a uint16 array of numpy."""
    type_ = _types.BY_NAME.get(type_name) if isinstance(type_name, str) else None
    if type_ is None:
        raise Error(f"no element type '{type_name}'; there are: {', '.join(_types.BY_NAME)}")
    return View(array, type_)


def viewed(array):
    """The framework's array: that of a view."""
    return array.array if isinstance(array, View) else array


class ViewAdapter(Adapter):
    def view(self, array, slot, write):
        inner = adapter_of(type(array.array))
        address, keep = inner.view(array.array, slot, write)
        ctypes.memmove(ctypes.addressof(slot), address, TENSOR_SIZE)
        if slot.bits != array.type.bits:
            raise Error(f"a view of {slot.bits} bits an element as {array.type.name}")
        slot.code = array.type.code
        return ctypes.addressof(slot), keep

    def share(self, array):
        return adapter_of(type(array.array)).share(array.array)


def stream_handle(stream, adapter, device_id):
    """The CUstream of `stream`: a number, or torch's or CuPy's object; by
    default the adapter's framework's current one."""
    if stream is None:
        return adapter.stream(device_id) if adapter else None
    if isinstance(stream, int):
        return stream
    return stream.cuda_stream if hasattr(stream, "cuda_stream") else stream.ptr


ADAPTERS = {"numpy": NumpyAdapter, "torch": TorchAdapter, "cupy": CupyAdapter,
            "jax": JaxAdapter, "jaxlib": JaxAdapter}
# DLPack's first version, which has no flag for it, is what these have.
IMMUTABLE = {"jax": "JAX", "jaxlib": "JAX", "tensorflow": "TensorFlow"}
found = {}  # by type of array


def framework_of(type_):
    """The package that a type of array is from; a subclass is one of its framework's
    arrays."""
    names = [base.__module__.partition(".")[0] for base in type_.__mro__]
    return next((name for name in names if name in ADAPTERS or name in IMMUTABLE), names[0])


def adapter_of(type_):
    adapter = found.get(type_)
    if adapter is None:
        adapter = found[type_] = make_adapter(type_)
    return adapter


def make_adapter(type_):
    if type_ is View:
        return ViewAdapter(type_)
    if hasattr(type_, "__dlpack__"):
        return ADAPTERS.get(framework_of(type_), Adapter)(type_)
    if hasattr(type_, "__cuda_array_interface__") or hasattr(type_, "__array_interface__"):
        return InterfaceAdapter(type_)
    raise Error(f"a {type_.__name__} is no array: it has neither __dlpack__ nor "
                "__cuda_array_interface__ nor __array_interface__")
