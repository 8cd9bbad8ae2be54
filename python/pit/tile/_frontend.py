"""Reads the Python of a function and writes its tile program.

The function's syntax tree is walked, not its bytecode run: so a loop is a loop, each op
knows its line and column, and what has no meaning in a tile program is refused where it
stands. Constants, and what is computed from them, are Python's.
"""

import ast
import itertools

from ._errors import Mistake, SourceError
from ._expressions import Expressions, Returned
from ._loops import Loop, LoopWriter
from ._types import i1
from ._values import Number, Op, Place, Tensor, Tile, describe
from ._writer import mlir_string


UNROLLED = 1024  # iterations of a loop over constants


class FrontEnd(Expressions):
    """Writes one function: each statement has a method `do_NAME` by its kind of node."""

    def run(self):
        """Writes the function's body and gives what it returns, and where."""
        try:
            return self.body(self.frames[0].source.tree.body), self.b.at
        except Mistake as mistake:
            raise SourceError(mistake.reason, self.b.at, mistake.notes) from None
        except RecursionError:
            raise SourceError("an expression is too deep; split it into statements",
                              self.b.at) from None

    def body(self, statements):
        try:
            for statement in statements:
                self.statement(statement)
        except Returned as returned:
            return returned.value
        return None

    def statement(self, node):
        self.b.at = self.place(node)
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise Mistake(f"{statement_name(node)} has no meaning in a tile program; it has "
                          "assignments, for, if on constants, assert and return")
        method(node)

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        value = self.value(node.value)
        if isinstance(value, (Tile, Number, Place)):
            self.b.at = self.place(node)
            raise Mistake(f"{describe(value)} is computed and not used")

    def do_Pass(self, node):
        pass

    def do_Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value is None:
            raise Mistake("a name without a value")
        self.assign(node.target, self.value(node.value))

    def do_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            raise Mistake("only names are updated in this way; tile.swrite(place, tile, "
                          "combine=\"add\") adds to a part of a tensor")
        left = self.lookup(node.target.id, node.target)
        right = self.value(node.value)
        self.b.at = self.place(node)
        self.assign(node.target, self.binary(type(node.op), left, right))

    def assign(self, target, value):
        self.b.at = self.place(target)
        if isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, (tuple, list, range)):
                raise Mistake(f"{describe(value)} is no tuple of values")
            if len(value) != len(target.elts):
                raise Mistake(f"{len(target.elts)} names for {len(value)} values")
            for each, part in zip(target.elts, value):
                self.assign(each, part)
            return
        if not isinstance(target, ast.Name):
            raise Mistake("parts of tensors are written by tile.swrite(place, tile)")
        if isinstance(value, Tile) and isinstance(value.node, Op):
            # One pass over the tile for each statement.
            value = self.b.compute(value, target.id)
        if isinstance(value, Tensor) and value.hint == "e":
            value.hint = target.id
        self.env[target.id] = value
        self.frames[-1].places[target.id] = self.place(target)

    def do_If(self, node):
        chosen = self.truth(node.test, "if")
        for statement in node.body if chosen else node.orelse:
            self.statement(statement)

    def do_Assert(self, node):
        condition = self.value(node.test)
        message = self.value(node.msg) if node.msg else ast.unparse(node.test)
        self.b.at = self.place(node)
        if isinstance(condition, Number) and condition.type is i1:
            self.b.fail_in_loop("an assert of what is known at run time")
            where = "{}:{}".format(*self.place(node))
            self.b.write(f"cf.assert {condition.name}, {mlir_string(f'{message} ({where})')}")
        elif not isinstance(condition, bool):
            raise Mistake(f"an assert takes a comparison of numbers, not {describe(condition)}")
        elif not condition:
            raise Mistake(f"assertion failed: {message}")

    def do_Return(self, node):
        if len(self.b.regions) > self.frames[-1].depth:
            raise Mistake("return stands inside of a loop; it ends the function")
        value = self.value(node.value) if node.value else None
        self.b.at = self.place(node)
        raise Returned(value)

    def do_For(self, node):
        if node.orelse:
            raise Mistake("else of a loop has no meaning in a tile program")
        loop = self.value(node.iter)
        self.b.at = self.place(node)
        if isinstance(loop, (tuple, list, range)):
            values = list(itertools.islice(loop, UNROLLED + 1))
            if len(values) > UNROLLED:
                raise Mistake(f"a loop over constants is written out, and {UNROLLED} iterations are "
                              "the most; use tile.for_range")
            for value in values:
                self.assign(node.target, value)
                for statement in node.body:
                    self.statement(statement)
            return
        if not isinstance(loop, Loop):
            raise Mistake(f"a loop runs over tile.forall, tile.for_range, tile.for_ids or "
                          f"constants, not over {describe(loop)}")
        self.settle(self.env)
        elements = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        if not all(isinstance(e, ast.Name) for e in elements):
            raise Mistake("names stand before `in`")
        targets = [e.id for e in elements]
        writer = LoopWriter(self.b, loop, targets)

        def run(variables):
            for name, variable in zip(targets, variables):
                self.env[name] = variable
            for statement in node.body:
                self.statement(statement)

        writer.write(self.env, assigned_names(node.body), self.frames[-1].places, run)

    def settle(self, values):
        """Writes products that wait before a loop that may use them."""
        for value in values.values() if isinstance(values, dict) else values:
            if isinstance(value, Tile):
                self.b.settle(value)
            elif isinstance(value, (tuple, list)):
                self.settle(value)


def assigned_names(statements):
    """The names that statements assign, in order."""
    names = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
    return list(names)


def statement_name(node):
    known = {"With": "with", "While": "while", "Try": "try", "FunctionDef": "a def inside of it",
             "ClassDef": "class", "Raise": "raise", "Delete": "del", "Global": "global",
             "Nonlocal": "nonlocal", "Import": "import", "ImportFrom": "import", "Break": "break",
             "Continue": "continue", "Match": "match"}
    return known.get(type(node).__name__, type(node).__name__)
