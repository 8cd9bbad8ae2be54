#!/usr/bin/env python3
"""Checks compiled programs on a machine with a GPU and no compiler, from
artifacts that build.py made elsewhere.

    check_gpu.py --artifacts DIR [--device cuda|emulated|cpu|fake] [--steps STEP,...]
                 [--only REGEX]

  differential  every program against float64: random ones (test/Differential) and
                a grid of rules, sources and element types, on empty, ragged and
                large shapes, into poisoned results; small networks (models.py);
                and programs as other projects write them (test/Programs)
  stress        tens of thousands of launches of each of the grid's programs, the
                results compared bit by bit, on the device
  graph         capture in a CUDA graph, replay on other data
  concurrent    on two streams at once
  runtime       the runtime alone, on the real driver
  index         index builds of every source, against numpy
  choice        choices on the device, against numpy
  live-fractions  bitmaps, the live fractions of candidates and indices of them, against numpy
  plain         functions that other compilers call as their own, against numpy
  tool          pit-run on programs that were compiled ahead of time
  interop       tensors of torch and arrays of CuPy, their streams and graphs
  memcheck, racecheck  compute-sanitizer on small cases
  host          what programs for a GPU do on the host, over a driver without a
                device (--device fake)

--device emulated needs no GPU: kernels run on the emulator (test/Emulator), which takes
PTX alone (`build.py --options=--device-code=ptx`) and is slow.

The last line counts what passed and failed. A case that crashes or does not end
fails alone.
"""

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Differential"))

import tool_check  # noqa: E402
from workers import Worker, regex  # noqa: E402

PROGRAM_STEPS = ("differential", "stress", "graph", "concurrent")
STEPS = ("runtime", "index", "choice", "live-fractions", "plain", "tool", *PROGRAM_STEPS, "interop",
         "memcheck", "racecheck", "host")
EMULATED = ("runtime", "index", "choice", "live-fractions", "tool", "differential", "graph",
            "concurrent")
BY_DEVICE = {"cuda": STEPS[:-1], "emulated": EMULATED, "cpu": ("tool", *PROGRAM_STEPS),
             "fake": ("host", "plain")}
TIMEOUT = 90  # seconds of one case
EMULATED_TIMEOUT = 400
SANITIZER_TIMEOUT = 300
# What compute-sanitizer runs: each kind of kernel once.
SANITIZED = ("f32-f32-dense", "bf16-f32-a-k-32x1-values", "f16-f32-a-rows-values",
             "bf16-f32-a-m-1x64-values", "i8-i32-a-k-32x1-values", "bf16-f32-c-n-32x1-mask",
             "f32-f32-a-k-32x1-routing", "f32-f32-a-rows-lengths",
             "f32-f32-wide-dense-tf32", "i8-i32-wide-dense", "f32-f32-wide-dense-split",
             "f32-f32-wide-k-16x1-split-values", "f32-f32-wide-dense-split-tf32",
             "f16-f16-wide-dense-versions", "f16-f16-wide-dense", "bf16-bf16-wide-dense-bt", "bf16-bf16-wide-dense-at",
             "bf16-f32-wide-dense-bias-relu", "bf16-bf16-wide-rows-index",
             "bf16-bf16-wide-up-routing", "bf16-f32-wide-down-routing",
             "bf16-bf16-wide-down-rounded-routing", "f8E4M3FN-f32-wide-scales-128",
             "f8E4M3FN-f32-wide-scales-experts-128-routing", "f16-f16-wide-m-1x64-rounded-values",
             "bf16-bf16-wide-k-128x1-at-index", "bf16-bf16-wide-k-64x1-at-index",
             "f16-f16-wide-k-32x1-bt-index", "f16-f16-wide-b-k-1x32-index",
             "bf16-bf16-wide-b-k-32x1-bt-index", "f16-f16-wide-c-n-32x1-mask")
