"""Ops, and how a call of one finds its compiled program.

An `Op` is what a call asks for, without its arrays: an equation, which operand is
sparse and what says so, a stride. Equal ones are one object (`make`). With the
arrays' element types and shapes it becomes MLIR text; the text becomes a program
(_cache.py). A warm call goes from the arguments of a function like pit.linear to the
program without Python (lib/Python/Shortcut.c and Plans.c): a Shortcut knows the op by
the options, the op's plans know the program by the arrays.

Which dimensions are static in the text is a policy (`Shapes`): those of batches
and tokens are dynamic from the start, the others are static until four sizes of
one have been seen, and dynamic from then on. So no number of batch sizes compiles
more than once, and layers get code for their sizes. But few rows, as one token is,
are read in other ways than many: of these, four numbers have programs of their own.
"""

import contextlib
import functools
import json
import math
import threading
from dataclasses import asdict, dataclass, fields

from .. import _arrays, _cache, _call, _locks
from .._library import CUDA, Error
from .._types import BY_NAME
from . import _operand
from ._text import FLOATS, INTEGERS, LAYER_FLOATS, SMALL_FLOATS, Builder, IndexValue

STATIC_SIZES = 4  # of a dimension, before it becomes dynamic
FEW_ROWS = 32  # which may have a program of their own


@dataclass(frozen=True)
class Argument:
    """An array that an op takes: its name in messages, a name for each dimension
    (equal names are equal sizes) or its size, and the element types that it may have."""

    name: str
    dims: tuple
    types: tuple
    alike: bool = True  # has the type of the other arguments that are alike
    widens: bool = False  # or a wider one, where that is a float of 8 bits
    permutable: bool = False  # may be passed with its dimensions in another order
    advice: str = ""  # to those who pass another shape
    remedy: str = ""  # to those who pass another shape or type: what it may be mistaken for


@dataclass(frozen=True)
class IndexArgument:
    """A pit.Index that an op takes, of the dimensions of another argument. `packed` names the
    dimension of what is packed by it, which is as long as the index has positions."""

    name: str
    dims: tuple
    advice: str = ""
    remedy: str = ""
    packed: str = ""


@dataclass(frozen=True)
class Mark:
    """That an operand is sparse, or that not all of a result is wanted. `source` is
    what says where: "values", or the last argument as a "mask", "lengths",
    "routing" or "index", or "nonzero": by its own values. The rest is what
    pit.sparse knows of it."""

    operand: int  # -1: the result
    source: str = "values"
    assume: bool = False
    micro_tile: tuple | None = None
    axis: int | None = None
    live_fraction: float | None = None
    packed: bool = False  # passed, or returned, as a vector of what the index lists
    tile: tuple | None = None  # of the op's loops: pairs of a letter and a size
    # No gradient is wanted where the values are zero. "relu": but for a gradient of this operand
    # that is itself asked for.
    sparse_grad: bool | str = False

    @property
    def label(self):
        return "out" if self.operand < 0 else chr(ord("a") + self.operand)


SELECTOR_TYPES = {"mask": ("i1", "i8"), "lengths": ("i32", "i64"), "routing": ("i32", "i64"),
                  "nonzero": (*FLOATS, *INTEGERS)}


