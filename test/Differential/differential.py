#!/usr/bin/env python3
"""The differential test: draws random programs, compiles each with pit, runs it
on random data, and compares with numpy.

    differential.py --build BUILD [--kind KIND] [--count N] [--seed S] [--jobs J]
    differential.py --build BUILD [--kind KIND] --seed S --case C [--max-dim D] [--print]
    differential.py --build BUILD --file PROGRAM.mlir [--options JSON]
    differential.py --build BUILD --kind sums --chip sm_80|sm_90a --emulated --max-dim 33

Kinds: `ops` are programs about one op (draw.py); `programs` are of several ops, functions
and loops, and an interpreter (interpreter.py) says what they compute (compose_flow.py);
`sums` are modules of functions that all compute one sum of products, written in equivalent
ways, with marks and rules on whatever operand and axis (draw_sums.py). Of these each function
counts as a program.

--count 0 goes on until something fails or the user stops it. A failing case is
drawn again with smaller extents as long as it fails, and printed with the
command that repeats it. --count counts cases, as modules of `sums`. For long runs, as one
of 20,000 programs, give a --seed of your own, --keep-going, and a longer --timeout where
other work has the cores. A program of several ops is then cut down (reducer.py), and what is
left is written to BUILD/differential, with its arguments beside it. The last line is

    differential: N passed, N failed (N refused, N dense, N tiled)

A program may be refused, but only with a diagnostic, and only for a rule that was drawn.
Most of the accepted ones must have become tile loops over an index.
"""

import argparse
import json
import os
import queue
import re
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from workers import Worker, answer, regex

SHRINK_TO = (2, 3, 5, 9, 17, 33, 70)
MAX_DIM = {"ops": 200, "programs": 28, "sums": 100}
LEAST_TILED = {"ops": 0.70, "programs": 0.35, "sums": 0.50}
MOST_REFUSED = 0.15  # mostly for a rule that was drawn and is not legal
REDUCED = 3  # failures of one sort that are cut down


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--count", type=int, default=500, help="programs; 0: no end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run only this one")
    parser.add_argument("--kind", choices=tuple(MAX_DIM), default="ops")
    parser.add_argument("--without", default="", metavar="FAMILY,...",
                        help="of the programs: what not to draw, as loop or call")
    parser.add_argument("--file", type=Path, help="run only this program, which was written here")
    parser.add_argument("--options", type=json.loads, default={}, help="of the compiler, for --file")
    parser.add_argument("--chip", help="compile the programs for this GPU, and run them on one")
    parser.add_argument("--emulated", action="store_true",
                        help="with --chip: on test/Emulator, which needs no GPU")
    parser.add_argument("--max-dim", type=int, help="cap of drawn extents")
    parser.add_argument("--timeout", type=float, default=120,
                        help="seconds for one case, compiling included")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--pipeline", default="",
                        help="options of pit-to-cpu for ops, as check-bounds=true")
    parser.add_argument("--print", action="store_true", help="print the program")
    parser.add_argument("--keep-going", action="store_true",
                        help="report failures without drawing them smaller")
    parser.add_argument("--ignore", type=regex, metavar="REGEX",
                        help="failures that count as refused")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.max_dim = arguments.max_dim or MAX_DIM[arguments.kind]
    if arguments.emulated and not arguments.chip:
        parser.error("--emulated is about --chip")
    arguments.device = {"target": "cuda", "chip": arguments.chip} if arguments.chip else None
    if arguments.emulated:
        arguments.device["device_code"] = "ptx"
    arguments.without_families = [f for f in arguments.without.split(",") if f]
    return arguments


def make_worker(arguments):
    return Worker([sys.executable, __file__, "--worker", "--build", str(arguments.build),
                   "--kind", arguments.kind, "--without", arguments.without,
                   "--seed", str(arguments.seed), "--pipeline", arguments.pipeline,
                   *(["--chip", arguments.chip] if arguments.chip else []),
                   *(["--emulated"] if arguments.emulated else [])], arguments.timeout)


def make_checker(arguments):
    if arguments.kind == "ops":
        from check import Checker

        return Checker(arguments.build, arguments.pipeline)
    if arguments.kind == "sums":
        from check_sums import SumsChecker

        return SumsChecker(arguments.build, arguments.pipeline, arguments.device)
    from check_programs import ProgramChecker

    return ProgramChecker(arguments.build, arguments.without_families, arguments.device)


