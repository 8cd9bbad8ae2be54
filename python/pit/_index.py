"""Indices: which micro-tiles of a tensor are live. Index.h says what they
are."""

import ctypes
import functools
import itertools
import weakref
from ctypes import byref, c_int64, c_void_p

from . import _arrays, _call, _library, _types
from ._context import DEVICE_OFFSET, default_by_word, expect_context
from ._library import CPU, MAX_RANK, Error, Tensor, integer

UNORDERED, ON_DEVICE, DENSE = 1, 2, 4


def source_name(number):
    name = _library.runtime().pit_source_name(number)
    return None if name is None else name.decode()


@functools.lru_cache(maxsize=None)
def sources():
    """The numbers of the sources that an index is built of, by their names."""
    names = iter(map(source_name, itertools.count()).__next__, None)
    return {name: number for number, name in enumerate(names) if name not in ("import", "index")}


class Memory:
    """An array of an index, which it keeps alive: `numpy.asarray` of it on the
    CPU, `torch.as_tensor(..., device="cuda")` or `cupy.asarray` on a GPU, make
    no copy."""

    def __init__(self, index, address, length, type_name):
        self.index = index
        self.length = length
        type_ = _types.BY_NAME[type_name]
        on_cpu = index.context.device_type == CPU
        # Nobody should write, but torch takes no read-only memory of a GPU.
        interface = {"data": (address or 0, on_cpu), "shape": (length,), "version": 3,
                     "typestr": f"<i{type_.size}", "strides": None}
        if on_cpu:
            self.__array_interface__ = interface
        else:
            self.__cuda_array_interface__ = interface

    def __len__(self):
        return self.length


class Index(_library.Handle):
    """An index, as an argument of programs. Made by build_index and
    import_index. `version` counts its builds: what reads an index twice, as gradients do,
    compares it, because a build writes to the memory of the one before."""

    def __init__(self, context, spec):
        self.context = context
        self.spec = spec
        self.address = None
        self.version = 0
        self._alive = self._builder = None

    def _get(self):
        return _library.IndexStruct.from_address(self.address)

    def _array(self, name, length, type_name="i32"):
        address = getattr(self._get(), name)
        return Memory(self, address, length, type_name) if address or not length else None

    # On a GPU extent, total and max_count are upper bounds: only the device
    # knows the values.
    groups = property(lambda self: self._get().groups)
    extent = property(lambda self: self._get().extent, doc="the length of a packed tensor")
    total = property(lambda self: self._get().total, doc="live micro-tiles")
    max_count = property(lambda self: self._get().max_count, doc="of the fullest group")
    capacity = property(lambda self: self._get().capacity)
    axis = property(lambda self: self._get().axis)
    source = property(lambda self: source_name(self._get().source))

    @property
    def shape(self):
        """The shape of the tensor that it is an index of."""
        return tuple(self._get().shape[: self.spec.rank])

    @property
    def micro_tile(self):
        """0 is a whole dimension."""
        return tuple(self._get().micro_tile[: self.spec.rank])

    @property
    def counts(self):
        return self._array("counts", self.groups)

    @property
    def offsets(self):
        return self._array("offsets", self.groups, "i64")

    @property
    def ids(self):
        return self._array("ids", self.capacity)

    @property
    def origin(self):
        """The source's slot of each id, or None."""
        return self._array("origin", self.capacity) if self._get().origin else None

    def __repr__(self):
        tile = ", ".join("*" if t == 0 else str(t) for t in self.micro_tile)
        return (f"<pit.Index of {self.shape}, axis {self.axis}, micro-tile [{tile}], "
                f"{self.groups} groups>")

    def rebuild(self, data, stream=None):
        """Builds it again from other data of the same kind, in its memory. On a
        GPU: on the data's framework's current stream, or on `stream`; what uses
        the index has to follow on that stream."""
        if self._builder is None:
            raise Error("an imported index cannot be built again")
        context = self.context
        data, read = read_data(data)
        library, tensor = _library.runtime(), Tensor.from_address(read.address)
        if tensor.device_type != CPU:
            set_stream(library, context, self._builder, data, stream)
        background = pack_background(tensor, self._background)
        address_of_index = c_void_p()
        self.address = None
        self.version += 1  # a build that fails has written to the memory, too
        context.check(library.pit_index_build(
            self._builder, byref(self.spec), self._source, read.address, background,
            byref(address_of_index)))
        del read  # until here
        self.address = address_of_index.value
        return self


def read_data(data, what="index data", as_it_is=False):
    """An array, or a copy of it that can be read, and what C reads of it."""
    try:
        data = data if as_it_is else _arrays.readable(data)
        return data, _call.read(data)
    except Error as error:
        raise Error(f"{what}: {error}") from None


def context_of(read):
    """The default one of an array's device."""
    return default_by_word(c_int64.from_address(read.address + DEVICE_OFFSET).value)


def set_stream(library, context, builder, data, stream):
    """Has a builder work on a stream, or where the framework of what it reads is."""
    framework = _arrays.adapter_of(type(_arrays.viewed(data)))
    handle = _arrays.stream_handle(stream, framework, context.device_id)
    context.check(library.pit_index_builder_set_stream(builder, handle))