SANITIZED_PROGRAMS = ("tiles-causal-attention-with-logs-marked",)
SANITIZED_MODELS = ("resnet", "decode", "slices", "gathers", "projections", "projections-part")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", required=True, type=Path)
    parser.add_argument("--device", default="cuda", choices=tuple(BY_DEVICE))
    parser.add_argument("--steps", default="",
                        help=f"of {', '.join(STEPS)}; by default all that the device has")
    parser.add_argument("--only", default="", metavar="REGEX", type=regex,
                        help="programs whose name matches")
    parser.add_argument("--launches", type=int, help="of each program in stress (default 20000)")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count()))
    parser.add_argument("--seconds", type=float, default=540,
                        help="start no case later than this; those left out count as failed")
    parser.add_argument("--failures", type=int, default=20, help="how many to print in full")
    arguments = parser.parse_args()
    steps = arguments.steps.split(",") if arguments.steps else BY_DEVICE[arguments.device]
    unknown = [s for s in steps if s not in STEPS]
    if unknown:
        parser.error(f"no step '{unknown[0]}'; there are: {', '.join(STEPS)}")
    arguments.steps = steps
    arguments.emulated = arguments.device == "emulated"
    arguments.timeout = EMULATED_TIMEOUT if arguments.emulated else TIMEOUT
    if arguments.launches is None:
        arguments.launches = 40 if arguments.emulated else 20000
    return arguments


def emulate(arguments):
    """To the processes that this one starts, the emulator is libcuda, and has a GPU."""
    arguments.device = "cuda"
    set_libraries(os.environ, arguments.artifacts / "emulator")
    os.environ["PIT_CACHE_DIR"] = ""


def set_libraries(environment, folder):
    """Puts a folder before those where libraries are looked for."""
    others = os.environ.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = f"{folder}:{others}" if others else str(folder)
    return environment


class Report:
    """Counts outcomes and shows progress."""

    def __init__(self, limit):
        self.lock = threading.Lock()
        self.limit = limit
        self.started = time.monotonic()
        self.counts = {}  # by step
        self.reasons = []

    def seconds(self):
        return time.monotonic() - self.started

    def note(self, step, name, outcome, total=None):
        status, message = outcome["status"], outcome.get("message") or ""
        with self.lock:
            counts = self.counts.setdefault(
                step, {"passed": 0, "failed": 0, "skipped": 0, "refused": 0})
            counts[status] += 1
            if status == "failed":
                self.reasons.append((step, name))
                text = message.strip() if len(self.reasons) <= self.limit else message.split("\n")[0][:200]
                print(f"FAILED {step} {name}: {text}", flush=True)
            elif status == "skipped" and counts["skipped"] == 1:
                print(f"{step}: {message}", flush=True)
            done = sum(counts.values())
            if total and (done % 50 == 0 or done == total):
                print(f"[{step} {done}/{total}, {self.seconds():.0f} s, "
                      f"{counts['failed']} failed]", flush=True)

    def summary(self):
        total = {"passed": 0, "failed": 0, "skipped": 0, "refused": 0}
        print("\nstep          passed  failed  skipped  refused")
        for step, counts in self.counts.items():
            print(f"{step:12} {counts['passed']:7d} {counts['failed']:7d} {counts['skipped']:8d} "
                  f"{counts['refused']:8d}")
            for key in total:
                total[key] += counts[key]
        failed = total["failed"]
        if not total["passed"]:
            print("FAILED: nothing was checked")
            failed += 1
        skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
        print(f"check-gpu: {total['passed']} passed, {failed} failed{skipped} "
              f"({total['refused']} refused by the compiler, {self.seconds():.0f} s)")
        return failed != 0


def run_programs(arguments, step, entries, report):
    """A step over programs, in several processes."""
    cases = queue.SimpleQueue()
    for entry in entries:
        cases.put(entry)
    # compute units and memory are shared; one context each is cheap.
    command = [sys.executable, HERE / "worker.py", "--artifacts", arguments.artifacts,
               "--device", arguments.device, "--launches", str(arguments.launches)]

    def work():
        worker = Worker([str(c) for c in command], arguments.timeout, {"OMP_NUM_THREADS": "2"})
        while True:
            try:
                entry = cases.get_nowait()
            except queue.Empty:
                break
            if report.seconds() > arguments.seconds:
                outcome = {"status": "failed", "message": "not run: no time was left"}
            else:
                outcome = worker.check(f"{step} {entry['name']}")
            if outcome["status"] == "failed" and arguments.device == "cuda" and worker.process:
                worker.restart()  # an error of a kernel stays in its context
            report.note(step, entry["name"], outcome, len(entries))
        worker.stop()

    threads = [threading.Thread(target=work)
               for _ in range(max(1, min(arguments.jobs, len(entries))))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def chosen(step, programs):
    """The compiled programs that a step is about."""
    compiled = [p for p in programs if p["status"] == "compiled"]
    if step in ("stress", "concurrent"):
        return [p for p in compiled if p["kind"] == "grid"]
    if step == "graph":
        return [p for i, p in enumerate(compiled) if p["kind"] == "grid" or i % 4 == 0]
    return compiled


def run_command(command, timeout, environment=None):
    """What a process printed, and what it ended with."""
    try:
        done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=timeout,
                              env={**os.environ, **(environment or {})})
        text, bad = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        text = error.stdout or b""
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
        text, bad = text + f"\nno end after {timeout} s", 1
    return text, bad


