"""Draws programs of several ops: what compose_moves.py, compose_ops.py and
compose_flow.py add to a function, from a pool of tensors that are in scope. The
structure depends on the seed alone, as in draw.py."""

import random
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from dtypes import BF16, F16, F32, F64, I16, I32, I64, I8
from linalg_ref import literal
from parts import Parts
from program import Dim, Program, TensorType

MAX_POINTS = 150_000  # of an op's iteration space
# Sums stay below, so that floats have no reason to overflow.
LIMITS = {"f64": 1e12, "f32": 1e9, "bf16": 1e9, "f16": 3e3}


class Retry(Exception):
    """What was drawn does not fit what there is."""


class Extent(Dim):
    """A dim that follows from others, in the program and for a run alike."""

    def __init__(self, static, formula, code, of):
        super().__init__(static, formula=formula)
        self.code, self.of = code, of
        self.limit = formula() if static else formula(limits=True)


@dataclass
class Tensor:
    name: str
    type: TensorType
    large: float = 4.0  # how large its values may be
    used: int = 0
    shared: bool = True  # may stand for another argument of its type

    @property
    def dims(self):
        return self.type.dims

    @property
    def dtype(self):
        return self.type.dtype

    @property
    def rank(self):
        return len(self.type.dims)

    @property
    def natural(self):
        """Knows all extents that are static."""
        return all(s == d.static for s, d in zip(self.type.static, self.dims))


@dataclass
class Scope:
    pool: list = field(default_factory=list)
    shared: dict = field(default_factory=dict)  # empties and fills by what they are


@dataclass
class Function:
    """A function under construction."""

    name: str
    private: bool = False
    args: list = field(default_factory=list)
    prologue: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    scopes: list = field(default_factory=lambda: [Scope()])
    extents: dict = field(default_factory=dict)  # by dim
    results: list = field(default_factory=list)  # Tensors
    given: dict = field(default_factory=dict)  # of main's arguments, by parameter


class Module(Program):
    """Several functions; the last one is main, whose arguments the others' are."""

    def __init__(self):
        super().__init__()
        self.functions = []

    def enter(self, function):
        self.functions.append(function)
        self.args, self.lines = function.args, function.lines

    @property
    def here(self):
        return self.functions[-1]

    def extent_of(self, dim):
        """An SSA index of a dim's size, in the function's first lines."""
        known = self.here.extents
        if dim not in known:
            name = self.name("n")
            if isinstance(dim, Extent):
                operands = [self.extent_of(d) if isinstance(d, Dim) else self.number(d) for d in dim.of]
                line = f"{name} = arith.{dim.code} {', '.join(operands)} : index"
            else:
                argument, position = self.argument_with(dim)
                line = (f"{name} = tensor.dim {argument.name}, {self.number(position)} : "
                        f"{argument.type.mlir}")
            self.here.prologue.append("  " + line)
            known[dim] = name
        return known[dim]

    def number(self, value):
        """An SSA index constant, in the function's first lines."""
        if value not in self.here.extents:
            name = self.here.extents[value] = self.name("c")
            self.here.prologue.append(f"  {name} = arith.constant {value} : index")
        return self.here.extents[value]

    def argument_with(self, dim):
        for argument in self.args:
            if isinstance(argument.type, TensorType):
                for i, (d, s) in enumerate(zip(argument.type.dims, argument.type.static)):
                    if d is dim:
                        return argument, i
        name = self.argument("x", TensorType(F32, [dim], [dim.static]),
                             lambda: np.zeros(dim.size))
        return next(a for a in self.args if a.name == name), 0

    def text(self):
        parts = []
        for function in self.functions:
            arguments = ", ".join(f"{a.name}: {a.type.mlir}" for a in function.args)
            types = ", ".join(r.type.mlir for r in function.results)
            names = ", ".join(r.name for r in function.results)
            private = "private " if function.private else ""
            parts += [f"func.func {private}@{function.name}({arguments}) -> ({types}) {{",
                      *function.prologue, *function.lines, f"  return {names} : {types}", "}", ""]
        return "\n".join(parts)


