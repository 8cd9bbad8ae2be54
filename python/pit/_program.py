"""Programs and their entry points."""

import inspect
import weakref
from ctypes import byref, c_void_p
from dataclasses import dataclass

from . import _call, _library, _listing, _types
from ._context import default_by_word, default_context, expect_context
from ._library import CPU, Error

TENSOR, INDEX, SCALAR = 0, 1, 2
KINDS = {TENSOR: "tensor", INDEX: "index", SCALAR: "scalar"}


@dataclass(frozen=True)
class Signature:
    """The type of an argument or a result. A dimension of any size is -1, a
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
        """The argument to give, as messages have it."""
        if self.kind == "tensor":
            return f"must be an array, {self}"
        if self.kind == "scalar":
            return f"must be a number, {self}"
        return (f"must be a pit.Index, as pit.build_index(..., micro_tile={list(self.micro_tile)}, "
                f"axis={self.axis}) makes")


@dataclass(frozen=True)
class Choice:
    """What calls chose for a mark and a shape of its value. `axis` and
    `micro_tile` are None where the variant is dense, `live_fraction` also where no
    look was needed."""

    mark: int
    shape: tuple
    calls: int
    scans: int
    variant: int
    variants: int
    axis: int | None
    micro_tile: tuple | None
    cost: float
    live_fraction: float | None

    @staticmethod
    def of(choice):
        dense = choice.axis < 0
        return Choice(
            choice.mark, tuple(choice.shape[: choice.rank]), choice.calls, choice.scans,
            choice.variant, choice.variants, None if dense else choice.axis,
            None if dense else tuple(choice.micro_tile[: choice.rank]), choice.cost,
            None if choice.live_fraction < 0 else choice.live_fraction)


def signature_of(info):
    dims = lambda values: tuple(values[: info.rank])
    if info.kind == INDEX:
        return Signature("index", None, (-1,) * info.rank, info.axis, dims(info.micro_tile))
    type_ = _types.BY_CODE[info.code, info.bits]
    return Signature(KINDS[info.kind], type_.name, dims(info.dims))


def describe(name, arguments, results):
    """An entry's name and what it takes and gives, as text."""
    listed = lambda values: ", ".join(map(str, values))
    return f"<pit entry {name}({listed(arguments)}) -> ({listed(results)})>"


class Entry(_library.Handle):
    """A function of a program.

    `entry(a, b)` makes the results beside the first array, `entry(a, b,
    out=[c])` writes them into arrays of the caller's. `context` is by default
    the one of the arrays' device, `stream` their framework's current one. On a
    GPU a call returns before the work is done, as torch's and CuPy's do.
    """

    _advice = "load or compile its program in each process"
    # Python calls what lies in this slot without a frame of its own between.
    __slots__ = ("__call__",)
    __signature__ = inspect.signature(lambda *args, out=None, context=None, stream=None: None)

    def __init__(self, code, handle):
        library = _library.runtime()
        self.handle = handle
        self.name = library.pit_entry_name(handle).decode()
        self.__name__ = self.name
        self.arguments = self._signatures(library.pit_entry_num_args, library.pit_entry_arg)
        self.results = self._signatures(library.pit_entry_num_results, library.pit_entry_result)
        self.workspace = library.pit_entry_workspace(handle)
        self.__call__ = _call.extension().Caller(handle, code, self.arguments, self.results)

    def _signatures(self, count, get):
        info = _library.ArgInfo()
        found = []
        for i in range(count(self.handle)):
            get(self.handle, i, byref(info))
            found.append(signature_of(info))
        return found

    def __repr__(self):
        return describe(self.name, self.arguments, self.results)

    def choices(self, context=None):
        """What calls chose between variants, for each mark and shape, the latest
        first; of the CPU's default context, or another one."""
        library = _library.runtime()
        handle = expect_context(context or default_context()).handle
        room = library.pit_entry_choices(handle, self.handle, None, 0)
        found = (_library.ChoiceStruct * room)()
        count = library.pit_entry_choices(handle, self.handle, found, room)
        return [Choice.of(each) for each in found[: min(count, room)]]


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
