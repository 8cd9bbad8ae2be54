#!/usr/bin/env python3
"""How long pit takes to compile: CPU seconds and wall seconds of `pit-compile`, its
start included, of programs that a user waits for.

    compile_time.py --build BUILD [--repeat N]

Prints a table, the least of N runs. Compare the CPU seconds: the wall's depend on
what else the machine does. What the rows have in common with each other:
"layers" repeat one product 1, 8 and 64 times, as models do; "shapes" are 8 and 40 products,
each of a static shape of its own. "matmul" is a product in
bf16, not marked, and "experts" a layer of a mixture of experts: two products, the gate,
and the product back. "f8" is a product whose fallback is scalar code, "ragged" two layers
whose sizes suit no loader of whole lines. "adds" and "inserts" are long chains of small
ops: their time should grow with their number.
"""

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path


def chain(count):
    """`count` marked products of one shape, one after the other."""
    t = "tensor<?x?xf32>"
    lines = [f"func.func @f(%x0: {t}, %b: {t}, %c: {t}) -> {t} {{"]
    for i in range(count):
        lines += [f"  %s{i} = pit.sparse %x{i} : {t}",
                  f"  %x{i + 1} = linalg.matmul ins(%s{i}, %b : {t}, {t}) outs(%c : {t}) -> {t}"]
    return "\n".join(lines + [f"  return %x{count} : {t}", "}"])


def shapes(count):
    """`count` functions, each a marked product of a shape of its own."""
    functions = []
    for i in range(count):
        m, k, n = 256 + 32 * i, 512 + 64 * i, 384 + 96 * i
        a, b, c = (f"tensor<{r}x{s}xf32>" for r, s in ((m, k), (k, n), (m, n)))
        functions.append(f"""func.func @f{i}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %s = pit.sparse %a : {a}
  %r = linalg.matmul ins(%s, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}""")
    return "\n".join(functions)


def adds(count):
    """`count` sums, one after the other."""
    t = "tensor<64x64xf32>"
    lines = [f"func.func @f(%x0: {t}, %b: {t}) -> {t} {{", f"  %e = tensor.empty() : {t}"]
    for i in range(count):
        lines.append(f"  %x{i + 1} = linalg.add ins(%x{i}, %b : {t}, {t}) outs(%e : {t}) -> {t}")
    return "\n".join(lines + [f"  return %x{count} : {t}", "}"])


def inserts(count):
    """`count` rows, inserted into a matrix."""
    t, row = f"tensor<{count}x64xf32>", "tensor<1x64xf32>"
    lines = [f"func.func @f(%x0: {t}, %b: {row}) -> {t} {{"]
    for i in range(count):
        lines.append(f"  %x{i + 1} = tensor.insert_slice %b into %x{i}[{i}, 0] [1, 64] [1, 1]"
                     f" : {row} into {t}")
    return "\n".join(lines + [f"  return %x{count} : {t}", "}"])


def f8():
    t = "tensor<?x?xf8E4M3FN>"
    return f"""func.func @f(%a: {t}, %b: {t}, %c: {t}) -> {t} {{
  %r = linalg.matmul ins(%a, %b : {t}, {t}) outs(%c : {t}) -> {t}
  return %r : {t}
}}"""


def ragged():
    """Two layers with 1025 inputs, the values between them marked."""
    x, w, v = "tensor<?x1025xf16>", "tensor<1025x4096xf16>", "tensor<4096x4096xf16>"
    y, h = "tensor<?x4096xf32>", "tensor<?x4096xf16>"
    return f"""func.func @f(%x: {x}, %w: {w}, %v: {v}) -> {y} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : {x}
  %e = tensor.empty(%m) : {y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %p = linalg.matmul ins(%x, %w : {x}, {w}) outs(%f : {y}) -> {y}
  %n = tensor.empty(%m) : {h}
  %h = linalg.map ins(%p : {y}) outs(%n : {h}) (%a: f32, %o: f16) {{
    %q = arith.truncf %a : f32 to f16
    %r = arith.maximumf %q, %half : f16
    linalg.yield %r : f16
  }}
  %s = pit.sparse %h : {h}
  %o = linalg.matmul ins(%s, %v : {h}, {v}) outs(%f : {y}) -> {y}
  return %o : {y}
}}"""


def matmul():
    t = "tensor<8192x8192xbf16>"
    return f"""func.func @f(%a: {t}, %b: {t}) -> {t} {{
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : {t}
  %c = linalg.fill ins(%zero : bf16) outs(%e : {t}) -> {t}
  %r = linalg.matmul ins(%a, %b : {t}, {t}) outs(%c : {t}) -> {t}
  return %r : {t}
}}"""