def pack_background(tensor, value):
    """The bytes of one element of a tensor; None for None."""
    if value is None:
        return None
    type_ = _types.BY_CODE.get((tensor.code, tensor.bits))
    if type_ is None:
        raise Error(f"index data: no element type of code {tensor.code} and {tensor.bits} bits")
    return _call.pack_scalar(type_, value)


def shape_of(data, source, shape):
    """The shape of the tensor that an index is of."""
    if source not in sources():
        raise Error(f"no index source '{source}'; there are: {', '.join(sources())}")
    if shape is not None:
        return shape
    if source not in ("values", "mask"):
        raise Error(f"an index from {source} needs the shape of its tensor")
    try:
        return tuple(data.shape)
    except AttributeError:
        raise Error(f"index data: a {type(data).__name__} is no array") from None


def release(builder, held):
    """Destroys a builder, then lets its context go."""
    _library.runtime().pit_index_builder_destroy(builder)
    held.clear()


def sizes(values, what):
    """A size for each dimension."""
    try:
        if None in (values := tuple(values)):
            raise Error(f"{what} has a size of None; 0 is the whole dimension")
        return [integer(value, what) for value in values]
    except TypeError:
        raise Error(f"{what} must be a list of integers, not {values!r}") from None


def make_spec(shape, micro_tile, axis, step, flags, chunk_size, capacity):
    lists = [sizes(shape, "shape"), sizes(micro_tile, "micro_tile"), sizes(step or (), "step")]
    rank = len(lists[0])
    if not 0 < rank <= MAX_RANK:
        raise Error(f"a tensor of rank {rank}; it must be in [1, {MAX_RANK}]")
    for values, what in zip(lists[1:], ("a micro-tile", "steps")):
        if len(values) != rank and (values or what == "a micro-tile"):
            raise Error(f"{what} of {len(values)} sizes for a shape of {rank}")
    shape, micro_tile, step = [(c_int64 * MAX_RANK)(*values) for values in lists]
    return _library.IndexSpec(rank, integer(axis, "axis", 32), shape, micro_tile, step, flags,
                              integer(chunk_size, "chunk_size"), integer(capacity, "capacity"))


def build_index(data, micro_tile, axis, source="values", shape=None, background=None, step=None,
                unordered=False, dense=False, chunk_size=0, capacity=0, context=None, stream=None):
    """Builds the index of a tensor from an array.

    `source` says what `data` is: the tensor's "values", a "mask" or "mask_bits"
    of it, the "lengths" of its rows, a "routing" of tokens to experts, "blocks":
    the live (group, id) pairs, or "row_lengths": how many rows of each of several
    matrices, one after the other. `shape` is the tensor's; by default
    the data's. In a micro-tile, 0 is the whole dimension. With
    `dense` a GPU packs the groups' ids without gaps, as the CPU always does.
    """
    shape = shape_of(data, source, shape)
    library = _library.runtime()
    if context is None:
        data, read = read_data(data)
        context = context_of(read)
        del read
    expect_context(context)
    flags = (UNORDERED if unordered else 0) | (DENSE if dense else 0)
    spec = make_spec(shape, micro_tile, axis, step, flags, chunk_size, capacity)
    index = Index(context, spec)
    builder = c_void_p()
    context.check(library.pit_index_builder_create(context.handle, byref(builder)))
    index._builder = builder.value
    weakref.finalize(index, release, builder.value, [context]).atexit = False
    index._source, index._background = sources()[source], background
    return index.rebuild(data, stream)


def import_index(shape, micro_tile, axis, counts, offsets, ids, origin=None, step=None,
                 unordered=False, context=None):
    """An index of the caller's own arrays, which are not copied: counts (i32)
    and offsets (i64) of each group, ids (i32) and perhaps their origin (i32).
    On the CPU they are checked; what is in a GPU's memory is the caller's
    promise."""
    arrays = _library.IndexArrays()
    alive, on_device = [], False
    for name, array, type_name in (("counts", counts, "i32"), ("offsets", offsets, "i64"),
                                   ("ids", ids, "i32"), ("origin", origin, "i32")):
        if array is None:
            continue
        _, read = read_data(array, f"index {name}", as_it_is=True)
        tensor = Tensor.from_address(read.address)
        type_ = _types.BY_NAME[type_name]
        if (tensor.code, tensor.bits) != (type_.code, type_.bits):
            raise Error(f"index {name}: the elements must be {type_name}")
        extent = c_int64.from_address(tensor.shape).value if tensor.ndim == 1 else -1
        stride = c_int64.from_address(tensor.strides).value if tensor.strides else 1
        if extent < 0 or (stride != 1 and extent > 1):
            raise Error(f"index {name}: the array must have one dimension, contiguous")
        if context is None:
            context = context_of(read)
        on_device = tensor.device_type != CPU
        setattr(arrays, name, (tensor.data or 0) + tensor.byte_offset)
        if name == "counts":
            arrays.groups = extent
        elif name == "ids":
            arrays.capacity = extent
        alive.append(read)
    expect_context(context)
    flags = (UNORDERED if unordered else 0) | (ON_DEVICE if on_device else 0)
    index = Index(context, make_spec(shape, micro_tile, axis, step, flags, 0, 0))
    struct = _library.IndexStruct()
    context.check(_library.runtime().pit_index_import(
        context.handle, byref(index.spec), byref(arrays), byref(struct)))
    index.address = ctypes.addressof(struct)
    index._alive = (struct, alive)
    return index
