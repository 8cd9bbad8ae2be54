"""Cuts a failing program down, as long as it fails in the same way: results, ops, marks,
options of the compiler. An op is replaced by one of its operands, or by an argument that
holds what the interpreter says the op computes."""

import re

import numpy as np

from check_programs import DTYPES, Call, loaded
from generic_form import Value, element_of, functions, parse, print_module
from interpreter import Interpreter
from scalars import Unsupported

STEPS = 250  # tries


def kind(outcome):
    """What has to stay the same: the first words of the message, without numbers."""
    line = (outcome["message"].strip().splitlines() or [""])[0]
    line = re.sub(r"program\.mlir:\d+:\d+: ", "", line)
    if re.match(r"result \d+ .* wrong", line):
        return "wrong"
    return re.sub(r"[%@#]?\w*\d\w*", "", line)[:60]


class Reducer:
    """`check(text, call, options)` gives an outcome, `interpretable` a module without named
    ops."""

    def __init__(self, text, call, options, check, interpretable):
        self.text, self.call, self.options, self.check_ = text, call, options, check
        self.interpretable = interpretable
        self.left = STEPS
        self.kind = None

    def fails(self, text, call, options):
        self.left -= 1
        outcome = self.check_(text, call, options)
        if outcome["status"] != "failed":
            return False
        self.kind = self.kind or kind(outcome)
        if kind(outcome) != self.kind:
            return False
        self.text, self.call, self.options, self.outcome = text, call, options, outcome
        return True

    def run(self):
        """Whether it failed at all; text, call and options are then what is left."""
        if not self.fails(self.text, self.call, self.options):
            return False
        before = None
        while before != (self.text, str(self.options)) and self.left > 0:
            before = self.text, str(self.options)
            self.fewer_options()
            self.each(self.results, self.drop_result)
            self.each(self.ops, self.replace_by_argument)
            for which in (0, 1, -1):
                self.each(self.ops, lambda module, call, number: replace_by_operand(module, number, which))
            self.each(self.marks, self.simplify_mark)
            self.try_(lambda module, call: drop_functions(module))
        return True

    def fewer_options(self):
        parts = self.options.get("pipeline", "").split()
        for part in list(parts):
            rest = [p for p in parts if p != part]
            if self.fails(self.text, self.call, {**self.options, "pipeline": " ".join(rest)}):
                parts = rest
        for name in ("openmp", "opt_level"):
            if name in self.options:
                rest = {k: v for k, v in self.options.items() if k != name}
                self.fails(self.text, self.call, rest)
        if self.call.threads > 1:
            self.fails(self.text, Call(**{**vars(self.call), "threads": 1}), self.options)
        if self.call.same:
            self.fails(self.text, Call(**{**vars(self.call), "same": {}}), self.options)

    def try_(self, change):
        """One change to a copy of what is left; whether it still fails."""
        if self.left <= 0:
            return False
        module = parse(self.text)
        call = Call(**{**vars(self.call), "arrays": list(self.call.arrays)})
        if change(module, call) is False:
            return False
        clean(module, call)
        text = print_module(module)
        return text != self.text and self.fails(text, call, self.options)

    def each(self, listed, change):
        """Tries the change on everything that `listed` counts, the last first."""
        number = listed(parse(self.text)) - 1
        while number >= 0 and self.left > 0:
            self.try_(lambda module, call: change(module, call, number))
            number = min(number - 1, listed(parse(self.text)) - 1)

    # -- what there is --------------------------------------------------------------

    @staticmethod
    def results(module):
        return len(functions(module)["f"].block.ops[-1].operands)

    @staticmethod
    def ops(module):
        return len(all_ops(module))

    @staticmethod
    def marks(module):
        return len([op for op in all_ops(module) if op.name == "pit.sparse"])

    # -- changes --------------------------------------------------------------------

    @staticmethod
    def drop_result(module, call, number):
        main = functions(module)["f"]
        if len(main.block.ops[-1].operands) < 2:
            return False
        del main.block.ops[-1].operands[number]

    def replace_by_argument(self, module, call, number):
        op = all_ops(module)[number]
        main = functions(module)["f"]
        if op not in main.block.ops or not op.results or op.name in ("arith.constant", "tensor.empty"):
            return False
        # The same ops in the same order, but that none has a name.
        general = self.interpretable(self.text)
        others, mine = without_constants(general), without_constants(module)
        if len(others) != len(mine):
            return False
        interpreter, values = Interpreter(general), others[mine.index(op)].results
        try:
            interpreter.call("f", [loaded(a, v.type, call.shapes.get(i))
                                   for i, (a, v) in enumerate(zip(call.arrays, main.block.args))])
        except (Unsupported, ValueError):
            return False  # an earlier change left extents that do not fit
        new = {}
        for result, computed in zip(op.results, values):
            if not result.type.startswith("tensor<"):
                return False
            value = interpreter.values[computed]
            if not value.known:
                return False
            argument = Value(result.type)
            main.block.args.append(argument)
            dtype = DTYPES[element_of(result.type)]
            call.arrays.append(np.asarray(dtype.store(value.v)) if dtype.is_float
                               else value.v.astype(dtype.storage))
            new[result] = argument
        replace(module, new)

    @staticmethod
    def simplify_mark(module, call, number):
        op = [op for op in all_ops(module) if op.name == "pit.sparse"][number]
        for name in ("rule", "assume", "background"):
            if name in op.properties:
                del op.properties[name]
                return None
        return False


