"""Which of two ways computes a call: the faster one, as the first calls of its kind tell.

A kind is what is computed, and how many rows there are, as a power of two. Calls take turns until each way
was timed twice, so the layers of a model decide in its first pass; ways that are close are timed more often.
Both ways compute the same, up to rounding."""

import collections
import contextlib
import contextvars
import time
import weakref

import torch

from . import _experts, _run
from ._plain import PLAIN

top_hooks = torch._C._autograd._top_saved_tensors_default_hooks
TIMED = 2  # calls of each way, of which the best counts
CLOSE, MOST = 1.25, 6  # where the slower way takes less than so many times as long, so many calls of each


def faster_of(times):
    """The number of the faster of two ways by the seconds of their calls, or None: more calls are to tell."""
    best = [min(each, default=0) for each in times]
    count = min(map(len, times))
    if count < TIMED or (count < MOST and max(best) < CLOSE * min(best)):
        return None
    return int(best[1] < best[0])


def timed(call, wait):
    """The result of a call, and its seconds."""
    wait()
    start = time.perf_counter()
    result = call()
    wait()
    return result, time.perf_counter() - start


class Kind:
    def __init__(self):
        self.times = [], []  # seconds of the calls of either way
        self.started = False
        self.faster = None  # of the ways, 0 or 1

    def run(self, ways, wait):
        if self.faster is not None:
            return ways[self.faster]()
        if wait is not nothing and torch.cuda.is_current_stream_capturing():
            return ways[0]()  # nothing may be waited for
        if not self.started:  # the program is compiled
            self.started = True
            return ways[0]()
        which = int(len(self.times[1]) <= len(self.times[0]))
        result, seconds = timed(ways[which], wait)
        self.times[which].append(seconds)
        self.faster = faster_of(self.times)
        return result

    def measure(self, step, wait):
        """Chooses at once, by `step`, which computes in one way, 0 or 1, of copies."""
        for which in range(2):
            step(which)  # programs are compiled
        times = ([], [])
        while self.faster is None:
            for which in range(2):
                times[which].append(timed(lambda: step(which), wait)[1])
            self.faster = faster_of(times)


kinds = collections.defaultdict(Kind)  # by what they are


def nothing():
    pass


def run(kind, *ways, wait=nothing):
    """Calls one of two functions; `wait` returns when all has been computed."""
    return kinds[kind].run(ways, wait)


def run_trained(kind, *ways, step, wait=nothing, among=kinds):
    """The same of a call with gradients, which its backward takes the longer part of: `step` computes
    the result and its gradients in one way, 0 or 1, of copies. Checkpoints, which compute a call twice and
    have to find the same tensors both times, take the first way."""
    if top_hooks(True) is not None:
        return ways[0]()
    found = among[kind]
    if found.faster is None:
        if wait is not nothing and torch.cuda.is_current_stream_capturing():
            return ways[0]()
        found.measure(step, wait)
    return ways[found.faster]()


# --------------------------------------------------------------------------
# Layers that sparsify has replaced
# --------------------------------------------------------------------------

is_any_autocast = torch._C._is_any_autocast_enabled
is_first_wanted = contextvars.ContextVar("is_first_wanted", default=False)
of_layers = weakref.WeakKeyDictionary()  # Ways by layers, and by what the layer was made


class Ways(dict):
    """Kinds of the calls of one layer. A copy of it, perhaps on another machine, has its own."""

    def __missing__(self, kind):
        found = self[kind] = Kind()
        return found

    def __deepcopy__(self, memo):
        return Ways()

    def __reduce__(self):
        return Ways, ()


def ways_of(layer, form=None):
    """The Ways of a layer, which are the same when it is made what it was before."""
    return of_layers.setdefault(layer, {}).setdefault(form, Ways())


def forget(model):
    for layer in model.modules():
        of_layers.pop(layer, None)


@contextlib.contextmanager
def first_way():
    """Has layers compute by pit, as what measures that needs."""
    token = is_first_wanted.set(True)
    try:
        yield
    finally:
        is_first_wanted.reset(token)


def can_choose(x, weight):
    """Whether a call computes at once, on tensors that are memory: nothing traces or transforms it. A
    nested tensor, as torch's encoders make of a padding mask, has no sizes to choose by."""
    return (type(weight) in PLAIN and _experts.is_made_at_once(x) and not x.is_nested
            and not _run.is_jit_tracing() and not _run.in_transform())


def of_layer(ways, x, parameters, by_pit, by_torch, step):
    """The result of a layer for x, by the faster way for so many rows. `step` computes it and its gradients
    in one way, 0 or 1, of copies: in training it is what is measured."""
    if is_first_wanted.get() or not x.numel():
        return by_pit()
    trained = torch.is_grad_enabled() and any(
        each is not None and each.requires_grad for each in (x, *parameters))
    kind = ((x.numel() // x.shape[-1]).bit_length(), trained, x.dtype, x.device, torch.get_num_threads(),
            is_any_autocast())
    wait = torch.cuda.synchronize if x.is_cuda else nothing
    if trained:
        return run_trained(kind, by_pit, by_torch, step=step, wait=wait, among=ways)
    return ways[kind].run((by_pit, by_torch), wait)


def of_gradient(ways, rows, wanted, by_pit, by_torch):
    """The same of a layer's gradients, for the incoming one as rows."""
    if is_first_wanted.get():
        return by_pit()
    kind = (len(rows).bit_length(), wanted, rows.dtype, rows.device, torch.get_num_threads())
    return ways[kind].run((by_pit, by_torch), torch.cuda.synchronize if rows.is_cuda else nothing)
