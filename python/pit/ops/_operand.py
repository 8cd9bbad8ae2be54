"""Operands: arrays of any framework, and what a call has to know of them."""

import functools
import importlib
import operator
import sys
from dataclasses import dataclass

from .. import _arrays, _library, _types
from .._context import default_context
from .._index import Index
from .._library import CPU, CUDA, Error


def constant_in_graphs(function):
    """Says that torch.compile may call a function while it traces, and take what it
    returns, a number or a string, as a constant: what
    torch.compiler.assume_constant_result does, without importing torch."""
    function._dynamo_marked_constant = True
    return function


def is_traced():
    """Whether torch.compile traces this call."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_dynamo_compiling()


def constant(x):
    """An option of an op, where torch.compile may have a number as a symbol, as of sizes that vary and
    of what a function finds outside: the number that its graph is for."""
    if isinstance(x, bool):
        return True if x else False
    if isinstance(x, int):
        return operator.index(x)
    return float(f"{x}") if isinstance(x, float) else x  # the text has all digits


def makes_op(function):
    """Keeps the ops that a function makes. Under torch.compile, which traces a caller, they
    are strings instead (Op.encode), because a graph holds no objects."""
    make = functools.lru_cache(maxsize=4096, typed=True)(function)

    @constant_in_graphs
    def encoded(*args):
        return make(*args).encode()

    @functools.wraps(function)
    def call(*args):
        return encoded(*[constant(x) for x in args]) if is_traced() else make(*args)

    return call


@dataclass(frozen=True)
class Info:
    """An array's element type, shape, device and, if its elements lie in memory
    without gaps in another order than row-major, that order of its dimensions. Of an
    index: its shape, and its micro-tile, axis and step."""

    type: str
    shape: tuple
    device: tuple = (CPU, 0)
    order: tuple | None = None  # of dimensions, slowest first
    packed: bool = True  # row-major without gaps
    framework: str = ""
    grad: bool = False  # torch's requires_grad
    index: tuple | None = None
    extent: int = 0  # of an index: its positions

    @property
    def is_index(self):
        return self.index is not None


# --------------------------------------------------------------------------
# Kinds of arrays
# --------------------------------------------------------------------------


def index_fields(index):
    spec = index.spec
    dims = lambda values: tuple(values[: spec.rank])
    step = dims(spec.step)
    return (dims(spec.micro_tile), spec.axis, step if any(step) else None), dims(spec.shape)


def info(where, x):
    """The Info of an array or an index; `where` is its name in messages."""
    if isinstance(x, Index):
        fields, shape = index_fields(x)
        return Info("index", shape, (x.context.device_type, x.context.device_id), index=fields,
                    extent=x.extent)
    if not hasattr(x, "shape") or isinstance(x, (int, float)):
        raise Error(f"{where} must be an array, not {type(x).__name__} {x!r:.40}")
    array = _arrays.viewed(x)
    if not hasattr(array, "dtype"):
        raise Error(f"{where} must be an array, not a {type(array).__name__}"
                    f"{_arrays.advice(array)}")
    framework = _arrays.framework_of(type(array))
    if framework == "torch" and array.layout is not sys.modules["torch"].strided:
        raise Error(f"{where} is a tensor of layout {array.layout}; pit takes dense ones, in which "
                    "it finds the zeros: pass it with .to_dense()")
    strides = strides_of(array, framework)
    shape = tuple(array.shape)
    packed, order = True, None
    if strides is not None and 0 not in shape:
        order = order_of(shape, strides)
        packed = order == tuple(range(len(shape)))
    return Info(type_of(where, x, array, framework), shape, device_of(array, framework),
                None if packed else order, packed, framework,
                framework == "torch" and array.requires_grad)


def type_of(where, x, array, framework):
    if isinstance(x, _arrays.View):
        return x.type.name
    name = str(array.dtype).rpartition(".")[2]
    for type_ in _types.TYPES:
        if type_.array == name:
            return type_.name
    raise Error(f"{where} has elements of {name}; pit has "
                f"{', '.join(t.array for t in _types.TYPES)}")


def device_of(array, framework):
    """DLPack's device; managed and pinned memory are their device's."""
    if framework == "torch":
        kind = array.device.type
        if kind not in ("cpu", "cuda"):
            raise Error(f"a tensor on device '{array.device}'; pit runs on cpu and cuda")
        return (CPU, 0) if kind == "cpu" else (CUDA, array.device.index or 0)
    if framework == "numpy" or not hasattr(array, "__dlpack_device__"):
        on_gpu = hasattr(array, "__cuda_array_interface__")
        return (CUDA, getattr(array, "device_id", 0)) if on_gpu else (CPU, 0)
    kind, number = array.__dlpack_device__()
    return {1: (CPU, 0), 3: (CPU, 0), 13: (CUDA, number)}.get(int(kind), (int(kind), number))


def device_name(device):
    return {CPU: "the CPU", CUDA: f"cuda:{device[1]}"}.get(device[0], f"device {device}")


def strides_of(array, framework):
    """In elements; None where the framework has none."""
    if framework == "torch":
        return array.stride()
    strides, size = getattr(array, "strides", None), getattr(array, "itemsize", 0)
    if not strides or not size:
        return None if strides is None else ()
    return tuple(s / size for s in strides)


def order_of(shape, strides):
    """The order of dimensions in which the elements lie without gaps; None: none."""
    # Dims of one element may stand anywhere: let them stay where they are.
    real = [i for i, size in enumerate(shape) if size != 1]
    ordered = sorted(real, key=lambda i: -strides[i])
    step = 1
    for i in reversed(ordered):
        if strides[i] != step:
            return None
        step *= shape[i]
    places = iter(ordered)
    return tuple(i if size == 1 else next(places) for i, size in enumerate(shape))


def halves(first, second):
    """The array that two others are the halves of, along their last dimension, if these have
    gaps and it has none: gates and ups that are stored as one. None: there is none such, or
    it is not one of torch or numpy."""
    shape = getattr(first, "shape", ())
    if len(shape) != 3 or type(first) is not type(second) or shape != second.shape:
        return None
    framework = _arrays.framework_of(type(first))
    if framework not in ("torch", "numpy"):
        return None
    strides = strides_of(first, framework)
    if strides[0] == shape[1] * shape[2]:
        return None  # the usual one, without gaps
    whole = (*shape[:2], 2 * shape[2])
    if (0 in shape or first.dtype != second.dtype or order_of(shape, strides) is not None
            or order_of(whole, strides) is None or strides != strides_of(second, framework)):
        return None
    distance = shape[2] * strides[2] * first.itemsize
    if framework == "torch":
        if (first.device != second.device or first.is_meta or first.is_neg() or second.is_neg()
                or second.data_ptr() - first.data_ptr() != distance
                or first.untyped_storage().data_ptr() != second.untyped_storage().data_ptr()):
            return None
        return first.detach().as_strided(whole, strides)
    addresses = [x.__array_interface__["data"][0] for x in (first, second)]
    if addresses[1] - addresses[0] != distance or first.base is None or first.base is not second.base:
        return None
    from numpy.lib.stride_tricks import as_strided
    return as_strided(first, whole, first.strides, writeable=False)


# --------------------------------------------------------------------------
# How it is passed
# --------------------------------------------------------------------------


def expect_one_shape(op, arrays):
    """A nested tensor of torch is a list of tensors."""
    for i, x in enumerate(arrays):
        if getattr(x, "is_nested", False):
            refuse_nested(op.name, op.arguments()[i].name)


def refuse_nested(name, what):
    raise Error(f"{name}: {what} is a nested tensor; pit takes tensors of one shape: "
                "torch.nested.to_padded_tensor makes one, whose lengths pit.padded_linear takes")


def readable(x):
    """An array that programs can read: a copy of one whose elements lie where no element of
    their type may, or whose memory holds something else."""
    if isinstance(x, Index) or not hasattr(_arrays.viewed(x), "dtype"):
        return x  # which `info` refuses, if it is no index
    return _arrays.readable(x)


def is_result(where, x):
    """Whether a program can write to an array; else that goes through `write_by_copy`."""
    if not hasattr(x, "shape") or isinstance(x, Index):
        return True  # as the entry point will say
    return _arrays.is_readable(x) and info(where, x).packed


def write_by_copy(where, out, write):
    """Calls `write` with memory that lies as programs write it, of which `out` becomes a
    copy. Returns `out`."""
    adapter = _arrays.adapter_of(type(out))
    try:
        made = adapter.temporary(out)
        write(made)
        adapter.assign(out, made)
    except Error as error:
        if error.status:
            raise
        raise Error(f"{where}: {error}") from None
    return out


def prepare(info, order):
    """The function that makes an array what an entry point takes; None: it is that
    already. `order` is the order of dimensions that the entry point wants."""
    if info.is_index:
        return None
    steps = []
    if info.grad:
        steps.append(lambda x: x.detach())
    if order is not None:
        steps.append(lambda x: _arrays.permuted(x, order))
    elif not info.packed:
        steps.append(_arrays.contiguous)
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else lambda x: steps[1](steps[0](x))


@functools.lru_cache(maxsize=None)
def chip_of(device_id):
    """The name of a GPU's architecture for the compiler."""
    context = default_context(f"cuda:{device_id}")
    found = _library.DeviceInfo()
    context.check(_library.runtime().pit_device_query(context.handle, found))
    return "sm_90a" if found.capability == 90 else f"sm_{found.capability}"


