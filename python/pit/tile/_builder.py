"""Writes what a function does with tiles, tensors and numbers as ops."""

from dataclasses import dataclass, field

from ._errors import Mistake
from ._types import index_
from ._values import (
    Dot, Ids, Iota, Leaf, Number, Op, Scalar, Span, Tensor, Tile, describe, shape_text,
    view)
from ._writer import Writer


@dataclass(eq=False)
class Region:
    """The body of a loop, or the function's."""

    kind: str  # "function", "forall" or "for"
    at: tuple
    loops: list = field(default_factory=list)  # one for each of its variables
    conflicts: str | None = None
    written: dict = field(default_factory=dict)  # tensors, and where
    reads: list = field(default_factory=list)  # of tensors that are written: (place, where)
    writes: list = field(default_factory=list)  # places


def tile_type(shape, type_):
    return f"tensor<{''.join(f'{s}x' for s in shape)}{type_.name}>"


class Builder(Writer):
    def __init__(self, name, at, layouts):
        super().__init__(name, at)
        # How tensors are laid out that loops carry, where not as their tiles; and how
        # they should be.
        self.layouts, self.wanted = layouts, {}
        self.regions = [Region("function", at)]
        self.tensors = []  # that the function has made

    def fail_in_loop(self, what):
        if len(self.regions) > 1:
            raise Mistake(f"{what} stands inside of a loop; it belongs before the loops")

    # -- Numbers --

    def index_name(self, value, what="a size"):
        """The name of an `index` for a Python int or a Number."""
        if isinstance(value, bool) or not isinstance(value, (int, Number)):
            raise Mistake(f"{what} must be a whole number, not {describe(value)}")
        if isinstance(value, int):
            return self.constant(value, index_)
        return self.to_index(value, what).name

    def to_index(self, value, what="a size"):
        if value.type is index_:
            return value
        if value.type.is_float or value.type.name == "i1":
            raise Mistake(f"{what} must be a whole number, not {describe(value)}")
        name = self.op("i", f"arith.index_cast {value.name} : {value.type.name} to index")
        return Number(name, index_, value.loops, value.low)

    def number_of(self, tile):
        """The only element of a tile as a number."""
        leaf = self.settle(tile).node
        if not isinstance(leaf, Leaf):
            leaf = self.materialize(tile).node
        # As it was read: a mainloop has numbers of what its steps read.
        zeros = ", ".join([self.constant(0, index_)] * len(leaf.shape))
        name = self.op("n", f"tensor.extract {leaf.name}[{zeros}] : "
                            f"{tile_type(leaf.shape, tile.type)}")
        return Number(name, tile.type)

    # -- Tiles --

    def settle(self, tile):
        """Writes a product that waits; what reads elements needs it."""
        if isinstance(tile.node, Dot):
            tile.node = self.contract(tile.node, None).node
        return tile

    def materialize(self, tile, hint="t"):
        """The same tile as one tensor of MLIR, of its shape."""
        return self.lay_out(tile, tile.shape, tuple(range(len(tile.shape))), hint)

    def lay_out(self, tile, shape, dims, hint="t"):
        """The same tile as a tensor of MLIR of `shape`, whose dimensions are `dims` of it:
        all, in order, beside some that are 1 long."""
        self.settle(tile)
        if isinstance(tile.node, Leaf) and (tile.node.shape, tile.node.dims) == (shape, dims):
            return tile
        if isinstance(tile.node, Scalar):
            made = tile_type(shape, tile.type)
            name = self.fill_text(made, tile.type, tile.node.name, hint)
        else:
            kept = [d for d, dim in enumerate(dims) if dim is not None]
            node = view(tile.node, kept)
            if isinstance(node, Leaf) and fitted(node, shape).dims == tuple(range(len(shape))):
                name = node.name
            else:
                name = self.generic(shape, tile.type, node, hint)
        return Tile(tile.type, tile.shape, Leaf(name, tile.type, shape, dims, origin(tile)))

    def compute(self, tile, hint):
        """Writes what a tile is computed from, laid out as what a loop carried is."""
        found = carried_leaf(tile)
        if found is None:
            return self.materialize(tile, hint)
        return self.lay_out(tile, found.shape, found.dims, hint)

    @staticmethod
    def leaf(name, shape, type_):
        return Tile(type_, tuple(shape), Leaf(name, type_, tuple(shape), tuple(range(len(shape)))))

    def fill_text(self, made, type_, name, hint):
        empty = self.op("e", f"tensor.empty() : {made}")
        return self.op(hint, f"linalg.fill ins({name} : {type_.name}) outs({empty} : {made}) -> "
                             f"{made}")

    def fill(self, shape, type_, name, hint="t"):
        return self.leaf(self.fill_text(tile_type(shape, type_), type_, name, hint), shape, type_)

    def generic(self, shape, type_, node, hint, reduced=(), combine=None, start=None):
        """A linalg.generic over `shape` whose elements are those of a node. With
        `combine`, an op's text, they are combined along the `reduced` dimensions, from
        the tensor `start` on."""
        leaves = {}
        collect(node, leaves)
        leaves = {key: fitted(leaf, shape) for key, leaf in leaves.items()}
        missing = set(reduced).difference(*(leaf.dims for leaf in leaves.values()))
        if missing:
            # An operand has to say how long a dimension is, which nothing else runs along.
            dims = tuple(sorted(missing))
            sizes = tuple(shape[d] for d in dims)
            name = self.op("e", f"tensor.empty() : {tile_type(sizes, type_)}")
            leaves[name, dims] = Leaf(name, type_, sizes, dims)
        kept = [d for d in range(len(shape)) if d not in reduced]
        result = tile_type([shape[d] for d in kept], type_)
        if start is None:
            start = self.op("e", f"tensor.empty() : {result}")
        maps = [self.map(len(shape), leaf.dims) for leaf in leaves.values()]
        maps.append(self.map(len(shape), kept))
        iterators = ", ".join(
            '"reduction"' if d in reduced else '"parallel"' for d in range(len(shape)))
        ins = ""
        if leaves:
            listed = ", ".join(leaf.name for leaf in leaves.values())
            shapes = ", ".join(tile_type(leaf.shape, leaf.type) for leaf in leaves.values())
            ins = f" ins({listed} : {shapes})"
        name = self.fresh(hint)
        self.write(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types "
                   f"= [{iterators}]}}{ins} outs({start} : {result}) {{")
        with self.block() as lines:
            arguments = {key: self.fresh("x") for key in leaves}
            old = self.fresh("old")
            listed = [f"{arguments[key]}: {leaf.type.name}" for key, leaf in leaves.items()]
            value = Elements(self, arguments).value(node)
            if combine:
                value = self.op("s", combine.format(old, value))
            self.write(f"linalg.yield {value} : {type_.name}")
        self.write(f"^bb0({', '.join([*listed, f'{old}: {type_.name}'])}):")
        self.lines += lines
        self.write(f"}} -> {result}")
        return name

    def reduce(self, tile, dims, combine, type_, identity):
        """A tile combined along dimensions, which it loses."""
        self.settle(tile)
        kept = [s for d, s in enumerate(tile.shape) if d not in dims]
        start = self.fill(kept, type_, self.constant(identity, type_)).node.name
        node = tile.node
        if tile.type is not type_:  # widened, for the sum
            cast = "extf" if type_.is_float else "extsi"
            node = Op(f"arith.{cast} {{}} : {tile.type.name} to {type_.name}", (node,), self.at)
        name = self.generic(tile.shape, type_, node, "s", dims, combine, start)
        return self.leaf(name, kept, type_)

    # -- Products --

    def operand(self, tile):
        """A tile as a view of a tensor, which a product reads where it lies."""
        self.settle(tile)
        return tile if isinstance(tile.node, Leaf) else self.materialize(tile)

    def contract(self, dot, start):
        """Adds a product to a tile, or to zeros."""
        a, b = self.operand(dot.a), self.operand(dot.b)
        shape, type_ = (*a.shape[:-1], b.shape[-1]), a.type.accumulator
        at, self.at = self.at, dot.at
        if start is None:
            start = self.fill(shape, type_, self.constant(0, type_))
        if not isinstance(start.node, Leaf) or not start.node.has_all(len(shape)):
            start = self.materialize(start)
        into = start.node
        # The loop has the dimensions of the result, of which some may be 1 long, and those
        # of sums: those that the operands have 1 long, and k.
        rank = len(into.shape)
        kept = [d for d, dim in enumerate(into.dims) if dim is not None]
        ones = [d for d, dim in enumerate(into.dims) if dim is None]
        missing = max(t.node.dims.count(None) for t in (a, b)) - len(ones)
        ones += range(rank, rank + max(missing, 0))
        k = rank + max(missing, 0)
        *outer, m, n = kept
        nodes = [summed(view(a.node, [*outer, m, k]), ones),
                 summed(view(b.node, [*outer, k, n]), ones)]
        result = tile_type(into.shape, type_)
        types = [tile_type(node.shape, a.type) for node in nodes]
        ins = f"ins({nodes[0].name}, {nodes[1].name} : {', '.join(types)})"
        outs = f"outs({into.name} : {result})"
        if rank == 2 and not ones and nodes[0].dims == (m, k) and nodes[1].dims == (k, n):
            name = self.op("p", f"linalg.matmul {ins} {outs} -> {result}")
        else:
            name = self.contraction(nodes, ins, outs, result, rank, k + 1, a.type, type_)
        self.at = at
        return Tile(type_, shape, Leaf(name, type_, into.shape, into.dims, into.carried))

    def contraction(self, nodes, ins, outs, result, kept, rank, given, type_):
        maps = [self.map(rank, node.dims) for node in nodes]
        maps.append(self.map(rank, range(kept)))
        iterators = ", ".join(['"parallel"'] * kept + ['"reduction"'] * (rank - kept))
        name, x, y, old = (self.fresh(hint) for hint in ("p", "x", "y", "old"))
        self.write(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types "
                   f"= [{iterators}]}} {ins} {outs} {{")
        self.write(f"^bb0({x}: {given.name}, {y}: {given.name}, {old}: {type_.name}):")
        with self.block() as lines:
            kind = "f" if type_.is_float else "i"
            if given is not type_:
                cast = "extf" if type_.is_float else "extsi"
                x, y = (self.op("w", f"arith.{cast} {v} : {given.name} to {type_.name}")
                        for v in (x, y))
            product = self.op("m", f"arith.mul{kind} {x}, {y} : {type_.name}")
            total = self.op("s", f"arith.add{kind} {old}, {product} : {type_.name}")
            self.write(f"linalg.yield {total} : {type_.name}")
        self.lines += lines
        self.write(f"}} -> {result}")
        return name

    # -- Parts of tensors --

    def subscripts(self, place):
        """The subscripts of a place as text, and their types."""
        names = []
        for subscript in place.subscripts:
            if isinstance(subscript, Ids):
                names.append(f"{subscript.name} : !pit.ids<{subscript.size}>")
                continue
            start = subscript.start if isinstance(subscript, Span) else subscript
            names.append(self.index_name(start, "a subscript"))
        return ", ".join(names)

    def sread(self, place, pad):
        tensor = place.tensor
        for region in self.regions:
            region.reads.append((place, self.at))
        made = tile_type(place.extents, tensor.type)
        given = ""
        if pad is not None:
            text = tensor.type.constant(pad)
            if text is None:
                raise Mistake(f"pad {pad!r} is no value of {tensor.type.name}")
            suffix = "" if tensor.type.name == "i1" else f" : {tensor.type.name}"
            given = f" pad({text}{suffix})"
        name = self.op("t", f"pit.sread {tensor.name}[{self.subscripts(place)}]{given} : "
                            f"{tensor.mlir} -> {made}")
        kept = place.kept
        dims = tuple(kept.index(d) if d in kept else None for d in range(len(place.extents)))
        shape = tuple(place.extents[d] for d in kept)
        return Tile(tensor.type, shape, Leaf(name, tensor.type, place.extents, dims))

    def swrite(self, place, tile, combine):
        tensor = place.tensor
        if tensor.argument:
            raise Mistake(f"{tensor.argument} is an argument, and arguments are not written; write "
                          f"into tile.copy({tensor.argument}), or into a tensor of tile.empty")
        kept = place.kept
        shape = tuple(place.extents[d] for d in kept)
        if tile.shape != shape:
            raise Mistake(f"{describe(tile)} is written to a place of shape {shape_text(shape)}")
        if tile.type is not tensor.type:
            raise Mistake(f"{describe(tile)} is written into {describe(tensor)}; write "
                          f".to(tile.{tensor.type.name}) behind it")
        self.check_disjoint(place, combine)
        self.settle(tile)
        type_ = tile.type
        if isinstance(tile.node, Op) and tile.node.narrows:
            # SWrite narrows by itself.
            type_ = tile.node.narrows
            tile = Tile(type_, tile.shape, tile.node.args[0])
        dims = tuple(kept.index(d) if d in kept else None for d in range(len(place.extents)))
        found = carried_leaf(tile)
        if found and found.carried and None in dims:
            # The loop can carry it as it is written.
            self.wanted.setdefault(found.carried, (place.extents, dims))
        value = self.lay_out(tile, place.extents, dims)
        text = f" combine({combine})" if combine else ""
        into = f"{tensor.name}[{self.subscripts(place)}]"
        name = self.op(tensor.hint, f"pit.swrite {value.node.name} into {into}{text} : "
                       f"{tile_type(place.extents, type_)} into {tensor.mlir}")
        self.record_write(tensor)
        tensor.name = name

    def record_write(self, tensor):
        """An iteration of forall yields what one SWrite, or one loop, made of a tensor."""
        region = self.regions[-1]
        before = region.written.get(tensor)
        if before and any(r.kind == "forall" for r in self.regions):
            raise Mistake("the tensor is written twice in an iteration; in tile.forall, one swrite "
                          "or one loop writes a tensor", [("it was written here", before)])
        region.written[tensor] = self.at

    def check_disjoint(self, place, combine):
        """The iterations of forall write different elements."""
        known = set()
        for subscript in place.subscripts:
            loops = subscript.loops if hasattr(subscript, "loops") else {}
            known.update(loops)
        for region in self.regions:
            if region.kind != "forall":
                continue
            if region.conflicts == "atomic" and not combine:
                raise Mistake("iterations with conflicts=\"atomic\" combine what they write; say "
                              "how: swrite(..., combine=\"add\")")
            if region.conflicts:
                continue
            region.writes.append(place)
            for loop in region.loops:
                if loop not in known:
                    raise Mistake(
                        f"iterations of tile.forall with another '{loop.name}' may write the same "
                        f"elements, since no subscript is a part of its own for each; loop over "
                        f"it in the iteration (tile.for_range, tile.for_ids), write to .positions, "
                        "or say conflicts= to tile.forall", [("the loop is here", region.at)])

    def check_reads(self, region):
        """No iteration of forall reads what another one writes."""
        own = set(region.loops)
        for write in region.writes:
            for read, at in region.reads:
                if read.tensor is not write.tensor:
                    continue
                for there, here in zip(write.subscripts, read.subscripts):
                    if own & set(getattr(there, "loops", ())) and here is not there:
                        self.at = at
                        raise Mistake("an iteration of tile.forall reads here what another one may "
                                      "write; it may read the part that it writes itself, by the "
                                      "same subscripts, or a tensor that this loop does not write",
                                      [("the loop is here", region.at)])

    def make_tensor(self, sizes, type_, value=None):
        self.fail_in_loop("a new tensor")
        made = Tensor("", type_, tuple(sizes))
        dynamic = ", ".join(s.name for s in sizes if isinstance(s, Number))
        made.name = self.op("e", f"tensor.empty({dynamic}) : {made.mlir}")
        if value is not None:
            name = self.constant(value, type_)
            made.name = self.op("z", f"linalg.fill ins({name} : {type_.name}) outs({made.name} : "
                                     f"{made.mlir}) -> {made.mlir}")
        self.tensors.append(made)
        return made


