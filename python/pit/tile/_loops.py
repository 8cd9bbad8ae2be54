"""Loops over tiles: what `for ... in tile.forall(...)` becomes."""

from dataclasses import dataclass, field

from ._builder import Region, carried_leaf, tile_type
from ._errors import Mistake
from ._types import index_
from ._values import Ids, Index, Leaf, Number, Span, Tensor, Tile, describe, low_of


@dataclass(eq=False)
class Range:
    """A dense range; `size` is None where its variable is a number."""

    start: object
    stop: object
    size: int | None


@dataclass(eq=False)
class Chunks:
    """The ids of a group of an index, `size` at once."""

    index: Index
    group: list
    size: int

    def describe(self):
        return f"chunks of {self.size} ids"


@dataclass(eq=False)
class Loop:
    kind: str  # "forall" or "for"
    ranges: list
    chunks: Chunks | None
    conflicts: str | None = None

    def describe(self):
        return f"a loop of tile.{'forall' if self.kind == 'forall' else 'for_range'}"


@dataclass(eq=False)
class LoopVariable:
    """A loop as what values vary with."""

    name: str


@dataclass(eq=False)
class Lost:
    """The value of a name where it would be that of another iteration."""

    reason: str

    def describe(self):
        return self.reason


@dataclass(eq=False)
class Carried:
    """A tile that a loop carries from one iteration to the next."""

    name: str
    outer: object  # what the name stands for if the loop leaves it alone
    before: Tile
    inside: Tile
    read: bool = False

    def get(self):
        self.read = True
        return self.inside


@dataclass
class Written:
    """The facts about its body that the header of a loop needs."""

    before: list = field(default_factory=list)
    inside: list = field(default_factory=list)
    after: list = field(default_factory=list)
    types: list = field(default_factory=list)


def make_range(given, what):
    """A Range of N, (start, stop) or (start, stop, size)."""
    parts = given if isinstance(given, tuple) else (given,)
    if not 0 < len(parts) < 4:
        raise Mistake(f"{what} takes a number, (start, stop) or (start, stop, size)")
    start, stop, size = {1: (0, *parts, None), 2: (*parts, None), 3: parts}[len(parts)]
    for value in (start, stop):
        if isinstance(value, bool) or not isinstance(value, (int, Number)):
            raise Mistake(f"{what} runs over whole numbers, not over {describe(value)}")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise Mistake(f"{what} takes tiles of a constant size above 0, not {describe(size)}")
    return Range(start, stop, size)


def group_names(b, index, group, what):
    """The names of the subscripts that name a group."""
    dims = index.type.group_dims
    if len(group) != len(dims):
        listed = " and ".join(map(str, dims)) or "none"
        raise Mistake(f"{what} names a group by {len(group)} subscripts; the groups of "
                      f"{index.type!r} are numbered by {len(dims)} of its dimensions ({listed})")
    names = []
    for dim, value in zip(dims, group):
        extent = index.type.micro_tile[dim]
        if isinstance(value, Span):
            if value.size != extent or value.aligned % extent:
                raise Mistake(f"a group of this index has {extent} elements of dimension {dim}, "
                              f"and starts at a multiple of that; {describe(value)} is none. A "
                              f"loop (0, size, {extent}) runs over its groups")
            value = value.start
        elif extent != 1:
            raise Mistake(f"a group of this index has {extent} elements of dimension {dim}; name "
                          f"it by the variable of a loop (0, size, {extent}), not by "
                          f"{describe(value)}")
        names.append(b.index_name(value, "a group"))
    return names


