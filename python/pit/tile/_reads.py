"""The Python values that a tile program reads while it is written: globals, variables of enclosing
functions, attributes of modules, defaults of functions that it calls.

All of that are constants of the program. The invariant: the front end has these values from
here alone; each is recorded with the path by which it was read; and `is_current`, which each
call asks, follows the paths again and compares what is there. So a path needs contents that
cannot change (numbers, texts, types, functions, tuples of these), or contents that are recorded
in turn (lists), or the program does not see them (`Opaque`).
"""

import builtins
import struct
import types
from operator import is_

from ._errors import Mistake
from ._types import IndexType, TensorType, Type
from ._values import Opaque, describe, itself

ABSENT = object()  # what a name stands for that a table lacks
DEEPEST = 50  # lists and tuples in each other

# The objects that cannot change, or, as functions and modules, are asked for their parts by a path.
FIXED = {type(None), bool, int, float, complex, str, bytes, range, type(...), Type, TensorType,
         IndexType, types.FunctionType, types.BuiltinFunctionType, types.ModuleType}


def fixed(value, lists=None, depth=0):
    """A value as programs see it: as it is now, whatever becomes of it. `lists` has, by id, each
    list in it, its elements and the list that the program sees; None: there are none."""
    kind = type(value)
    if kind in FIXED or issubclass(kind, type):
        return value
    if depth > DEEPEST:
        raise Mistake(f"{describe(value)} in more than {DEEPEST} others")
    if issubclass(kind, tuple):
        return tuple([fixed(v, lists, depth + 1) for v in tuple.__iter__(value)])
    if issubclass(kind, list) and lists is not None:
        if id(value) not in lists:
            elements = tuple(list.__iter__(value))
            lists[id(value)] = value, elements, [fixed(v, lists, depth + 1) for v in elements]
        return lists[id(value)][2]
    if kind.__module__ == "numpy" and kind.__hash__ and hasattr(value, "item"):  # no array
        number = value.item()
        return number if type(number) in FIXED else Opaque(value)
    for base, convert in ((int, int.__int__), (float, float.__float__), (str, str.__str__)):
        if issubclass(kind, base):  # whose operators may be others
            return convert(value)
    return Opaque(value)


pack = struct.Struct("<d").pack


def key_of(value):
    """The identity of a constant: of equal ones (0.0 and -0.0, 1 and True) the text of a
    program differs, so == does not do."""
    kind = type(value)
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    if kind is float:
        return kind, pack(value)
    if issubclass(kind, tuple):
        return tuple, *[key_of(v) for v in tuple.__iter__(value)]
    value = fixed(value)
    kind = type(value)
    if kind in (int, bool, str, float):  # of a number of numpy, or another class
        return key_of(value)
    if kind in (bytes, range, complex, Type, TensorType, IndexType):
        return kind, repr(value)
    return kind, id(itself(value))  # which the program keeps alive


def same(old, new):
    """Whether a value is the one that was read: the object, or a number or a text that nothing
    can tell from it."""
    return old is new or type(old) is type(new) in (int, bool, str, float) and (
        key_of(old) == key_of(new))


class Reads:
    """The values that one program has read."""

    def __init__(self):
        self.tables = {}  # by id: (dict, {name: (value or ABSENT, as the program sees it)})
        self.cells = {}  # the same of variables of enclosing functions
        self.answers = {}  # of modules that make attributes when they are asked
        self.functions = {}  # by id: (function, its code, defaults, defaults by name, a copy)
        self.lists = {}  # by id: (list, its elements, as the program sees it)

    # -- Reading --

    def variable(self, function, name):
        """The value of a name in a function, unless that has assigned it."""
        code = function.__code__
        if name in code.co_varnames or name in code.co_cellvars:
            raise Mistake(f"{name} has no value here: the function assigns it, but not before")
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            if id(cell) not in self.cells:
                try:
                    value = cell.cell_contents
                except ValueError:
                    raise Mistake(f"{name} has no value yet") from None
                self.cells[id(cell)] = cell, value, fixed(value, self.lists)
            return self.cells[id(cell)][2]
        found = self.entry(function.__globals__, name)
        if found is ABSENT:
            found = self.entry(vars(builtins), name)
        if found is ABSENT:
            raise Mistake(f"there is no {name} here")
        return found

    def attribute(self, module, name):
        """An attribute of a module."""
        if module.__name__.startswith("pit."):  # which do not change
            found = getattr(module, name, ABSENT)
        else:
            found = self.entry(vars(module), name)
        if found is ABSENT and (id(module), name) in self.answers:
            found = self.answers[id(module), name][3]
        elif found is ABSENT:  # its __getattr__ may know
            try:
                value = getattr(module, name)
            except AttributeError as error:
                raise Mistake(str(error)) from None
            found = fixed(value, self.lists)
            self.answers[id(module), name] = module, name, value, found
        return found

    def entry(self, table, name):
        _, known = self.tables.setdefault(id(table), (table, {}))
        if name not in known:
            value = table.get(name, ABSENT)
            known[name] = value, value if value is ABSENT else fixed(value, self.lists)
        return known[name][1]

    def callee(self, function):
        """A copy of a function of Python that the program calls, with the defaults as they
        are now."""
        if id(function) not in self.functions:
            code, defaults, named = (
                function.__code__, function.__defaults__, function.__kwdefaults__)
            copy = types.FunctionType(code, function.__globals__, function.__name__,
                                      defaults and fixed(defaults, self.lists),
                                      function.__closure__)
            if named:
                copy.__kwdefaults__ = {name: self.entry(named, name) for name in [*named]}
            self.functions[id(function)] = function, code, defaults, named, copy
        return self.functions[id(function)][4]

    # -- Comparing --

    def prepare(self):
        """Puts together what `is_current` compares, when all has been read."""
        self.entries = [(table.get, name, value) for table, known in self.tables.values()
                        for name, (value, _) in known.items()]
        self.others = [read[:2] for read in self.cells.values()]
        self.callees = [read[:4] for read in self.functions.values()]
        self.sequences = [read[:2] for read in self.lists.values()]
        self.asked = [read[:3] for read in self.answers.values()]
        self.tables = self.cells = self.answers = self.functions = self.lists = None

    def is_current(self):
        """Whether Python still has what was read. A loop in Python for each kind of path is faster
        here than functions of C over tuples: they are short."""
        try:
            for get, name, old in self.entries:
                new = get(name, ABSENT)
                if new is not old and not same(old, new):
                    return False
            for cell, old in self.others:
                new = cell.cell_contents
                if new is not old and not same(old, new):
                    return False
            for function, code, defaults, named in self.callees:
                if (function.__code__ is not code or function.__defaults__ is not defaults
                        or function.__kwdefaults__ is not named):
                    return False
            for list_, old in self.sequences:
                if len(list_) != len(old) or not (
                        all(map(is_, old, list_)) or all(map(same, old, list_))):
                    return False
            for module, name, old in self.asked:
                if not same(old, getattr(module, name)):
                    return False
        except (AttributeError, ValueError):  # an attribute or a variable is gone
            return False
        return True
