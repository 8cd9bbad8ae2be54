#!/usr/bin/env python3
"""Times pit on a GPU beside cuBLAS, cuSPARSE and torch, from artifacts that
tools/build-gpu-artifacts.sh made elsewhere:

    bench.py --artifacts DIR [--out FILE.jsonl] [--only REGEX] [--rounds N] [--seconds S]
    bench.py --markdown FILE.jsonl          prints the table of docs/performance/gpu-*.md
    ncu --profile-from-start off ... python3 bench.py --artifacts DIR --profile REGEX

Needs Python, torch and CUDA. Every case of cases.json checks its results against
float64 and then has pit and its peers take turns in one process: random data, a
pattern of its own in each operand set, sets that rotate past the L2, CUDA graphs
(peers that wait for the device are timed without), medians of 15 rounds. --only and --rounds make a run shorter; --profile makes the
cases' results, checks them, and then calls pit alone, once for each operand set, between
cudaProfilerStart and cudaProfilerStop.

`ratio` is the best peer's time over pit's, conversions to sparse formats not
counted; `floor` is the larger of the bytes that must move over the rate of a
copy and the operations over the rate of cuBLAS's largest product, both measured
in the same run. Where a case has a rate to keep (`base`), the peer is pit on another
shape, and the ratio that of operations per second. FILE gets a line of JSON for each case, with all contestants.
"""

import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "test" / "Differential"), str(ROOT / "python")]

from workers import Worker, answer, regex  # noqa: E402

TIMEOUT = 90  # seconds of one case
UNITLESS = ("index", "routing")  # kinds without a rate of operations


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path)
    parser.add_argument("--markdown", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--out", type=Path, default=Path("bench-gpu.jsonl"))
    parser.add_argument("--only", default="", metavar="REGEX", type=regex,
                        help="cases whose name matches")
    parser.add_argument("--profile", metavar="REGEX", type=regex,
                        help="calls these cases' programs for ncu")
    parser.add_argument("--seconds", type=float, default=540, help="start no case later")
    parser.add_argument("--rounds", type=int, default=15)
    # To try the scripts where there is no GPU.
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help=argparse.SUPPRESS)
    parser.add_argument("--shrink", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.artifacts and not arguments.markdown:
        parser.error("--artifacts has to name a folder")
    return arguments


def cases():
    """(name, line of cases.json, sparsity, target, target in us)"""
    listed = []
    for spec in json.loads((HERE / "cases.json").read_text()):
        sparsities = spec.get("sparsity", [None])
        at = lambda key, i: spec[key][i] if isinstance(spec.get(key), list) else spec.get(key)
        for i, sparsity in enumerate(sparsities):
            name = spec["name"] if sparsity is None else f"{spec['name']}, {sparsity} % zero"
            listed.append((name, spec, sparsity, at("target", i), at("target_us", i)))
    return listed


def matching(pattern):
    return [case for case in cases() if pattern.search(case[0])]


# --------------------------------------------------------------------------
# In the worker
# --------------------------------------------------------------------------


def prepare_case(bench, case):
    from kinds import set_precision

    _, spec, sparsity, _, _ = case
    set_precision(spec.get("type"))
    return getattr(bench, spec["kind"])(spec, sparsity)


def run_case(bench, case, rounds):
    from timing import race

    outcome = prepare_case(bench, case)
    race(bench.machine, [c for c in outcome.contestants if c.calls], rounds)
    found = {c.name: {"us": c.microseconds, "spread": c.spread, "eager": c.eager}
             for c in outcome.contestants if c.seconds}
    notes = {c.name: c.note for c in outcome.contestants if c.note}
    if "pit" not in found:
        return {"status": "failed", "message": notes.get("pit", "pit was not timed")}
    return {"status": "passed", "times": found, "notes": notes, "bytes": outcome.bytes,
            "operations": outcome.operations, "peak": outcome.peak,
            "peers": list(outcome.peers), "scale": outcome.scale}


def make_bench(arguments):
    os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.artifacts / "lib" / "libpit_runtime.so")
    from kinds import Bench
    from timing import Cpu, Gpu

    machine = Gpu() if arguments.device == "cuda" else Cpu()
    return Bench(machine, arguments.artifacts, arguments.shrink)