def all_ops(module):
    """Of f and what it calls, but what ends blocks and what is in linalg's bodies."""
    found = []

    def visit(block):
        for op in block.ops[:-1]:
            found.append(op)
            if not op.name.startswith("linalg.") and op.name != "tensor.pad":
                for region in op.regions:
                    if region.block.ops:
                        visit(region.block)

    for function in functions(module).values():
        visit(function.block)
    return found


def replace_by_operand(module, number, which):
    """An op's results are operands of their types: the first, the second or the last one."""
    op, new = all_ops(module)[number], []
    for result in op.results:
        same = [o for o in op.operands if o.type == result.type and o not in new]
        if not same or which >= len(same):
            return False
        new.append(same[which])
    replace(module, dict(zip(op.results, new)))
    return None


def without_constants(module):
    """Upstream's pass makes one of equal constants."""
    return [op for op in all_ops(module) if op.name != "arith.constant"]


def replace(module, new):
    for op in module.walk():
        op.operands = [new.get(o, o) for o in op.operands]


def clean(module, call):
    """Drops what is not used: ops, arguments of f."""
    for function in functions(module).values():
        changed = True
        while changed:
            changed = False
            used = {o for op in function.walk() for o in op.operands}
            changed = sweep(function.block, used)
    main = functions(module)["f"]
    used = {o for op in main.walk() for o in op.operands}
    kept = [i for i, a in enumerate(main.block.args) if a in used]
    renumbered = {old: new for new, old in enumerate(kept)}
    call.arrays = [call.arrays[i] for i in kept]
    call.shapes = {renumbered[i]: s for i, s in call.shapes.items() if i in renumbered}
    call.same = {renumbered[i]: renumbered[j] for i, j in call.same.items()
                 if i in renumbered and j in renumbered}
    main.block.args = [main.block.args[i] for i in kept]
    ins = ", ".join(a.type for a in main.block.args)
    outs = ", ".join(o.type for o in main.block.ops[-1].operands)
    main.properties["function_type"] = f"({ins}) -> ({outs})"
    drop_functions(module)


def sweep(block, used):
    changed = False
    for op in list(block.ops):
        if op.results and not any(r in used for r in op.results):
            block.ops.remove(op)
            changed = True
            continue
        for region in op.regions:
            if region.block.ops and not op.name.startswith("linalg."):
                changed |= sweep(region.block, used)
    return changed


def drop_functions(module):
    """Those that nobody calls."""
    called = {op.attr("callee").lstrip("@") for op in module.walk() if op.name == "func.call"}
    module.block.ops = [f for f in module.block.ops
                        if f.attr("sym_name").strip('"') in called | {"f"}]
