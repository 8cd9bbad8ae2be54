"""sparsify: layers of a model that skip zeros where that is faster on samples."""

import collections
import concurrent.futures
import contextlib
import contextvars
import functools
import gc
import os
import statistics
import time

import torch
from torch import nn

from .._context import default_context
from .._library import Error
from ..ops import _op
from . import _choice, _modules
from ._kinds import CONV, LINEAR, TOLERANCE, layers_of
from ._table import Row, Table

GAIN = 1.05  # less than this much faster is not taken
ROUNDS = 9  # of the interleaved measurement
ROUNDS_FASTER = 7  # of them, at least
ROUND_SECONDS = 0.004  # that one form of a layer takes in a round, at least
KEPT = 2  # inputs of a layer that are measured


def sparsify(model, samples, *, verbose=True):
    """Replaces layers of a model that are faster if they skip zeros.

        table = pit.torch.sparsify(model, [batch for batch, _ in loader][:4])
        pit.torch.densify(model)                     # takes it back

    model    A torch.nn.Module. It is changed in place. Names and parameters of the
             layers stay, so a state_dict fits before and after.
    samples  Inputs of the model: a list of tensors, of tuples (arguments) or of dicts
             (keyword arguments; what a tokenizer returns is one). The model is run on them,
             as it is: in training mode backward passes are measured too.
    verbose  Prints the table.

    Considered are torch.nn.Linear and torch.nn.Conv2d whose inputs or weights have zeros (in training
    mode, Linears whose incoming gradients have them), mixtures of experts and gated blocks with
    ReLU, if pit knows all that their code does, torch.nn.TransformerEncoderLayer, and the body of a
    model of transformers that gets an `attention_mask` with padding (pit.transformers.unpad). A layer is replaced if its
    results agree and it is faster by 5 % or more, as medians of interleaved runs tell. If
    the whole model is not faster then, nothing is replaced. Returns the table: a row for
    each layer, which says what was measured and why it was taken or not. Raises
    pit.Error if there are no samples.
    """
    if isinstance(samples, (torch.Tensor, collections.abc.Mapping, str)):
        raise Error(f"sparsify: samples is one {type(samples).__name__}; it must be a list of "
                    "inputs of the model: [x]")
    samples = [as_call(sample) for sample in samples]
    if not samples:
        raise Error("sparsify: there are no samples; pass a list of inputs of the model")
    densify(model)
    _choice.forget(model)
    training = model.training
    with torch.set_grad_enabled(training), same_buffers(model):
        layers = look(model, samples)
        rows, taken = [], []
        held = tuple(f"{layer.name}." if layer.name else "" for layer in layers
                     if layer.kind.holds and layer.kind.shows(layer))
        compile_ahead(layers, training)
        done = ()  # of those whose layers need no line, as they were taken
        for layer in layers:
            if not layer.kind.shows(layer) or layer.kind is LINEAR and layer.name and (
                    layer.name.startswith(done)
                    or layer.name.startswith(held) and (LINEAR.why_not(layer) or not layer.calls)):
                continue
            row, take = judge(model, layer, training)
            rows.append(row)
            if take is not None:
                take()
                taken.append((layer, take))
                if layer.kind.holds:
                    done = (*done, f"{layer.name}." if layer.name else "")
            layer.inputs = layer.grads = None
        speed_up = 1.0  # of a model that stays as it is
        if taken:
            speed_up = measure_model(model, samples, taken, training)
            if speed_up <= 1:
                densify(model)
                for row in rows:
                    if row.taken:
                        row.taken = False
                        row.why = f"the whole model is {speed_up:.3f} times as fast"
                speed_up = 1.0
    table = Table(rows, speed_up)
    if verbose:
        print(table)
    return table


def densify(model):
    """Takes back what sparsify did to a model, and returns it."""
    for module in list(model.modules()):
        _modules.make_dense(module)
    return model


@contextlib.contextmanager
def same_buffers(model):
    """The statistics that layers keep of their inputs are what they were."""
    kept = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, values in kept:
                buffer.copy_(values)


def as_call(sample):
    """(arguments, keyword arguments)."""
    if isinstance(sample, collections.abc.Mapping):
        return (), dict(sample)
    return (tuple(sample), {}) if isinstance(sample, (tuple, list)) else ((sample,), {})


# --------------------------------------------------------------------------
# Facts from samples
# --------------------------------------------------------------------------