def profile(arguments):
    """The work between start and stop is pit's alone."""
    bench = make_bench(arguments)
    for case in matching(arguments.profile):
        calls = prepare_case(bench, case).contestants[0].calls
        bench.machine.synchronize()
        with bench.machine.profiled():
            for call in calls:
                call()
            bench.machine.synchronize()
        print(f"bench-gpu: {case[0]}: {len(calls)} calls", flush=True)


def run_worker(arguments):
    bench = make_bench(arguments)
    import torch
    from kinds import Wrong, measure_peaks

    machine, listed = bench.machine, cases()
    for line in sys.stdin:
        try:
            if line.startswith("peaks"):
                result = {"status": "passed", "peaks": measure_peaks(bench, line.split()[1:]),
                          "device": machine.label, "torch": torch.__version__,
                          "l2_bytes": machine.l2_bytes}
            else:
                result = run_case(bench, listed[int(line)], arguments.rounds)
        except Wrong as error:
            result = {"status": "failed", "message": str(error)}
        except Exception:
            result = {"status": "failed", "message": traceback.format_exc()}
        answer(result)
        if arguments.device == "cuda":
            torch.cuda.empty_cache()


# --------------------------------------------------------------------------
# Around it
# --------------------------------------------------------------------------


def judge(case, result, peaks):
    """Adds ratio, floor and whether the target was reached."""
    name, spec, sparsity, target, target_us = case
    mine = result["times"]["pit"]["us"]
    peers = {n: result["times"][n]["us"] for n in result["peers"] if n in result["times"]}
    best = min(peers, key=peers.get) if peers else None
    floors = {"bytes": result["bytes"] / peaks["bytes"] * 1e6 if "bytes" in peaks else 0.0}
    if result["peak"] in peaks:
        floors["operations"] = result["operations"] / peaks[result["peak"]] * 1e6
    which = max(floors, key=floors.get)
    ratio = result["scale"] * peers[best] / mine if best else None
    reached = None
    if target is not None:
        reached = ratio is not None and ratio >= target
        faster_than = result["times"].get(spec.get("faster_than"))
        if faster_than:
            reached = reached and mine < faster_than["us"]
    elif target_us is not None:
        reached = mine <= target_us
    return {"case": name, **{k: spec.get(k) for k in ("kind", "type", "program")},
            "sparsity": sparsity, "us": mine, "best_peer": best, "ratio": ratio,
            "target": target, "target_us": target_us, "reached": reached,
            "floor_us": floors[which], "floor_of": which,
            "over_floor": mine / floors[which] if floors[which] else None,
            **{k: v for k, v in result.items() if k != "status"}}


HEADER = (f"{'case':38} {'pit us':>9} {'+-':>6} {'best peer':>24} {'us':>9} {'ratio':>6} "
          f"{'target':>8} {'':7} {'floor us':>9} {'of':>10} {'over':>5}")


def row(line):
    number = lambda value, digits: "" if value is None else f"{value:.{digits}f}"
    peer = line["best_peer"]
    target = f"{line['target']:g}" if line["target"] is not None else (
        f"{line['target_us']:g} us" if line["target_us"] is not None else "")
    reached = {None: "", True: "reached", False: "missed"}[line["reached"]]
    return (f"{line['case']:38} {line['us']:9.1f} {line['times']['pit']['spread']:6.1f} "
            f"{(peer or ''):>24} {number(line['times'][peer]['us'] if peer else None, 1):>9} "
            f"{number(line['ratio'], 2):>6} {target:>8} {reached:7} {line['floor_us']:9.1f} "
            f"{line['floor_of']:>10} {number(line['over_floor'], 1):>5}")


def last_lines(message):
    """The error and its place; all of it is in FILE."""
    lines = message.strip().splitlines()
    place = [line.strip() for line in lines if line.lstrip().startswith("File ")][-1:]
    return " | ".join([lines[-1][:500], *place]) if lines else "no message"