@dataclass(frozen=True)
class Op:
    """The base of all ops. A subclass says in `name` what messages call it."""

    differentiable = True
    autocasts = True  # its floats become torch's type of autocast
    gpu_pipeline = ""  # options of the pipeline for GPUs
    depends_on_sizes = False  # whether run_instead is asked

    def arguments(self):
        """A list of Argument and IndexArgument."""
        raise NotImplementedError

    def dynamic(self):
        """Names of dimensions that are dynamic from the start; True: all, False:
        none will ever be."""
        raise NotImplementedError

    def rows(self):
        """Names of dynamic dimensions that number the rows of a product, of which few are
        read in another way."""
        return ()

    def fixed(self):
        """Names of dimensions that stay static, as no array of a call has them."""
        return ()

    def varying(self):
        """Names of dimensions that are always dynamic, whatever `dynamic` says."""
        return ()

    def stored_names(self):
        """Names of arguments that stay as they are in memory: no gradients, no other types."""
        return ()

    def run_instead(self, call, arrays, out):
        """The result of `call(op, arrays, out)` of another op that is faster for arrays of these
        sizes, or None."""

    def has_packed_result(self):
        """Whether an index alone tells the size of the result."""
        return False

    def exact(self):
        """Names of dimensions whose sizes `results` checks or computes with."""
        return ()

    def build(self, builder, values, orders):
        """Adds the op to a Builder and returns its results. `orders` has, for each
        argument, the order that its dimensions are passed in, None for the usual
        one."""
        raise NotImplementedError

    def text(self, builder, values, orders):
        """The program; `build` adds it to the Builder, whose `chip` is that of a GPU, or None."""
        return builder.text(*self.build(builder, values, orders))

    def results(self, types, sizes):
        """(element type, shape) of each result, from the arguments' element types and
        the sizes of the named dimensions."""
        raise NotImplementedError

    def shape_of_mark(self, mark, shapes):
        """The shape of what a mark is about, from the arguments' shapes."""
        if mark.operand >= 0:
            return shapes[mark.operand]
        sizes = {d: size for argument, shape in zip(self.arguments(), shapes)
                 for d, size in zip(argument.dims, shape)}
        return tuple(sizes[x] for x in self.output)

    def encode(self):
        """A string that `decode` makes this op from."""
        return self.encoded

    @functools.cached_property
    def encoded(self):
        return json.dumps([type(self).__name__, asdict(self)])

    @functools.cached_property
    def plans(self):
        """The plans of its calls, so far."""
        return _call.extension().Plans()


kinds = {}  # by the name of the class
made = {}


def kind(cls):
    """Registers a subclass of Op, for decode."""
    kinds[cls.__name__] = cls
    return cls


def make(cls, *args, **kwargs):
    """An op; equal ones are the same object."""
    return unique(cls(*args, **kwargs))


def unique(op):
    return made.setdefault(op, op)


@functools.lru_cache(maxsize=1024)
def decode(text):
    name, values = json.loads(text)
    cls = kinds[name]
    return make(cls, **{f.name: restore(values[f.name]) for f in fields(cls)})


def restore(value):
    """A field from its JSON."""
    if isinstance(value, list):
        return tuple(map(restore, value))
    if isinstance(value, dict):
        return Mark(**{name: restore(each) for name, each in value.items()})
    return value


# --------------------------------------------------------------------------
# Shapes
# --------------------------------------------------------------------------


dims_lock = _locks.lock()  # of all Shapes


class Shapes:
    """Which dimensions of an op are dynamic; of all calls with equal element
    types."""

    def __init__(self, op):
        dynamic, self.fixed, self.varying = op.dynamic(), op.fixed(), op.varying()
        self.rows = tuple(x for x in op.rows() if x not in self.fixed)
        self.few = set()  # sizes of dims of rows that are static
        self.all = dynamic is True
        self.never = dynamic is False
        self.names = set() if isinstance(dynamic, bool) else set(dynamic or ())
        self.names = self.names.difference(self.fixed).union(self.varying)
        self.seen = {}  # sizes by name

    def dims(self, sizes):
        """Sizes by name, a name for its own size where that is dynamic; and what such sizes
        have to multiply to for that."""
        if self.never:
            return {name: name if name in self.varying else size
                    for name, size in sizes.items()}, 0
        if self.all:
            return {name: size if name in self.fixed else name
                    for name, size in sizes.items()}, 0
        with dims_lock:
            for name, size in sizes.items():
                if name not in self.names and name not in self.fixed:
                    seen = self.seen.setdefault(name, set())
                    seen.add(size)
                    if len(seen) > STATIC_SIZES:
                        self.names.add(name)
            rows, least = tuple(sizes[name] for name in self.rows), 0
            are_few = 0 < math.prod(rows) <= FEW_ROWS and bool(rows)
            if are_few and (rows in self.few or len(self.few) < STATIC_SIZES):
                self.few.add(rows)
                names = self.names.difference(self.rows)
            else:
                names = self.names
                if rows and len(self.few) < STATIC_SIZES:
                    least = FEW_ROWS + 1
            return {name: name if name in names else size
                    for name, size in sizes.items()}, least


