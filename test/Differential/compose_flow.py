"""Whole programs: ops in functions, loops and branches, and what is returned."""

from compose import Function, Retry, Tensor
from compose_moves import written_parts
from compose_ops import Ops
from draw import EAGER
from dtypes import I1, I32
from program import TensorType

FAMILIES = (
    ["contraction"] * 14 + ["several_contractions"] * 4 + ["unary"] * 10 + ["binary"] * 10
    + ["reduction"] * 7 + ["softmax"] * 3 + ["experts"] * 2 + ["convolution"] * 3
    + ["arith_on_tensors"] * 2 + ["pad"] * 3 + ["extract_slice"] * 4 + ["insert_slice"] * 3
    + ["transpose"] * 3 + ["broadcast"] * 2 + ["collapse"] * 3 + ["expand"] * 3 + ["concat"] * 3
    + ["tensor_cast"] * 2 + ["mark"] * 3
)
FLOW = ["loop"] * 4 + ["branch"] * 2 + ["while_loop"] * 1 + ["parallel_loop"] * 2


class Compose(Ops):
    """A program: `Compose(seed, case).run()`. `without` names families to leave out."""

    def family(self, names):
        names = [n for n in names if n not in self.without] or FAMILIES
        for _ in range(20):
            name = self.rng.choice(names)
            mark = len(self.program.lines)
            state = [(scope, len(scope.pool), dict(scope.shared)) for scope in self.scopes]
            try:
                getattr(self, name)()
            except Retry:
                # What was begun is no part of the program.
                del self.program.lines[mark:]
                for scope, count, shared in state:
                    del scope.pool[count:]
                    scope.shared = shared
                continue
            self.program.tags.add(name)
            return

    # -- regions --------------------------------------------------------------------

    def updated(self, carried):
        """A new value of the type of something that a loop carries."""
        dims, dtype = carried.dims, carried.dtype
        ident = list(range(carried.rank))
        kind = self.rng.choice(["add", "add", "accumulate", "square", "mark", "insert", "relu", "outs"])
        if kind in ("accumulate", "square") and carried.rank != 2:
            kind = "add"
        if kind == "mark" and carried.rank:
            return self.mark_tensor(carried)
        if kind == "relu":
            return self.relu(carried)
        if kind == "insert" and carried.rank and any(d.static and d.size for d in dims):
            parts = [self.slice_part(d) for d in dims]
            part = self.sliced(carried, parts)
            part = self.perhaps_marked(part, 0.3)
            changed = self.relu(part) if self.chance(0.5) else part
            result = self.program.name("l")
            self.program.emit(f"{result} = tensor.insert_slice {changed.name} into {carried.name}"
                              f"{written_parts(parts)} : {changed.type.mlir} into {carried.type.mlir}")
            return self.add(result, carried.type, carried.large)
        if kind == "accumulate":
            [m, n], k = dims, self.any_dim()
            self.check_points([m, n, k])
            a = self.perhaps_marked(self.fresh(dtype, [m, k]), 0.6)
            b = self.fresh(dtype, [k, n], "w")
            return self.named("matmul", [a.name, b.name], carried.name, carried.large * 2)
        if kind == "square":
            [m, n] = dims
            self.check_points([m, n, n])
            w = self.perhaps_marked(self.fresh(dtype, [n, n], "w"), 0.5)
            x = self.perhaps_marked(carried, 0.3)
            bias = self.start(dtype, dims)[0]
            product = self.named("matmul", [x.name, w.name], bias, carried.large)
            return self.clamped(product)
        other, map_ = self.partner(carried)
        a, b = self.perhaps_marked(carried, 0.35), self.perhaps_marked(other, 0.3)
        out = carried.name if kind == "outs" else self.out(dtype, dims)

        def body(region, ins, outs):
            both = region.two("add", *ins)
            if kind == "outs":
                return [region.two("maximum", both, outs[0])]
            return [region.two("minimum", region.two("maximum", both, region.const(-8.0)), region.const(8.0))]

        return self.generic(dims, [ident, map_, ident], [a.name, b.name], [out], dtype, body, (),
                            [max(8.0, carried.large * 2)])[0]

    def carried(self):
        """What a region takes and gives: tensors, some of one type."""
        first = self.pick(lambda t: t.rank <= 3 and t.natural and t.large < 1e4)
        found = [first]
        same = [t for t in self.pool if t.type.mlir == first.type.mlir and t.natural
                and all(a is b for a, b in zip(t.dims, first.dims))]
        while self.chance(0.4) and len(found) < 3:
            found.append(self.rng.choice(same) if self.chance(0.6) else
                         self.pick(lambda t: t.rank <= 3 and t.natural and t.large < 1e4))
        if self.chance(0.15):
            # Starts from a fill or from memory of no values.
            name = self.fill(first.dtype, first.dims, 0.0)
            found.append(Tensor(name, self.program.types[name]))
        return found

    def steps(self, names):
        """New values for what is carried; some change places."""
        for _ in range(self.rng.choice([0, 0, 1])):
            self.family(FAMILIES)
        new = []
        for tensor in names:
            if self.chance(0.15):
                new.append(tensor)
                continue
            try:
                new.append(self.updated(tensor))
            except Retry:
                new.append(tensor)
        for i, tensor in enumerate(new):
            for j in range(i):
                if new[j].type.mlir == tensor.type.mlir and self.chance(0.4) and all(
                        a is b for a, b in zip(new[j].dims, tensor.dims)):
                    new[i], new[j] = new[j], new[i]
        return new

    def take(self, name, carried):
        """Results of a region, as values."""
        for i, tensor in enumerate(carried):
            text = name if len(carried) == 1 else f"{name}#{i}"
            self.add(text, tensor.type, tensor.large * 4)

    def region(self):
        if self.depth > 1:
            raise Retry("deep enough")

    def count(self):
        """How often a loop runs, as an SSA index."""
        dims = [d for d in self.dims if not d.static]
        if dims and self.chance(0.3):
            return self.program.extent_of(self.derived("divui", self.rng.choice(dims), 8))
        return self.program.number(self.rng.choice([0, 1, 2, 2, 3, 3, 4]))

    def loop(self):
        self.region()
        carried, count = self.carried(), self.count()
        program = self.program
        result, iv = program.name("r"), program.name("iv")
        inner = [Tensor(program.name("g"), t.type, max(8.0, t.large)) for t in carried]
        for t in inner:
            program.types[t.name] = t.type
        inits = ", ".join(f"{a.name} = {t.name}" for a, t in zip(inner, carried))
        types = ", ".join(t.type.mlir for t in carried)
        header = result if len(carried) == 1 else f"{result}:{len(carried)}"
        program.emit(f"{header} = scf.for {iv} = {program.number(0)} to {count} step {program.number(1)} "
                     f"iter_args({inits}) -> ({types}) {{")
        with self.scope():
            self.scopes[-1].pool += inner
            if self.chance(0.4):
                self.slice_at(iv, count)
            new = self.steps(inner)
            program.emit(f"  scf.yield {', '.join(t.name for t in new)} : {types}", "}")
        self.take(result, carried)

    def slice_at(self, iv, count):
        """One of a tensor's rows, by a loop's number."""
        if not count.startswith("%c"):
            return
        rows = next(v for v, n in self.program.here.extents.items() if n == count)
        first = self.fixed(max(1, rows))
        source = self.fresh(self.dtype, [first, *(self.any_dim() for _ in range(self.rng.choice([1, 2])))])
        parts = [(iv, "1", "1", None)]
        for d in source.dims[1:]:
            parts.append(("0", str(d.size) if d.static else self.program.extent_of(d), "1", d))
        self.sliced(source, parts)

    def branch(self):
        self.region()
        carried = self.carried()
        program = self.program
        result, condition = program.name("r"), self.condition()
        types = ", ".join(t.type.mlir for t in carried)
        header = result if len(carried) == 1 else f"{result}:{len(carried)}"
        program.emit(f"{header} = scf.if {condition} -> ({types}) {{")
        for i in range(2):
            with self.scope():
                new = self.steps(carried) if i == 0 or self.chance(0.5) else carried
                program.emit(f"  scf.yield {', '.join(t.name for t in new)} : {types}",
                             "}" if i else "} else {")
        self.take(result, carried)

    def condition(self):
        program = self.program
        result = program.name("q")
        dims = [d for d in self.dims if not d.static]
        if dims and self.chance(0.5):
            a, b = program.extent_of(self.rng.choice(dims)), program.number(self.rng.choice([0, 1, 4, 8]))
            program.emit(f"{result} = arith.cmpi {self.rng.choice(['ugt', 'eq', 'slt'])}, {a}, {b} : index")
            return result
        dtype = self.rng.choice([I1, I32])
        name = program.argument("g", TensorType(dtype, [], []), lambda: self.data.integers(0, 2, size=()))
        scalar = program.name("q")
        program.emit(f"{scalar} = tensor.extract {name}[] : tensor<{dtype.mlir}>")
        if dtype is I1:
            return scalar
        zero = program.name("k")
        program.emit(f"{zero} = arith.constant 0 : i32", f"{result} = arith.cmpi ne, {scalar}, {zero} : i32")
        return result

    def while_loop(self):
        self.region()
        carried, count = self.carried(), self.count()
        program = self.program
        result = program.name("r")
        types = ", ".join(["index", *(t.type.mlir for t in carried)])

        def block(stem):
            number = program.name("iv")
            inner = [Tensor(program.name(stem), t.type, max(8.0, t.large)) for t in carried]
            program.types.update((t.name, t.type) for t in inner)
            return number, inner

        number, before = block("b")
        inits = ", ".join([f"{number} = {program.number(0)}", *(f"{b.name} = {t.name}" for b, t in zip(before, carried))])
        more = program.name("q")
        program.emit(f"{result}:{len(carried) + 1} = scf.while ({inits}) : ({types}) -> ({types}) {{",
                     f"  {more} = arith.cmpi slt, {number}, {count} : index",
                     f"  scf.condition({more}) {', '.join([number, *(b.name for b in before)])} : {types}",
                     "} do {")
        number, after = block("g")
        arguments = ", ".join([f"{number}: index", *(f"{a.name}: {a.type.mlir}" for a in after)])
        program.emit(f"^bb0({arguments}):")
        with self.scope():
            self.scopes[-1].pool += after
            new = self.steps(after)
            following = program.name("iv")
            program.emit(f"  {following} = arith.addi {number}, {program.number(1)} : index",
                         f"  scf.yield {', '.join([following, *(t.name for t in new)])} : {types}", "}")
        for i, tensor in enumerate(carried):
            self.add(f"{result}#{i + 1}", tensor.type, tensor.large * 4)

    def parallel_loop(self):
        """scf.forall over parts of a result."""
        self.region()
        dest = self.pick(lambda t: 1 <= t.rank <= 3 and t.natural and t.dims[0].static
                         and t.dims[0].size > 1)
        parts = self.rng.choice([p for p in range(1, dest.dims[0].size + 1) if dest.dims[0].size % p == 0])
        size = self.fixed(dest.dims[0].size // parts)
        program = self.program
        result, iv, out, at = (program.name(s) for s in ("r", "iv", "o", "at"))
        program.types[out] = dest.type
        program.emit(f"{result} = scf.forall ({iv}) in ({parts}) shared_outs({out} = {dest.name}) "
                     f"-> ({dest.type.mlir}) {{",
                     f"  {at} = arith.muli {iv}, {program.number(size.size)} : index")
        rest = [("0", str(d.size) if d.static else program.extent_of(d), "1", d) for d in dest.dims[1:]]
        where = [(at, str(size.size), "1", size), *rest]
        with self.scope():
            mine = self.sliced(Tensor(out, dest.type, dest.large), where)
            x = self.fresh(dest.dtype, dest.dims)
            part = self.perhaps_marked(self.sliced(x, where), 0.4)
            if dest.rank == 2 and self.chance(0.5):
                n = dest.dims[1]
                w = self.fresh(dest.dtype, [n, n], "w")
                new = self.named("matmul", [part.name, w.name], mine.name, dest.large * 4)
            else:
                ident = list(range(dest.rank))
                [new] = self.generic(part.dims, [ident, ident], [part.name], [mine.name], dest.dtype,
                                     lambda r, i, o: [r.two("maximum", i[0], o[0])])
            program.emit("  scf.forall.in_parallel {",
                         f"    tensor.parallel_insert_slice {new.name} into {out}{written_parts(where)} : "
                         f"{new.type.mlir} into {dest.type.mlir}", "  }", "}")
        self.add(result, dest.type, dest.large * 4)

    # -- functions ----------------------------------------------------------------------

    def helper(self, number):
        """A private function, which main calls."""
        function = Function(f"g{number}", private=True)
        self.program.enter(function)
        self.some_arguments(self.rng.choice([1, 2]))
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            self.family(FAMILIES + FLOW)
        self.choose_results(function, self.rng.choice([1, 1, 2]))
        return function

    def call(self):
        """A call with main's tensors, or with arguments that are made for it."""
        function = self.rng.choice(self.helpers)
        program, names = self.program, []
        shared = {t.name for t in self.parameters(function)}
        for argument in function.args:
            same = [t for t in self.pool if argument.name in shared and t.type.mlir == argument.type.mlir
                    and t.natural and all(a is b for a, b in zip(t.dims, argument.type.dims))
                    and t.large <= 8.0]
            if same and self.chance(0.5):
                names.append(self.rng.choice(same).name)
                continue
            if argument.name not in function.given:
                function.given[argument.name] = program.argument("h", argument.type, argument.make)
            names.append(function.given[argument.name])
        result = program.name("r")
        header = result if len(function.results) == 1 else f"{result}:{len(function.results)}"
        ins = ", ".join(a.type.mlir for a in function.args)
        types = ", ".join(r.type.mlir for r in function.results)
        program.emit(f"{header} = func.call @{function.name}({', '.join(names)}) : ({ins}) -> ({types})")
        self.take(result, function.results)

    def parameters(self, function):
        return [t for t in function.scopes[0].pool if any(a.name == t.name for a in function.args)]

    def some_arguments(self, count):
        for _ in range(count):
            rank = self.rng.choice([1, 2, 2, 2, 3])
            for _ in range(5):
                try:
                    self.fresh(self.dtype, [self.any_dim() for _ in range(rank)])
                    break
                except Retry:
                    rank = max(1, rank - 1)

    def choose_results(self, function, count):
        pool = [t for t in self.pool]
        made = [t for t in pool if not any(a.name == t.name for a in function.args)]
        unused = [t for t in made if not t.used]
        results = [made[-1] if made else pool[-1]]
        while len(results) < count:
            u = self.rng.random()
            results.append(self.rng.choice(unused if unused and u < 0.6 else made if made and u < 0.85 else pool))
        self.rng.shuffle(results)
        function.results = results

    def run(self):
        if "call" not in self.without and self.chance(0.25):
            self.helpers = [self.helper(i) for i in range(self.rng.choice([1, 1, 2]))]
        main = Function("f")
        self.program.enter(main)
        self.some_arguments(self.rng.choice([1, 2, 2, 3]))
        count = self.rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6])
        for i in range(count):
            if self.helpers and self.chance(0.6 if i else 0.9):
                self.call()
                self.program.tags.add("call")
            elif self.chance(0.18):
                self.family(FLOW)
            else:
                self.family(FAMILIES)
        self.choose_results(main, self.rng.choice([1, 1, 2, 2, 3, 4]))
        return self.program

    # -- how it is compiled and called -----------------------------------------------------

    def options(self):
        """Options of the compiler for this program."""
        rng = self.tail
        pipeline = []
        for name, share in (("strict=true", 0.06), ("unordered=true", 0.06), ("tile-dense=false", 0.15),
                            ("amx=false", 0.05), (f"tile-table={EAGER}", 0.6)):
            if rng.random() < share:
                pipeline.append(name)
        if rng.random() < 0.2:
            pipeline.append(f"vector-width={rng.choice([128, 256])}")
        return {"pipeline": " ".join(pipeline), "openmp": rng.random() < 0.75,
                "opt_level": rng.choice([3, 1, 0, 0, 0])}
