#!/usr/bin/env python3
"""The differential test: draws random programs, compiles each with pit, runs it
on random data, and compares with numpy.

    differential.py --build BUILD [--count N] [--seed S] [--jobs J]
    differential.py --build BUILD --seed S --case C [--max-dim D] [--print]

--count 0 goes on until something fails or the user stops it. A failing case is
drawn again with smaller extents as long as it fails, and printed with the
command that repeats it. The last line is

    differential: N passed, N failed (N refused, N dense, N tiled)

A program may be refused, but only with a diagnostic; at least 70 % of the
accepted ones must have become tile loops over an index.
"""

import argparse
import os
import queue
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from workers import Worker, answer

TIMEOUT = 120  # seconds for one case, compiling included
SHRINK_TO = (2, 3, 5, 9, 17, 33, 70)
LEAST_TILED = 0.70
MOST_REFUSED = 0.15  # mostly for a rule that was drawn and is not legal


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--count", type=int, default=500, help="programs; 0: no end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run only this one")
    parser.add_argument("--max-dim", type=int, default=200, help="cap of drawn extents")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--print", action="store_true", help="print the program")
    parser.add_argument("--keep-going", action="store_true",
                        help="report failures without drawing them smaller")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def make_worker(arguments):
    return Worker([sys.executable, __file__, "--worker", "--build", str(arguments.build),
                   "--seed", str(arguments.seed)], TIMEOUT)


def smaller(worker, case, outcome, max_dim):
    """The same failure with smaller extents, if it fails there too."""
    for cap in SHRINK_TO:
        if cap < max_dim:
            other = worker.check(f"{case} {cap}")
            if other["status"] == "failed":
                return other, cap
    return outcome, max_dim


def report(arguments, case, outcome, max_dim):
    command = (f"test/Differential/differential.py --build {arguments.build} "
               f"--seed {arguments.seed} --case {case}")
    if max_dim != 200:
        command += f" --max-dim {max_dim}"
    print(f"\nFAILED case {case}: {outcome['message'].rstrip()}")
    if outcome.get("program"):
        print(outcome["program"].rstrip())
    print(f"repeat with: {command}\n", flush=True)


def run_one(arguments):
    from check import Checker

    outcome = Checker(arguments.build).check(
        arguments.seed, arguments.case, arguments.max_dim)
    if arguments.print or outcome["status"] == "failed":
        print(outcome["program"].rstrip())
    print(f"{outcome['status']}: {outcome.get('message', '').rstrip()}")
    return outcome["status"] == "failed"


def run_worker(arguments):
    from check import Checker

    checker = Checker(arguments.build)
    for line in sys.stdin:
        case, max_dim = map(int, line.split())
        outcome = checker.check(arguments.seed, case, max_dim)
        if outcome["status"] != "failed":
            del outcome["program"]
        answer(outcome)


def run_many(arguments):
    cases = queue.Queue(maxsize=2 * arguments.jobs)
    outcomes = Counter()
    by_kind = Counter()
    reasons = Counter()
    lock = threading.Lock()
    started = time.monotonic()
    stop = threading.Event()

    def note(case, outcome, max_dim):
        with lock:
            status = outcome["status"]
            outcomes[status] += 1
            for tag in outcome.get("tags", ()):
                by_kind[tag, status] += 1
            if status == "refused":
                reasons[outcome["message"].splitlines()[0][:160]] += 1
            if status == "failed":
                report(arguments, case, outcome, max_dim)
                if arguments.count == 0:
                    stop.set()
            done = sum(outcomes.values())
            if done % 50 == 0:
                total = arguments.count or "no end"
                print(f"[{done}/{total}, {time.monotonic() - started:.0f} s] "
                      + ", ".join(f"{n} {s}" for s, n in sorted(outcomes.items())), flush=True)

    def work():
        worker = make_worker(arguments)
        while (case := cases.get()) is not None:
            max_dim = arguments.max_dim
            outcome = worker.check(f"{case} {max_dim}")
            if outcome["status"] == "failed" and not arguments.keep_going:
                outcome, max_dim = smaller(worker, case, outcome, max_dim)
            note(case, outcome, max_dim)
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
    tiled, dense = outcomes["tiled"], outcomes["dense"]
    refused, failed = outcomes["refused"], outcomes["failed"]
    accepted = tiled + dense
    share = tiled / accepted if accepted else 0.0
    print(f"really tiled: {100 * share:.1f} % of {accepted} accepted programs")
    if accepted and share < LEAST_TILED:
        print(f"FAILED: at least {100 * LEAST_TILED:.0f} % have to be tiled")
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
    if arguments.case is not None:
        return int(run_one(arguments))
    return int(run_many(arguments))


if __name__ == "__main__":
    sys.exit(main())