class Elements:
    """Writes what happens to one element: the body of a linalg.generic."""

    def __init__(self, builder, arguments):
        self.builder, self.arguments = builder, arguments
        self.known = {}  # by id of node, which is alive as long as its root

    def value(self, node):
        if id(node) not in self.known:
            self.known[id(node)] = self.make(node)
        return self.known[id(node)]

    def make(self, node):
        b = self.builder
        if isinstance(node, Leaf):
            return self.arguments[node.name, node.dims]
        if isinstance(node, Scalar):
            return node.name
        if isinstance(node, Iota):
            if node.dim is None:
                return b.index_name(node.start)
            at = b.op("d", f"linalg.index {node.dim} : index")
            if node.start == 0:
                return at
            return b.op("c", f"arith.addi {at}, {b.index_name(node.start)} : index")
        values = [self.value(argument) for argument in node.args]
        before, b.at = b.at, node.at
        name = b.op("v", node.text.format(*values))
        b.at = before
        return name


def summed(leaf, ones):
    """A leaf whose dimensions of one element are those of a loop."""
    ones = iter(ones)
    dims = tuple(next(ones) if d is None else d for d in leaf.dims)
    return Leaf(leaf.name, leaf.type, leaf.shape, dims)


def fitted(leaf, shape):
    """A leaf of the shape of a loop runs along all of its dimensions."""
    if leaf.shape == tuple(shape) and all(dim in (None, d) for d, dim in enumerate(leaf.dims)):
        return Leaf(leaf.name, leaf.type, leaf.shape, tuple(range(len(shape))), leaf.carried)
    return leaf


def carried_leaf(tile):
    """The tensor of a loop that a tile is computed from, element by element."""
    leaves = {}
    collect(tile.node, leaves)
    return next((leaf for leaf in leaves.values()
                 if leaf.carried and leaf.has_all(len(tile.shape))), None)


def origin(tile):
    found = carried_leaf(tile)
    return found.carried if found else None


def collect(node, leaves):
    """The tensors that a node reads, each once for each way of reading it."""
    if isinstance(node, Leaf):
        leaves[node.name, node.dims] = node
    elif isinstance(node, Op):
        for argument in node.args:
            collect(argument, leaves)
