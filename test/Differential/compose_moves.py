"""Ops that move data: pads, slices, transposes, reshapes, concatenations, casts and marks."""

from compose import Base, Retry
from linalg_ref import literal
from program import TensorType


class Moves(Base):
    @staticmethod
    def check_elements(tensor):
        """Upstream takes no slice that begins where a tensor of fixed extents ends, and pads
        and concatenations become such."""
        if any(d.static and d.size == 0 for d in tensor.dims):
            raise Retry("a tensor without elements")

    def padded(self, x, low, high, dims, value):
        self.check_elements(x)
        program, result, scalar = self.program, self.program.name("p"), self.program.name("k")
        type_ = self.natural_type(x.dtype, dims)
        names = ", ".join(f"{program.name('q')}: index" for _ in dims)
        program.emit(f"{scalar} = arith.constant {literal(value, x.dtype)}",
                     f"{result} = tensor.pad {x.name} low{low} high{high} {{", f"^bb0({names}):",
                     f"  tensor.yield {scalar} : {x.dtype.mlir}", f"}} : {x.type.mlir} to {type_.mlir}")
        return self.add(result, type_, max(x.large, abs(value)))

    def pad(self):
        x = self.pick(lambda t: 1 <= t.rank <= 4 and t.natural)
        low = [self.rng.choice([0, 0, 1, 2]) for _ in x.dims]
        high = [self.rng.choice([0, 0, 1, 3]) for _ in x.dims]
        dims = [d if l + h == 0 else self.derived("addi", d, l + h) for d, l, h in zip(x.dims, low, high)]
        self.check_points(dims)
        self.padded(x, low, high, dims, self.rng.choice([0.0, 0.0, 1.0]))

    def slice_part(self, dim):
        """(offset, size, stride) as they are written, and the dim of the size."""
        if dim.static and dim.size == 0:
            raise Retry("no offset is in bounds")
        if self.chance(0.4):
            size = str(dim.size) if dim.static else self.program.extent_of(dim)
            return "0", size, "1", dim
        if not dim.static:
            half = self.derived("divui", dim, 2)
            rest = self.derived("subi", dim, half)
            offset = self.rng.choice(["0", self.program.extent_of(rest)])
            return offset, self.program.extent_of(half), "1", half
        if dim.size > 3 and self.chance(0.3):
            part = self.fixed(dim.size // 2)
            return self.rng.choice(["0", "1"]) if dim.size % 2 else "0", str(part.size), "2", part
        size = self.rng.randint(0 if self.chance(0.1) else 1, dim.size)
        part = self.fixed(size)
        offset = str(self.rng.randint(0, min(dim.size - 1, dim.size - size)))
        if self.chance(0.3):
            offset = self.program.number(int(offset))
        return offset, str(size), "1", part

    def extract_slice(self):
        x = self.pick(lambda t: 1 <= t.rank <= 4 and t.natural)
        parts = [self.slice_part(d) for d in x.dims]
        # If the extent is 1 a dim may go.
        gone = [i for i, d in enumerate(x.dims) if d.static and d.size > 0 and self.chance(0.15)]
        if any(p[1] == "1" for i, p in enumerate(parts) if i not in gone):
            gone = []  # MLIR 22 mixes up which dim of 1 went
        for i in gone:
            parts[i] = (self.rng.choice(["0", str(x.dims[i].size - 1)]), "1", "1", None)
        self.sliced(x, parts)

    def sliced(self, x, parts):
        if any(p[3] is not None and p[3].static and p[3].size == 0 for p in parts):
            raise Retry("no offset is in bounds")
        type_ = self.natural_type(x.dtype, [p[3] for p in parts if p[3] is not None])
        result = self.program.name("l")
        self.program.emit(f"{result} = tensor.extract_slice {x.name}{written_parts(parts)} : "
                          f"{x.type.mlir} to {type_.mlir}")
        return self.add(result, type_, x.large)

    def insert_slice(self):
        dest = self.pick(lambda t: 1 <= t.rank <= 4 and t.natural)
        parts = [self.slice_part(d) for d in dest.dims]
        dims = [p[3] for p in parts]
        same = [t for t in self.pool if t.natural and t.dtype == dest.dtype and t.rank == dest.rank
                and all(a is b for a, b in zip(t.dims, dims))]
        if same and self.chance(0.6):
            source = self.rng.choice(same)
        else:
            source = self.fresh(dest.dtype, dims, "a")
        source = self.perhaps_marked(source, 0.2)
        result = self.program.name("l")
        self.program.emit(f"{result} = tensor.insert_slice {source.name} into {dest.name}"
                          f"{written_parts(parts)} : {source.type.mlir} into {dest.type.mlir}")
        self.add(result, dest.type, max(dest.large, source.large))

    def transpose(self):
        x = self.perhaps_marked(self.pick(lambda t: 2 <= t.rank <= 4 and t.natural), 0.4)
        order = list(range(x.rank))
        self.rng.shuffle(order)
        dims = [x.dims[o] for o in order]
        out = self.out(x.dtype, dims)
        self.named("transpose", [x.name], out, x.large, f" permutation = {order}")

    def broadcast(self):
        x = self.perhaps_marked(self.pick(lambda t: t.rank <= 2 and t.natural), 0.3)
        at = self.rng.randint(0, x.rank)
        dims = [*x.dims[:at], self.any_dim(), *x.dims[at:]]
        self.check_points(dims)
        self.named("broadcast", [x.name], self.out(x.dtype, dims), x.large, f" dimensions = [{at}]")

    def collapse(self):
        x = self.perhaps_marked(self.pick(lambda t: 2 <= t.rank <= 4 and t.natural), 0.4)
        at = self.rng.randrange(x.rank - 1)
        self.check_elements(x)  # nor does it collapse 0 and a dynamic extent
        groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, x.rank)]
        dims = [*x.dims[:at], self.derived("muli", x.dims[at], x.dims[at + 1]), *x.dims[at + 2:]]
        type_ = self.natural_type(x.dtype, dims)
        result = self.program.name("c")
        self.program.emit(f"{result} = tensor.collapse_shape {x.name} {groups} : {x.type.mlir} into {type_.mlir}")
        self.add(result, type_, x.large)

    def expand(self):
        x = self.perhaps_marked(self.pick(lambda t: 1 <= t.rank <= 3 and t.natural), 0.4)
        at = self.rng.randrange(x.rank)
        dim = x.dims[at]
        if getattr(dim, "code", "") == "muli":
            two = list(dim.of)
        elif dim.static and dim.size > 1 and self.chance(0.7):
            factor = self.rng.choice([f for f in range(1, dim.size + 1) if dim.size % f == 0])
            two = [self.fixed(factor), self.fixed(dim.size // factor)]
        else:
            one = self.fixed(1)
            two = self.rng.choice([[one, dim], [dim, one]])
        dims = [*x.dims[:at], *two, *x.dims[at + 1:]]
        groups, type_ = [], self.natural_type(x.dtype, dims)
        for i in range(x.rank):
            groups.append([i] if i < at else [at, at + 1] if i == at else [i + 1])
        shape = ", ".join(str(d.size) if d.static else self.program.extent_of(d) for d in dims)
        result = self.program.name("c")
        self.program.emit(f"{result} = tensor.expand_shape {x.name} {groups} output_shape [{shape}] : "
                          f"{x.type.mlir} into {type_.mlir}")
        self.add(result, type_, x.large)

    def concat(self):
        x = self.pick(lambda t: 1 <= t.rank <= 3 and t.natural)
        at = self.rng.randrange(x.rank)
        others = [t for t in self.pool if t.natural and t.dtype == x.dtype and t.rank == x.rank
                  and all(a is b or i == at for i, (a, b) in enumerate(zip(t.dims, x.dims)))]
        y = self.rng.choice(others)
        self.check_elements(x)
        self.check_elements(y)
        x, y = self.perhaps_marked(x, 0.3), self.perhaps_marked(y, 0.2)
        dims = [*x.dims[:at], self.derived("addi", x.dims[at], y.dims[at]), *x.dims[at + 1:]]
        self.check_points(dims)
        type_ = self.natural_type(x.dtype, dims)
        result = self.program.name("c")
        self.program.emit(f"{result} = tensor.concat dim({at}) {x.name}, {y.name} : "
                          f"({x.type.mlir}, {y.type.mlir}) -> {type_.mlir}")
        self.add(result, type_, x.large + y.large)

    def tensor_cast(self):
        x = self.perhaps_marked(self.pick(lambda t: any(t.type.static)), 0.2)
        open_ = [s and self.chance(0.5) for s in x.type.static]
        type_ = TensorType(x.dtype, list(x.dims), open_)
        if type_.mlir == x.type.mlir:
            raise Retry("the same type")
        result = self.program.name("c")
        self.program.emit(f"{result} = tensor.cast {x.name} : {x.type.mlir} to {type_.mlir}")
        self.add(result, type_, x.large)

    def mark(self):
        """A mark as a value of its own, which may be used by several ops or returned."""
        x = self.pick(lambda t: 1 <= t.rank <= 4)
        self.mark_tensor(x, self.rng.choice([0.0, 0.0, 0.0, 1.0]))


def written_parts(parts):
    columns = zip(*(p[:3] for p in parts))
    return "".join(f"[{', '.join(c)}]" for c in columns)
