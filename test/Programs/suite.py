"""Programs as other projects write them, each with what it has to compute in numpy.

A program is a function that draws its arguments and returns the results in float64;
above it stands its MLIR text:

    @program('''
    func.func @f(%a: tensor<MxNxf32>, %x: tensor<Nxf32>, %y: tensor<Mxf32>) -> tensor<Mxf32> {
      %s = pit.sparse %a : tensor<MxNxf32>
      ...
    }''', dict(M=4, N=8), dict(M=0, N=8))
    def matvec(d):
        a, x, y = d.f32(d.M, d.N, zeros=0.7), d.f32(d.N), d.f32(d.M)
        return y + a @ x

Single capital letters in tensor types are extents. From one text come several forms:

    marked         as it stands, of dynamic extents
    marked-static  with the extents of the first run in the place of letters
    dense          without the marks, of dynamic extents
    dense-static

`#M` is an extent where an operation takes a number or a value: `%M`, which the text has
to define, or the number. Numbers go from the operands of `tensor.empty`, `tensor.generate`
and `tensor.splat`.

`#[ij jk -> ik]` are the maps and iterators of a linalg.generic, a letter each dim; `.`
stands for no dim, and dims that no result has are reduced.

What is drawn are multiples of 1/8 (or of `scale`), so that sums of products are exact in
any order and have to agree to the last bit; programs with other functions than these
have a `tolerance`, relative to the element or to the root mean square of the result.
"""

import re
from dataclasses import dataclass

import numpy as np

from dtypes import BF16, F16, F32, F64, I1, I16, I32, I64, I8
from linalg_ref import Val
from program import Argument, Dim, ScalarType, TensorType

TYPES = {t.mlir: t for t in (BF16, F16, F32, F64, I1, I16, I32, I64, I8)}
INDEX = I64  # of tensors of index and arguments
FORMS = ("marked", "marked-static", "dense", "dense-static")
STATIC = ("marked-static", "dense-static")

REGISTRY = {}


@dataclass
class Entry:
    """A program as it is registered."""

    name: str
    text: object  # or a function of the form's extents that makes it
    runs: list  # of the extents of each run
    function: object
    tolerance: float
    tiled: bool  # whether the marked form loops over an index
    refused: dict  # what the compiler says of it for a target, if that is what is right
    model: bool
    options: str  # of pit-to-cpu and pit-to-cuda
    forms: tuple


def program(text, *runs, tolerance=0.0, tiled=True, refused="", refused_on_cuda="", options="",
            forms=FORMS):
    """Registers a function as a program; `runs` are the extents to run it with, the first
    ones also those of the static forms."""
    refusals = {"cpu": refused, "nvptx": refused or refused_on_cuda}

    def register(function):
        name = function.__name__.replace("_", "-")
        if name in REGISTRY:
            raise ValueError(f"two programs are called {name}")
        static_only = forms if any(runs) else tuple(f for f in forms if "static" in f)
        REGISTRY[name] = Entry(name, text, list(runs) or [{}], function, tolerance, tiled,
                               refusals, function.__module__.startswith("models"), options,
                               static_only)
        return function

    return register


def without_marks(text):
    """A text whose tensors are not marked. Marks by the values alone change nothing; with
    others it is the compiler that ignores them (`dense=true`)."""
    renamed = {}
    mark = re.compile(r"^ *(%\w+) = pit\.sparse (%[\w#]+)(?: background\([^)]*\))?"
                      r"(?: rule\([^)]*\))? : .*\n", re.M)
    for result, value in mark.findall(text):
        renamed[result] = renamed.get(value, value)
    text = mark.sub("", text)
    return re.sub(r"%\w+", lambda name: renamed.get(name[0], name[0]), text)


def instantiate(text, extents):
    """A text for these extents; those that are None are dynamic."""

    def operand(match):
        size = extents.get(match[1])
        return f"%{match[1]}" if size is None else str(size)

    def dimension(match):
        size = extents.get(match[0])
        return "?" if size is None else str(size)

    def dynamic(match):
        sizes = [s for s in match[2].split(", ") if s.startswith("%")]
        return match[1] + ", ".join(sizes) + match[3]

    text = re.sub(r"#\[([a-z0. ]*->[a-z0. ]*)\]", structure, text)
    text = re.sub(r"(?<=[<x])[A-Z](?=x)", dimension, text)
    text = re.sub(r"#([A-Z])\b", operand, text)
    text = re.sub(r"(tensor\.empty\()([^)]*)(\))", dynamic, text)
    text = re.sub(r"(tensor\.generate )([^{]*)( \{)", dynamic, text)
    return re.sub(r"(tensor\.splat %\w+\[)([^]]*)(\])", dynamic, text)


def structure(match):
    """The attributes of a linalg.generic from its short form."""
    ins, outs = match[1].split("->")
    dims = list(dict.fromkeys(re.sub(r"[^a-z]", "", ins + outs)))
    maps = [f"affine_map<({', '.join(dims)}) -> ({', '.join(m.replace('.', ''))})>"
            for m in (ins + outs).split()]
    kinds = ['"parallel"' if d in outs else '"reduction"' for d in dims]
    return f"{{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(kinds)}]}}"


def result_types(text):
    """The element types of the function f's results."""
    signature = text[re.search(r"func\.func (public )?@f\(", text).start():]
    results = signature[:signature.index("{\n")].split("->", 1)[1]
    return [TYPES[name] for name in re.findall(r"(?:[<x (]|^)(bf16|[fi]\d+)\b", results)]