def look(model, samples):
    """The layers of a model, with zeros and some inputs of those that the samples reach and
    that may be worth it. Mixtures come before the layers in them."""
    layers = layers_of(model)

    def count(module, args, kwargs):
        layer = layers[module]
        layer.calls += 1
        x, rows = layer.kind.counted(layer, args, kwargs)
        layer.rows += rows
        if x is not None:
            layer.zeros += x.numel() - int(torch.count_nonzero(x))
            layer.elements += x.numel()

    def count_gradient(module, y):
        layer = layers[module]
        number = numbers[module] = numbers.get(module, -1) + 1

        def watch(grad):
            layer.grad_zeros += grad.numel() - int(torch.count_nonzero(grad))
            layer.grad_elements += grad.numel()
            if number < KEPT:
                layer.grads[number] = grad.detach().clone()

        if isinstance(y, torch.Tensor) and y.requires_grad:
            y.register_hook(watch)
        return y

    numbers = {}  # of calls, by modules

    def keep(module, args, kwargs):
        layer = layers[module]
        if len(layer.inputs) < KEPT:
            layer.inputs.append((tuple(copied(x) for x in args),
                                 {name: copied(x) for name, x in kwargs.items()}))

    run_with(model, samples, layers, count, by_layers=True)
    once = {module: layer.calls for module, layer in layers.items()}
    if any(layer.kind.name == "encoder" for layer in layers.values()):
        # An op that torch computes at once was counted layer by layer; does it count by itself?
        for layer in layers.values():
            layer.calls = 0
        run_with(model, samples, layers, lambda module, *_: called(layers[module]))
    for layer in layers.values():
        layer.kind.learn(layer, layers)
        layer.rows = layer.rows * layer.calls // max(1, once[layer.module])
    linears = [m for m, layer in layers.items() if layer.calls and layer.kind is LINEAR]
    if model.training and linears:
        run_with(model, samples[:KEPT], linears, after=count_gradient)
    wanted = [m for m, layer in layers.items() if layer.calls and not layer.kind.why_not(layer)]
    if wanted:
        run_with(model, samples[:KEPT], wanted, keep)
    return list(layers.values())


def called(layer):
    layer.calls += 1


def run_with(model, samples, modules, before=None, after=None, by_layers=False):
    """Runs a model, and calls a function before each forward of modules, or with what it returns, and then
    gradients are computed, too. It is told by their class, which is what replaces a layer, and what
    a model that does not call the layer, or that calls what it had before, does not see.
    Hooks would change what some models do. The random numbers of dropout are left as they were.
    `by_layers`: torch computes no encoder's layer in one op."""
    devices = sorted({p.device.index for p in model.parameters() if p.is_cuda})

    @functools.lru_cache(maxsize=None)
    def watched(base):
        def forward(module, *args, **kwargs):
            if before is not None:
                before(module, args, kwargs)
            result = base.forward(module, *args, **kwargs)
            return result if after is None else after(module, result)

        return type(base.__name__, (base,), {"forward": forward, "dense": base})

    modules, enabled = list(modules), torch.backends.mha.get_fastpath_enabled()
    try:
        for module in modules:
            module.__class__ = watched(type(module))
        torch.backends.mha.set_fastpath_enabled(enabled and not by_layers)
        with (torch.random.fork_rng(devices=devices), torch.set_grad_enabled(after is not None),
              torch.compiler.set_stance("force_eager")):
            for args, kwargs in samples:
                result = model(*args, **kwargs)
                if after is not None:
                    differentiate(model, result)
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
        for module in modules:
            module.__class__ = type(module).dense


def differentiate(model, result):
    """Computes the gradients of all parameters, of a loss that adds all results."""
    loss = [x for x in flat(result) if x.requires_grad]
    asked = [p for p in model.parameters() if p.requires_grad]
    if loss and asked:
        torch.autograd.grad([x.sum() for x in loss], asked, allow_unused=True)


def why_not_called(model, layer):
    """Why the samples do not reach the forward of a layer's class."""
    if "forward" in vars(layer.module):
        return "it has a forward of its own, as accelerate's hooks give it"
    parents = [m for name, m in model.named_modules() if layer.name.startswith(f"{name}.")
               or not name]
    if any(isinstance(m, nn.TransformerEncoderLayer) for m in parents):
        return ("torch computes nn.TransformerEncoderLayer in one op, which does not call its "
                "layers; torch.backends.mha.set_fastpath_enabled(False) has them called")
    return "the samples do not reach it"


def copied(x):
    return x.detach().clone() if isinstance(x, torch.Tensor) else x


