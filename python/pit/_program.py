"""Programs and their entry points."""

import ctypes
import struct
import weakref
from ctypes import byref, c_int64, c_void_p
from dataclasses import dataclass

from . import _arrays, _library, _listing, _types
from ._context import DEVICE_OFFSET, default_by_word, default_context, expect_context
from ._index import Index
from ._library import CPU, CUDA, MAX_RANK, Error, Tensor

TENSOR, INDEX, SCALAR = 0, 1, 2
KINDS = {TENSOR: "tensor", INDEX: "index", SCALAR: "scalar"}


@dataclass(frozen=True)
class Signature:
    """What an argument or a result must be. A dimension of any size is -1, a
    whole dimension of a micro-tile is 0."""

    kind: str
    type: str | None  # of an element; MLIR's name
    shape: tuple
    axis: int | None = None
    micro_tile: tuple | None = None

    def __str__(self):
        dims = ", ".join("?" if d < 0 else str(d) for d in self.shape)
        if self.kind == "scalar":
            return self.type
        if self.kind == "tensor":
            return f"{self.type}[{dims}]"
        tile = ", ".join("*" if t == 0 else str(t) for t in self.micro_tile)
        return f"index(axis {self.axis}, micro-tile [{tile}])"

    def wanted(self):
        """What to give, as messages have it."""
        if self.kind == "tensor":
            return f"must be an array, {self}"
        if self.kind == "scalar":
            return f"must be a number, {self}"
        tile = ", ".join("None" if t == 0 else str(t) for t in self.micro_tile)
        return (f"must be a pit.Index, as pit.build_index(..., micro_tile=[{tile}], "
                f"axis={self.axis}) makes")


@dataclass(frozen=True)
class Choice:
    """What calls chose for a mark and a shape of its value. `axis` and
    `micro_tile` are None where the variant is dense, `coverage` also where no
    look was needed."""

    mark: int
    shape: tuple
    calls: int
    looks: int
    variant: int
    variants: int
    axis: int | None
    micro_tile: tuple | None
    cost: float
    coverage: float | None

    @staticmethod
    def of(choice):
        dense = choice.axis < 0
        return Choice(
            choice.mark, tuple(choice.shape[: choice.rank]), choice.calls, choice.looks,
            choice.variant, choice.variants, None if dense else choice.axis,
            None if dense else tuple(choice.micro_tile[: choice.rank]), choice.cost,
            None if choice.coverage < 0 else choice.coverage)


def signature_of(info):
    dims = lambda values: tuple(values[: info.rank])
    if info.kind == INDEX:
        return Signature("index", None, (-1,) * info.rank, info.axis, dims(info.micro_tile))
    type_ = _types.BY_CODE[info.code, info.bits]
    return Signature(KINDS[info.kind], type_.name, dims(info.dims))


def pack_scalar(type_, value):
    """The bytes of a number."""
    try:
        if type_.name == "i1" and value not in (0, 1):
            raise OverflowError  # struct takes anything for a bool
        if type_.name == "bf16":
            bits, = struct.unpack("<I", struct.pack("<f", value))
            if value == value:  # to nearest even
                bits += 0x7FFF + (bits >> 16 & 1)
            return struct.pack("<H", bits >> 16 & 0xFFFF)
        return struct.pack("<" + type_.pack, value)
    except (struct.error, OverflowError):
        raise Error(f"{value!r} is no value of {type_.name}") from None


