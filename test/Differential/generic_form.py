"""MLIR's generic form: a parser, and a printer for what a failing program was cut
down to.

Attributes and types stay text. `ints`, `maps` and the other functions at the end read
those that the interpreter needs.
"""

import re


class Value:
    def __init__(self, type_):
        self.type = type_


class Block:
    def __init__(self):
        self.args, self.ops = [], []


class Operation:
    def __init__(self, name, operands, properties, attributes, regions, results):
        self.name, self.operands, self.results = name, operands, results
        self.properties, self.attributes = properties, attributes  # name -> text
        self.regions = regions  # of one block each, or none

    def attr(self, name):
        return self.properties.get(name, self.attributes.get(name))

    @property
    def block(self):
        return self.regions[0].block

    def walk(self):
        yield self
        for region in self.regions:
            for op in region.block.ops:
                yield from op.walk()

    def segments(self):
        """The operands, by operandSegmentSizes."""
        groups, at = [], 0
        for size in ints(self.attr("operandSegmentSizes")):
            groups.append(self.operands[at: at + size])
            at += size
        return groups


class Region:
    """Of one block; an empty one has an empty block."""

    def __init__(self, block):
        self.block = block


OPEN, CLOSE = "(<[{", ")>]}"


def balanced(text, at, stops):
    """Where the text from `at` on first has one of `stops` outside of brackets."""
    depth = 0
    while at < len(text):
        c = text[at]
        if text.startswith("->", at):
            at += 2
            continue
        if c == '"':
            at = text.index('"', at + 1)
        elif depth == 0 and c in stops:
            return at
        elif c in OPEN:
            depth += 1
        elif c in CLOSE:
            depth -= 1
        at += 1
    return at


def split(text):
    """The parts of a list with commas."""
    parts, at = [], 0
    while at < len(text):
        end = balanced(text, at, ",")
        parts.append(text[at:end].strip())
        at = end + 1
    return [p for p in parts if p]


def dictionary(text):
    """`a = 1 : i64, b` as a dict of texts; a unit has None."""
    found = {}
    for part in split(text):
        end = balanced(part, 0, "=")
        found[part[:end].strip().strip('"')] = part[end + 1:].strip() if end < len(part) else None
    return found


class Parser:
    def __init__(self, text):
        # Names for attributes are replaced by what they stand for.
        aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
        text = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
        for _ in range(2):
            text = re.sub(r"#\w+(?![\w.<])", lambda m: aliases.get(m[0], m[0]), text)
        self.text, self.at, self.scopes = text, 0, [{}]

    def skip(self, pattern=r"\s*"):
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def take(self, pattern):
        self.skip()
        match = self.skip(pattern)
        if not match:
            raise ValueError(f"'{pattern}' was expected at: {self.text[self.at: self.at + 200]}")
        return match

    def peek(self, what):
        self.skip()
        return self.text.startswith(what, self.at)

    def until(self, stops):
        end = balanced(self.text, self.at, stops)
        found, self.at = self.text[self.at:end], end
        return found.strip()

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise ValueError(f"{name} is not defined")

    def operation(self):
        match = self.take(r"(?:(%[\w$.-]+)(?::(\d+))?(?:, )?\s*=\s*)?\"([\w.]+)\"\(")
        stem, count, name = match.groups()
        operands = [self.find(n) for n in split(self.until(")"))]
        self.take(r"\)")
        properties, attributes, regions = {}, {}, []
        if self.peek("<{"):
            self.take("<{")
            properties = dictionary(self.until("}"))
            self.take("}>")
        if self.peek("("):
            self.take(r"\(")
            while not self.peek(")"):
                regions.append(self.region())
                self.skip(r"\s*,")
            self.take(r"\)")
        if self.peek("{"):
            self.take("{")
            attributes = dictionary(self.until("}"))
            self.take("}")
        self.take(r":\s*\(")
        self.until(")")
        self.take(r"\)\s*->\s*")
        types = self.types()
        results = [Value(t) for t in types]
        if stem:
            names = [f"{stem}#{i}" for i in range(int(count))] if count else [stem]
            if count:
                self.scopes[-1][stem] = results[0]
            self.scopes[-1].update(zip(names, results))
        return Operation(name, operands, properties, attributes, regions, results)

    def types(self):
        if self.peek("("):
            self.take(r"\(")
            found = split(self.until(")"))
            self.take(r"\)")
            return found
        end = balanced(self.text, self.at, "\n,)")
        found, self.at = self.text[self.at:end].strip(), end
        return [found]

    def region(self):
        self.take("{")
        self.scopes.append({})
        block = Block()
        if self.peek("^"):
            self.take(r"\^\w+")
            if self.peek("("):
                self.take(r"\(")
                for argument in split(self.until(")")):
                    name, type_ = argument.split(": ", 1)
                    block.args.append(Value(type_))
                    self.scopes[-1][name] = block.args[-1]
                self.take(r"\)")
            self.take(":")
        while not self.peek("}"):
            block.ops.append(self.operation())
        self.take("}")
        self.scopes.pop()
        return Region(block)