def on_emulator(arguments):
    """Starts again where the driver's library is the emulator."""
    folder = str(arguments.build.resolve() / "test" / "Emulator" / "lib")
    if not os.environ.get("LD_LIBRARY_PATH", "").startswith(folder):
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "PIT_CACHE_DIR": "",
                       "PIT_EMULATOR_CAPABILITY": re.sub(r"\D", "", arguments.chip)}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def fresh(arguments, worker, outcome):
    """After an error of a kernel, which stays in its context, the next case gets a new
    process."""
    if arguments.chip and outcome["status"] == "failed" and worker.process:
        worker.restart()
    return outcome


def reduced(arguments, worker, case, max_dim):
    """The file with what is left of a failing program, and what is wrong with it; None if
    it does not fail again."""
    import check_programs
    from compose_flow import Compose
    from reducer import Reducer

    folder = arguments.build / "differential"
    folder.mkdir(exist_ok=True)
    path = folder / f"{arguments.seed}-{case}.mlir"

    def check(text, call, options):
        path.write_text(text)
        call.save(f"{path}.npz")
        return fresh(arguments, worker, worker.check(f"file {path} {json.dumps(options)}"))

    draw = Compose(arguments.seed, case, max_dim, arguments.without_families)
    text, options = draw.run().text(), draw.options()
    generic = check_programs.generic_form(arguments.build, text)
    for run in range(draw.runs):
        if run:
            draw.new_extents()
        reducer = Reducer(generic, check_programs.drawn_call(draw, run), options, check,
                          lambda text: check_programs.interpretable(arguments.build, text))
        if reducer.run():
            text = check_programs.readable(arguments.build, reducer.text)
            check(text, reducer.call, reducer.options)
            return path, text, reducer
    return None


def smaller(arguments, worker, case, outcome, max_dim):
    """The same failure with smaller extents, if it fails there too."""
    for cap in SHRINK_TO:
        if cap < max_dim:
            other = fresh(arguments, worker, worker.check(f"{case} {cap}"))
            if other["status"] == "failed":
                return other, cap
    return outcome, max_dim


def report(arguments, case, outcome, max_dim, left=None):
    tool = f"test/Differential/differential.py --build {arguments.build}"
    command = f"{tool} --kind {arguments.kind} --seed {arguments.seed} --case {case}"
    if arguments.without:
        command += f" --without {arguments.without}"
    if arguments.pipeline:
        command += f" --pipeline '{arguments.pipeline}'"
    if arguments.chip:
        command += f" --chip {arguments.chip}" + " --emulated" * arguments.emulated
    if max_dim != MAX_DIM[arguments.kind]:
        command += f" --max-dim {max_dim}"
    lines = [f"\nFAILED case {case}: {outcome['message'].rstrip()}"]
    if left:
        path, text, reducer = left
        lines += [f"cut down to: {reducer.outcome['message'].rstrip()}", text.rstrip(),
                  f"repeat with: {tool} --file {path} --options '{json.dumps(reducer.options)}'"]
    elif outcome.get("program"):
        lines.append(outcome["program"].rstrip())
    lines.append(f"{'drawn' if left else 'repeat'} with: {command}\n")
    print("\n".join(lines), flush=True)


def sort_of(outcome):
    """A failure's message without numbers and places."""
    message = re.sub(r"program\.mlir:\d+:\d+: ", "", outcome["message"].strip())
    if message.startswith("Traceback"):
        message = message.splitlines()[-1]
    return re.sub(r"\d+", "N", message[:200].split(" at [")[0].split("\n")[0])[:90]


def run_one(arguments):
    outcome = make_checker(arguments).check(arguments.seed, arguments.case, arguments.max_dim)
    if arguments.print or outcome["status"] == "failed":
        print(outcome["program"].rstrip())
    print(f"{outcome['status']}: {outcome.get('message', '').rstrip()}")
    return outcome["status"] == "failed"


def run_worker(arguments):
    checker = make_checker(arguments)
    for line in sys.stdin:
        if line.startswith("file "):
            _, path, options = line.split(maxsplit=2)
            answer(checker.check_file(path, json.loads(options)))
            continue
        case, max_dim = map(int, line.split())
        outcome = checker.check(arguments.seed, case, max_dim)
        if outcome["status"] != "failed":
            del outcome["program"]
        answer(outcome)