class Drawn:
    """What a program's function draws its arguments from: each call makes the next one,
    and returns it in float64."""

    def __init__(self, random, extents):
        self.random = random
        self.arguments = []  # (type, stored array)
        self.__dict__.update(extents)

    def add(self, dtype, values):
        stored = np.asarray(dtype.store(values))
        dims = [Dim(True, size) for size in stored.shape]
        self.arguments.append((TensorType(dtype, dims, [True] * len(dims)), stored))
        return np.asarray(dtype.load(stored))

    def numbers(self, shape, low, high, zeros, micro):
        values = self.random.integers(low, high + 1, shape).astype(np.float64)
        if zeros:
            micro = micro or (1,) * len(shape)
            coarse = [-(-size // tile) for size, tile in zip(shape, micro)]
            live = self.random.random(coarse) >= zeros
            for axis, (size, tile) in enumerate(zip(shape, micro)):
                live = np.take(np.repeat(live, tile, axis=axis), range(size), axis=axis)
            values = np.where(live, values, 0.0)  # no -0
        return values

    def floats(self, dtype, shape, zeros=0.0, micro=None, low=-8, high=8, scale=1 / 8):
        return self.add(dtype, self.numbers(shape, low, high, zeros, micro) * scale)

    def integers(self, dtype, shape, zeros=0.0, micro=None, low=-8, high=7):
        return self.add(dtype, self.numbers(shape, low, high, zeros, micro))

    def f64(self, *shape, **how):
        return self.floats(F64, shape, **how)

    def f32(self, *shape, **how):
        return self.floats(F32, shape, **how)

    def f16(self, *shape, **how):
        return self.floats(F16, shape, **how)

    def bf16(self, *shape, **how):
        return self.floats(BF16, shape, **how)

    def i64(self, *shape, **how):
        return self.integers(I64, shape, **how).astype(np.int64)

    def i32(self, *shape, **how):
        return self.integers(I32, shape, **how).astype(np.int64)

    def i16(self, *shape, **how):
        return self.integers(I16, shape, **how).astype(np.int64)

    def i8(self, *shape, **how):
        return self.integers(I8, shape, **how).astype(np.int64)

    def i1(self, *shape, true=0.5):
        return self.add(I1, self.random.random(shape) < true) != 0

    def given(self, dtype, values):
        """An argument with these values."""
        return self.add(TYPES[dtype], np.asarray(values, dtype=np.float64))

    def scalar(self, dtype, value):
        """An argument that is no tensor."""
        dtype = TYPES[dtype]
        stored = np.asarray(dtype.store(value))
        self.arguments.append((ScalarType(dtype), stored))
        return dtype.load(stored)


class Case:
    """A form of a program with the interface of Draw and of Program that check.py has."""

    def __init__(self, name, run=0):
        self.name = name
        name, _, self.form = name.partition(":")
        self.entry = REGISTRY[name]
        self.static = self.form.endswith("static")
        self.marked = self.form.startswith("marked")
        self.runs = 1 if self.static else len(self.entry.runs)
        self.current = run
        self.data = np.random.default_rng([len(name), *name.encode()])

    @property
    def options(self):
        """Of the pipeline."""
        options = [self.entry.options] if self.entry.options else []
        if not self.marked and "pit.sparse" in self.text():
            options.append("dense=true")
        return " ".join(options)

    @property
    def on_gpu(self):
        """Whether it is worth a GPU: of what is no model one form with marks and one
        without."""
        return self.entry.model or self.form in ("dense-static", self.entry.forms[0])

    def refused(self, target):
        return self.entry.refused[target]

    def run(self):
        return self

    def new_run(self):
        self.current += 1

    def text(self):
        extents = self.entry.runs[0]
        if not self.static:
            extents = {name: size if name.islower() else None for name, size in extents.items()}
        text = self.entry.text if isinstance(self.entry.text, str) else self.entry.text(extents)
        text = instantiate(text, extents)
        return text if self.marked else without_marks(text)

    def draw_data(self):
        drawn = Drawn(self.data, self.entry.runs[self.current])
        with np.errstate(all="ignore"):
            results = self.entry.function(drawn)
        self.args = [Argument(f"%{i}", type_) for i, (type_, _) in enumerate(drawn.arguments)]
        self.results = results if isinstance(results, (tuple, list)) else [results]
        return [stored for _, stored in drawn.arguments]

    def expected(self):
        types = result_types(self.text())
        if len(types) != len(self.results):
            raise ValueError(f"{self.name} has {len(types)} results in MLIR and "
                             f"{len(self.results)} in numpy")
        wanted = []
        for dtype, result in zip(types, self.results):
            values = np.asarray(result, dtype=np.float64)
            error = 0.0
            if self.entry.tolerance and dtype.is_float:
                finite = np.where(np.isfinite(values), values, 0.0)
                size = np.sqrt(np.mean(finite**2)) if finite.size else 0.0
                error = self.entry.tolerance * np.maximum(np.abs(finite), size)
            wanted.append((dtype, Val(values, error)))
        return wanted

    # As Draw has them: where arguments lie does not vary here.
    def argument_offset(self, _):
        return 0

    def result_offset(self):
        return 0

    def fits_tma(self):
        """Nothing is known of the addresses of its operands."""
        return None


def cases():
    """The names of all cases."""
    for entry in REGISTRY.values():
        for form in entry.forms:
            yield f"{entry.name}:{form}"
