"""Runs what tests run with pit-opt with mlir-opt and the plugin, and compares.

    same.py PLUGIN PLACE...

Of each test, which is a place or lies below one, every RUN line that begins with pit-opt is run as it
stands, and again by `mlir-opt --pass-pipeline`, with the passes that pit-opt says it
runs. Output, diagnostics and exit code have to be the same.
"""

import difflib
import itertools
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Options of mlir-opt itself; all others name passes.
OF_TOOL = re.compile(r"--?(split-input-file|verify-diagnostics|allow-unregistered-dialect"
                     r"|verify-each|no-implicit-module|mlir-.*|verify-roundtrip)\b")


def find_runs(file):
    """The arguments of each pit-opt."""
    text = re.sub(r"\\\n//", "", file.read_text(encoding="utf-8"))
    for line in re.findall(r"^// RUN: *pit-opt (.*)$", text, re.M):
        words = shlex.split(re.split(r"[|>]| 2>", line)[0])
        # An input of another command, or a file that an earlier one wrote.
        if "%s" not in words or any(re.search(r"%[^s]|^-o$", word) for word in words):
            continue
        yield [str(file) if word == "%s" else word for word in words]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def differs(plugin, args):
    """What is wrong with one run, or None; and whether it runs a pass."""
    code, output, said = run(["pit-opt", *args, "--dump-pass-pipeline"])
    dump = r"Pass Manager with \d+ passes:\n(builtin.module\(\n.*?\n\))\n\n?"
    passes = re.search(dump, said, re.S)
    if not passes:
        return None, False
    own = code, output, re.sub(dump, "", said, flags=re.S)
    pipeline = re.sub(r"\n *", "", passes[1])
    rest = [arg for arg in args if not arg.startswith("-") or OF_TOOL.match(arg)]
    stock = run(["mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}",
                 f"--pass-pipeline={pipeline}", *rest])
    if own == stock:
        return None, True
    lines = difflib.unified_diff(sum(map(str.splitlines, own[1:]), []),
                                 sum(map(str.splitlines, stock[1:]), []), lineterm="", n=0)
    first = "\n  ".join(itertools.islice(lines, 12))
    return f"differs: {shlex.join(args)}\n  {pipeline}\n  {first}", True


def main():
    plugin, *places = sys.argv[1:]
    files = sorted(file for place in places for file in [Path(place), *Path(place).rglob("*.mlir")]
                   if file.suffix == ".mlir" and "Inputs" not in file.parts)
    runs = [args for file in files for args in find_runs(file)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda args: differs(plugin, args), runs))
    wrong = [what for what, _ in results if what]
    print(*wrong, sep="\n")
    print(f"{sum(ran for _, ran in results) - len(wrong)} runs agree, {len(wrong)} differ")


main()
