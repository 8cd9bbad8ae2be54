#!/usr/bin/env python3
"""Every op of MLIR's linalg dialect with a mark on each of its tensors: compiled by the
stock mlir-opt with the plugin of pit, run, and compared with the same op without marks,
compiled by the stock mlir-opt alone.

    linalg_ops.py --build BUILD --llvm LLVM [--only REGEX] [--table FILE]

The list of ops is what mlir-tblgen reads in MLIR's own files. FILE becomes the table of
docs/LinalgOps.md. The last line is

    linalg ops: N programs skip, N stay dense, N failed
"""

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE / "Inputs"), str(ROOT / "python")]
from linalg_programs import IN_BODIES, OPS  # noqa: E402

NUMPY = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i32": np.int32}
EXTENTS = {"N": 13, "M": 37, "K": 45, "B": 3, "C": 19, "F": 23, "G": 2, "O": 2, "P": 5, "Q": 7,
           "T": 2, "R": 3, "S": 2, "X": 5, "Y": 3, "Z": 4}
IMAGES = {image: (lambda s, o=out, k=window: 2 * (s[o] - 1) + s[k])
          for image, out, window in zip("DHW", "OPQ", "TRS")}
# No pass of pit: what makes loops of linalg, and LLVM of loops.
DENSE = ",".join((
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}",
    "func.func(convert-linalg-to-loops,llvm-request-c-wrappers)", "expand-strided-metadata",
    "lower-affine", "convert-scf-to-cf", "math-expand-ops{ops=rsqrt}", "convert-math-to-libm",
    "convert-math-to-llvm", "finalize-memref-to-llvm", "convert-index-to-llvm",
    "convert-func-to-llvm", "convert-arith-to-llvm", "convert-cf-to-llvm",
    "reconcile-unrealized-casts"))


class Failure(Exception):
    """What is wrong, in one message."""


def registered(llvm):
    """The ops of the dialect, by MLIR's own files."""
    include = llvm / "include"
    names = []
    for file in ("LinalgStructuredOps", "LinalgOps", "LinalgRelayoutOps"):
        document = tool(llvm / "bin" / "mlir-tblgen", "-gen-op-doc", f"-I{include}",
                        include / "mlir/Dialect/Linalg/IR" / f"{file}.td")
        names += re.findall(r"^### `linalg\.([\w.]+)`", document, re.M)
    return sorted(set(names))


def tool(*command, text=None, diagnostics=False):
    """What a command prints."""
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True,
                          text=True, timeout=300)
    if done.returncode:
        raise Failure(f"{Path(command[0]).name} exits with {done.returncode}:\n"
                      f"{done.stderr[:2000]}")
    return done.stderr if diagnostics else done.stdout


# --------------------------------------------------------------------------
# Programs
# --------------------------------------------------------------------------


def tensor(dims, element, op):
    """The type of a tensor; extents are dynamic where the op may have such ones."""
    other = lambda d: str(EXTENTS[d]) if op.static else "?"
    return f"tensor<{''.join((d if d.isdigit() else other(d)) + 'x' for d in dims)}{element}>"


def function(name, op, function_name, mark=None):
    """A function with the op; `mark` is the number of an operand, or "result"."""
    *in_elements, out_element = op.element_types
    types = [tensor(dims, element, op) for dims, element in zip(op.ins, in_elements)]
    out = tensor(op.out, out_element, op)
    names = [f"%a{i}" for i in range(len(types))]
    scalars = [f"%k{i}" for i in range(len(op.scalars))]
    arguments = [*(f"{n}: {t}" for n, t in zip(names, types)), f"%c: {out}"]
    lines = ["  %zero = arith.constant 0.0 : f32"]
    lines += [f"  {n} = arith.constant {v} : {t}" for n, (t, v) in zip(scalars, op.scalars)]
    mask = tensor(op.out, "i1", op)
    if mark == "result":
        arguments.append(f"%m: {mask}")
    elif mark is not None:
        background = ""
        if mark in op.background:
            background = f" background({op.background[mark]} : {in_elements[mark]})"
        lines.append(f"  %s = pit.sparse %a{mark}{background} : {types[mark]}")
        names[mark] = "%s"
    every = names + scalars
    every_type = types + [t for t, _ in op.scalars]
    text = op.text.format(
        name=name, attributes=op.attributes, ins=f"{', '.join(every)} : {', '.join(every_type)}",
        outs=f"%c : {out}", out=out, in0=every[0], in0_type=every_type[0], out0="%c")
    lines.append(f"  %r = {text}")
    result = "%r"
    if mark == "result":
        lines.append(f"  %q = pit.sparse %r mask(%m : {mask}) : {out}")
        result = "%q"
    body = "\n".join(lines)
    return (f"func.func @{function_name}({', '.join(arguments)}) -> {out} {{\n{body}\n"
            f"  return {result} : {out}\n}}\n")