def run_many(arguments):
    cases = queue.Queue(maxsize=2 * arguments.jobs)
    outcomes = Counter()
    by_kind = Counter()
    reasons, sorts = Counter(), Counter()
    cases_done = 0
    compared = []  # how much of the results is known
    lock = threading.Lock()
    started = time.monotonic()
    stop = threading.Event()

    def note(case, outcome, max_dim, left=None):
        with lock:
            status = outcome["status"]
            if "compared" in outcome:
                compared.append(outcome["compared"])
            outcomes.update(outcome.get("counts", {status: 1}))
            tagged = [(tag, status) for tag in outcome.get("tags", ())]
            by_kind.update(map(tuple, outcome.get("tagged", tagged)))
            refused = [outcome["message"].splitlines()[0]] if status == "refused" and outcome["message"] else []
            reasons.update(reason[:160] for reason in outcome.get("reasons", refused))
            if status == "failed":
                report(arguments, case, outcome, max_dim, left)
                if arguments.count == 0:
                    stop.set()
            nonlocal cases_done
            cases_done += 1
            if cases_done % 50 == 0:
                done = sum(outcomes.values())
                total = arguments.count or "no end"
                print(f"[{done}/{total}, {time.monotonic() - started:.0f} s] "
                      + ", ".join(f"{n} {s}" for s, n in sorted(outcomes.items())), flush=True)

    def work():
        worker = make_worker(arguments)
        while (case := cases.get()) is not None:
            max_dim, left = arguments.max_dim, None
            outcome = fresh(arguments, worker, worker.check(f"{case} {max_dim}"))
            if outcome["status"] == "failed" and arguments.ignore and arguments.ignore.search(outcome["message"]):
                outcome["status"] = "refused"
            if outcome["status"] == "failed" and not arguments.keep_going:
                with lock:
                    sorts[sort_of(outcome)] += 1
                    again = sorts[sort_of(outcome)] <= REDUCED
                if again:
                    outcome, max_dim = smaller(arguments, worker, case, outcome, max_dim)
                if again and arguments.kind == "programs":
                    try:
                        left = reduced(arguments, worker, case, max_dim)
                    except Exception as error:  # the failure itself is reported all the same
                        outcome["message"] += f"\nit cannot be cut down: {error!r}"
            note(case, outcome, max_dim, left)
        worker.stop()

    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    case = arguments.first
    try:
        while not stop.is_set() and (not arguments.count or case < arguments.first + arguments.count):
            cases.put(case)
            case += 1
    except KeyboardInterrupt:
        print("stopped", flush=True)
    for _ in threads:
        cases.put(None)
    for thread in threads:
        thread.join()

    print("\nkind                      tiled  dense  refused  failed")
    for kind in sorted({kind for kind, _ in by_kind}):
        row = [by_kind[kind, status] for status in ("tiled", "dense", "refused", "failed")]
        print(f"{kind:24} {row[0]:6d} {row[1]:6d} {row[2]:8d} {row[3]:7d}")
    for reason, count in reasons.most_common(20):
        print(f"refused {count} times: {reason}")
    for sort, count in sorts.most_common(20):
        print(f"failed {count} times: {sort}")
    if compared:
        print(f"known of the results: {100 * sum(compared) / len(compared):.1f} %")
    tiled, dense = outcomes["tiled"], outcomes["dense"]
    refused, failed = outcomes["refused"], outcomes["failed"]
    accepted = tiled + dense
    share = tiled / accepted if accepted else 0.0
    print(f"really tiled: {100 * share:.1f} % of {accepted} accepted programs")
    if accepted and share < LEAST_TILED[arguments.kind] and not arguments.chip:
        print(f"FAILED: at least {100 * LEAST_TILED[arguments.kind]:.0f} % have to be tiled")
        failed += 1
    if refused > MOST_REFUSED * sum(outcomes.values()):
        print(f"FAILED: more than {100 * MOST_REFUSED:.0f} % of the programs were refused")
        failed += 1
    print(f"differential: {tiled + dense + refused} passed, {failed} failed "
          f"({refused} refused, {dense} dense, {tiled} tiled)")
    return failed != 0


def main():
    arguments = parse_arguments()
    if arguments.worker:
        run_worker(arguments)
        return 0
    if arguments.emulated:
        on_emulator(arguments)
    if arguments.file:
        from check_programs import ProgramChecker

        outcome = ProgramChecker(arguments.build, (), arguments.device).check_file(arguments.file, arguments.options)
        print(f"{outcome['status']}: {outcome['message']}")
        return int(outcome["status"] == "failed")
    if arguments.case is not None:
        return int(run_one(arguments))
    return int(run_many(arguments))


if __name__ == "__main__":
    sys.exit(main())
