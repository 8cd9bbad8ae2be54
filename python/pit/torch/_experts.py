"""Modules that hold the weights of all experts, `gate_up_proj` (or `up_proj`) and `down_proj`, as
transformers 5 has them: what they are made of, and their forward, in one program where what stands
between the products is a formula, else in two with the module's own code between and after them.

Nothing is kept of a module: each call reads its weights, and looks whether what the program was
chosen for is still so."""

import ctypes
import inspect
import weakref
from dataclasses import dataclass

import torch
from torch import nn

from ..ops import _op
from ..ops._einsum import expert_product_op
from ..ops._gates import check_formula
from ..ops._operand import constant_in_graphs, is_traced
from . import _formulas, _known, _training
from ._sharding import is_distributed  # noqa: F401: pit.transformers takes it from here
from ._plain import PLAIN
from ._run import count_modes, exports_to_onnx, in_transform

# Names of activations by classes of modules and by functions.
CLASSES = {"SiLU": "silu", "SiLUActivation": "silu", "GELU": "gelu", "GELUActivation": "gelu",
           "ReLU": "relu"}
CALLABLES = {nn.functional.silu: "silu", nn.functional.relu: "relu", torch.relu: "relu"}
VALUES = {bool, int, float, str}
forms = weakref.WeakKeyDictionary()  # (state, Form) by modules


def activation_name(module):
    """pit's name of a module's `act_fn`; None: it has none of this name."""
    function = module._modules.get("act_fn")
    if type(function) is nn.SiLU and not _known.has_own_calls(function):
        return "silu"  # the usual one, at once
    if function is None:
        function = getattr(module, "act_fn", None)
        return CALLABLES.get(function) if callable(function) else None
    if getattr(function, "approximate", "none") != "none" or _known.has_own_calls(function):
        return None  # another GELU
    package = type(function).__module__.partition(".")[0]
    return CLASSES.get(type(function).__name__) if package in ("torch", "transformers") else None


@dataclass(frozen=True)
class Form:
    """How a module lays its weights out, and what it does between and after its products. The names
    of the flags are those of transformers; a class without them has the first layout of all:
    (experts, out, in), gates and ups one behind the other, no biases."""

    gated: bool
    transposed: bool
    bias: bool
    norm: bool
    own_gate: bool  # `_apply_gate` is one of its own
    # The strings of the op, and of the one that keeps what gradients read; None: it is no single op.
    ops: tuple | None = None

    def fits(self, module):
        """Whether the weights of a module have the shapes that they have in this form."""
        wide, down = self.wide(module), module.down_proj
        k, f = (1, 2) if self.transposed else (2, 1)
        return (wide.shape[0] == down.shape[0] and wide.shape[k] == down.shape[f]
                and wide.shape[f] == (2 if self.gated else 1) * down.shape[k])

    def wide(self, module):
        return module.gate_up_proj if self.gated else module.up_proj


def form_of(module, cls):
    """The Form of a module that has `cls` as its class, or had it before it was replaced."""
    promised = _known.promising_class(cls) is not None

    def flag(name, usual):
        return bool(getattr(module, name, usual)) if promised else usual

    gated = getattr(module, "gate_up_proj", None) is not None
    forward = inspect.unwrap(cls.forward)
    names = getattr(getattr(forward, "__code__", None), "co_names", ())
    own_gate = (gated and hasattr(cls, "_apply_gate") and not _known.has_usual_gate(cls)
                and (promised or "_apply_gate" in names))
    transposed, bias = flag("is_transposed", False), flag("has_bias", False)
    norm, ops = flag("has_post_expert_norm", False), None
    found = None if norm else between(module, gated, own_gate)
    if found is not None:
        joined, formula = found
        ops = tuple(_training.forward_op(formula, gated, joined, (not transposed,) * 2, bias, keep)
                    for keep in (False, True))
    return Form(gated, transposed, bias, norm, own_gate, ops)


def argument_names(cls):
    """A forward's names of hidden states, choices and their weights."""
    return tuple(inspect.signature(inspect.unwrap(cls.forward)).parameters)[1:4]


def between(module, gated, own_gate):
    """How gates and ups lie, and the formula of what is computed of them; None: it is no formula."""
    name, function = activation_name(module), getattr(module, "act_fn", None)
    if name is not None and not own_gate:
        return ("halves" if gated else ""), name
    if isinstance(function, nn.Module) and any(map(_known.has_own_calls, function.modules())):
        return None
    if own_gate:
        found = _formulas.formula_of_gate(module._apply_gate)
    elif not callable(function):
        found = None
    elif gated:
        found = _formulas.formula_of_gate(lambda both: usual_gate(function, both))
    else:
        found = _formulas.formula_of_up(function)
        found = None if found is None else ("", found)
    if found is not None:
        check_formula("moe", found[1], gated)
    return found


def usual_gate(function, both):
    gate, up = both.chunk(2, dim=-1)
    return function(gate) * up