def marks_of(op):
    return [*range(len(op.ins)), "result"]


def marked_module(name, op):
    return "".join(function(name, op, f"marked_{mark}", mark) for mark in marks_of(op))


def dense_module(ops):
    return "".join(function(name, op, f"dense_{name}") for name, op in ops.items())


def dense_script(ops):
    """A transform script for the ops that no pass of MLIR makes loops of."""
    lowerings = dict.fromkeys(op.lowering for op in ops.values() if op.lowering)
    steps = "".join(lowering_script(i, *pair) for i, pair in enumerate(lowerings))
    return ("module attributes {transform.with_named_sequence} {\n"
            "transform.named_sequence @__transform_main("
            "%root: !transform.any_op {transform.readonly}) {\n"
            f"{steps}  transform.yield\n}}\n}}\n")


# What lower_pack and lower_unpack give handles of.
LOWERED = {"lower_pack": ("tensor.pad", "tensor.expand_shape", "linalg.transpose"),
           "lower_unpack": ("tensor.empty", "linalg.transpose", "tensor.collapse_shape",
                            "tensor.extract_slice")}


def lowering_script(number, op_name, transform):
    """The transform ops that decompose all ops of a name."""
    found = f'!transform.op<"linalg.{op_name}">'
    results = [f'!transform.op<"{r}">' for r in LOWERED.get(transform, ())] or ["!transform.any_op"]
    return (f'  %f{number} = transform.structured.match ops{{["linalg.{op_name}"]}} in %root '
            f": (!transform.any_op) -> {found}\n"
            f"  %d{number}:{len(results)} = transform.structured.{transform} %f{number} "
            f": ({found}) -> ({', '.join(results)})\n")


# --------------------------------------------------------------------------
# Data
# --------------------------------------------------------------------------


def runs_of(op):
    """(extents, part of the rows that lives) of each run."""
    letters = list(dict.fromkeys(c for shape in (*op.ins, op.out) for c in shape if c.isalpha()))
    derived = {d: f for d, f in (IMAGES | op.sizes).items() if d in letters}
    windows = {c for c in letters if c in "DHWOPQTRS"}

    def extents(given):
        sizes = {c: EXTENTS.get(c, 1) for c in set(letters) | set("OPQTRS")} | given
        return sizes | {d: f(sizes) for d, f in derived.items()}

    found = [(extents({}), live) for live in (0.6, 0.0, 1.0)]
    if op.static:
        return found
    free = [c for c in letters if c not in derived]
    found += [(extents({c: 1 for c in free}), live) for live in (0.0, 1.0)]
    found += [(extents({c: 0}), 0.6) for c in free if c not in windows]
    return found


def shape_of(dims, sizes):
    return tuple(int(d) if d.isdigit() else sizes[d] for d in dims)


def alive(rng, shape, live):
    """Which elements are not background: rows along each dim are dead, and single ones."""
    if live in (0.0, 1.0):
        return np.full(shape, bool(live))
    mask = rng.random(shape) < 0.8
    for dim, size in enumerate(shape):
        along = [1] * len(shape)
        along[dim] = size
        mask &= (rng.random(size) < live).reshape(along)
    return mask


def draw(rng, shape, element, op, number):
    """Numbers whose sums of products are exact."""
    if element == "i1":
        return rng.random(shape) < 0.5
    low = 1 if op.positive else -8
    values = rng.integers(low, 9, shape)
    if number in op.nonzero:
        values = np.where(values == 0, 5, values)
    if element.startswith("f"):
        values = values / 8
    return np.array(values, NUMPY[element])


def arguments_of(rng, op, mark, sizes, live):
    """The arguments of the marked function: tensors, scalars, the init and the mask."""
    *in_elements, out_element = op.element_types
    tensors = []
    for number, (dims, element) in enumerate(zip(op.ins, in_elements)):
        values = draw(rng, shape_of(dims, sizes), element, op, number)
        if number == mark:
            background = op.background.get(mark, 0)
            keep = alive(rng, values.shape, live)
            values = np.where(keep, values, values.dtype.type(background))
        tensors.append(values)
    out = draw(rng, shape_of(op.out, sizes), out_element, op, None)
    mask = alive(rng, out.shape, live) if mark == "result" else None
    return tensors, out, mask


# --------------------------------------------------------------------------
# The dense library
# --------------------------------------------------------------------------


