"""How rows of benchmarks/models/paper.py are measured: ways of computing one thing are compared with the first
of them, "torch", which is the model as it is, and take turns on a clock."""

import contextlib
import gc
import json
import signal
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

SEEDS = 3  # inputs that take turns
# How much of a result's norm ways may differ by. Rounding moves some tokens to other experts.
ALLOWED = {torch.float32: 1e-4, torch.bfloat16: 5e-2}
ALLOWED_ROUTED = {torch.float32: 1e-4, torch.bfloat16: 2e-1}


class TimeLimit(BaseException):  # which code under it does not take for a fault of its own
    pass


@contextlib.contextmanager
def within(seconds):
    """Raises TimeLimit when so many seconds have passed, between two calls of what is no Python."""
    def stop(*_):
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def infer(model, **given):
    with torch.no_grad():
        return model(**given).last_hidden_state


def train(model, **given):
    """The result, and the norms of all gradients."""
    for p in model.parameters():
        p.grad = None
    y = model(**given).last_hidden_state
    mask = given.get("attention_mask")
    (y if mask is None else y * mask[..., None]).float().square().mean().backward()
    grads = torch.stack([p.grad.float().norm() for p in model.parameters() if p.grad is not None])
    return torch.cat([y.detach().float().flatten(), grads])


def fresh(model, make):
    """Another model of the same weights, in the same mode."""
    made = make()
    made.load_state_dict(model.state_dict())
    return made.train(model.training)


def ways_of(options, step, batches, **models):
    """Steps by the number of a batch, for each model; beside "torch" and "pit" also compiled, if asked for."""
    if options.compile:
        models |= {f"{name} compiled": torch.compile(models[name], dynamic=False)
                   for name in ("torch", "pit") if name in models}
    return {name.replace("_", " "): lambda i, model=model: step(model, **batches[i])
            for name, model in models.items()}


def compare(row, case, ways, options, dtype, allowed=ALLOWED, kept=None):
    """Prints a line for each way. `kept`: a mask of what of the first result is compared."""
    on_gpu = options.device == "cuda"
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    errors, expected = {}, None
    for name, step in ways.items():
        found = step(0).detach().float()
        found = found if kept is None else found[kept]
        expected = found.clone() if expected is None else expected
        errors[name] = ((found - expected).norm() / expected.norm()).item()
    del found, expected
    times, peaks = {name: [] for name in ways}, {name: 0 for name in ways}
    clock = time.process_time if options.cpu_time else time.perf_counter
    start = time.perf_counter()
    for i in range(3 * SEEDS + options.rounds):  # choices settle, for each of the inputs
        if i >= 4 * SEEDS and time.perf_counter() - start > options.each:
            break
        for name in list(ways)[:: 1 if i % 2 else -1]:
            wait()
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
                held = torch.cuda.memory_allocated()
            before = clock()
            ways[name](i % SEEDS)
            wait()
            times[name].append(1e3 * (clock() - before))
            if on_gpu:
                peaks[name] = max(peaks[name], torch.cuda.max_memory_allocated() - held)
    found = {name: statistics.median(each[3 * SEEDS:] or each[-1:]) for name, each in times.items()}
    best = min(ms for name, ms in found.items() if not name.startswith("pit"))
    right = True
    if options.json:
        with open(options.json, "a") as file:
            json.dump({"row": row, "case": case, "ms": found, "differs": errors,
                       "machine": options.machine}, file)
            file.write("\n")
    for name, ms in found.items():
        line = f"{row:11} {case:38} {name:15} {ms:9.2f} ms"
        line += f"  {peaks[name] / 2**20:8.0f} MB" if on_gpu else ""
        if name.startswith("pit"):
            line += f"  {found['torch'] / ms:5.2f} times torch, {best / ms:5.2f} times the best"
        if name != "torch":
            line += f"; differs by {errors[name]:.0e}"
            if not errors[name] <= allowed[dtype]:
                line, right = f"{line}, which is WRONG", False
        print(line, flush=True)
    return right


def run(rows, options, dtype):
    """Runs rows, functions that yield the arguments of `compare`, by name; how many results were wrong."""
    start, wrong, names = time.perf_counter(), 0, options.rows.split(",")
    for i, name in enumerate(names):
        # The time that rows before it have left is for the rows that follow.
        share = (options.total - (time.perf_counter() - start)) / (len(names) - i)
        torch.manual_seed(0)
        began = time.perf_counter()
        cases = rows[name](options, dtype)
        try:
            with within(share):
                for case, ways, *more in cases:
                    wrong += not compare(name, case, ways, options, dtype, *more)
                    del ways
        except TimeLimit:
            print(f"{name}: stopped after {time.perf_counter() - began:.0f} seconds", flush=True)
        except Exception as error:  # the other rows are worth their time
            wrong += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
        finally:
            cases.close()
        gc.collect()
        torch.compiler.reset()
        if options.device == "cuda":
            torch.cuda.empty_cache()
    return wrong
