"""Gradients of ReLU's results: which inputs of layers are such, and who sees their gradients.

A product need not compute the gradient of a zero that a ReLU has made, as the ReLU's own
gradient drops it. But torch.autograd.grad, a hook, or retain_grad() may ask for that very
gradient, also after the call, so that the backward pass alone can tell.
"""

import torch

from .. import _arrays
from ..ops._gradients import without_sparse_grad

_, transforms, _, _, _ = _arrays.torch_modes()
_last = (-1, False)  # a backward pass by torch's number of it, and what runs_whole_graph found


def is_behind_relu(x):
    """Whether a tensor is the result of a ReLU, of which gradients are taken."""
    if torch.compiler.is_compiling() or not isinstance(x, torch.Tensor) or x.grad_fn is None:
        return False
    node = x.grad_fn
    is_relu = node.name() == "ReluBackward0" or (
        getattr(getattr(node, "op", None), "activation", None) == "relu")
    return is_relu and transforms() is None


def op_of_gradients(node, op, inputs):
    """The op whose gradients a node of autograd computes: `op`, or the same whose operand
    behind a ReLU has its whole gradient."""
    for mark in getattr(op, "marks", ()):
        if mark.sparse_grad == "relu" and (
                is_watched(inputs[mark.operand]) or not runs_whole_graph(node)):
            return without_sparse_grad(op)
    return op


def is_watched(x):
    """Whether somebody sees the gradient of a tensor, or of what it is a view of; `x` is None
    where that gradient is not needed."""
    return x is not None and any(t is not None and (t.retains_grad or t._backward_hooks)
                                 for t in (x, x._base))


def runs_whole_graph(node):
    """Whether the backward pass that runs this node is that of backward(). torch.autograd.grad
    runs a part of the graph, and does not say which gradients it returns. So one leaf of the
    graph tells: backward() has reached it, and torch.autograd.grad has not, or refuses to say."""
    global _last
    if not hasattr(node, "next_functions"):  # of torch.func, which takes such gradients
        return False
    task = torch._C._current_graph_task_id()
    if task != -1 and _last[0] == task:
        return _last[1]
    while following := [n for n, _ in node.next_functions if n is not None]:
        node = following[-1]  # of a layer, its parameters come after x, and are leaves
    try:
        found = torch._C._will_engine_execute_node(node)
    except RuntimeError:
        found = False
    _last = task, found
    return found