def run_runtime(arguments, report):
    lib = arguments.artifacts / "lib"
    text, bad = run_command([lib / "CudaDeviceCheck"], 120, set_libraries({}, lib))
    print(text, flush=True)
    for mark, name in re.findall(r"^(ok|FAIL) +(.*)$", text, re.M):
        bad = bad if mark == "ok" else 0  # counted here
        report.note("runtime", name, {"status": "passed"} if mark == "ok" else
                    {"status": "failed", "message": "see above"})
    if bad:
        report.note("runtime", "all", {"status": "failed", "message": f"ended with {bad}"})
    for name in ("PackRowsCheck", "PackedIndexCheck"):
        seed = str(time.time_ns())
        text, bad = run_command([lib / name, "300", seed], 120, set_libraries({}, lib))
        print(text, flush=True)
        report.note("runtime", name, {"status": "passed"} if not bad else
                    {"status": "failed", "message": f"seed {seed}: ended with {bad}: {text}"})


def run_tool(arguments, report):
    for name, command, code, wanted in tool_check.cases(arguments.artifacts, arguments.device):
        text, bad = run_command(command, arguments.timeout)
        report.note("tool", name, {"status": "passed"} if bad == code and wanted in text else
                    {"status": "failed", "message": f"ended with {bad}: {text}"})


def run_numpy(arguments, step, script, report, *options):
    """A script that compares with numpy, and counts what passed."""
    text, bad = run_command(
        [sys.executable, HERE / f"{script}.py", "--artifacts", arguments.artifacts, *options],
        max(150, arguments.timeout),
        set_libraries({"PIT_RUNTIME_LIBRARY": str(arguments.artifacts / "lib" / "libpit_runtime.so")},
                      arguments.artifacts / "lib"))
    print(text, flush=True)
    found = re.search(rf"^{script}: (\d+) of (\d+) passed", text, re.M)
    passed, total = (int(found[1]), int(found[2])) if found else (0, 1)
    for i in range(total):
        report.note(step, "", {"status": "passed"} if i < passed else
                    {"status": "failed", "message": "see above"})
    if bad and passed == total:
        report.note(step, "all", {"status": "failed", "message": f"ended with {bad}"})


def run_plain(arguments, manifest, report):
    if manifest.get("plain") is None:  # build.py --only
        return
    if manifest["plain"]:
        report.note("compile", "plain-functions", {"status": "failed",
                                                   "message": manifest["plain"]})
        return
    run_numpy(arguments, "plain", "plain_check", report, "--device", arguments.device)


def run_interop(arguments, report):
    text, bad = run_command(
        [sys.executable, HERE / "interop.py", "-v"], 150,
        {"PIT_RUNTIME_LIBRARY": str(arguments.artifacts / "lib" / "libpit_runtime.so"),
         "PIT_TEST_FUNCTIONS": str(arguments.artifacts / "functions.so")})
    print(text, flush=True)
    found = re.search(r"^Ran (\d+) tests?", text, re.M)
    wrong = re.findall(r"^(?:FAIL|ERROR): (\S+)", text, re.M)
    skipped = len(re.findall(r"\.\.\. skipped", text))
    total = int(found[1]) if found else 0
    for name in wrong:
        report.note("interop", name, {"status": "failed", "message": "see above"})
    if bad and not wrong:
        report.note("interop", "all", {"status": "failed", "message": f"ended with {bad}"})
    for _ in range(skipped):
        report.note("interop", "", {"status": "skipped", "message": "skipped: see above"})
    for _ in range(max(0, total - len(wrong) - skipped)):
        report.note("interop", "", {"status": "passed"})