# --------------------------------------------------------------------------
# Is it faster?
# --------------------------------------------------------------------------


def row_of(layer):
    """The row of a layer, with what the samples told."""
    kind = layer.kind
    row = Row(layer.name, kind.name, kind.shape(layer.module), layer.rows // max(1, layer.calls))
    if layer.elements:
        row.zeros = layer.part
    if layer.calls and kind in (LINEAR, CONV):
        row.weight_zeros = layer.weight_part
    if layer.grad_elements:
        row.grad_zeros = layer.grad_part
    return row


def why_not(layer, training):
    """Why a layer that the samples reach is not measured, or ""."""
    return layer.kind.why_not(layer) or layer.kind.unknown(layer, training) or (
        "" if layer.inputs else "not reached by the first samples")


def compile_ahead(layers, training):
    """Compiles the programs of layers that differ side by side: one after another they take most of the
    time, and compilers hold no lock of Python. Layers in another one that is measured wait for its
    result. An error here comes again in `judge`, which reports it."""
    workers = os.cpu_count() or 1
    if workers == 1 or _choice.is_any_autocast():  # which is a state of this thread
        return
    held, differing = [], {}
    for layer in layers:
        if not layer.calls or any(layer.name.startswith(name) for name in held):
            continue
        if why_not(layer, training):
            continue
        if layer.kind.holds:
            held.append(f"{layer.name}." if layer.name else "")
        forms = layer.kind.forms(layer, row_of(layer))
        inputs = [(x.dtype, None if x.is_nested else tuple(x.shape)) for x in flat(layer.inputs)]
        key = layer.kind.name, layer.kind.shape(layer.module), len(forms), *inputs
        differing.setdefault(key, (layer, forms))
    if len(differing) < 2:
        return

    def compile_forms(layer, forms):
        for take in forms:
            try:
                with torch.set_grad_enabled(training), _choice.first_way():
                    take()
                    for i, (args, kwargs) in enumerate(layer.inputs):
                        caller(layer.module, args, kwargs, training, layer.grads.get(i))()
            except Exception:
                pass
            finally:
                _modules.make_dense(layer.module)

    devices = sorted({x.device.index for layer, _ in differing.values() for x in flat(layer.inputs)
                      if x.is_cuda})
    wait_for(devices)  # threads have a stream of their own
    with torch.random.fork_rng(devices=devices), concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for each in differing.values():
            pool.submit(contextvars.copy_context().run, compile_forms, *each)
    wait_for(devices)


def wait_for(devices):
    for each in devices:
        torch.cuda.synchronize(each)


def judge(model, layer, training):
    """The row of a layer, and the function that replaces it, or None."""
    row = row_of(layer)
    row.why = why_not(layer, training) if layer.calls else why_not_called(model, layer)
    if row.why:
        return row, None
    best = None
    for take in layer.kind.forms(layer, row):
        try:
            with _choice.first_way():
                found = compare(layer, take, training)
        except Error as error:
            row.why = str(error)
            continue
        finally:
            _modules.make_dense(layer.module)
        if isinstance(found, str):
            row.why = found
        elif best is None or (found[2] == "dense", found[1]) < (best[0][2] == "dense", best[0][1]):
            best = found, take
    if best is None:
        return row, None
    (row.dense, row.sparse, row.rule, faster), take = best
    if row.rule == "dense":
        row.why = "its program chose the dense variant"
    elif row.speed_up < GAIN:
        row.why = f"{row.speed_up:.3f} times as fast; {GAIN} is needed"
    elif faster < ROUNDS_FASTER:
        row.why = f"faster in {faster} of {ROUNDS} rounds; {ROUNDS_FASTER} are needed"
    else:
        row.taken, row.why = True, ""
        return row, take
    return row, None


def compare(layer, take, training):
    """(seconds of a call as it is, and of the other form, its rule, in how many rounds it
    was faster), or why not."""
    module = layer.module
    run = [caller(module, args, kwargs, training, layer.grads.get(i))
           for i, (args, kwargs) in enumerate(layer.inputs)]
    with torch.random.fork_rng(devices=[]):
        before = results(layer)
        take()
        after = results(layer)
    if list(map(len, before)) != list(map(len, after)):
        return "it would have another number of results"
    before, after = ([x for each in found for x in each] for found in (before, after))
    for one, other in zip(before, after):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"its result would be {other.dtype} {tuple(other.shape)}"
        if layer.kind.name == "padding" and training:
            continue  # dropout differs; the form has been compared without
        error = relative_error(one.detach(), other.detach())
        allowed = TOLERANCE.get(one.dtype, 0)
        if not error <= allowed:
            return f"results differ by {error:.1e}; {allowed:.0e} is allowed"
    rule = chosen_rule(module, layer)
    device = after[0].device

    def step():
        for each in run:
            each()

    dense, sparse = interleaved(step, lambda: _modules.make_dense(module), take, device)
    faster = sum(b < a for a, b in zip(dense, sparse))
    return statistics.median(dense) / len(run), statistics.median(sparse) / len(run), rule, faster


def results(layer):
    """The results of a layer for its inputs."""
    return [layer.kind.results(layer, args, kwargs, flat(layer.module(*args, **kwargs)))
            for args, kwargs in layer.inputs]


def first_of(result):
    if isinstance(result, dict):
        result = tuple(result.values())
    return result[0] if isinstance(result, tuple) else result


def relative_error(x, y):
    if not x.numel():
        return 0.0
    x, y = x.double(), y.double()
    return ((x - y).abs().max() / x.abs().max().clamp_min(1e-30)).item()


def caller(module, args, kwargs, training, grad=None):
    """A function that runs a layer as the model would, in training with its gradients, for a gradient of
    its result if that is known."""
    if not training:
        return lambda: module(*args, **kwargs)
    args = tuple(x.clone().requires_grad_() if isinstance(x, torch.Tensor)
                 and x.is_floating_point() else x for x in args)
    asked = [x for x in (*args, *module.parameters()) if isinstance(x, torch.Tensor)
             and x.requires_grad]

    def run():
        y = first_of(module(*args, **kwargs))
        torch.autograd.grad(y, asked, torch.ones_like(y) if grad is None else grad,
                            allow_unused=True)

    return run


def chosen_rule(module, layer):
    """The choice of the program for the last input, as 32x1 along axis 1."""
    if layer.kind.rule:
        return layer.kind.rule
    if hasattr(module, "rule"):
        return module.rule()
    if getattr(module, "sparse", "") == "grad":
        return "zeros of gradients"
    args, kwargs = layer.inputs[-1]
    with _op.capture() as plans, torch.no_grad():
        module(*args, **kwargs)
    if not plans and layer.kind is CONV:
        return "dense"  # as pit.conv2d chose by itself
    if not plans:
        raise Error("a call of it runs no op of pit")
    plan, arrays = plans[-1]
    device = arrays[0].device
    context = default_context() if device.type == "cpu" else default_context(
        f"cuda:{device.index or 0}")
    for choice in plan.program()[plan.op.name].choices(context):
        if choice.micro_tile is None:
            return "dense"
        tile = "x".join("*" if size == 0 else str(size) for size in choice.micro_tile)
        lies = " of (k, n)" if getattr(module, "exchanged", False) else ""
        return f"{tile} along axis {choice.axis}{lies}"
    return "one rule"


def interleaved(step, dense, sparse, device):
    """Seconds of both forms of a step, in rounds that take turns."""
    repeats, times = 1, ([], [])
    for form in (sparse, dense):
        form()
        for _ in range(3):  # choices settle
            seconds = timed(step, repeats, device)
        repeats = max(repeats, min(100, round(ROUND_SECONDS / max(seconds, 1e-7))))
    enabled = gc.isenabled()
    gc.disable()
    try:
        for i in range(ROUNDS):
            for which, form in ((0, dense), (1, sparse))[:: 1 if i % 2 else -1]:
                form()
                times[which].append(timed(step, repeats, device))
    finally:
        if enabled:
            gc.enable()
    return times


def timed(step, repeats, device):
    """Seconds of one step."""
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda _: None
    wait(device)
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    wait(device)
    return (time.perf_counter() - start) / repeats


def measure_model(model, samples, taken, training):
    """How much faster the model is on the samples."""
    def step():
        for args, kwargs in samples:
            result = model(*args, **kwargs)
            if training:
                differentiate(model, result)

    def take():
        for _, each in taken:
            each()

    device = next(model.parameters()).device
    with torch.random.fork_rng(devices=[device.index] if device.type == "cuda" else []):
        dense, sparse = interleaved(step, lambda: densify(model), take, device)
    take()
    return statistics.median(dense) / statistics.median(sparse)


def flat(result):
    """The tensors in a result of a model."""
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result
    return [x for each in values for x in flat(each)] if isinstance(
        result, (dict, tuple, list)) else []
