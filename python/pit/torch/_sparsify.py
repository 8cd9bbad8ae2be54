"""sparsify: layers of a model that skip zeros where that is faster on samples."""

import collections
import contextlib
import functools
import gc
import statistics
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn

from .._context import default_context
from .._library import Error
from ..ops import _op
from . import _mixtures, _modules
from ._table import Row, Table

FEW_ZEROS = 0.3  # a smaller part of zeros than this is not measured
LITTLE_PADDING = 0.05  # the same of positions of a batch
GAIN = 1.05  # less than this much faster is not taken
ROUNDS = 9  # of the interleaved measurement
ROUNDS_FASTER = 7  # of them, at least
ROUND_SECONDS = 0.004  # that one form of a layer takes in a round, at least
FEW_ROWS = 64  # of an input, for which a weight is tried that lies in memory as (k, n)
KEPT = 2  # inputs of a layer that are measured
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 2e-2,
             torch.bfloat16: 5e-2}


@dataclass
class Layer:
    """What the samples told of a layer."""

    name: str
    module: nn.Module
    # "linear", "block" or "experts" of a mixture, "padding" of a batch, which the body of a model sees
    kind: str
    zeros: int = 0
    elements: int = 0
    rows: int = 0
    calls: int = 0
    inputs: list = None  # arguments of calls
    shared: bool = False  # its weight is a parameter of another module, too

    @property
    def part(self):
        return self.zeros / self.elements if self.elements else 0.0


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

    Considered are torch.nn.Linear layers whose inputs or weights have zeros, mixtures of
    experts, if pit knows all that their code does, and the body of a model of transformers that
    gets an `attention_mask` with padding (pit.transformers.unpad). A layer is replaced if its
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
    training = model.training
    with torch.set_grad_enabled(training), same_buffers(model):
        layers = look(model, samples)
        rows, taken = [], []
        mixtures = tuple(f"{layer.name}." for layer in layers if layer.kind == "block")
        done = ()
        for layer in layers:
            if layer.kind == "padding" and not layer.elements:
                continue
            if layer.kind == "linear" and (
                    layer.name.startswith(done)
                    or layer.name.startswith(mixtures) and not is_candidate(layer)):
                continue  # a part of a mixture that was taken, or that nobody asks about
            row, take = judge(model, layer, training)
            rows.append(row)
            if take is not None:
                take()
                taken.append((layer, take))
                if layer.kind == "block":
                    done = (*done, f"{layer.name}.")
            layer.inputs = None
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
# What the samples tell
# --------------------------------------------------------------------------


def kind_of(module):
    if type(module) is nn.Linear:
        return "linear" if module.weight.dtype in TOLERANCE else None
    if isinstance(module, (_modules.Block, _modules.Experts)):
        return None
    if is_body(module):
        return "padding"
    if _mixtures.is_block(module):
        return "block"
    return "experts" if _mixtures.is_experts(module) else None


def is_body(module):
    """Whether it is a model of transformers without what that has on top of it."""
    transformers = sys.modules.get("transformers")
    return (transformers is not None and isinstance(module, transformers.PreTrainedModel)
            and module.base_model is module)


def unpadded():
    from ..transformers import _unpadded  # which imports much
    return _unpadded


def mask_of(module, args, kwargs):
    """The mask that a body of a model is called with, or None."""
    cls = type(module)
    cls = vars(cls).get("dense", cls)  # of what has changed its class, the one before
    mask = (unpadded().arguments_of(cls, module, args, kwargs) or {}).get("attention_mask")
    return mask if isinstance(mask, torch.Tensor) and mask.dim() == 2 else None