class Body:
    """The region of a linalg.generic that computes in one type."""

    def __init__(self, compose, dtype):
        self.compose, self.dtype, self.lines = compose, dtype, []

    def op(self, text):
        name = self.compose.program.name("t")
        self.lines.append(f"    {name} = {text}")
        return name

    def two(self, name, a, b):
        name = name + "f" if self.dtype.is_float else {"maximum": "maxs", "minimum": "mins"}.get(name, name) + "i"
        return self.op(f"arith.{name} {a}, {b} : {self.dtype.mlir}")

    def const(self, value):
        return self.op(f"arith.constant {literal(value, self.dtype)}")

    def math(self, name, a):
        return self.op(f"math.{name} {a} : {self.dtype.mlir}")

    def widened(self, name, source):
        """An argument in the type that is computed in."""
        if source == self.dtype:
            return name
        to = self.dtype
        if source.is_float and to.is_float:
            if source.bits == to.bits:
                raise Retry("no cast from f16 to bf16")
            cast = "extf" if source.bits < to.bits else "truncf"
        elif source.is_float:
            raise Retry("a float in integers")
        else:
            cast = "sitofp" if to.is_float else "extsi" if source.bits < to.bits else "trunci"
        return self.op(f"arith.{cast} {name} : {source.mlir} to {to.mlir}")

    def compare(self, relation, a, b):
        kind = ("cmpf o" if self.dtype.is_float else "cmpi s") + relation
        return self.op(f"arith.{kind}, {a}, {b} : {self.dtype.mlir}")

    def choose(self, condition, a, b):
        return self.op(f"arith.select {condition}, {a}, {b} : {self.dtype.mlir}")


