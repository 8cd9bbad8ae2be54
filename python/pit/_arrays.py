"""Arrays of any framework, without copies.

What a framework needs is an *adapter*, found once for each type of array:

    array_struct               whether arrays are read by numpy's __array_struct__
    exchange                   the capsule of DLPack's exchange interface, or None
    view(array, write)         a capsule of DLPack, or a description of the memory
    stream(device_id)          the framework's current CUDA stream
    maker(type_name, like)     (function, keywords): function(shape, **keywords) makes
                               a new array beside `like`, and others on its device; or
                               (function, type): function(shape, strides, type) does
    finish(memory)             the new array, once it has been written
    share(array)               what holds its memory, whatever becomes of it
    contiguous(array)          a copy of it in row-major order, aligned to its elements
    is_readable(array)         whether its memory is its elements, each where its type has to
                               lie: an array of records may hold them elsewhere
    temporary(array)           new memory, in row-major order, for what an array will hold
    assign(array, other)       writes the elements of another array of the same kind to it
    direct                     whether its arrays are memory and nothing else, unless one
    modes                      of these functions says that the framework does more now,
                               or the array has a gradient and
    grad_enabled               this function says that gradients are recorded: then a program,
                               which records none, does not take an array with a gradient

The extension module (_call.py) reads arrays: by `array_struct` or `exchange` where the
adapter has one of these, which takes a tenth of the time. It asks view() where there is
none, or where an array is not a usual one and view() knows what is wrong.
`__array_interface__` and `__cuda_array_interface__` serve what DLPack does not: arrays
of element types that it lacks, and everything that has nothing else.
"""

import sys

from . import _types
from ._library import CPU, CUDA, Error


def read_only():
    return Error("the array is read-only; a result is written to")


def immutable(array):
    framework = IMMUTABLE[framework_of(type(array))]
    return Error(f"an array of {framework} is immutable; without out= the call makes its result, "
                 "and an array of numpy can be given")


def first_line(error):
    """An error with a framework's message, without its stack."""
    return Error(str(error).partition("\n")[0])


class Adapter:
    """Any array with `__dlpack__`. Its framework waits for its own work, on the
    default stream, where the program then runs."""

    array_struct = False
    exchange = None
    direct, modes, grad_enabled = True, None, None

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

    def view(self, array, write):
        if write and framework_of(type(array)) in IMMUTABLE:
            raise immutable(array)
        try:
            device, _ = array.__dlpack_device__()
            stream = {"stream": 1} if device == CUDA else {}  # the legacy default stream
            return self.capsule(array, **stream)
        except Exception as error:  # whatever the framework raises
            raise first_line(error) from None

    def stream(self, device_id):
        return None

    def share(self, array):
        return array

    def maker(self, type_name, like):
        raise Error(f"cannot make a result like a {type(like).__name__}; give it with out=")

    def finish(self, memory):
        return memory

    def contiguous(self, array):
        raise Error(f"a {type(array).__name__} with strides {array.strides}; pass it contiguous")

    def is_readable(self, array):
        return True

    def temporary(self, array):
        raise Error(f"a {type(array).__name__} whose elements do not lie in row-major order without "
                    "gaps; a result is written to such arrays of numpy, torch and CuPy alone")


class NumpyAdapter(Adapter):
    def __init__(self, type_):
        super().__init__(type_)
        import numpy
        self.numpy = numpy
        self.masked = issubclass(type_, numpy.ma.MaskedArray)
        self.array_struct = not self.masked

    def expect_values(self):
        if self.masked:
            raise Error("pit would not see the mask of a masked array; pass array.filled(...), or "
                        "array.data for the values without the mask")

    def view(self, array, write):
        self.expect_values()
        try:
            return self.capsule(array)
        except BufferError:  # numpy exports no such array
            return view_interface(array, array.__array_interface__, CPU, 0, write)

    def maker(self, type_name, like):
        type_ = _types.BY_NAME[type_name]
        if type_.array in _types.ADDED:
            try:
                import ml_dtypes
            except ImportError:
                raise Error(f"numpy has no {type_name}; give the result with out=, as "
                            f"pit.view(uint{type_.bits}_array, '{type_name}')") from None
            return self.numpy.empty, {"dtype": self.numpy.dtype(getattr(ml_dtypes, type_.array))}
        return self.numpy.empty, {"dtype": self.numpy.dtype(type_.array)}

    def contiguous(self, array):
        # No ascontiguousarray, which returns an array that is not aligned as it is.
        return self.numpy.array(array, order="C")

    def is_readable(self, array):
        size = array.itemsize
        return self.masked or array.flags.aligned and not any(s % size for s in array.strides)

    def temporary(self, array):
        self.expect_values()
        if not array.flags.writeable:
            raise read_only()
        return self.numpy.empty(array.shape, array.dtype)

    def assign(self, array, other):
        self.numpy.copyto(array, other, casting="no")