def experts():
    """silu(x Wg) * (x Wu) Wd, for the experts that a token is assigned to."""
    x, r, h = "tensor<?x4096xbf16>", "tensor<?x8xbf16>", "tensor<?x8x14336xbf16>"
    up, down = "tensor<8x4096x14336xbf16>", "tensor<8x14336x4096xbf16>"

    def product(name, ins, types, out, maps, kinds):
        return f"""  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
         ins({ins} : {types}) outs(%z{out} : {h if out == "h" else x}) {{
  ^bb0(%w: bf16, %a: bf16, %b: bf16, %c: bf16):
    %p = arith.mulf %a, %b : bf16
    %q = arith.mulf %w, %p : bf16
    %v = arith.addf %c, %q : bf16
    linalg.yield %v : bf16
  }} -> {h if out == "h" else x}"""

    def maps(dims, *results):
        return ", ".join(f"affine_map<({dims}) -> ({result})>" for result in results)

    parallel, reduction = '"parallel"', '"reduction"'
    wide = (maps("t, e, f, k", "t, e", "t, k", "e, k, f", "t, e, f"),
            ", ".join([parallel] * 3 + [reduction]))
    back = (maps("t, n, e, f", "t, e", "t, e, f", "e, f, n", "t, n"),
            ", ".join([parallel] * 2 + [reduction] * 2))
    return f"""func.func @f(%r: {r}, %assigned: tensor<?x2xi32>, %x: {x}, %wg: {up}, %wu: {up},
             %wd: {down}) -> {x} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %one = arith.constant 1.0 : bf16
  %t = tensor.dim %x, %c0 : {x}
  %s = pit.sparse %r routing(%assigned : tensor<?x2xi32>) : {r}
  %eh = tensor.empty(%t) : {h}
  %zh = linalg.fill ins(%zero : bf16) outs(%eh : {h}) -> {h}
  %ex = tensor.empty(%t) : {x}
  %zx = linalg.fill ins(%zero : bf16) outs(%ex : {x}) -> {x}
{product("g", "%s, %x, %wg", f"{r}, {x}, {up}", "h", *wide)}
{product("u", "%s, %x, %wu", f"{r}, {x}, {up}", "h", *wide)}
  %h = linalg.generic {{indexing_maps = [{maps("t, e, f", *["t, e, f"] * 3)}],
                       iterator_types = [{", ".join([parallel] * 3)}]}}
         ins(%g, %u : {h}, {h}) outs(%eh : {h}) {{
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %n = arith.negf %a : bf16
    %e = math.exp %n : bf16
    %d = arith.addf %e, %one : bf16
    %q = arith.divf %a, %d : bf16
    %m = arith.mulf %q, %b : bf16
    linalg.yield %m : bf16
  }} -> {h}
{product("y", "%s, %h, %wd", f"{r}, {h}, {down}", "x", *back)}
  return %y : {x}
}}"""


PROGRAMS = [("layers 1", chain(1)), ("layers 8", chain(8)), ("layers 64", chain(64)),
            ("shapes 8", shapes(8)), ("shapes 40", shapes(40)),
            ("adds 200", adds(200)), ("adds 400", adds(400)),
            ("inserts 50", inserts(50)), ("inserts 100", inserts(100))]
HOPPER_PROGRAMS = [("matmul", matmul()), ("experts", experts()), ("f8", f8()),
                   ("ragged", ragged())]
TARGETS = [("cpu", ["--emit=so"]),
           ("cuda sm_80", ["--target=cuda", "--chip=sm_80", "--emit=so"]),
           ("cuda sm_90", ["--target=cuda", "--chip=sm_90", "--emit=so"])]
HOPPER = ("cuda sm_90a", ["--target=cuda", "--chip=sm_90a", "--emit=so"])


def measure(command):
    """CPU and wall seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'program':12} {'target':12} {'CPU s':>8} {'wall s':>8} {'KiB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "program.mlir"), Path(folder, "program.so")
        runs = [(*program, TARGETS) for program in PROGRAMS]
        runs += [(*program, [HOPPER]) for program in HOPPER_PROGRAMS]
        for name, text, targets in runs:
            source.write_text(text)
            for target, options in targets:
                times = [measure([arguments.build / "bin" / "pit-compile", source,
                                 *options, "-o", out]) for _ in range(arguments.repeat)]
                cpu, wall = (min(column) for column in zip(*times))
                print(f"{name:12} {target:12} {cpu:8.2f} {wall:8.2f} "
                      f"{out.stat().st_size / 1024:8.0f}", flush=True)


if __name__ == "__main__":
    main()