def look(model, samples):
    """The layers of a model, with zeros and some inputs of those that the samples reach and
    that may be worth it. Mixtures come before the layers in them."""
    layers = {}
    for name, module in model.named_modules():
        kind = kind_of(module)
        if kind is not None and module not in layers:
            layers[module] = Layer(name, module, kind, inputs=[])
    owners = collections.Counter(id(p) for m in model.modules() for p in m._parameters.values())
    for layer in layers.values():
        layer.shared = layer.kind == "linear" and owners[id(layer.module.weight)] > 1

    def count(module, args, kwargs):
        layer = layers[module]
        layer.calls += 1
        if layer.kind == "padding":
            x = mask_of(module, args, kwargs)
            layer.rows += x.numel() if x is not None else 0
        else:
            x = next(x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor))
            layer.rows += x.numel() // max(1, x.shape[-1])
        if x is None:
            return
        layer.zeros += x.numel() - int(torch.count_nonzero(x))
        layer.elements += x.numel()

    def keep(module, args, kwargs):
        layer = layers[module]
        if len(layer.inputs) < KEPT:
            layer.inputs.append((tuple(copied(x) for x in args),
                                 {name: copied(x) for name, x in kwargs.items()}))

    run_with(model, samples, count, layers)
    wanted = [m for m, layer in layers.items() if layer.calls and is_candidate(layer)]
    if wanted:
        run_with(model, samples[:KEPT], keep, wanted)
    return list(layers.values())


def run_with(model, samples, watch, modules):
    """Runs a model, and calls a function before each forward of modules. It is told by
    their class, which is what replaces a layer, and what a model that does not call the
    layer, or that calls what it had before, does not see. Hooks would change what some
    models do. The random numbers of dropout are left as they were."""
    devices = sorted({p.device.index for p in model.parameters() if p.is_cuda})

    @functools.lru_cache(maxsize=None)
    def watched(base):
        def forward(module, *args, **kwargs):
            watch(module, args, kwargs)
            return base.forward(module, *args, **kwargs)

        return type(base.__name__, (base,), {"forward": forward, "dense": base})

    modules = list(modules)
    try:
        for module in modules:
            module.__class__ = watched(type(module))
        with (torch.random.fork_rng(devices=devices), torch.no_grad(),
              torch.compiler.set_stance("force_eager")):
            for args, kwargs in samples:
                model(*args, **kwargs)
    finally:
        for module in modules:
            module.__class__ = type(module).dense


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


def weight_zeros(layer):
    weight = layer.module.weight.detach()
    return 1 - int(torch.count_nonzero(weight)) / max(1, weight.numel())


def is_candidate(layer):
    if layer.kind == "padding":
        return layer.part >= LITTLE_PADDING
    return layer.kind != "linear" or max(layer.part, weight_zeros(layer)) >= FEW_ZEROS


# --------------------------------------------------------------------------
# Is it faster?
# --------------------------------------------------------------------------