def torch_modes():
    """Functions that tell whether torch does more than compute: casts, transforms
    (torch.func), traces or dispatches by a mode, takes gradients forwards, traces by
    torch.jit."""
    from torch import _C
    from torch.autograd import forward_ad
    return (_C._is_any_autocast_enabled, _C._functorch.peek_interpreter_stack,
            _C._len_torch_dispatch_stack, lambda: forward_ad._current_level >= 0,
            _C._is_tracing)


CUSTOM_OP = "call it in an op of torch.library.custom_op"


class TorchAdapter(Adapter):
    """Tensors of torch, on its current stream."""

    def __init__(self, type_):
        super().__init__(type_)
        import torch
        self.torch = torch
        plain = type_.__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        # A class that dispatches for itself (FakeTensor, DTensor) need not have memory.
        self.exchange = getattr(type_, "__dlpack_c_exchange_api__", None) if plain else None
        self.has_memory = plain
        self.direct = type_ in (torch.Tensor, torch.nn.Parameter)
        # A profiler shows what goes by way of Python (pit.torch).
        self.modes = *torch_modes(), torch._C._autograd._profiler_enabled
        self.grad_enabled = torch.is_grad_enabled

    def view(self, array, write):
        if not self.has_memory:
            raise Error(f"a {type(array).__name__}, which computes in its own way, has no memory "
                        f"for a program; {CUSTOM_OP}")
        if self.torch._C._functorch.is_functorch_wrapped_tensor(array):
            raise Error("a tensor that torch.func transforms (vmap, grad) has no memory for a "
                        f"program; {CUSTOM_OP}, with register_vmap or register_autograd")
        if array.is_neg():
            raise Error("the tensor's memory holds its negation; use tensor.resolve_neg()")
        try:
            # No waiting: the program runs on the same stream. The caller has seen to gradients.
            return self.capsule(array.detach(), **({"stream": -1} if array.is_cuda else {}))
        except (BufferError, RuntimeError) as error:
            raise first_line(error) from None

    def share(self, array):
        return array.detach()  # the array may be given other memory

    def stream(self, device_id):
        return self.torch.cuda.current_stream(device_id).cuda_stream

    def maker(self, type_name, like):
        # Not the exchange interface's allocator: torch takes what that makes for memory
        # of somebody else, of which record_stream and resize_ know nothing.
        torch = self.torch
        dtype = getattr(torch, _types.BY_NAME[type_name].array)
        # The functions that torch's own compiled graphs call. It takes a fifth of torch.empty's
        # time, but knows the current device alone.
        if not like.is_cuda or torch.cuda.device_count() == 1:
            guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
            direct = getattr(guards, f"_empty_strided_{like.device.type}", None)
            if direct is not None:
                return direct, dtype
        return torch.empty, {"dtype": dtype, "device": like.device}

    def contiguous(self, array):
        array = array.detach().resolve_neg()
        return array.clone(memory_format=self.torch.contiguous_format)

    def is_readable(self, array):
        # The reader of an array of another layout says what is wrong.
        return array.layout is not self.torch.strided or not array.is_neg() and (
            array.data_ptr() % array.element_size() == 0)

    def temporary(self, array):
        if array.requires_grad and self.grad_enabled():
            raise Error("a tensor that requires a gradient would lose it; use tensor.detach(), or "
                        "torch.no_grad()")
        return self.torch.empty(array.shape, dtype=array.dtype, device=array.device)

    def assign(self, array, other):
        try:
            array.copy_(other)
        except RuntimeError as error:  # several elements in one place
            raise first_line(error) from None