def match(op, arguments, infos):
    """Checks the element types, ranks and sizes of arrays; sizes by name."""
    sizes, given_by, first = {}, {}, None
    for argument, info in zip(arguments, infos):
        if isinstance(argument, IndexArgument):
            if not info.is_index:
                raise Error(f"{op.name}: {argument.name} must be a pit.Index (pit.build_index), "
                            f"not a {info.type}")
            shape = info.shape
        else:
            if info.is_index:
                raise Error(f"{op.name}: {argument.name} must be an array, not a pit.Index")
            check_type(op, argument, info, first)
            if argument.alike and first is None:
                first = argument.name, info.type
            shape = info.shape
        if len(shape) != len(argument.dims):
            raise Error(f"{op.name}: {argument.name} has shape {shown(shape)}; it must have rank "
                        f"{len(argument.dims)}: ({', '.join(map(str, argument.dims))}){argument.advice}"
                        f"{argument.remedy}")
        for position, (dim, size) in enumerate(zip(argument.dims, shape)):
            if isinstance(dim, int):
                if size != dim:
                    raise Error(f"{op.name}: dimension {position} of {argument.name} is {size}; "
                                f"it must be {dim}{argument.advice}")
                continue
            if sizes.setdefault(dim, size) != size:
                other, at = given_by[dim]
                raise Error(f"{op.name}: dimension {position} of {argument.name} is {size}, but "
                            f"dimension {at} of {other} is {sizes[dim]}; both are '{dim}'"
                            f"{argument.advice}")
            given_by.setdefault(dim, (argument.name, position))
        if getattr(argument, "packed", ""):
            expect_positions(op, argument, info, sizes, given_by)
    return sizes


def expect_positions(op, argument, info, sizes, given_by):
    """A packed vector is as long as its index has positions."""
    if any(size != 1 for size in info.index[0]):
        raise Error(f"{op.name}: {argument.name} has micro-tiles of {shown(info.index[0])}; what "
                    "is packed by it consists of single elements, micro_tile (1, ..., 1)")
    if sizes.setdefault(argument.packed, info.extent) != info.extent:
        raise Error(f"{op.name}: {given_by[argument.packed][0]} has "
                    f"{sizes[argument.packed]} elements, {argument.name} has {info.extent} "
                    "positions; packed values have one for each position")


# Types that have all values of one which products do not take.
WIDER = {"i1": ("i8", "f32"), "u8": ("i16", "f32"), "u16": ("i32", "f32"), "u32": ("i64", "f64")}


def check_type(op, argument, info, first):
    if info.type not in argument.types:
        wider = [name for name in WIDER.get(info.type, ()) if name in argument.types]
        advice = (f"; convert it, as to {BY_NAME[wider[0]].array}, which has all values of "
                  f"{info.type}" if wider else "")
        raise Error(f"{op.name}: {argument.name} has elements of {info.type}; it takes "
                    f"{', '.join(argument.types)}{argument.remedy or advice}")
    if (argument.widens and first is not None and first[1] in SMALL_FLOATS
            and info.type in LAYER_FLOATS):
        return
    if argument.alike and first is not None and info.type != first[1]:
        raise Error(f"{op.name}: {argument.name} has elements of {info.type}, {first[0]} of "
                    f"{first[1]}; convert one of them")


def shown(shape):
    return f"({', '.join(map(str, shape))})"