class LoopWriter:
    """Writes one loop. The body is run by the front end, with `bind`, which gives the
    loop's variables their values."""

    def __init__(self, b, loop, targets):
        self.b, self.loop, self.targets = b, loop, targets
        self.at = b.at
        self.conflicts = loop.conflicts
        self.region = Region(loop.kind, self.at, conflicts=loop.conflicts)
        if loop.kind == "forall" and any(r.kind == "forall" for r in b.regions):
            raise Mistake("tile.forall stands inside of another one; loop over all dimensions in "
                          "the outer one, or use tile.for_range or tile.for_ids inside",
                          [("the outer loop is here", next(
                              r.at for r in b.regions if r.kind == "forall"))])
        count = len(loop.ranges) + (loop.chunks is not None)
        if len(targets) != count:
            raise Mistake(f"the loop has {count} variable{'s' * (count != 1)}, and "
                          f"{len(targets)} name{'s' * (len(targets) != 1)} stand before `in`")
        self.head = self.make_head()

    def make_head(self):
        """The ranges as text, and the values of the variables."""
        b, loop, parts = self.b, self.loop, []
        self.variables = []
        if loop.ranges:
            names = [b.fresh(t) for t in self.targets[: len(loop.ranges)]]
            lower = [b.index_name(r.start, "the start of a range") for r in loop.ranges]
            upper = [b.index_name(r.stop, "the end of a range") for r in loop.ranges]
            steps = [str(r.size or 1) for r in loop.ranges]
            parts.append("({}) = ({}) to ({}) step ({})".format(
                *(", ".join(listed) for listed in (names, lower, upper, steps))))
            for target, name, r in zip(self.targets, names, loop.ranges):
                variable = LoopVariable(target)
                self.region.loops.append(variable)
                number = Number(name, index_, {variable: r.size or 1}, low_of(r.start))
                if r.size is None:
                    self.variables.append(number)
                    continue
                aligned = r.size if isinstance(r.start, int) and r.start % r.size == 0 else 1
                self.variables.append(Span(number, r.size, aligned))
        if loop.chunks:
            parts.append(self.chunks_head(loop.chunks, self.targets[-1]))
        return ", ".join(parts)

    def chunks_head(self, chunks, target):
        b = self.b
        group = group_names(b, chunks.index, chunks.group, "the loop")
        ids, positions = b.fresh(target), b.fresh(f"{target}_positions")
        variable = LoopVariable(target)
        self.region.loops.append(variable)
        own = {variable: chunks.size}
        outer = {}  # of the group: no two groups share positions
        for value in chunks.group:
            outer.update(value.loops if isinstance(value, (Number, Span)) else {})
        self.variables.append(
            Ids(ids, chunks.size, own, Ids(positions, chunks.size, {**outer, **own})))
        subscripts = f"[{', '.join(group)}]" if group else ""
        return (f"{ids} at {positions} in {chunks.index.name}{subscripts} : "
                f"{chunks.index.type.mlir} chunk {chunks.size}")

    def write(self, env, assigned, places, run):
        """Writes the loop. `env` has the names of the function that is being written,
        `assigned` those that the body assigns, and `places` will say where it does; `run`
        writes the body."""
        b, sequential = self.b, self.loop.kind == "for"
        carried = {}
        for name in assigned:
            if name not in env or isinstance(env[name], Lost):
                continue
            outer = env[name]
            value = outer.inside if isinstance(outer, Carried) else outer
            if sequential and isinstance(value, Tile) and name not in self.targets:
                before, inside = self.carry(name, b.settle(value))
                carried[name] = env[name] = Carried(name, outer, before, inside)
            else:
                env[name] = Lost(self.lost(name, value))
        tensors = [(t, t.name, b.fresh(t.hint)) for t in b.tensors]
        for tensor, _, inside in tensors:
            tensor.name = inside
        b.regions.append(self.region)
        with b.block() as lines:
            run(self.variables)
            written = self.finish(env, carried, tensors, places)
        b.regions.pop()
        if self.loop.kind == "forall":
            b.check_reads(self.region)
        for name in {*assigned, *self.targets} - set(carried) - self.unchanged:
            if name in env and not isinstance(env[name], (Lost, Carried)):
                env[name] = Lost(f"{name} has its value in the loop alone, which may run no "
                                 "iteration; give it one before the loop")
        self.results(env, carried, tensors, written, lines)

    def carry(self, name, value):
        """A tile as the loop starts with it, and as an iteration has it."""
        b, key = self.b, (self.at, name)
        found = carried_leaf(value)
        if found is not None:  # as the loop before, or around this one, carries it
            before, key = b.lay_out(value, found.shape, found.dims, name), found.carried
        elif key in b.layouts:
            before = b.lay_out(value, *b.layouts[key], name)
        else:
            before = b.materialize(value, name)
        node = before.node
        return before, Tile(value.type, value.shape, Leaf(
            b.fresh(name), value.type, node.shape, node.dims, key))

    def lost(self, name, value):
        if self.loop.kind == "forall":
            return (f"{name} would have the value of another iteration, and those of tile.forall "
                    "run at the same time; use tile.for_range or tile.for_ids, or another name")
        lost = (f"{name} was {describe(value)} before the loop that assigns it, and loops carry "
                "tiles only; ")
        if isinstance(value, Tensor):
            return (lost + "outside of tile.forall, tile.zeros and the like make tensors: put the "
                    "loop, and what it starts with, into for _ in tile.forall(1)")
        return (lost + "start with a tile, as tile.zeros((32, 64), tile.f32) or tile.full((), 1, "
                "tile.i32)")

    def finish(self, env, carried, tensors, places):
        """The carried values, as the names before, inside and after the body; writes the
        pit.yield."""
        b = self.b
        written, unchanged = Written(), {}
        for name, item in list(carried.items()):
            value = item.inside if env[name] is item else env[name]
            same = isinstance(value, Tile) and (value.shape, value.type) == (
                item.before.shape, item.before.type)
            unused = value is item.inside or (not same and not item.read)
            if isinstance(item.outer, Carried) and (item.read or not unused):
                item.outer.read = True
            if unused:
                del carried[name]
                if value is item.inside:
                    b.aliases[item.inside.node.name] = item.before.node.name
                    unchanged[name] = item.outer
                elif not isinstance(value, Lost):
                    env[name] = Lost(f"{name} is {describe(item.before)} before the loop and "
                                     f"{describe(value)} in it; use another name")
                continue
            if not same:
                b.at = places.get(name, self.at)
                raise Mistake(f"{name} is {describe(item.before)} before the loop, and "
                              f"{describe(value)} after an iteration; it must keep type and shape")
            node = item.before.node
            value = b.lay_out(value, node.shape, node.dims, name)
            written.before.append(item.before.node.name)
            written.inside.append(item.inside.node.name)
            written.after.append(value.node.name)
            written.types.append(tile_type(node.shape, value.type))
        for tensor, before, inside in tensors:
            if tensor not in self.region.written:
                b.aliases[inside] = before
                tensor.name = before
                continue
            written.before.append(before)
            written.inside.append(inside)
            written.after.append(tensor.name)
            written.types.append(tensor.mlir)
        b.at = self.at
        if not written.after:
            raise Mistake("the loop writes nothing: nothing is swritten in it, and no tile from "
                          "before it is changed")
        b.write(f"pit.yield {', '.join(written.after)} : {', '.join(written.types)}")
        env.update(unchanged)
        self.unchanged = set(unchanged)
        return written

    def results(self, env, carried, tensors, written, lines):
        """Writes header and body; names are the loop's results from now on."""
        b = self.b
        b.at = self.at
        hints = [*carried, *(t.hint for t, _, _ in tensors if t in self.region.written)]
        name, count = b.fresh(hints[0]), len(written.types)
        results = [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
        pairs = ", ".join(f"{i} = {o}" for i, o in zip(written.inside, written.before))
        conflicts = f" conflicts({self.conflicts})" if self.conflicts not in (None, "none") else ""
        b.write(f"{name}{'' if count == 1 else f':{count}'} = pit.{self.loop.kind} {self.head}"
                f"{conflicts} iter_args({pairs}) -> ({', '.join(written.types)}) {{")
        b.lines += lines
        b.write("}")
        for item, result in zip(carried.values(), results):
            leaf, tile = item.inside.node, item.inside
            env[item.name] = Tile(tile.type, tile.shape, Leaf(
                result, leaf.type, leaf.shape, leaf.dims, leaf.carried))
        at = len(carried)
        for tensor, _, _ in tensors:
            if tensor in self.region.written:
                tensor.name = results[at]
                at += 1
                b.record_write(tensor)