class Base(Parts):
    """The pool, types, arguments and initial tensors of a function under construction."""

    def __init__(self, seed, case, max_dim=28, without=()):
        self.rng = random.Random(f"programs/{seed}/{case}")
        self.sizes = random.Random(f"programs/{seed}/{case}/sizes")
        self.tail = random.Random(f"programs/{seed}/{case}/tail")
        self.data = np.random.default_rng([7, seed, case])
        self.max_dim, self.without = max_dim, without
        self.program = Module()
        self.spaces, self.cache = [], {}
        self.static_share = self.rng.choice([0.0, 0.5, 0.5, 1.0])
        self.integral = self.rng.choice([True, "small", "small", False])
        self.nan_live = False
        self.exact_types = True
        self.dtype = self.rng.choice([F32] * 9 + [F16] * 2 + [BF16] * 2 + [F64] * 2 + [I32] * 2
                                     + [I8, I64, I16])
        self.dims = self.space(self.rng.choice([2, 3, 3, 4]))
        self.depth = 0
        self.helpers = []

    # -- extents ---------------------------------------------------------------

    def draw_size(self):
        kind, u = self.sizes.random(), self.sizes.random()
        size = 0 if kind < 0.04 else 1 if kind < 0.12 else 2 + int(u * u * (self.max_dim - 1))
        return min(size, self.max_dim)

    def draw_sizes(self, dims, budget, weights):
        for d in dims:
            if not (d.static and d.drawn is not None):
                d.drawn = self.draw_size()
            d.limit = d.size if d.static else self.max_dim

    def fixed(self, size):
        dim = super().fixed(size)
        dim.limit = size
        return dim

    def derived(self, code, *of):
        """A dim that is another's and a number's sum, or the like."""
        static = all(d.static for d in of if isinstance(d, Dim))

        def formula(limits=False):
            numbers = [(d.limit if limits else d.size) if isinstance(d, Dim) else d for d in of]
            if code == "addi":
                return sum(numbers)
            if code == "muli":
                return int(np.prod(numbers, dtype=np.int64))
            if code == "subi":
                return numbers[0] - numbers[1]
            return numbers[0] // numbers[1]

        return Extent(static, formula, code, of)

    def any_dim(self):
        return self.rng.choice(self.dims)

    def new_extents(self):
        """Runs differ in what is dynamic; the second one likes ends."""
        self.new_run()

    @property
    def runs(self):
        return 2 if any(not d.static for d in self.dims) else 1

    # -- what there is -----------------------------------------------------------

    @property
    def scopes(self):
        return self.program.here.scopes

    @property
    def pool(self):
        return [t for scope in self.scopes for t in scope.pool]

    @contextmanager
    def scope(self):
        self.scopes.append(Scope())
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.scopes.pop()

    def natural_type(self, dtype, dims):
        return TensorType(dtype, list(dims), [d.static for d in dims])

    def add(self, name, type_, large=4.0, shared=True):
        self.program.types[name] = type_
        tensor = Tensor(name, type_, large, shared=shared)
        self.scopes[-1].pool.append(tensor)
        return tensor

    def pick(self, accept=lambda t: True):
        """A tensor in scope; the latest and those not used are likelier."""
        found = [t for t in self.pool if accept(t)]
        if not found:
            raise Retry("nothing fits")
        weights = [(i + 1) * (3 if not t.used else 1) for i, t in enumerate(found)]
        [tensor] = self.rng.choices(found, weights)
        tensor.used += 1
        return tensor

    def limit(self, dtype):
        return LIMITS.get(dtype.mlir, np.inf)

    def check_points(self, dims, times=1):
        if np.prod([max(1, d.limit) for d in dims], dtype=float) > times * MAX_POINTS:
            raise Retry("too many points")

    # -- arguments -----------------------------------------------------------------

    def fresh(self, dtype, dims, stem="a"):
        """A new argument."""
        self.check_points(dims)
        name = self.plain(stem, dtype, dims)
        tensor = Tensor(name, self.program.types[name], self.largest(dtype))
        self.scopes_of_arguments().append(tensor)
        return tensor

    def scopes_of_arguments(self):
        return self.program.here.scopes[0].pool

    def largest(self, dtype):
        if dtype.is_float and not self.integral:
            return 4.0
        if self.integral == "small":
            return 2.0
        return 3.0 if dtype.is_float else {8: 127, 16: 200}.get(dtype.bits, 1000)

    def plain(self, stem, dtype, dims):
        """Parts.plain with patterns."""
        import patterns

        type_ = self.natural_type(dtype, dims)
        name = self.rng.choice(["all"] * 4 + list(patterns.PATTERNS))

        def make():
            array = patterns.values(self.data, type_.shape, dtype, self.integral)
            return np.where(patterns.live(self.data, type_.shape, name), array, 0.0)

        return self.program.argument(stem, type_, make)

    def marked_fresh(self, dtype, dims, background=0.0, rule=None, source=None):
        """A new argument with a mark, behind which it may hold anything."""
        self.check_points(dims)
        name = self.marked_argument("s", dtype, dims, background, rule, source)
        tensor = Tensor(name, self.program.types[name], self.largest(dtype))
        return tensor

    # -- initial tensors ---------------------------------------------------------

    def visible(self, key):
        for scope in reversed(self.scopes):
            if key in scope.shared and self.chance(0.7):
                return scope.shared[key]
        return None

    def empty(self, dtype, dims):
        type_ = self.natural_type(dtype, dims)
        key = ("empty", type_.mlir, tuple(map(id, dims)))
        name = self.visible(key)
        if not name:
            name = self.scopes[-1].shared[key] = self.program.empty(type_)
            self.program.types[name] = type_
        return name

    def fill(self, dtype, dims, value):
        type_ = self.natural_type(dtype, dims)
        key = ("fill", type_.mlir, tuple(map(id, dims)), value)
        name = self.visible(key)
        if not name:
            if self.chance(0.1) and all(d.static for d in dims):
                name = self.program.name("k")
                self.program.emit(f"{name} = arith.constant dense<{literal(value, dtype).split(' : ')[0]}>"
                                  f" : {type_.mlir}")
            else:
                name, scalar = self.program.name("f"), self.program.name("k")
                empty = self.empty(dtype, dims)
                self.program.emit(
                    f"{scalar} = arith.constant {literal(value, dtype)}",
                    f"{name} = linalg.fill ins({scalar} : {dtype.mlir}) "
                    f"outs({empty} : {type_.mlir}) -> {type_.mlir}")
            self.scopes[-1].shared[key] = name
            self.program.types[name] = type_
            if self.chance(0.1):
                self.add(name, type_, abs(value) if np.isfinite(value) else 1.0)
        return name

    def start(self, dtype, dims, value=0.0):
        """What a reduction starts from; and how large it is."""
        u = self.rng.random()
        if u < 0.7:
            return self.fill(dtype, dims, value), abs(value) if np.isfinite(value) else 0.0
        if u < 0.85:
            same = [t for t in self.pool if t.type.mlir == self.natural_type(dtype, dims).mlir
                    and all(a is b for a, b in zip(t.dims, dims))]
            if same:
                tensor = self.rng.choice(same)
                tensor.used += 1
                return tensor.name, tensor.large
        tensor = self.fresh(dtype, dims, "o")
        return tensor.name, tensor.large

    def out(self, dtype, dims):
        """What an op overwrites."""
        u = self.rng.random()
        if u < 0.6:
            return self.empty(dtype, dims)
        if u < 0.75:
            return self.fill(dtype, dims, 0.0)
        return self.start(dtype, dims)[0]

    # -- linalg.generic ------------------------------------------------------------

    def generic(self, dims, maps, ins, outs, dtype, body, reduced=(), larges=()):
        """A linalg.generic over `dims`; `maps` name iteration dims by number. `body` gets a
        Body and the names of its arguments, and returns what is yielded."""
        self.check_points(dims, 8)
        program = self.program
        region = Body(self, dtype)
        in_names = [program.name("i") for _ in ins]
        out_names = [program.name("u") for _ in outs]
        out_types = [program.types[o] for o in outs]
        wide = [region.widened(n, program.types[i].dtype) for n, i in zip(in_names, ins)]
        yielded = body(region, wide, out_names)
        names = ", ".join(f"d{i}" for i in range(len(dims)))
        written = ", ".join(f"affine_map<({names}) -> ({', '.join(m if isinstance(m, str) else f'd{m}' for m in map_)})>"
                            for map_ in maps)
        kinds = ", ".join('"reduction"' if d in reduced else '"parallel"' for d in range(len(dims)))
        typed = lambda values: ", ".join(program.types[v].mlir for v in values)
        results = typed(outs) if len(outs) == 1 else f"({typed(outs)})"
        result = program.name("r")
        header = result if len(outs) == 1 else f"{result}:{len(outs)}"
        inputs = f"ins({', '.join(ins)} : {typed(ins)}) " if ins else ""
        arguments = [f"{n}: {program.types[i].dtype.mlir}" for n, i in zip(in_names, ins)]
        arguments += [f"{n}: {t.dtype.mlir}" for n, t in zip(out_names, out_types)]
        program.emit(
            f"{header} = linalg.generic {{indexing_maps = [{written}], iterator_types = [{kinds}]}} "
            f"{inputs}outs({', '.join(outs)} : {typed(outs)}) {{",
            f"  ^bb0({', '.join(arguments)}):", *region.lines,
            f"    linalg.yield {', '.join(yielded)} : {', '.join(t.dtype.mlir for t in out_types)}",
            f"  }} -> {results}")
        found = []
        for i, out in enumerate(outs):
            name = result if len(outs) == 1 else f"{result}#{i}"
            found.append(self.add(name, program.types[out], larges[i] if larges else 4.0))
        return found

    def named(self, op, ins, out, large, tail=""):
        """A named op of linalg with one result."""
        program = self.program
        types = ", ".join(program.types[i].mlir for i in ins)
        result = program.name("r")
        type_ = program.types[out]
        arrow = "" if tail else f" -> {type_.mlir}"
        program.emit(f"{result} = linalg.{op} ins({', '.join(ins)} : {types}) "
                     f"outs({out} : {type_.mlir}){tail}{arrow}")
        return self.add(result, type_, large)

    # -- marks -----------------------------------------------------------------------

    def mark_tensor(self, tensor, background=0.0, values=True, rule=None, source=None):
        """A mark on something that is there already."""
        import patterns

        sources = ["values"] * 5 if values else []
        sources += ["mask"] * 2 + (["lengths", "index"] if tensor.rank else [])
        sources += ["routing"] if tensor.rank == 2 else []
        source = source or self.rng.choice(sources)
        if source == "values" and tensor.rank == 0:
            raise Retry("a scalar")
        names = self.rng.choice([patterns.PATTERNS, ("uniform",), ("skewed", "clustered")])
        selector = self.selector(source, self.program.name("pattern"), tensor.dims, names)
        written = None if background == 0.0 and self.chance(0.9) else background
        result = self.program.name("s")
        text = f"{result} = pit.sparse {tensor.name}"
        if selector:
            text += f" {source}({selector} : {self.program.types[selector].mlir})"
        text += f" background({literal(written, tensor.dtype)})" if written is not None else ""
        text += f" rule(#pit.rule<{rule}>)" if rule else ""
        self.program.emit(f"{text} : {tensor.type.mlir}")
        self.program.tags.add(f"source {source}")
        tensor.used += 1
        return self.add(result, tensor.type, max(tensor.large, abs(background) if np.isfinite(background) else 0))

    def perhaps_marked(self, tensor, share, background=0.0):
        if self.rng.random() >= share or tensor.rank == 0:
            return tensor
        rule = None
        if self.chance(0.15):
            axis = self.rng.randrange(tensor.rank)
            rule = f"axis = {axis}"
            if self.chance(0.4):
                tile = ["1" if i == axis else self.rng.choice("148*") for i in range(tensor.rank)]
                rule += f", micro_tile = [{', '.join(tile)}]"
        return self.mark_tensor(tensor, background, rule=rule)