def run_sanitizer(arguments, step, programs, report):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(tool).exists():
        report.note(step, "all", {"status": "failed", "message": "there is no compute-sanitizer"})
        return
    names = [f"{kind}-{name}" for kind, listed in (("grid", SANITIZED), ("program", SANITIZED_PROGRAMS),
                                                   ("model", SANITIZED_MODELS)) for name in listed]
    names = [p["name"] for p in programs if p["name"] in names and p["status"] == "compiled"
             and arguments.only.search(p["name"])]
    if not names:
        return
    cases = [word for name in names for word in ("small", name)]
    text, bad = run_command(
        [tool, "--tool", step, "--error-exitcode", "9", sys.executable,
         HERE / "worker.py", "--artifacts", arguments.artifacts, *cases],
        SANITIZER_TIMEOUT)
    good = re.findall(r"^passed small (\S+)", text, re.M)
    clean = re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", text)
    if bad or not clean:
        print("\n".join(text.splitlines()[-80:]), flush=True)
    for name in names:
        if name not in good:
            message = f"ended with {bad}; see above"
        elif not clean:
            message = "compute-sanitizer found errors; see above"
        else:
            report.note(step, name, {"status": "passed"}, len(names))
            continue
        report.note(step, name, {"status": "failed", "message": message}, len(names))


def describe(arguments):
    """One line about the machine."""
    if arguments.emulated:
        return f"on the emulator of an sm_{os.environ.get('PIT_EMULATOR_CAPABILITY', 90)}"
    if arguments.device != "cuda":
        return f"on the CPU ({arguments.device})"
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return "nvidia-smi does not answer"


def probe(arguments):
    """Whether the device and the runtime can be used at all."""
    text, bad = run_command([sys.executable, HERE / "worker.py", "--artifacts",
                             arguments.artifacts, "--device", arguments.device], 120)
    if bad:
        lines = text.strip().splitlines() or [f"ended with {bad}"]
        print(f"check-gpu: nothing can be checked: {lines[-1]}")
    return not bad


def main():
    arguments = parse_arguments()
    given = arguments.artifacts.resolve()
    report = Report(arguments.failures)
    manifest = json.loads((given / "manifest.json").read_text())
    print(f"check-gpu: {describe(arguments)}; programs for {manifest['target']} "
          f"{manifest['options']}", flush=True)
    with tempfile.TemporaryDirectory(prefix="pit-check-gpu-") as folder:
        # A folder that can be written: the programs unpacked, the rest linked.
        arguments.artifacts = Path(folder)
        for item in given.iterdir():
            (arguments.artifacts / item.name).symlink_to(item)
        (arguments.artifacts / "programs").mkdir()
        with tarfile.open(given / "programs.tar.xz") as archive:
            # Not in the first versions of Python 3.11.
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(arguments.artifacts / "programs", **safe)
        programs = [p for p in manifest["programs"] if arguments.only.search(p["name"])]
        for entry in programs:
            if entry["status"] != "compiled":
                report.note("compile", entry["name"], entry)
        if manifest["functions"] and not arguments.only.pattern:
            report.note("compile", "functions", {"status": "failed",
                                                 "message": manifest["functions"]})
        few = ("--small", "--cases=40") if arguments.emulated else ()
        if arguments.emulated:
            emulate(arguments)
        if not probe(arguments):
            return 1
        for step in arguments.steps:
            try:
                if step in PROGRAM_STEPS or step == "host":
                    run_programs(arguments, step, chosen(step, programs), report)
                elif step == "runtime":
                    run_runtime(arguments, report)
                elif step == "tool":
                    run_tool(arguments, report)
                elif step == "index":
                    run_numpy(arguments, step, "index_check", report, *few)
                elif step == "choice":
                    run_numpy(arguments, step, "choose_check", report, *few)
                elif step == "live-fractions":
                    # All candidates of each case: fewer cases.
                    few = ("--small", "--cases=4") if arguments.emulated else ("--cases=40",)
                    run_numpy(arguments, step, "live_fractions_check", report, *few)
                elif step == "plain":
                    run_plain(arguments, manifest, report)
                elif step == "interop":
                    run_interop(arguments, report)
                else:
                    run_sanitizer(arguments, step, programs, report)
            except Exception as error:  # the next step may still do
                report.note(step, "all", {"status": "failed", "message": repr(error)})
    return report.summary()


if __name__ == "__main__":
    sys.exit(main())