def descriptor(rank):
    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                    ("offset", ctypes.c_int64), ("sizes", ctypes.c_int64 * rank),
                    ("strides", ctypes.c_int64 * rank)]
    return Descriptor


def describe(array):
    rank = array.ndim
    strides = [s // array.itemsize for s in array.strides]
    return descriptor(rank)(array.ctypes.data, array.ctypes.data, 0,
                            (ctypes.c_int64 * rank)(*array.shape),
                            (ctypes.c_int64 * rank)(*strides))


def call_dense(library, name, op, tensors, out):
    """The op's value by MLIR's own lowering."""
    out = out.copy()
    result = descriptor(out.ndim)()
    given = [describe(t) for t in tensors]
    init = describe(out)
    entry = getattr(library, f"_mlir_ciface_dense_{name}")
    entry.restype = None
    entry(ctypes.byref(result), *(ctypes.byref(d) for d in given), ctypes.byref(init))
    if not out.size:
        return out
    if result.aligned == out.ctypes.data:
        return out
    elements = np.ctypeslib.as_array(
        ctypes.cast(result.aligned + result.offset * out.itemsize,
                    ctypes.POINTER(ctypes.c_uint8)), (out.nbytes,))
    return elements.view(out.dtype).reshape(out.shape).copy()


# --------------------------------------------------------------------------
# The check
# --------------------------------------------------------------------------


def verdicts(name, op, remarks):
    """What pit-explain says of each function, as a cell of the table: the dims that may be
    packed, or the numbers of docs/Legality.md."""
    found = []
    for mark in marks_of(op):
        said = remarks[f"marked_{mark}"]
        packed = re.search(r"linalg\.(\w+): .*may be packed along (.*)", said)
        if packed and mark != "result" and packed[1] != name:
            found.append("its parts")  # the op is decomposed
            continue
        if packed:
            dims = op.out if mark == "result" else op.ins[mark]
            along = re.findall(r"\(dimension (\d+) of", packed[2])
            found.append(", ".join(dims[int(d)] for d in along))
            continue
        reasons = re.findall(r"\[([A-Z]\d)\]", said)
        if "not legal" in said:  # and then the axes do not matter
            reasons = re.findall(r"not legal \[(\w+)\]", said)
        if not reasons:
            raise Failure(f"{mark}: dense without a reason:\n{said}")
        found.append(", ".join(f"[{r}]" for r in sorted(set(reasons))))
    return found


class Checker:
    def __init__(self, build, llvm, folder, seed, add):
        self.build, self.llvm, self.folder = build, llvm, folder
        self.seed, self.add = seed, add
        os.environ["PIT_RUNTIME_LIBRARY"] = str(build / "lib" / "libpit_runtime.so")
        import pit
        self.pit = pit
        plugin = build / "lib" / "PITPlugin.so"
        self.opt = [llvm / "bin" / "mlir-opt", f"--load-dialect-plugin={plugin}",
                    f"--load-pass-plugin={plugin}"]

    def link(self, name, mlir, lib, library_name):
        """A shared library of a module of the llvm dialect, and of what it calls."""
        ir, library = self.folder / f"{name}.ll", self.folder / f"{name}.so"
        ir.write_text(tool(self.llvm / "bin" / "mlir-translate", "--mlir-to-llvmir", text=mlir))
        level = 0 if zlib.crc32(name.encode()) % 4 else 1  # it takes half of the time
        tool(self.llvm / "bin" / "clang", f"-O{level}", "-march=x86-64-v3", "-Wno-override-module",
             "-shared", "-fPIC", "-fopenmp", ir, "-o", library, f"-L{lib}",
             f"-l{library_name}", f"-Wl,-rpath,{lib}", "-lm")
        return library

    def compile_dense(self, ops):
        script = self.folder / "dense.mlir"
        script.write_text(dense_script(ops))
        passes = (f"transform-preload-library{{transform-library-paths={script}}},"
                  f"transform-interpreter,{DENSE}")
        mlir = tool(self.llvm / "bin" / "mlir-opt", f"--pass-pipeline=builtin.module({passes})",
                    text=dense_module(ops))
        self.dense = ctypes.CDLL(str(self.link("dense", mlir, self.llvm / "lib",
                                         "mlir_c_runner_utils")))

    def explain(self, name, op):
        """The remarks of each function."""
        source = marked_module(name, op)
        passes = "pit-decompose,pit-sink-marks,pit-explain"
        said = tool(*self.opt, f"--pass-pipeline=builtin.module(func.func({passes}))",
                    text=source, diagnostics=True)
        starts = [(line, match[1]) for line, text in enumerate(source.splitlines(), 1)
                  if (match := re.match(r"func\.func @(\w+)", text))]
        found = {function_name: "" for _, function_name in starts}
        for line, text in re.findall(r"^<stdin>:(\d+):\d+: remark: (.*)", said, re.M):
            inside = [f for first, f in starts if first <= int(line)][-1]
            found[inside] += text + "\n"
        return found

    def check(self, name):
        """The cells of the op's row."""
        op = OPS[name]
        source = marked_module(name, op)
        cells = verdicts(name, op, self.explain(name, op))
        tiles = tool(*self.opt, "--pass-pipeline=builtin.module(pit-to-tiles{choice=now "
                     "vector-width=256})", text=source)
        functions = dict(re.findall(r"func\.func @(\w+)\((.*?\n  }\n)", tiles, re.S))
        for mark, cell in zip(marks_of(op), cells):
            skips = "pit.index" in functions[f"marked_{mark}"]
            if skips != ("[" not in cell):
                raise Failure(f"mark {mark}: '{cell}', but {'an' if skips else 'no'} index")
        # Its stages are verified as they end; after each pass it would take twice as long.
        mlir = tool(*self.opt, "--verify-each=0",
                    "--pass-pipeline=builtin.module(pit-to-cpu{vector-width=256})", text=tiles)
        program = self.pit.load(str(self.link(name, mlir, self.build / "lib",
                                         "pit_runtime")))
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        for mark in marks_of(op):
            for sizes, live in runs_of(op):
                self.compare(program, name, op, mark, sizes, live, rng)
        return cells

    def compare(self, program, name, op, mark, sizes, live, rng):
        tensors, out, mask = arguments_of(rng, op, mark, sizes, live)
        with np.errstate(all="ignore"):
            want = call_dense(self.dense, name, op, tensors, out)
            given = [*tensors, out]
            if mask is not None:
                want, given = np.where(mask, want, want.dtype.type(0)), [*given, mask]
            want = want + want.dtype.type(self.add)
            got = np.asarray(getattr(program, f"marked_{mark}")(*given))
            same = (got == want) | ((got != got) & (want != want))
            if op.tolerance:
                same |= np.abs(got - want) <= op.tolerance * np.maximum(1, np.abs(want))
        if got.shape != want.shape or not same.all():
            raise Failure(f"mark {mark}, seed {self.seed}, shapes {[t.shape for t in given]}, "
                          f"{live} live: {np.count_nonzero(~same)} of {same.size} wrong")


def table(rows):
    """The table of docs/LinalgOps.md."""
    width = max(len(op.ins) for op in OPS.values())
    heads = ["op of linalg", "operands", *(f"operand {i}" for i in range(width)), "result"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name, cells in sorted(rows.items()):
        op = OPS[name]
        *ins, result = cells
        shapes = f"{', '.join(op.ins)} → {op.out or 'one number'}".strip()
        lines.append(f"| `{name}` | {shapes} | "
                     f"{' | '.join(ins + [''] * (width - len(ins)) + [result])} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--llvm", required=True, type=Path, help="where MLIR is installed")
    parser.add_argument("--only", default="", metavar="REGEX", type=re.compile)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=np.random.SeedSequence().entropy,
                        help="of the data; fresh unless given")
    parser.add_argument("--add", type=float, default=0.0,
                        help="to what is expected: the check has to fail")
    parser.add_argument("--table", type=Path, help="write the table of the document to this file")
    arguments = parser.parse_args()

    names = registered(arguments.llvm)
    failures = [f"linalg.{name}: no program in Inputs/linalg_programs.py"
                for name in names if name not in OPS and name not in IN_BODIES]
    failures += [f"linalg.{name}: not in MLIR" for name in [*OPS, *IN_BODIES] if name not in names]
    chosen = [name for name in names if name in OPS and arguments.only.search(name)]
    if not chosen:
        failures.append("no op has such a name")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(arguments.build.resolve(), arguments.llvm, Path(folder),
                          arguments.seed, arguments.add)
        checker.compile_dense({name: OPS[name] for name in chosen})

        def check(name):
            try:
                rows[name] = checker.check(name)
            except (Failure, checker.pit.Error) as failure:
                failures.append(f"linalg.{name}: {failure}")

        with ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(check, chosen))
    if arguments.table:
        arguments.table.write_text(table(rows), encoding="utf-8")
    cells = [cell for row in rows.values() for cell in row]
    dense = sum("[" in cell for cell in cells)
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"linalg ops: {len(cells) - dense} programs skip, {dense} stay dense, "
          f"{len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
