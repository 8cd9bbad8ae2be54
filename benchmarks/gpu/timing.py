"""Times contestants side by side: CUDA graphs, operands that rotate past the L2,
rounds in a new order each time, medians."""

import contextlib
import random
import statistics
import time
from dataclasses import dataclass, field

import torch

ROUNDS = 15
BURST = 3e-3  # seconds of work between two events
SLOW = 15e-3  # seconds for a pass over all operand sets
GAP = 0.01  # of rest before each burst: the chip does not heat up on one of them


@dataclass
class Contestant:
    """`calls[i]()` works on operand set i."""

    name: str
    calls: list
    eager: bool = False  # it waits for the device, so no graph can hold it
    note: str = ""
    seconds: list = field(default_factory=list)

    @property
    def microseconds(self):
        return statistics.median(self.seconds) * 1e6

    @property
    def spread(self):
        """Half of what the middle half of the rounds differs by."""
        if len(self.seconds) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2 * 1e6


class Gpu:
    name = "cuda"

    def __init__(self):
        torch.zeros(1, device="cuda")
        properties = torch.cuda.get_device_properties(0)
        self.label = properties.name
        self.l2_bytes = properties.L2_cache_size

    def synchronize(self):
        torch.cuda.synchronize()

    def profiled(self):
        """A profiler looks at what is done in this context."""
        return torch.cuda.profiler.profile()

    def prepare(self, contestant):
        """A function that makes one call on each operand set."""
        def each():
            for call in contestant.calls:
                call()

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            each()
            if not contestant.eager:
                each()
        torch.cuda.synchronize()
        if contestant.eager:
            return each
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            each()
        contestant.graph = graph
        return graph.replay

    def time(self, work, repeat):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        time.sleep(GAP)
        work()  # wakes the chip up
        start.record()
        for _ in range(repeat):
            work()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e-3 / repeat


class Cpu:
    """To try the scripts; its times mean nothing."""

    name, label, l2_bytes = "cpu", "the CPU", 0

    def synchronize(self):
        pass

    def profiled(self):
        return contextlib.nullcontext()

    def prepare(self, contestant):
        return lambda: [call() for call in contestant.calls]

    def time(self, work, repeat):
        start = time.perf_counter()
        for _ in range(repeat):
            work()
        return (time.perf_counter() - start) / repeat


def start(machine, contestant):
    """(work, seconds of one); without a graph if none can hold it."""
    try:
        work = machine.prepare(contestant)
    except Exception as error:
        if contestant.eager:
            raise
        machine.synchronize()
        contestant.eager = True
        contestant.note = f"no graph: {first_line(error)}"
        work = machine.prepare(contestant)
    return work, machine.time(work, 1)


def first_line(error):
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"


def race(machine, contestants, rounds=ROUNDS):
    """Fills in the contestants' times; returns those that could run. One that
    cannot says why in its note, and does not disturb the others."""
    ready = []
    for contestant in contestants:
        try:
            work, once = start(machine, contestant)
        except Exception as error:
            contestant.note = first_line(error)
            machine.synchronize()
            continue
        repeat = max(1, min(50, int(BURST / max(once, 1e-6))))
        # A slow case needs no more than a few.
        ready.append((contestant, work, repeat, rounds if once < SLOW else min(rounds, 5)))
    for number in range(rounds):
        random.shuffle(ready)
        for contestant, work, repeat, wanted in ready:
            if number < wanted:
                contestant.seconds.append(machine.time(work, repeat) / len(contestant.calls))
    return [contestant for contestant, *_ in ready]
