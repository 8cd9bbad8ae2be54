"""Whether the code of a mixture of experts computes what its replacement computes.

Samples cannot tell: a limit that they do not reach, or a branch that they do not take,
shows on other inputs. So each part of a module (weights, children, methods) has to be one
that the replacement knows, and its code may use the names below alone. None of these
depends on how large a value is. For such code agreement on samples decides the rest: the
order of operations, constants, and how weights are normalized.
"""

import ast
import inspect
import textwrap

import torch
from torch import nn

# The names in code of mixtures: shapes, choices of rows, products, a softmax.
NAMES = frozenset("""
    torch nn functional F range len enumerate zip int list tuple isinstance
    shape size dim ndim dtype device numel is_cuda new_zeros new_empty zeros_like empty_like zeros empty
    view reshape flatten unsqueeze squeeze permute transpose T mT contiguous expand expand_as unflatten
    view_as chunk split unbind cat stack repeat repeat_interleave index_select gather index_add index_add_
    scatter_add scatter_add_ scatter scatter_ take_along_dim
    to float type type_as half bfloat16 float32 float16 long int64 int32 bool detach clone item tolist cpu numpy
    nonzero one_hot eq argsort sort bincount cumsum any unique topk softmax sum mean
    linear matmul mm bmm einsum mul add div no_grad append items values training
""".split())
COMPARISONS = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
ABOVE = ("greater", "gt")  # which are known of zero alone


class Unknown(Exception):
    """Says what of a code is not known."""


class Reader(ast.NodeVisitor):
    """Raises Unknown at the first thing of a method that is not known. `parts` are the
    module's attributes that the replacement reads, too."""

    def __init__(self, module, parts, local):
        self.module, self.parts, self.local = module, parts, local

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            if node.attr in self.parts or node.attr == "training":
                return
            value = getattr(self.module, node.attr, None)
            if not isinstance(value, (int, float, str, torch.dtype, type(None))):
                raise Unknown(f"`self.{node.attr}`")
            return
        if node.attr not in NAMES and node.attr not in self.parts:
            raise Unknown(f"`{node.attr}`")
        self.visit(node.value)

    def visit_Name(self, node):
        if node.id not in NAMES and node.id not in self.local:
            raise Unknown(f"`{node.id}`")

    def visit_Call(self, node):
        name = getattr(node.func, "attr", None)
        if name == "where" and len(node.args) + len(node.keywords) == 1:
            self.visit(node.func.value)  # where a mask is true; with more, a choice of values
        elif name in ABOVE and is_zero(node.args[-1]):
            self.visit(node.func.value)
        else:
            self.visit(node.func)
        for each in (*node.args, *(k.value for k in node.keywords)):
            self.visit(each)

    def visit_Compare(self, node):
        for operator, right in zip(node.ops, node.comparators):
            if not isinstance(operator, COMPARISONS) and not (
                    isinstance(operator, ast.Gt) and is_zero(right)):
                raise Unknown(f"`{ast.unparse(node)}`")
        self.generic_visit(node)

    def visit_If(self, node):
        if is_training(node.test):  # a replacement does not train
            for each in node.orelse:
                self.visit(each)
        else:
            self.generic_visit(node)

    def visit(self, node):
        if isinstance(node, REFUSED):
            raise Unknown(f"`{ast.unparse(node).split()[0]}`")
        return super().visit(node)


REFUSED = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef, ast.Global, ast.Import, ast.ImportFrom,
           ast.Lambda, ast.Nonlocal, ast.Try, ast.While)


def is_training(test):
    """Whether a condition is `self.training`, or that and something else."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(is_training, test.values))
    return ast.unparse(test) == "self.training"


def is_zero(node):
    return isinstance(node, ast.Constant) and node.value == 0


def unknown_in(module, parts):
    """The part of a module's forward that is not known, as the end of a sentence; None: all is known."""
    function = inspect.unwrap(type(module).forward)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return f"the code of {type(module).__name__} cannot be read"
    given = tree.args
    local = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    local |= {node.id for node in ast.walk(tree)
              if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    try:
        for each in tree.body:
            Reader(module, parts, local).visit(each)
    except Unknown as found:
        return f"{type(module).__name__} uses {found}, which pit does not know"
    return None


# --------------------------------------------------------------------------
# Parts of a module
# --------------------------------------------------------------------------


def unknown_part(module, children, tensors, methods=()):
    """A part of a module beside those that are given; None: there is none."""
    found = [f"`{name}`" for name in module._modules if name not in children]
    found += [f"`{name}`" for name in (*module._parameters, *module._buffers)
              if name not in tensors]
    known = {"__init__", "forward", "extra_repr", "reset_parameters", *methods}
    own = [base for base in type(module).__mro__ if base not in nn.Module.__mro__]
    found += [f"`{name}`" for base in own for name, value in vars(base).items()
              if inspect.isfunction(value) and name not in known]
    return f"{type(module).__name__} has {found[0]}, which pit does not know" if found else None


HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def has_own_calls(module):
    """Whether a call of a module runs more, or other things, than forward of its class."""
    own = module.__dict__
    for name in HOOKS:
        if own[name]:
            return True
    return "forward" in own


# --------------------------------------------------------------------------
# transformers
# --------------------------------------------------------------------------

# The flags that the decorator `use_experts_implementation` of transformers sets. Each flag
# adds to what all of its implementations compute, so a new one is something unknown.
FLAGS = frozenset(("has_gate", "has_bias", "has_post_expert_norm", "is_transposed",
                   "is_concatenated"))


def promising_class(cls):
    """The class, of one and its bases, that promises by that decorator that its forward is
    what any of these implementations makes of its weights, `_apply_gate` and
    `post_expert_norm`; or None."""
    cls = next(each for each in cls.__mro__ if "forward" in vars(each))
    function = vars(cls)["forward"]
    code = getattr(function, "__code__", None)
    if code is None or "original_forward" not in code.co_freevars:
        return None
    return cls if function.__globals__.get("__name__", "").startswith("transformers.") else None


def has_usual_gate(cls):
    """Whether `_apply_gate` is the one that the decorator gives a class without one: the activation
    of the first half, times the second."""
    function = getattr(cls, "_apply_gate", None)
    return (getattr(function, "__name__", "") == "_default_apply_gate"
            and getattr(function, "__module__", "").startswith("transformers."))


def unknown_flag(cls):
    made_by = getattr(vars(cls).get("__init__"), "__code__", None)
    found = sorted(set(made_by.co_freevars if made_by else ()) - FLAGS - {"original_init"})
    return (f"{cls.__name__} has the flag `{found[0]}` of transformers, which pit does not know"
            if found else None)