def compile_options(device, gpu_pipeline=""):
    """Options of pit.compile for programs on a device, with those of the pipeline for GPUs."""
    if device[0] == CPU:
        return {}
    if device[0] != CUDA:
        raise Error(f"arrays on {device_name(device)}; pit runs on the CPU and on CUDA")
    options = {"target": "cuda", "chip": chip_of(device[1])}
    return options | ({"pipeline": gpu_pipeline} if gpu_pipeline else {})


# --------------------------------------------------------------------------
# Calls that are not made at once
# --------------------------------------------------------------------------


# The functions that know, by framework: a module of this package that is imported when such an
# array is seen for the first time. Its `route(arrays)` returns what `route` does.
ROUTERS = {"torch": "torch", "jax": "jax", "jaxlib": "jax"}
routers = {}  # by the type of the array; None: its arrays are always memory


def route(arrays):
    """The function (op, arrays, out) that runs an op on arrays which are more than
    memory: tensors of torch with a gradient or in a graph, tracers of JAX. None:
    there is none such."""
    for x in arrays:
        router = routers.get(type(x), routers)
        if router is routers:
            router = find_router(type(x))
        if router is not None:
            return router(arrays)
    return None


def find_router(type_):
    module = ROUTERS.get(_arrays.framework_of(type_))
    router = importlib.import_module(f"pit.{module}").route if module else None
    routers[type_] = router
    return router
