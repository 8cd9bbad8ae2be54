"""Random tile programs, for tests: the text of a function on fixed arguments."""

M, N = 4, 8  # of a tile
SHAPES = [(M, N), (M, N), (M, N), (N,), (M, 1), (M,), (1, N), ()]
ARGUMENTS = {"f32": ("x", "y"), "i32": ("q",), "i1": ("b",), "f16": ("h",)}
CONSTANTS = {"f32": ("0.5", "2", "-1.0"), "f16": ("0.5", "2", "-1.0"), "i32": ("2", "1", "-3"),
             "i1": ("True", "False")}
OPERATORS = {"f32": "+-*", "f16": "+-*", "i32": "+-*&|^", "i1": "&|^"}
FLOAT_FUNCTIONS = ("abs", "floor", "ceil", "round", "tanh", "sin", "cos", "sigmoid")
HEAD = """def f(x: tile.f32["M", "N"], y: tile.f32["M", "N"], q: tile.i32["M", "N"],
      b: tile.i1["M", "N"], h: tile.f16["M", "N"], xt: tile.f32["N", "M"]):
    M, N = x.shape
    last = N - 1
    live = tile.build_index(y, [1, 0], 0)
"""


class Program:
    """Writes one function. Names in scope are triples of name, element type and shape."""

    def __init__(self, random):
        self.random = random
        self.lines, self.names, self.indent, self.count = [], [], 2, 0
        self.rows = random.choice(["i", "i", "ids"])

    def text(self):
        r = self.random
        types = r.choices(["f32", "f32", "i32", "i1", "f16"], k=r.choice([1, 1, 2, 3]))
        head = HEAD
        for number, dtype in enumerate(types):
            head += f"    o{number} = tile.zeros((M, N), tile.{dtype})\n"
        if self.rows == "i":
            head += f"    for i, j in tile.forall((0, M, {M}), (0, N, {N})):\n"
        else:
            head += f"    for j, ids in tile.forall((0, N, {N}), tile.ids(live, chunk={M})):\n"
        self.statements(r.choice([1, 2, 4, 6]))
        for number, dtype in enumerate(types):
            combine = ""
            if dtype != "i1" and r.random() < 0.25:
                combine = f', combine="{r.choice(["add", "max", "min"])}"'
            value = self.expression(dtype, (M, N), 2)
            self.line(f"tile.swrite(o{number}[{self.rows}, j], {value}{combine})")
        results = ", ".join(f"o{number}" for number in range(len(types)))
        return head + "".join(self.lines) + f"    return {results}\n"

    def line(self, text):
        self.lines.append("    " * self.indent + text + "\n")

    def name(self, dtype, shape):
        self.count += 1
        self.names.append((f"t{self.count}", dtype, shape))
        return f"t{self.count}"

    def statements(self, count):
        r = self.random
        for _ in range(count):
            dtype, shape = r.choice(["f32", "f32", "i32", "i1", "f16"]), r.choice(SHAPES)
            if r.random() < 0.2 and self.indent < 4:
                self.loop(r.choice(["f32", "i32"]), shape)
            else:
                value = self.expression(dtype, shape, r.choice([1, 2, 3]))
                self.line(f"{self.name(dtype, shape)} = {value}")

    def loop(self, dtype, shape):
        """One that carries a new tile, and perhaps changes another."""
        r, name = self.random, self.name(dtype, shape)
        self.line(f"{name} = tile.full({shape!r}, {self.constant(dtype)}, tile.{dtype})")
        before = list(self.names)
        self.line(f"for r{self.count} in tile.for_range({r.choice(['2', '3', 'M'])}):")
        self.indent += 1
        self.statements(r.choice([0, 1]))
        value = self.expression(dtype, shape, 2)
        self.line(f"{name} = tile.maximum(tile.minimum({name} {r.choice('+-')} {value}, 50), -50)")
        others = [n for n in before if n[1] in ("f32", "i32") and n[0] != name]
        if others and r.random() < 0.4:
            other, its_type, its_shape = r.choice(others)
            self.line(f"{other} = tile.minimum({self.expression(its_type, its_shape, 1)}, 9)")
        self.indent -= 1
        self.names = before

    # -- Expressions --

    def constant(self, dtype):
        return self.random.choice(CONSTANTS[dtype])

    def read(self, dtype, shape):
        """A tile of the arguments."""
        r, rows = self.random, self.rows
        places = {
            (M, N): [f"[{rows}, j]", f"[{rows}, j]", f"[{rows}, j + 3]", "[ids, j]", "[j, i]"],
            (N,): ["[0, j]", "[last, j]", "[2, j]"], (M, 1): [f"[{rows}, 0:1]", f"[{rows}, 2:3]"],
            (M,): [f"[{rows}, 0]", f"[{rows}, last]"], (1, N): ["[0:1, j]", "[3:4, j]"],
            (): ["[0, last]", "[1, 2]"]}
        place, tensor, turned = r.choice(places[shape]), r.choice(ARGUMENTS[dtype]), ""
        if place == "[ids, j]" and rows == "i":
            place = "[i + 1, j]"
        if place == "[j, i]":
            if dtype != "f32" or rows != "i":
                place = f"[{rows}, j]"
            else:
                tensor, turned = "xt", ".T"
        pad = ""
        if dtype != "i1" and r.random() < 0.4:
            pad = f", pad={r.choice(['1', '-2', '3'])}"
        return f"tile.sread({tensor}{place}{pad}){turned}"

    def expression(self, dtype, shape, depth):
        """One of these type and shape."""
        r = self.random
        if depth <= 0 or r.random() < 0.1:
            known = [n for n, t, s in self.names if (t, s) == (dtype, shape)]
            return r.choice(known) if known and r.random() < 0.7 else self.read(dtype, shape)
        for chance, write in ((0.18, self.broadcast), (0.16, self.reduce), (0.08, self.where),
                              (0.08, self.cast), (0.06, self.product), (0.05, self.coordinates)):
            if r.random() < chance:
                found = write(dtype, shape, depth - 1)
                if found:
                    return found
        return self.operation(dtype, shape, depth - 1)

    def broadcast(self, dtype, shape, depth):
        if shape == (M, N):
            small = self.random.choice([(N,), (M, 1), (1, N), ()])
            return (f"({self.expression(dtype, small, depth)} {self.operator(dtype)} "
                    f"{self.expression(dtype, shape, depth)})")
        if shape == (M, 1):
            return f"{self.expression(dtype, (M,), depth)}[:, None]"
        if shape == (1, N):
            return f"{self.expression(dtype, (N,), depth)}[None]"
        return None

    def reduce(self, dtype, shape, depth):
        if dtype == "f16":
            return None  # sums are f32
        name = self.random.choice(("any", "all") if dtype == "i1" else ("sum", "max", "min"))
        options = {(M,): "axis=1", (N,): "axis=0", (M, 1): "axis=-1, keepdims=True",
                   (): "axis=None"}
        if shape not in options:
            return None
        return f"tile.{name}({self.expression(dtype, (M, N), depth)}, {options[shape]})"

    def where(self, dtype, shape, depth):
        condition = self.expression("i1", self.random.choice([shape, ()]), depth)
        other = self.random.choice([self.expression(dtype, shape, depth), self.constant(dtype)])
        return f"tile.where({condition}, {self.expression(dtype, shape, depth)}, {other})"

    def cast(self, dtype, shape, depth):
        sources = {"f32": ("i32", "i1", "f16"), "i32": ("i1",), "f16": ("f32",)}
        if dtype not in sources:
            return None
        source = self.random.choice(sources[dtype])
        return f"({self.expression(source, shape, depth)}).to(tile.{dtype})"

    def product(self, dtype, shape, depth):
        if dtype != "f32" or shape != (M, N):
            return None
        a, b, c = (self.expression(dtype, shape, d) for d in (depth, 0, 0))
        return f"tile.dot(tile.dot({a}, {b}.T), {c})"

    def coordinates(self, dtype, shape, depth):
        rows, columns = f"tile.coords({self.rows})", "tile.coords(j)"
        known = {(M,): rows, (N,): columns, (M, 1): f"{rows}[:, None]", (1, N): f"{columns}[None]",
                 (M, N): f"({rows}[:, None] * 3 + {columns})"}
        if shape not in known or dtype not in ("i32", "i1"):
            return None
        if dtype == "i32":
            return f"{known[shape]}.to(tile.i32)"
        return f"({known[shape]} < {self.random.choice(['M', 'N', '3'])})"

    def operator(self, dtype):
        return self.random.choice(OPERATORS[dtype])

    def operation(self, dtype, shape, depth):
        r = self.random

        def part(of=dtype):
            return self.expression(of, shape, depth)

        if dtype == "i1":
            of = r.choice(["f32", "i32"])
            comparison = r.choice(["<", "<=", ">", ">=", "==", "!="])
            return r.choice([f"({part(of)} {comparison} {r.choice([part(of), self.constant(of)])})",
                             f"~{part()}", f"({part()} {self.operator(dtype)} {part()})"])
        if r.random() < 0.3:
            if dtype == "i32":
                return r.choice([f"({part()} {r.choice(['//', '%'])} {r.choice([1, 2, 3, 7])})",
                                 f"tile.abs({part()})", f"~{part()}", f"-{part()}"])
            return r.choice([f"tile.{r.choice(FLOAT_FUNCTIONS)}({part()})", f"-{part()}",
                             f"tile.exp(tile.minimum({part()}, 2.0))",
                             f"tile.sqrt(tile.abs({part()}))"])
        other = r.choice([part(), self.constant(dtype)])
        if r.random() < 0.2:
            return f"tile.{r.choice(['maximum', 'minimum'])}({part()}, {other})"
        return f"({part()} {self.operator(dtype)} {other})"