def judge(model, layer, training):
    """The row of a layer, and the function that replaces it, or None."""
    row = Row(layer.name, layer.kind, shape_of(layer), layer.rows // max(1, layer.calls))
    if not layer.calls:
        row.why = why_not_called(model, layer)
        return row, None
    if layer.kind == "linear":
        row.zeros, row.weight_zeros = layer.part, weight_zeros(layer)
        if not is_candidate(layer):
            most = max(row.zeros, row.weight_zeros)
            row.why = f"{100 * most:.0f} % zeros; {100 * FEW_ZEROS:.0f} % are worth a try"
            return row, None
    elif layer.kind == "padding":
        row.zeros = layer.part
        if not is_candidate(layer):
            row.why = f"{100 * layer.part:.0f} % padding; {100 * LITTLE_PADDING:.0f} % are worth a try"
            return row, None
    elif unknown := unknown_of(layer, training):
        row.why = unknown
        return row, None
    if not layer.inputs:
        row.why = "not reached by the first samples"
        return row, None
    best = None
    for take in forms(layer, row):
        try:
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


def unknown_of(layer, training):
    """What of a mixture pit does not know; None: it knows all."""
    is_block = layer.kind == "block"
    found = (_mixtures.unknown_of_block if is_block else _mixtures.unknown_of_experts)(layer.module)
    if found is None and training:
        found = (_mixtures.untrained_of_block if is_block else
                 _mixtures.untrained_of_experts)(layer.module)
    return found


def shape_of(layer):
    if layer.kind == "linear":
        return tuple(layer.module.weight.shape)
    if layer.kind == "padding":
        return (layer.module.get_input_embeddings().weight.shape[-1],)
    if layer.kind == "experts":
        experts, hidden, f = layer.module.down_proj.shape
        return experts, f, hidden
    first = getattr(layer.module.experts[0], _mixtures.names_of_expert(layer.module.experts[0])[0])
    return (len(layer.module.experts), *first.weight.shape)


def forms(layer, row):
    """Functions that replace a layer, in the ways that are worth a try."""
    module = layer.module
    if layer.kind == "linear":
        found = [lambda which=which: _modules.make_sparse(module, which)
                 for which, part in (("x", row.zeros), ("weight", row.weight_zeros))
                 if part >= FEW_ZEROS]
        # A zero of x skips a row of a weight, if that lies as one piece.
        if row.zeros >= FEW_ZEROS and row.rows <= FEW_ROWS and not layer.shared:
            found.append(lambda: _modules.make_sparse(module, "x", exchanged=True))
        return found
    if layer.kind == "padding":
        return [lambda: unpadded().make_unpadded(module)]
    if layer.kind == "experts":
        return [lambda: _modules.make_experts_sparse(module, _modules.Experts)]
    with torch.no_grad():
        args, kwargs = layer.inputs[0]
        with_logits = isinstance(module(*args, **kwargs), tuple)
    return [lambda: _modules.make_experts_sparse(module, _modules.Block, with_logits)]


def compare(layer, take, training):
    """(seconds of a call as it is, and of the other form, its rule, in how many rounds it
    was faster), or why not."""
    module = layer.module
    run = [caller(module, args, kwargs, training) for args, kwargs in layer.inputs]
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
        if layer.kind == "padding" and training:
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
    """The results of a layer for its inputs, without those of padding."""
    found = []
    for args, kwargs in layer.inputs:
        made = flat(layer.module(*args, **kwargs))
        mask = mask_of(layer.module, args, kwargs) if layer.kind == "padding" else None
        if mask is not None:
            made = [x[mask != 0] if x.shape[:2] == mask.shape else x for x in made]
        found.append(made)
    return found


def first_of(result):
    if isinstance(result, dict):
        result = tuple(result.values())
    return result[0] if isinstance(result, tuple) else result


def relative_error(x, y):
    if not x.numel():
        return 0.0
    x, y = x.double(), y.double()
    return ((x - y).abs().max() / x.abs().max().clamp_min(1e-30)).item()


def caller(module, args, kwargs, training):
    """A function that runs a layer as the model would, with its gradients in training."""
    if not training:
        return lambda: module(*args, **kwargs)
    args = tuple(x.clone().requires_grad_() if isinstance(x, torch.Tensor)
                 and x.is_floating_point() else x for x in args)
    asked = [x for x in (*args, *module.parameters()) if isinstance(x, torch.Tensor)
             and x.requires_grad]

    def run():
        y = first_of(module(*args, **kwargs))
        torch.autograd.grad(y, asked, torch.ones_like(y), allow_unused=True)

    return run


def chosen_rule(module, layer):
    """What the program chose for the last input, as 32x1 along axis 1."""
    if layer.kind != "linear":
        return "rows that are there" if layer.kind == "padding" else "rows of experts"
    args, kwargs = layer.inputs[-1]
    with _op.capture() as plans, torch.no_grad():
        module(*args, **kwargs)
    if not plans:
        raise Error("a call of it runs no op of pit")
    (plan, arrays), = plans
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
                loss = [x for x in flat(result) if x.requires_grad]
                if loss:
                    torch.autograd.grad([x.sum() for x in loss], [
                        p for p in model.parameters() if p.requires_grad], allow_unused=True)

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
