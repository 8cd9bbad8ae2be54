"""Formulas (ops/_gates.py) of what code of modules computes of each element of a gate and its up: found
by running that code once on a stand-in, which notes what is called."""

import math
import operator

import torch
from torch import fx

from ..ops._activations import ACTIVATIONS

# Methods and functions that change an element's type, or nothing. Formulas are computed in f32 or f64.
SAME = {"float", "double", "half", "bfloat16", "to", "type", "type_as", "contiguous"}
PAIRS = {"add": "add", "sub": "sub", "mul": "mul", "multiply": "mul", "truediv": "div", "div": "div"}
TYPES = {"dtype", "device"}  # attributes that stand for no element
ROOT = math.sqrt(2 / math.pi)  # of the other GELU


class Unknown(Exception):
    """Something that no formula has."""


def formula_of_gate(function):
    """(how gates and ups lie: "halves" or "pairs", formula) of a function of both in one tensor, along
    its last dim; None: it is no function of single elements that formulas have."""
    found = trace(function)
    if found is None or len(found.layouts) != 1:
        return None
    return found.layouts.pop(), found.result


def formula_of_up(function):
    """The formula of a function of a tensor's elements, or None."""
    found = trace(function, "up")
    return None if found is None or found.layouts else found.result


def trace(function, variable=None):
    graph = fx.Graph()
    given = fx.Proxy(graph.placeholder("x"), fx.proxy.GraphAppendingTracer(graph))
    try:
        result = function(given)
        return Reader(graph, result.node, variable)
    except Exception:  # of code that was made for tensors: it is none that a formula has
        return None


class Reader:
    """The formula of a node of a graph. `layouts` is how gates and ups lie in the graph's input."""

    def __init__(self, graph, result, variable):
        self.layouts = set()
        self.found = {}  # formulas of nodes; "whole": the input; None: no element's
        for node in graph.nodes:
            self.found[node] = (variable or "whole" if node.op == "placeholder" else
                                self.read(node))
        self.result = self.element(result)

    def element(self, x):
        """The formula of an argument."""
        if isinstance(x, fx.Node):
            x = self.found[x]
            if x is None or x == "whole" or isinstance(x, list):
                raise Unknown
            return x
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            return x
        raise Unknown

    def read(self, node):
        name = node.target if isinstance(node.target, str) else node.target.__name__
        args, kwargs = list(node.args), dict(node.kwargs)
        if node.target is getattr and args[1] in TYPES:
            return None
        if node.target is operator.getitem:
            return self.part(*args)
        if name == "chunk":
            return self.halves(*args, **kwargs)
        if name in SAME:
            return self.element(args[0])
        return self.compute(name.rstrip("_") if name.endswith("_") and name[0] != "_" else name,
                            args, kwargs)

    def halves(self, x, chunks, dim=0):
        if self.found.get(x) != "whole" or chunks != 2 or dim != -1:
            raise Unknown
        self.layouts.add("halves")
        return ["gate", "up"]

    def part(self, x, at):
        found = self.found[x]
        if isinstance(found, list) and isinstance(at, int):
            return found[at]
        if found == "whole" and isinstance(at, tuple) and len(at) == 2 and at[0] is Ellipsis:
            for which, start in (("gate", (None, 0)), ("up", (1,))):
                if at[1].step == 2 and at[1].stop is None and at[1].start in start:
                    self.layouts.add("pairs")
                    return which
        raise Unknown

    def compute(self, name, args, kwargs):
        kwargs.pop("inplace", None)
        approximate = kwargs.pop("approximate", "none")
        if name in ("clamp", "clip", "hardtanh", "clamp_min", "clamp_max"):
            return self.clamp(name, args, kwargs)
        if kwargs:
            raise Unknown
        first, *rest = map(self.element, args)
        if name == "gelu" and approximate == "tanh" and not rest:
            cube = ("mul", ("mul", first, first), first)
            inner = ("mul", ("add", first, ("mul", cube, 0.044715)), ROOT)
            return ("mul", ("mul", first, 0.5), ("add", ("tanh", inner), 1.0))
        if approximate != "none":
            raise Unknown
        if name in PAIRS and len(rest) == 1:
            return (PAIRS[name], first, rest[0])
        if name == "pow" and rest in ([2], [3]):
            square = ("mul", first, first)
            return square if rest == [2] else ("mul", square, first)
        if rest:
            raise Unknown
        if name == "square":
            return ("mul", first, first)
        if name == "relu6":
            return ("min", ("relu", first), 6.0)
        if name in ACTIVATIONS or name in ("neg", "exp"):
            return (name, first)
        raise Unknown

    def clamp(self, name, args, kwargs):
        if name == "hardtanh":
            kwargs = {"min": kwargs.pop("min_val", -1.0), "max": kwargs.pop("max_val", 1.0)}
            names = ("min", "max")
        else:
            names = {"clamp_min": ("min",), "clamp_max": ("max",)}.get(name, ("min", "max"))
        x, *bounds = args
        kwargs |= dict(zip(names, bounds))
        found = self.element(x)
        # In torch's order: where bounds cross, it is the upper one.
        for bound, op in (("min", "max"), ("max", "min")):
            limit = kwargs.pop(bound, None)
            if limit is not None:
                if not isinstance(limit, (int, float)):
                    raise Unknown
                found = (op, found, limit)
        if kwargs:
            raise Unknown
        return found