def state_of(module):
    """The values that a Form was made of, beside the class of the module."""
    function = module._modules.get("act_fn", module.__dict__.get("act_fn"))
    found = [type(module), function]
    for each in (module, *(function.modules() if isinstance(function, nn.Module) else ())):
        own = each.__dict__
        found += [value for name, value in own.items()
                  if value.__class__ in VALUES and name != "training"]
        found += [own.get("_apply_gate"), _known.has_own_calls(each) if each is not module else None]
    return found


def known_form(module, cls):
    """The Form of a module, which is made again when what it was made of has changed."""
    state, found = state_of(module), forms.get(module)
    if found is None or found[0] != state:
        found = forms[module] = state, form_of(module, cls)
    return found[1]


def parts_of(module, cls):
    """A Form's ops and flags, as graphs may hold them."""
    form = known_form(module, cls)
    return form.ops, (form.gated, form.transposed, form.bias, form.norm, form.own_gate)


@constant_in_graphs
def parts_by_id(number, cls):
    # In torch 2.11 functions that graphs take the results of get no modules.
    return parts_of(ctypes.cast(number, ctypes.py_object).value, cls)


def told(module, cls):
    return parts_by_id(id(module), cls) if is_traced() else parts_of(module, cls)


def ops_of(module, cls):
    """The strings of a module's ops, or None (Form.ops)."""
    return told(module, cls)[0]


def cannot_hold_calls():
    """Whether what runs now cannot hold a call of pit."""
    return torch.jit.is_tracing() or exports_to_onnx() or in_transform()


def is_trained(module, inputs):
    return torch.is_grad_enabled() and any(
        x.requires_grad for x in (*module.parameters(), *inputs) if isinstance(x, torch.Tensor))


def is_made_at_once(x):
    """Whether a call on a tensor is neither traced nor noted."""
    return not torch.compiler.is_compiling() and not count_modes() and type(x) in PLAIN


def run(module, cls, x, choices, scales):
    """The result of a module for x (tokens, k), choices and scales (tokens, top)."""
    ops, (gated, transposed, bias, norm, own_gate) = told(module, cls)
    names = ("gate_up_proj" if gated else "up_proj", "down_proj")
    weights = [getattr(module, name) for name in names]
    if ops is None:
        return run_parts(module, (gated, transposed, bias, norm, own_gate), x, choices, scales)
    if x.is_cpu:  # an id that is no expert's is one of another device
        choices = choices.masked_fill((choices < 0) | (choices >= weights[1].shape[0]), -1)
    biases = [getattr(module, f"{name}_bias") for name in names] if bias else []
    dtype = weights[0].dtype
    if torch.is_autocast_enabled(x.device.type):
        dtype = torch.get_autocast_dtype(x.device.type)
    wide = [value if value.dtype == dtype else value.to(dtype) for value in (*weights, *biases)]
    inputs = [x.to(dtype), scales, choices, *wide]
    if is_trained(module, (x, scales)):
        y = _training.train(ops[1], inputs, not is_made_at_once(x))
    else:
        y = _op.run(ops[0] if torch.compiler.is_compiling() else _op.decode(ops[0]),
                    [each.contiguous() for each in inputs])
    return y.to(x.dtype)


def run_parts(module, flags, x, choices, scales):
    """The same in two products, with the module's own code between and after them."""
    gated, transposed, bias, norm, own_gate = flags
    wide = module.gate_up_proj if gated else module.up_proj
    top, count = choices.shape[1], module.down_proj.shape[0]
    choices = choices.reshape(-1, 1)
    # An id that is no expert's is one of another device, and stands for nothing here.
    absent = (choices < 0) | (choices >= count)
    routing = choices.masked_fill(absent, -1)
    rows = x.repeat_interleave(top, 0).to(wide.dtype)
    here = rows.new_ones((rows.shape[0], count))
    up, down = ("ekf", "efn") if transposed else ("efk", "enf")
    hidden = product(f"se,sk,{up}->sf", here, rows, wide, routing)
    own = choices.masked_fill(absent, 0).flatten()
    if bias:
        hidden = hidden + (module.gate_up_proj_bias if gated else module.up_proj_bias)[own]
    if own_gate:
        hidden = module._apply_gate(hidden)
    elif gated:
        hidden = usual_gate(module.act_fn, hidden)
    else:
        hidden = module.act_fn(hidden)
    y = product(f"se,sf,{down}->sn", here, hidden.to(wide.dtype), module.down_proj, routing)
    if bias:
        y = y + module.down_proj_bias[own]
    if norm:
        y = module.post_expert_norm(y)
    scales = scales.reshape(-1, 1).masked_fill(absent, 0)
    return (y * scales).reshape(-1, top, y.shape[-1]).sum(1).to(x.dtype)


def product(equation, here, rows, weight, routing):
    return _op.run(expert_product_op(equation), [here, rows, weight, routing])