class JaxAdapter(Adapter):
    """Arrays of JAX, which are immutable. A result is memory of numpy's, of which JAX
    makes an array in the end."""

    direct = False  # pit.jax knows tracers

    def view(self, array, write):
        import jax
        if isinstance(array, jax.core.Tracer):
            raise Error("a tracer of JAX has no memory for a program; inside of jax.jit, jax.grad "
                        "and jax.vmap call it by jax.pure_callback")
        return super().view(array, write)

    def maker(self, type_name, like):
        if like.__dlpack_device__()[0] != CPU:
            raise Error("cannot make a result like an array of JAX on a GPU; give it with out=, an "
                        "array of torch or CuPy")
        return self.empty, {"type_name": type_name}

    @staticmethod
    def empty(shape, type_name):
        import jax
        import numpy
        name = _types.BY_NAME[type_name].array
        wanted = jax.numpy.dtype(name)
        # In each call, because the option may change.
        if jax.dtypes.canonicalize_dtype(wanted) != wanted:
            raise Error(f"JAX has no {type_name} unless jax_enable_x64 is set; give the result "
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

    def view(self, array, write):
        return self.capsule(array, stream=-1)

    def stream(self, device_id):
        return self.cupy.cuda.get_current_stream(device_id).ptr

    def maker(self, type_name, like):
        type_ = _types.BY_NAME[type_name]
        if type_.array in _types.ADDED:
            raise Error(f"CuPy has no {type_name}; give the result with out=")
        return self.empty, {"dtype": type_.array, "device": like.device}

    def empty(self, shape, dtype, device):
        with device:
            return self.cupy.empty(shape, dtype)

    def contiguous(self, array):
        return self.cupy.array(array, order="C")

    def is_readable(self, array):
        size = array.itemsize
        return array.data.ptr % size == 0 and not any(s % size for s in array.strides)

    def temporary(self, array):
        with array.device:
            return self.cupy.empty(array.shape, array.dtype)

    def assign(self, array, other):
        with array.device:
            array[...] = other


class InterfaceAdapter(Adapter):
    """Anything with `__array_interface__` or `__cuda_array_interface__`."""

    def view(self, array, write):
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            return view_interface(array, array.__array_interface__, CPU, 0, write)
        if interface.get("stream") not in (None, 1):
            raise Error("the array asks for a stream of its own to be waited for; synchronize "
                        "it, or pass stream= and an array of a framework that DLPack knows")
        return view_interface(array, interface, CUDA, getattr(array, "device_id", 0), write)


def view_interface(array, interface, device_type, device_id, write):
    """The memory that `__array_interface__` describes: address, device type, device, code
    and bits of an element, shape, strides in elements or None."""
    typestr = interface["typestr"]
    name = getattr(getattr(array, "dtype", None), "name", "")
    type_ = _types.ADDED.get(name) or _types.BY_TYPESTR.get(typestr[1:])
    if type_ is None or typestr[0] == ">":
        raise Error(f"pit has no element type '{typestr}'")
    address, is_read_only = interface["data"]
    if write and is_read_only:
        raise read_only()
    strides = interface.get("strides")
    if strides is not None:
        if any(stride % type_.size for stride in strides):
            raise Error(f"strides of {tuple(strides)} bytes are no multiples of the element's "
                        f"{type_.size}")
        strides = tuple(stride // type_.size for stride in strides)
    return (address, device_type, device_id, type_.code, type_.bits, tuple(interface["shape"]),
            strides)


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

    def reshape(self, *shape):
        return View(self.array.reshape(*shape), self.type)


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
    """The adapter of a View, whose array's adapter reads it."""

    def share(self, array):
        return adapter_of(type(array.array)).share(array.array)

    def contiguous(self, array):
        return View(contiguous(array.array), array.type)

    def is_readable(self, array):
        return is_readable(array.array)

    def temporary(self, array):
        return View(adapter_of(type(array.array)).temporary(array.array), array.type)

    def assign(self, array, other):
        adapter_of(type(array.array)).assign(array.array, other.array)


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
    found = next((name for name in names if name in ADAPTERS or name in IMMUTABLE), names[0])
    return "jax" if found == "jaxlib" else found


def adapter_of(type_):
    adapter = found.get(type_)
    if adapter is None:
        adapter = found[type_] = make_adapter(type_)
    return adapter


def contiguous(array):
    """A copy in row-major order."""
    return adapter_of(type(array)).contiguous(array)


def is_readable(array):
    return adapter_of(type(array)).is_readable(array)


def readable(array):
    """An array as programs and indices read them, or a copy of it that is so."""
    return array if is_readable(array) else contiguous(array)


def broadcast(array, shape):
    """An array repeated to a shape that it broadcasts to, as numpy's do; it may have more
    dims of size 1 in front."""
    if tuple(array.shape) == tuple(shape):
        return array
    if isinstance(array, View):
        return View(broadcast(array.array, shape), array.type)
    if len(array.shape) > len(shape):
        array = array.reshape(array.shape[len(array.shape) - len(shape):])
    if hasattr(array, "expand"):  # torch
        return array.expand(shape)
    namespace = sys.modules["jax.numpy" if framework_of(type(array)) == "jax" else
                            framework_of(type(array))]
    return namespace.broadcast_to(array, shape)


def permuted(array, order):
    """An array with its dimensions in another order."""
    if isinstance(array, View):
        return View(permuted(array.array, order), array.type)
    return getattr(array, "permute" if hasattr(array, "permute") else "transpose")(order)


def make_adapter(type_):
    if type_ is View:
        return ViewAdapter(type_)
    if hasattr(type_, "__dlpack__"):
        return ADAPTERS.get(framework_of(type_), Adapter)(type_)
    if hasattr(type_, "__cuda_array_interface__") or hasattr(type_, "__array_interface__"):
        return InterfaceAdapter(type_)
    raise Error(f"a {type_.__name__} is no array: it has neither __dlpack__ nor "
                f"__cuda_array_interface__ nor __array_interface__{advice(type_)}")


def advice(value):
    """How numpy makes an array of a value, or of those of a type; to be added to a message."""
    if hasattr(value, "to_numpy"):  # of data frames
        return "; pass .to_numpy()"
    type_ = value if isinstance(value, type) else type(value)
    buffers = (memoryview, bytes, bytearray)
    return "; pass numpy.asarray(...)" if hasattr(value, "__array__") or issubclass(
        type_, buffers) or type_.__module__ == "array" else ""
