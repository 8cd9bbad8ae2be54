#!/usr/bin/env python3
"""Makes what check_gpu.py and the benchmark need on a machine without a compiler.

    build.py --build BUILD --out DIR [--target nvptx|cpu] [--drawn N] [--seed S]
             [--grid N] [--programs N] [--only REGEX] [--options=OPTIONS]
             [--assemble PTXAS] [--jobs J]

DIR receives manifest.json, programs.tar.xz, functions.so and its dense form,
plain-functions.so and plain-functions-now.so, lib (the runtime), bin (pit-run) and a copy of the scripts, so that DIR/tools/check-gpu.sh DIR runs without a
checkout. tools/build-gpu-artifacts.sh calls this.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "Differential"), str(HERE.parent / "Programs"),
                str(ROOT / "benchmarks" / "gpu")]

import catalogue  # noqa: E402, F401
import grid  # noqa: E402
import models  # noqa: E402
import plain_build  # noqa: E402
import programs  # noqa: E402
import suite  # noqa: E402
from check import REFUSED  # noqa: E402
from draw import Draw  # noqa: E402
from workers import regex  # noqa: E402

TIMEOUT = 120  # seconds for one program
HOPPER = b"_hopper\0"  # ends the names of kernels of that schedule
# What runs on the other machine.
COPIED = ("python/pit", "test/Differential", "test/Programs", "test/GPU", "benchmarks/gpu",
          "tools/check-gpu.sh")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--target", default="nvptx", choices=("nvptx", "cpu"))
    parser.add_argument("--options", default="", help="more options of pit-compile")
    parser.add_argument("--drawn", type=int, default=300, help="random programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grid", type=int, help="take only every N-th program of the grid",
                        default=1)
    parser.add_argument("--programs", type=int, default=1,
                        help="take only every N-th case of test/Programs; 0: none")
    parser.add_argument("--only", default="", metavar="REGEX", type=regex,
                        help="programs of the grid and of test/Programs whose name matches")
    parser.add_argument("--assemble", type=Path, metavar="PTXAS",
                        help="tells what this warns of in the kernels, as spills, and fails")
    parser.add_argument("--benchmarks", action="store_true", help="benchmarks/gpu, too")
    # To try the benchmark where there is no GPU: divides its extents.
    parser.add_argument("--shrink", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def listed(arguments):
    """(manifest entry, text) of every program of the check."""
    for number, case in enumerate(grid.cases()):
        name = f"grid-{grid.name_of(*case)}"
        if number % arguments.grid == 0 and arguments.only.search(name):
            yield {"name": name, "kind": "grid", "number": number,
                   "options": case[0].options}, grid.Grid(number)
    for name, model, options in models.cases(arguments.target):
        if arguments.only.search(name):
            yield {"name": name, "kind": "model", "model": model,
                   "options": options}, models.Model(model)
    cases = [case for case in suite.cases() if suite.Case(case).on_gpu]
    for case in cases[::arguments.programs] if arguments.programs else ():
        name = f"program-{case.replace(':', '-')}"
        if arguments.only.search(name):
            yield {"name": name, "kind": "program", "case": case}, suite.Case(case)
    for case in range(arguments.drawn):
        yield {"name": f"drawn-{arguments.seed}-{case}", "kind": "drawn", "seed": arguments.seed,
               "case": case, "max_dim": 200}, Draw(arguments.seed, case)


def compile_program(arguments, source, target, device="", options="", gpu_options="",
                    emit="so"):
    """None, or what pit-compile says."""
    if arguments.target == "cpu":
        gpu_options = ""
    command = [arguments.build / "bin" / "pit-compile", source,
               f"--target={device or arguments.target}",
               f"--emit={emit}", "-o", target, "--cpu=x86-64-v3",  # the other machine is another
               *shlex.split(options or arguments.options), *shlex.split(gpu_options)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"pit-compile: no end after {TIMEOUT} s"
    if done.returncode == 0:
        if done.stderr:  # what ptxas says, or that there is none
            print(f"{source.stem}: {done.stderr.splitlines()[0][:300]}", flush=True)
        return None
    return done.stderr.strip() or f"pit-compile ended with {done.returncode}"


def assemble(arguments, source, program, gpu_options):
    """What ptxas says of a program's kernels, if anything."""
    if not arguments.assemble or arguments.target == "cpu":
        return ""
    ptx = program.with_suffix(".ptx")
    message = compile_program(arguments, source, ptx, gpu_options=gpu_options, emit="ptx")
    target = None if message else re.search(r"^\.target (\w+)", ptx.read_text(), re.MULTILINE)
    if not target:  # no kernels
        return message or ""
    done = subprocess.run(
        [arguments.assemble, f"-arch={target[1]}", "-warn-spills", "-Werror", ptx,
         "-o", os.devnull], capture_output=True, text=True)
    ptx.unlink()
    warning = done.stderr.strip() if done.returncode else ""
    if warning:
        print(f"WARNED {program.stem}: {warning.splitlines()[0][:300]}", flush=True)
    return warning


