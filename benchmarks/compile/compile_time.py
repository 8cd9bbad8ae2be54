#!/usr/bin/env python3
"""How long pit takes to compile: CPU seconds and wall seconds of `pit-compile`, its
start included, of programs that a user waits for.

    compile_time.py --build BUILD [--repeat N]

Prints a table, the least of N runs. Compare the CPU seconds: the wall's depend on
what else the machine does. What the rows have in common with each other:
"layers" repeat one product 1, 8 and 64 times, as models do; "shapes" are 8 products
of 8 static shapes, of which none can share code with another.
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


PROGRAMS = [("layers 1", chain(1)), ("layers 8", chain(8)), ("layers 64", chain(64)),
            ("shapes 8", shapes(8))]
TARGETS = [("cpu", ["--emit=so"]),
           ("cuda sm_80", ["--target=cuda", "--chip=sm_80", "--emit=so"]),
           ("cuda sm_90", ["--target=cuda", "--chip=sm_90", "--emit=so"])]


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
        for name, text in PROGRAMS:
            source.write_text(text)
            for target, options in TARGETS:
                runs = [measure([arguments.build / "bin" / "pit-compile", source,
                                 *options, "-o", out]) for _ in range(arguments.repeat)]
                cpu, wall = (min(times) for times in zip(*runs))
                print(f"{name:12} {target:12} {cpu:8.2f} {wall:8.2f} "
                      f"{out.stat().st_size / 1024:8.0f}", flush=True)


if __name__ == "__main__":
    main()