# --------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The text of an op for given arrays, and how these are passed."""

    op: Op
    text: str
    what: str  # it is, for people
    prepare: tuple  # a function for each array, None: as it is
    options: dict  # of the compilation
    infos: tuple  # of the arrays
    dims: dict  # sizes by names, the name where it is dynamic
    least: int  # that dynamic sizes have to multiply to
    orders: tuple  # that the text has dimensions in

    def program(self):
        return _cache.program(self.text, self.what, **self.options)

    def passed(self, arrays):
        return [x if f is None else f(x) for f, x in zip(self.prepare, arrays)]

    def known(self, entry):
        """A _pit_call.Plan, for calls on arrays to which this plan applies as well: the
        dynamic dimensions may have any sizes, unless the op asks about them."""
        numbers, asked = {}, 1  # of dynamic dims; the product of those that the op asks about
        sizes = match(self.op, self.op.arguments(), self.infos)
        for name, dim in self.dims.items():
            if isinstance(dim, str) and name in self.op.exact():
                asked *= sizes[name]
            elif isinstance(dim, str):
                sizes[name] = Dynamic(sizes[name], -1 - len(numbers))
                numbers[name] = sizes[name].number
        least = -(-self.least // asked) if asked else 0
        arguments = tuple(
            (tuple(numbers.get(d, int(sizes.get(d, d))) for d in argument.dims), order,
             getattr(argument, "permutable", False))
            for argument, order in zip(self.op.arguments(), self.orders))
        (_, shape), *others = self.op.results(tuple(info.type for info in self.infos), sizes)
        result = None if others else tuple(d.number if isinstance(d, Dynamic) else d for d in shape)
        return _call.extension().Plan(
            entry.__call__, self.infos[0].device, arguments, result, least)


class Dynamic(int):
    """A size that calls may vary, with the number that stands for it in a _pit_call.Plan."""

    def __new__(cls, size, number):
        made = super().__new__(cls, size)
        made.number = number
        return made


MAX_OPERANDS = 12  # of a call that goes without Python, as in lib/Python/Call.h
shapes = {}  # by op and element types
capturing = threading.local()  # .plans is a list while pit.explain looks at a call


def plan(op, arrays):
    """The Plan of a call."""
    return plan_of(op, [_operand.info(f"{op.name}: {argument.name}", array)
                        for argument, array in zip(op.arguments(), arrays)])


def plan_of(op, infos):
    """The Plan of a call on arrays of which only the Info is known."""
    arguments = op.arguments()
    sizes = match(op, arguments, infos)
    device = common_device(op, arguments, infos)
    types = tuple(info.type for info in infos)
    op.results(types, sizes)  # an op may have conditions of its own
    kept = shapes.setdefault((op, types), Shapes(op))
    dims, least = kept.dims(sizes)
    options = _operand.compile_options(device, op.gpu_pipeline)
    builder = Builder(op.name, on_gpu=device[0] == CUDA)
    builder.chip = options.get("chip")
    values, orders = [], []
    for argument, info in zip(arguments, infos):
        if isinstance(argument, IndexArgument):
            values.append(builder.index_argument(
                argument.name, *info.index, argument.dims,
                [dims.get(d, d) for d in argument.dims]))
            orders.append(None)
            continue
        order = info.order if argument.permutable else None
        orders.append(order)
        names = argument.dims if order is None else [argument.dims[i] for i in order]
        values.append(builder.argument(argument.name, [dims.get(d, d) for d in names], info.type))
    text = op.text(builder, values, orders)
    what = f"{op.name}({', '.join(describe(v) for v in values)})"
    prepare = tuple(
        _operand.prepare(info, order) for info, order in zip(infos, orders))
    return Plan(op, text, what, prepare, options, tuple(infos), dims, least, tuple(orders))


def describe(value):
    if isinstance(value, IndexValue):
        return "index"
    return f"{value.type}[{', '.join('?' if isinstance(d, str) else str(d) for d in value.dims)}]"


def common_device(op, arguments, infos):
    device = None
    for argument, info in zip(arguments, infos):
        if device is None:
            first, device = argument.name, info.device
        elif info.device != device:
            raise Error(f"{op.name}: {argument.name} is on {_operand.device_name(info.device)}, "
                        f"{first} on {_operand.device_name(device)}; all must be on one device")
    return device


def result_infos(op, types, shapes_of_arguments):
    """(element type, shape) of each result of an op on such arrays."""
    infos = [_operand.Info(type_, tuple(shape)) for type_, shape in
             zip(types, shapes_of_arguments)]
    return op.results(tuple(types), match(op, op.arguments(), infos))


def run(op, arrays, out=None):
    """Runs an op on arrays, compiled before the first call of its kind."""
    if isinstance(op, str):  # torch.compile is looking
        from .. import torch
        return torch.run_in_graph(op, arrays, out)
    _operand.expect_one_shape(op, arrays)
    route = _operand.route(arrays)
    if route is not None:
        return route(op, arrays, out)
    return call(op, arrays, out)


class Captured(Exception):
    """Ends a call that `capture` looks at."""


@contextlib.contextmanager
def capture():
    """A list of (plan, arrays) of the first op that is called meanwhile by this thread,
    which is not run: that ends what is done."""
    extension = _call.extension()
    capturing.plans = plans = []
    extension.pause(1)
    try:
        yield plans
    except Captured:
        pass
    finally:
        extension.pause(-1)
        capturing.plans = None


def call(op, arrays, out=None):
    """The same for arrays that are memory: no tracers, no gradients."""
    if op.depends_on_sizes:
        found = op.run_instead(call, arrays, out)
        if found is not None:
            return found
    found = op.plans.run(out, *arrays)
    if found is not NotImplemented:
        return found
    if out is not None and not _operand.is_result(f"{op.name}: out", out):
        return _operand.write_by_copy(f"{op.name}: out", out, lambda made: call(op, arrays, made))
    given, arrays = arrays, [_operand.readable(x) for x in arrays]
    if any([x is not y for x, y in zip(given, arrays)]):
        found = op.plans.run(out, *arrays)
        if found is not NotImplemented:
            return found
    planned = plan(op, arrays)
    if getattr(capturing, "plans", None) is not None:
        capturing.plans.append((planned, arrays))
        raise Captured
    entry = planned.program()[op.name]
    if op.has_packed_result():  # of a size that no array tells
        return run_packed(planned, entry, arrays, out)
    if len(arrays) <= MAX_OPERANDS:
        op.plans.add(planned.known(entry))
        found = op.plans.run(out, *arrays)
        if found is not NotImplemented:
            return found
    # Too many for that, or the entry says what is wrong.
    return entry(*planned.passed(arrays), out=out)


def run_packed(planned, entry, arrays, out):
    """A call whose result, a vector, is made here, unless it is given."""
    if out is not None:
        return entry(*planned.passed(arrays), out=out)
    op, infos = planned.op, planned.infos
    (type_, shape), = op.results(
        tuple(info.type for info in infos), match(op, op.arguments(), infos))
    like = _arrays.viewed(arrays[0])
    adapter = _arrays.adapter_of(type(like))
    make, how = adapter.maker(type_, like)
    made = make(shape, **how) if isinstance(how, dict) else make(shape, (1,), how)
    entry(*planned.passed(arrays), out=made)
    return adapter.finish(made)


class Shortcut:
    """The way of a call that was made before, which a function like pit.linear tries first.
    `run((out, *arrays, *options))`, where None is an array that is not given, returns the
    result, or NotImplemented unless `add` has told the op for such options and ranks, and
    that was called on such arrays."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.run = self.first

    def first(self, given):
        self.table = _call.extension().Shortcut(self.arrays)
        self.run = self.table.run
        return self.run(given)

    def add(self, given, op, collapsed=()):
        """`collapsed` are the numbers of the arrays of which the op sees rows."""
        if not isinstance(op, str):  # torch.compile is looking
            self.table.add(given, op.plans, sum(1 << i for i in collapsed))