def choosing_table(folder):
    """Hopper's tile table, with costs by which small products choose, too: a variant wins
    where fewer than about half of its micro-tiles are live."""
    table = folder / "choosing.json"
    if table.exists():
        return table
    tiles = json.loads((ROOT / "lib" / "Selection" / "HopperTiles.json").read_text())
    tiles["costs"] = json.loads((ROOT / "lib" / "Choice" / "HopperCosts.json").read_text())["costs"]
    for costs in tiles["costs"]:
        costs.update(dense=1, scan=1e-6, group=1e-3,
                     micro=[{"rows": micro["rows"], "multiply": 1.5 + 0.5 * (micro["rows"] > 0)}
                            for micro in costs["micro"]])
    # Several threads may make it; none reads a part of it.
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False) as part:
        part.write(json.dumps(tiles))
    os.replace(part.name, table)
    return table


def choice_of(arguments, folder, entry, number):
    """A third of the programs choose as users' do, a third on the device however small
    they are, and the rest skips whatever the zeros are."""
    if arguments.target == "cpu" or number % 3 == 0:
        return ""
    if number % 3 == 1 and "sm_90a" in arguments.options + entry.get("options", ""):
        return f"tile-table={choosing_table(folder)}"
    return "choice=now"


def build_one(arguments, folder, number, entry, draw):
    text = draw.run().text()
    entry["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    source = folder / f"{entry['name']}.mlir"
    source.write_text(text)
    entry["file"] = f"{entry['name']}.so"
    started = time.monotonic()
    # Of a case of test/Programs: options that all targets have, and what it may not be.
    pipeline = getattr(draw, "options", "") if entry["kind"] == "program" else ""
    pipeline = f"{pipeline} {choice_of(arguments, folder, entry, number)}".strip()
    options = f"{arguments.options} '--pipeline={pipeline}'" if pipeline else ""
    refused = draw.refused(arguments.target) if entry["kind"] == "program" else REFUSED
    message = compile_program(arguments, source, folder / entry["file"], options=options,
                              gpu_options=entry.get("options", ""))
    if message is None and entry["kind"] == "program" and refused:
        message = f"the compiler takes it; expected was that it says '{refused}'"
    if message is None:
        code = (folder / entry["file"]).read_bytes()
        entry["warning"] = assemble(arguments, source, folder / entry["file"],
                                    entry.get("options", ""))
    entry["seconds"] = round(time.monotonic() - started, 2)
    entry["status"] = ("compiled" if message is None
                       else "refused" if refused and refused in message else "failed")
    entry["hopper"] = message is None and HOPPER in code
    entry["message"] = (message or "")[-2000:]
    source.unlink()
    return entry


def needed_libraries(program, name):
    """The paths of the libraries with such a name that a program would load."""
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [line.split("=>")[1].split()[0] for line in needed.splitlines()
            if name in line and "=>" in line]


def strip(library):
    """Without what only a debugger reads, where a tool for it is."""
    tool = shutil.which("llvm-strip") or shutil.which("strip")
    if tool:
        subprocess.run([tool, "--strip-unneeded", library], check=False)


def copy_runtime(arguments):
    """The runtime, the module that calls it from Python, the OpenMP library that it was
    linked with, and the checks of the runtime, which find them beside themselves."""
    lib = arguments.out / "lib"
    lib.mkdir()
    runtime = arguments.build / "lib" / "libpit_runtime.so"
    shutil.copy2(runtime, lib)
    shutil.copy2(runtime.with_name("_pit_call.abi3.so"), lib)
    if arguments.target != "cpu":
        for check in ("CudaDeviceCheck", "PackRowsCheck", "PackedIndexCheck"):
            shutil.copy2(arguments.build / "test" / "Runtime" / check, lib)
        shutil.copytree(arguments.build / "test" / "Emulator" / "lib", arguments.out / "emulator")
    for path in needed_libraries(runtime, "libomp.so"):
        shutil.copy2(path, lib / "libomp.so.5")
    # What only pit-run needs is not in the way of other programs.
    tools = arguments.out / "bin"
    tools.mkdir()
    tool = arguments.build / "bin" / "pit-run"
    for path in (tool, *needed_libraries(tool, "libpng")):
        shutil.copy2(path, tools)
    for library in (*lib.iterdir(), *tools.iterdir()):
        strip(library)


def build_programs(arguments):
    folder = arguments.out / "programs"
    folder.mkdir()
    entries, failed, started = [], 0, time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = pool.map(lambda one: build_one(arguments, folder, one[0], *one[1]),
                        list(enumerate(listed(arguments))))
        for entry in jobs:
            entries.append(entry)
            if entry["status"] == "failed":
                failed += 1
                print(f"FAILED {entry['name']}: {entry['message'].splitlines()[0][:300]}", flush=True)
            if len(entries) % 50 == 0:
                print(f"[{len(entries)} programs, {time.monotonic() - started:.0f} s]", flush=True)
    with tarfile.open(arguments.out / "programs.tar.xz", "w:xz") as archive:
        for library in sorted(folder.glob("*.so")):
            archive.add(library, library.name)
    shutil.rmtree(folder)
    return entries, failed


def build_benchmark(arguments, folder, name, how):
    source = folder / f"{name}.mlir"
    source.write_text(programs.text(how, arguments.shrink))
    message = compile_program(arguments, source, folder / f"{name}.so",
                              gpu_options=how.get("options", ""))
    if message:
        print(f"FAILED benchmark {name}: {message.splitlines()[0][:300]}", flush=True)
    elif assemble(arguments, source, folder / f"{name}.so", how.get("options", "")):
        arguments.warned.append(name)
    source.unlink()
    return message


def build_benchmarks(arguments):
    """What pit-compile says of those that it refuses."""
    folder = arguments.out / "benchmarks-built"
    folder.mkdir()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = {name: pool.submit(build_benchmark, arguments, folder, name, how)
                for name, how in programs.listed().items()}
    messages = {name: job.result() for name, job in jobs.items()}
    return {name: message[-2000:] for name, message in messages.items() if message}


def main():
    arguments = parse_arguments()
    arguments.warned = []  # benchmarks, by ptxas
    if arguments.out.exists():
        if any(arguments.out.iterdir()) and not (arguments.out / "manifest.json").exists():
            sys.exit(f"build.py: {arguments.out} is not empty and holds no artifacts")
        shutil.rmtree(arguments.out)
    arguments.out.mkdir(parents=True)
    copy_runtime(arguments)
    manifest = {"target": arguments.target, "options": arguments.options}
    functions = ROOT / "test/Python/Inputs/functions.mlir"
    message = (compile_program(arguments, functions, arguments.out / "functions.so") or
               compile_program(arguments, functions, arguments.out / "functions-dense.so",
                               "cpu", "--pipeline=dense=true"))
    manifest["functions"] = message or ""
    failed = 0
    if message:
        failed += 1
        print(f"FAILED functions.mlir: {message.splitlines()[0][:300]}", flush=True)
    if arguments.target != "cpu" and not arguments.only.pattern:
        chip = re.search(r"--chip=(\w+)", arguments.options)
        manifest["plain"] = plain_build.build(
            arguments.build, arguments.out, arguments.out / "lib",
            chip[1] if chip else "sm_80", "auto" if chip else "ptx") or ""
        if manifest["plain"]:
            failed += 1
            print(f"FAILED plain-functions.mlir: {manifest['plain'][:300]}", flush=True)
    if arguments.benchmarks:
        manifest["benchmarks"] = build_benchmarks(arguments)
        failed += len(manifest["benchmarks"])
    manifest["programs"], failed_programs = build_programs(arguments)
    failed += failed_programs
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=1))
    for name in COPIED:
        source = ROOT / name
        target = arguments.out / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    size = sum(f.stat().st_size for f in arguments.out.rglob("*") if f.is_file())
    counts = {s: sum(e["status"] == s for e in manifest["programs"])
              for s in ("compiled", "refused", "failed")}
    warned = len(arguments.warned) + sum(bool(e.get("warning")) for e in manifest["programs"])
    hopper = sum(e["hopper"] for e in manifest["programs"])
    if hopper:
        without = [e["name"] for e in manifest["programs"]
                   if "-wide-" in e["name"] and not e["hopper"]]
        print(f"{hopper} programs have kernels of Hopper's schedule; of the wide ones these have "
              f"none: {' '.join(without) or '-'}")
    print(f"artifacts: {counts['compiled']} compiled, {counts['refused']} refused, {failed} failed "
          f"({size / 2**20:.1f} MB in {arguments.out})")
    if warned:
        print(f"ptxas warns of {warned} programs")
    return failed + warned != 0


if __name__ == "__main__":
    sys.exit(main())