def parse(text):
    """The module in a text of the generic form."""
    return Parser(text).operation()


def functions(module):
    return {f.attr("sym_name").strip('"'): f for f in module.block.ops if f.name == "func.func"}


class Printer:
    def __init__(self):
        self.names, self.lines = {}, []

    def define(self, value):
        self.names[value] = f"%v{len(self.names)}"
        return self.names[value]

    def operation(self, op, indent=""):
        results = [self.define(r) for r in op.results]
        if len(results) > 1:
            stem = results[0]
            self.names.update((r, f"{stem}#{i}") for i, r in enumerate(op.results))
            results = [f"{stem}:{len(results)}"]
        text = f"{results[0]} = " if results else ""
        text += f'"{op.name}"({", ".join(self.names[o] for o in op.operands)})'
        text += f" <{{{written(op.properties)}}}>" if op.properties else ""
        self.lines.append(indent + text + (" ({" if op.regions else ""))
        for i, region in enumerate(op.regions):
            if i:
                self.lines.append(f"{indent}}}, {{")
            if region.block.args:
                args = ", ".join(f"{self.define(a)}: {a.type}" for a in region.block.args)
                self.lines.append(f"{indent}^bb0({args}):")
            for inner in region.block.ops:
                self.operation(inner, indent + "  ")
        if op.regions:
            self.lines.append(f"{indent}}})")
        tail = f" {{{written(op.attributes)}}}" if op.attributes else ""
        types = ", ".join(r.type for r in op.results)
        tail += f" : ({', '.join(o.type for o in op.operands)}) -> "
        self.lines[-1] += tail + (types if len(op.results) == 1 else f"({types})")


def written(dictionary_):
    return ", ".join(k if v is None else f"{k} = {v}" for k, v in dictionary_.items())


def print_module(module):
    printer = Printer()
    printer.operation(module)
    return "\n".join(printer.lines) + "\n"


# --------------------------------------------------------------------------
# What is in attributes and types
# --------------------------------------------------------------------------

DYNAMIC = -(2**63)


def ints(text):
    """`array<i64: 1, 2>`, `[1, 2]` or `dense<...>`."""
    if text is None:
        return []
    body = re.sub(r"^array<i\d+:?", "", text).split("> :")[0]
    return [int(n) for n in re.findall(r"(?<![\w.])-?\d+", body)]


def shape_of(type_):
    """The extents of a tensor type, None for dynamic ones, and its element type."""
    *dims, element = re.fullmatch(r"tensor<(.*)>", type_)[1].split("x")
    if "index" in type_ and element == "":  # the x of index
        *dims, element = [*dims[:-1], "index"]
    return [None if d == "?" else int(d) for d in dims], element


def element_of(type_):
    return shape_of(type_)[1] if type_.startswith("tensor<") else type_


def affine_maps(text):
    """Of a list of affine maps: the number of dims and the results, as text."""
    found = []
    for dims, symbols, results in re.findall(
            r"affine_map<\(([^)]*)\)(?:\[([^\]]*)\])? -> \(([^<>]*)\)>", text):
        names = [n.strip() for n in [*dims.split(","), *symbols.split(",")] if n.strip()]
        found.append((names, split(results)))
    return found


def affine_value(expression, names, values):
    """An affine expression of numbers or arrays."""
    text = expression.replace("floordiv", "//").replace("mod", "%").replace("ceildiv", "@")
    if "@" in text:
        raise ValueError(f"ceildiv in {expression}")
    return eval(text, {"__builtins__": {}}, dict(zip(names, values)))