def count(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Call:
    """Memory that one call at a time uses: the lists of pointers and a DLTensor
    for each argument and result."""

    def __init__(self, num_args, num_results):
        self.ins = (c_void_p * max(1, num_args))()
        self.outs = (c_void_p * max(1, num_results))()
        self.slots = [Tensor() for _ in range(num_args + num_results)]
        self.numbers = [(c_int64 * 1)() for _ in range(num_args)]
        self.shape = (c_int64 * MAX_RANK)()
        self.ins_address = ctypes.addressof(self.ins)
        self.outs_address = ctypes.addressof(self.outs)


class Entry(_library.Handle):
    """A function of a program.

    `entry(a, b)` makes the results beside the first array, `entry(a, b,
    out=[c])` writes them into arrays of the caller's. `context` is by default
    the one of the arrays' device, `stream` their framework's current one. On a
    GPU a call returns before the work is done, as torch's and CuPy's do.
    """

    _advice = "load or compile its program in each process"

    def __init__(self, code, handle):
        library = _library.runtime()
        self._code = code
        self.handle = handle
        self.name = library.pit_entry_name(handle).decode()
        self.__name__ = self.name
        self.arguments = self._signatures(library.pit_entry_num_args, library.pit_entry_arg)
        self.results = self._signatures(library.pit_entry_num_results, library.pit_entry_result)
        self.workspace = library.pit_entry_workspace(handle)
        self._run = library.pit_entry_run
        self._result_shape = library.pit_entry_result_shape
        self._scalars = [
            _types.BY_NAME[a.type] if a.kind == "scalar" else None for a in self.arguments]
        self._is_index = [a.kind == "index" for a in self.arguments]
        self._counts = len(self.arguments), len(self.results)
        self._calls = []  # free ones

    def _signatures(self, count, get):
        info = _library.ArgInfo()
        found = []
        for i in range(count(self.handle)):
            get(self.handle, i, byref(info))
            found.append(signature_of(info))
        return found

    def __repr__(self):
        listed = lambda values: ", ".join(map(str, values))
        return f"<pit entry {self.name}({listed(self.arguments)}) -> ({listed(self.results)})>"

    def choices(self, context=None):
        """What calls chose between variants, for each mark and shape, the latest
        first; of the CPU's default context, or another one."""
        library = _library.runtime()
        handle = expect_context(context or default_context()).handle
        room = library.pit_entry_choices(handle, self.handle, None, 0)
        found = (_library.ChoiceStruct * room)()
        count = library.pit_entry_choices(handle, self.handle, found, room)
        return [Choice.of(each) for each in found[: min(count, room)]]

    def __call__(self, *args, out=None, context=None, stream=None):
        try:
            call = self._calls.pop()
        except IndexError:
            call = Call(*self._counts)
        try:
            return self._call(call, args, out, context, stream)
        finally:
            self._calls.append(call)

    def _call(self, call, args, out, context, stream):
        num_args, num_results = self._counts
        if len(args) != num_args:
            raise Error(f"{self.name} takes {count(num_args, 'argument')}, not {len(args)}: "
                        f"{self!r}")
        ins, outs, slots = call.ins, call.outs, call.slots
        alive = []
        like = adapter = index = None
        first = 0
        for i, value in enumerate(args):
            scalar = self._scalars[i]
            if scalar is not None:
                try:
                    if self._scalar(call, i, scalar, value):
                        continue
                except Error as error:
                    raise Error(f"{self.name}: argument {i}: {error}") from None
            if self._is_index[i]:
                index = self._index(i, value)
                ins[i] = index.address
                continue
            try:
                found = _arrays.adapter_of(type(value))
                ins[i], keep = found.view(value, slots[i], False)
            except Error as error:
                wanted = "" if hasattr(value, "__dlpack__") else f" {self.arguments[i].wanted()}"
                raise Error(f"{self.name}: argument {i}{wanted}: {error}") from None
            alive.append(keep)
            if like is None and scalar is None:
                like, first = _arrays.viewed(value), ins[i]
                adapter = _arrays.adapter_of(type(like))

        given = out
        if out is None:
            out = [None] * num_results
        elif not isinstance(out, (list, tuple)):
            out = (out,)
        if len(out) != num_results:
            raise Error(f"{self.name} has {count(num_results, 'result')}, out has {len(out)}")
        if context is None:
            context = self._context(first, out) if index is None else index.context
        else:
            expect_context(context)
        results, made = [], []
        for i, result in enumerate(out):
            try:
                if result is None:
                    if like is None:
                        raise Error("there is no array argument to make it beside; give it with "
                                    "out=")
                    result = self._allocate(call, i, like, adapter, context)
                    made.append(i)
                found = _arrays.adapter_of(type(result))
                outs[i], keep = found.view(result, slots[num_args + i], True)
            except Error as error:
                if error.status:  # the runtime says itself what is wrong
                    raise
                raise Error(f"{self.name}: result {i}: {error}") from None
            alive.append(keep)
            results.append(result)
            if adapter is None:
                adapter = _arrays.adapter_of(type(_arrays.viewed(result)))

        if context.device_type == CUDA:
            stream = _arrays.stream_handle(stream, adapter, context.device_id)
        status = self._run(context.handle, self.handle, call.ins_address, num_args,
                           call.outs_address, num_results, stream)
        if status:
            raise _library.status_error(status, context.handle)
        if given is not None and not made:
            return given
        for i in made:
            results[i] = adapter.finish(results[i])
        return results[0] if num_results == 1 else tuple(results)

    def _index(self, i, value):
        if not isinstance(value, Index):
            raise Error(f"{self.name}: argument {i} {self.arguments[i].wanted()}; it is a "
                        f"{type(value).__name__}")
        if value.address is None:
            raise Error(f"{self.name}: argument {i} is an index that could not be built again")
        return value

    @staticmethod
    def _scalar(call, i, type_, value):
        """Passes a number; false if `value` is an array."""
        if not isinstance(value, (int, float)):
            # numpy's scalars are numbers, arrays of rank 0 are arrays.
            if hasattr(value, "__dlpack__") or not hasattr(value, "item"):
                return False
            value = value.item()
        memory, slot = call.numbers[i], call.slots[i]
        data = pack_scalar(type_, value)
        ctypes.memmove(memory, data, len(data))
        slot.data = ctypes.addressof(memory)
        slot.device_type, slot.device_id, slot.ndim = CPU, 0, 0
        slot.code, slot.bits, slot.lanes = type_.code, type_.bits, 1
        slot.shape = slot.strides = None
        slot.byte_offset = 0
        call.ins[i] = ctypes.addressof(slot)
        return True

    @staticmethod
    def _context(first, out):
        """The default one of the device of the first array."""
        if first:
            return default_by_word(c_int64.from_address(first + DEVICE_OFFSET).value)
        if not out or out[0] is None:
            return default_by_word(CPU)
        slot = Tensor()
        try:
            address, alive = _arrays.adapter_of(type(out[0])).view(out[0], slot, False)
        except Error:  # which is said when it is passed
            return default_by_word(CPU)
        word = c_int64.from_address(address + DEVICE_OFFSET).value
        del alive
        return default_by_word(word)

    def _allocate(self, call, i, like, adapter, context):
        result = self.results[i]
        shape = result.shape
        if -1 in shape:
            context.check(self._result_shape(
                context.handle, self.handle, call.ins_address, self._counts[0], i, call.shape))
            shape = tuple(call.shape[: len(shape)])
            if -1 in shape:
                raise Error(f"the arguments do not tell its shape {shape}; give it with out=")
        return adapter.empty(shape, _types.BY_NAME[result.type], like)


class Code:
    """What a program and its entries hold: the loaded code."""

    def __init__(self, handle):
        self.handle = handle
        weakref.finalize(self, _library.runtime().pit_program_close, handle).atexit = False


class Program(_library.Handle):
    """A compiled program: its entries are its attributes, `program.f(a, b)`, and
    its items, `program["f"]`."""

    _advice = "load or compile it in each process"

    def __init__(self, handle, source=None):
        library = _library.runtime()
        code = Code(handle)
        self._source = source  # the text and the options of the compiler
        self._entries = {}
        for i in range(library.pit_program_num_entries(handle)):
            entry = Entry(code, library.pit_program_entry_at(handle, i))
            self._entries[entry.name] = entry

    def show(self, level=3):
        """The program of a level, as text: 1 (what was compiled), 3 (tiles),
        "mlir-llvm", "llvm", or "ptx" of a program for GPUs."""
        return _listing.show(self._source, level)

    @property
    def entries(self):
        """Names, in the order of the source."""
        return list(self._entries)

    def __getitem__(self, name):
        try:
            return self._entries[name]
        except KeyError:
            raise Error(f"the program has no entry '{name}'; it has: "
                        f"{', '.join(self._entries) or 'none'}") from None

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except Error as error:
            raise AttributeError(str(error)) from None

    def __dir__(self):
        return [*super().__dir__(), *self._entries]

    def __repr__(self):
        return f"<pit.Program of {', '.join(self._entries) or 'nothing'}>"


def load(path):
    """Loads a shared library that `pit-compile --emit=so` made."""
    return open_program(path)


def open_program(path, source=None):
    """The same; `source` is what it was compiled from, for Program.show."""
    library = _library.runtime()
    reporter = default_by_word(CPU)  # receives the message
    handle = c_void_p()
    name = _library.c_path(path, "path")
    # A name without a slash would be searched for elsewhere.
    if b"/" not in name:
        name = b"./" + name
    reporter.check(library.pit_program_open(reporter.handle, name, byref(handle)))
    return Program(handle.value, source)