def others(line):
    """The other contestants, in one line."""
    text = [f"{name} {t['us']:.1f}{' (no graph)' if t['eager'] else ''}"
            for name, t in line["times"].items() if name not in ("pit", line["best_peer"])]
    text += [f"{name}: {note}" for name, note in line["notes"].items()]
    return "    " + "; ".join(text) if text else None


def print_markdown(path):
    machine, *lines = map(json.loads, path.read_text().splitlines())
    peaks = machine["machine"].get("peaks", {})
    rates = [f"{k} {v / 1e12:.1f} {'TB/s' if k == 'bytes' else 'T/s'}" for k, v in peaks.items()]
    print(f"{machine['machine'].get('device', '?')}, torch {machine['machine'].get('torch', '?')}; "
          f"measured in this run: {', '.join(rates)}.\n")
    print("| case | pit | best peer | ratio | to reach | floor | over floor |\n|---|---|---|---|---|---|---|")
    for line in lines:
        if "failed" in line:
            print(f"| {line['case']} | failed | | | | | |")
            continue
        peer = line["best_peer"]
        beside = f"{peer} {line['times'][peer]['us']:.1f} us" if peer else ""
        ratio = f"{line['ratio']:.2f}" if line["ratio"] is not None else ""
        reach = f"{line['target']:g}" if line["target"] is not None else (
            f"{line['target_us']:g} us" if line["target_us"] is not None else "")
        over = f"{line['over_floor']:.1f}" if line["over_floor"] is not None else ""
        print(f"| {line['case']} | {line['us']:.1f} us | {beside} | {ratio} | {reach} | "
              f"{line['floor_us']:.1f} us ({line['floor_of']}) | {over} |")


def main():
    arguments = parse_arguments()
    if arguments.markdown:
        print_markdown(arguments.markdown)
        return 0
    if arguments.worker:
        run_worker(arguments)
        return 0
    if arguments.profile:
        profile(arguments)
        return 0
    started = time.monotonic()
    command = [sys.executable, __file__, "--worker", "--artifacts", str(arguments.artifacts),
               "--device", arguments.device, "--shrink", str(arguments.shrink),
               "--rounds", str(arguments.rounds)]
    worker = Worker(command, TIMEOUT)
    chosen = matching(arguments.only)
    types = sorted({spec["type"] for _, spec, *_ in chosen if spec["kind"] not in UNITLESS})
    measured = worker.check(" ".join(["peaks", *types]))
    if measured["status"] == "failed":
        print(f"FAILED the peaks: {measured['message']}", flush=True)
        worker.restart()
        measured = {"peaks": {}}
    peaks = measured["peaks"]
    shown = [f"{k} {v / 1e12:.2f} {'TB/s' if k == 'bytes' else 'T/s'}" for k, v in peaks.items()]
    print(f"bench-gpu: {measured.get('device', '?')}, torch {measured.get('torch', '?')}; "
          f"measured: {', '.join(shown)}\n{HEADER}", flush=True)
    counts = {"timed": 0, "failed": 0, "reached": 0, "missed": 0}
    with arguments.out.open("w") as out:
        out.write(json.dumps({"machine": measured}) + "\n")
        for number, case in enumerate(cases()):
            if case not in chosen:
                continue
            if time.monotonic() - started > arguments.seconds:
                result = {"status": "failed", "message": "not run: no time was left"}
            else:
                result = worker.check(str(number))
            if result["status"] == "failed":
                counts["failed"] += 1
                print(f"FAILED {case[0]}: {last_lines(result['message'])}", flush=True)
                out.write(json.dumps({"case": case[0], "failed": result["message"]}) + "\n")
                worker.restart()  # an error of the device stays in its process
                continue
            line = judge(case, result, peaks)
            counts["timed"] += 1
            if line["reached"] is not None:
                counts["reached" if line["reached"] else "missed"] += 1
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(row(line), flush=True)
            if others(line):
                print(others(line), flush=True)
    worker.stop()
    print(f"bench-gpu: {counts['timed']} timed, {counts['reached']} reached their targets, "
          f"{counts['missed']} missed them, {counts['failed']} failed "
          f"({time.monotonic() - started:.0f} s)")
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
