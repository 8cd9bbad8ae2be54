#!/usr/bin/env python3
"""Compiles programs as other projects write them (suite.py) with pit, runs them on the
CPU and compares with numpy in float64.

    run_programs.py --build BUILD [--only REGEX] [--target cpu|cuda] [--jobs J]
    run_programs.py --build BUILD --print NAME

For cuda it compiles only, and says what the compiler refuses; test/GPU runs what was
compiled. The last line is

    programs: N passed, N failed
"""

import argparse
import importlib.util
import os
import queue
import sys
import threading
import time
import traceback
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Differential")]

import suite  # noqa: E402
from workers import Worker, answer, regex  # noqa: E402

TIMEOUT = 300  # seconds for one case, compiling included


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--only", default="", metavar="REGEX", type=regex,
                        help="cases whose name matches")
    parser.add_argument("--catalogue", type=Path, default=HERE / "catalogue.py",
                        help="the file that registers the programs")
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--chip", default="sm_80", help="of --target=cuda")
    parser.add_argument("--pipeline", default="", metavar="OPTIONS",
                        help="options of every case beside its own, as check-bounds=true")
    parser.add_argument("--opt-level", type=int, choices=range(4),
                        help="of LLVM, for every case; without it a third of them, which their "
                        "names decide on, have 3, and the others 0")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--print", metavar="NAME", help="print this case's text")
    parser.add_argument("--slowest", type=int, default=0, metavar="N",
                        help="tell which N cases took longest")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def register(path):
    """Imports a file of programs."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


class Checker:
    """Checks one case after another."""

    def __init__(self, arguments):
        import check

        os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.build / "lib" / "libpit_runtime.so")
        self.check_run, self.Mismatch, self.pit = check.check_run, check.Mismatch, check.pit
        self.compiler = check.pit.Compiler()
        self.memories = [check.Host(threads=n) for n in (1, 2, 3)]
        self.target = arguments.target
        self.chip = arguments.chip
        self.pipeline = arguments.pipeline
        self.level = arguments.opt_level

    def check(self, name):
        try:
            message = self.run(suite.Case(name))
        except self.Mismatch as error:
            message = str(error)
        except Exception:
            message = traceback.format_exc()
        return {"status": "failed" if message else "passed", "message": message or ""}

    def run(self, case):
        """None, or what is wrong."""
        # Static forms skip whatever the zeros are; the others choose at run time.
        skips = self.target == "cpu" and case.marked and case.static
        text = case.text()
        options = [case.options, self.pipeline, "choice=now" if skips else ""]
        level = self.level
        if level is None:
            level = 0 if zlib.crc32(case.name.encode()) % 3 else 3
        how = {"pipeline": " ".join(filter(None, options)), "opt_level": level}
        refused = case.refused("cpu" if self.target == "cpu" else "nvptx")
        if self.target == "cuda":
            how |= {"target": "nvptx", "chip": self.chip, "cpu": "x86-64-v3"}
        try:
            if self.target == "cuda":
                self.compiler.artifact(text, emit="obj", **how)
            else:
                loaded = self.compiler.compile(text, **how)
        except self.pit.Error as error:
            if refused and refused in error.message:
                return None
            return f"refused: {error.message}"
        if refused:
            return f"the compiler takes it; expected was that it says '{refused}'"
        if self.target == "cuda":
            return None
        if skips:
            level3 = self.compiler.artifact(text, emit="mlir", **how)
            tiled = b"pit.index" in level3 and b"pit.for" in level3
            if tiled != case.entry.tiled:
                return "no loop over an index" if case.entry.tiled else "a loop over an index"
        for run in range(case.runs):
            if run:
                case.new_run()
            self.check_run(case, case, loaded.f, run, self.memories[run % 3])
        return None


def run_worker(arguments):
    checker = Checker(arguments)
    for line in sys.stdin:
        answer(checker.check(line.strip()))


def run_many(arguments):
    names = [name for name in suite.cases() if arguments.only.search(name)]
    cases, lock, taken = queue.SimpleQueue(), threading.Lock(), []
    for name in names:
        cases.put(name)
    failed = 0
    started = time.monotonic()

    def work():
        nonlocal failed
        worker = Worker([sys.executable, __file__, "--worker", "--build", str(arguments.build),
                         "--catalogue", str(arguments.catalogue), "--target", arguments.target,
                         "--chip", arguments.chip, "--pipeline", arguments.pipeline,
                         *([] if arguments.opt_level is None
                           else [f"--opt-level={arguments.opt_level}"])], TIMEOUT)
        while True:
            try:
                name = cases.get_nowait()
            except queue.Empty:
                break
            before = time.monotonic()
            outcome = worker.check(name)
            with lock:
                taken.append((time.monotonic() - before, name))
                if outcome["status"] == "failed":
                    failed += 1
                    print(f"FAILED {name}: {outcome['message'].rstrip()}", flush=True)
                if len(taken) % 50 == 0 or len(taken) == len(names):
                    print(f"[{len(taken)}/{len(names)}, {time.monotonic() - started:.0f} s, "
                          f"{failed} failed]", flush=True)
        worker.stop()

    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seconds, name in sorted(taken, reverse=True)[:arguments.slowest]:
        print(f"{seconds:6.2f} s {name}")
    if not names:
        print("FAILED: no case has such a name")
        failed += 1
    print(f"programs: {len(names) - failed if names else 0} passed, {failed} failed")
    return failed != 0


def main():
    arguments = parse_arguments()
    register(arguments.catalogue)
    if arguments.print:
        print(suite.Case(arguments.print).text())
        return 0
    if arguments.worker:
        run_worker(arguments)
        return 0
    return int(run_many(arguments))


if __name__ == "__main__":
    sys.exit(main())
