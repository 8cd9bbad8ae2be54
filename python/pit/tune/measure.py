"""How programs are timed: in turns, in one process, on one thread.

All tasks of a shape run once in each round, in an order of its own, so that what
disturbs the machine disturbs all, and none finds in a cache what the one before it left
for it: each call has zeros of its own. The median counts. Rounds go on until the medians
are sure enough or the time is up.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from .. import Context
from . import cases

LEAST_ROUNDS = 5
SURE = 0.01  # the standard error of a median, as a part of it


@dataclass
class Measured:
    """The result of one task: seconds of the median call, the quartiles' distance as a part of it, and
    the mean number of live micro-tiles."""

    rule: int
    live_fraction: float
    seconds: float
    spread: float
    live: float


@dataclass
class Memory:
    """The arguments of all programs of a shape."""

    a: np.ndarray
    b: object
    out: np.ndarray
    context: Context
    element: str


class Contender:
    def __init__(self, task, program, patterns):
        self.task, self.program = task, program
        self.inputs = [a for a, _ in patterns]
        self.live = sum(live for _, live in patterns) / len(patterns)
        self.times = []

    def run(self, turn, memory):
        # The op before a product in a network has just written A.
        np.copyto(memory.a, self.inputs[turn % len(self.inputs)])
        a = cases.as_argument(memory.element, memory.a)
        start = time.thread_time()
        self.program(a, memory.b, out=memory.out, context=memory.context)
        self.times.append(time.thread_time() - start)

    def summarize(self):
        low, median, high = np.quantile(self.times, (0.25, 0.5, 0.75))
        return Measured(self.task.rule, self.task.live_fraction, float(median),
                        float((high - low) / median), float(self.live))

    def is_sure(self):
        measured = self.summarize()
        # As of a normal distribution, whose quartiles are 1.35 deviations apart.
        error = 1.25 * measured.spread / 1.35 / math.sqrt(len(self.times))
        return error < SURE


def compile_tasks(compiler, shape, element, tasks, options):
    """The program of each rule; a rule that the compiler refuses is left out."""
    programs = {}
    for task in tasks:
        if task.rule not in programs:
            dense = {"pipeline": "dense=true"} if task.rule == cases.DENSE else {}
            text = cases.make_program(shape, element, task.rule)
            programs[task.rule] = compiler.compile(text, **options, **dense).f
    return programs


def measure_shape(compiler, shape, element, heights, options, seconds):
    """A Measured for each task of a shape."""
    rng = np.random.default_rng(1)
    tasks = cases.make_tasks(shape, heights)
    programs = compile_tasks(compiler, shape, element, tasks, options)
    contenders = [
        Contender(task, programs[task.rule], cases.make_patterns(rng, shape, element, task))
        for task in tasks]
    b = cases.make_array(rng, element, shape.k, shape.n)
    memory = Memory(np.empty_like(contenders[0].inputs[0]), cases.as_argument(element, b),
                    np.empty((shape.m, shape.n), cases.RESULTS[cases.ELEMENTS[element][1]]),
                    Context("cpu", threads=1), element)
    for contender in contenders:  # the first call allocates
        contender.run(0, memory)
        contender.times.clear()
    end, turn = time.perf_counter() + seconds, 0
    while turn < LEAST_ROUNDS or (time.perf_counter() < end and
                                  not all(c.is_sure() for c in contenders)):
        for i in rng.permutation(len(contenders)):
            contenders[i].run(turn, memory)
        turn += 1
    return [contender.summarize() for contender in contenders]
