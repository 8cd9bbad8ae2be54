"""A mixture of experts whose experts lie on several ranks.

Each token is sent once to each rank that has experts of it, with these and their weights.
There its experts' results are added up. What comes back is added at home.

The chunks of a call overlap: all are sent at once, and while the experts compute one of them
the next is on its way, and so is the result of the one before. In autograd a chunk's way is a
chain of nodes: Send, Arrive, the experts, Leave, Collect. Backwards each starts or awaits
what its counterpart does forwards. Between Send and Arrive, and between Leave and Collect,
there are no rows yet, and an empty tensor, the ticket, stands for them."""

import torch
from torch.autograd.function import once_differentiable

from ... import ops
from ..._library import Error
from . import _plan
from ._exchange import Capacity, Exact, Padded, Transport
from ._group import HEADER, MAX_CHUNKS, TYPES, member
from ._index import Index, Whole, gather
from ._symmetric import Symmetric
from ._wire import WIRES, check_wire, pack, unpack

CAPACITY = HEADER.index("capacity")


class Step:
    """One call: its index, its transport, and the rows that are under way."""

    def __init__(self, index, transport, layer, x, wire, needs):
        self.index, self.transport, self.layer, self.wire = index, transport, layer, wire
        self.needs = needs  # gradients: of x, and of the router's weights
        self.chunks, self.dtype = range(index.chunks), x.dtype
        self.weight_type = torch.promote_types(x.dtype, torch.float32)
        self.out, self.back = {}, {}  # pending, by chunk
        self.slots = transport.slots

    def packed(self, x, chunk):
        """The rows of x that are sent."""
        if isinstance(self.index, Whole):
            return self.index.taken(x, chunk)
        rows = self.index.rows[self.slots[chunk]]
        if self.index.capacity is not None and len(x):
            rows = rows.clamp(max=len(x) - 1)  # an empty slot has some row, which no expert reads
        return gather(x, rows)

    def send(self, x, chunk, role):
        return [self.transport.start(part, chunk, f"{role}{i}", same=isinstance(self.index, Whole))
                for i, part in enumerate(pack(self.packed(x, chunk), self.wire))]

    def arrived(self, pending):
        return unpack([each.wait() for each in pending], self.dtype)

    def send_back(self, rows, chunk, role, home):
        """Sends rows to where theirs came from. Floats of 8 bits become rows of `home` when they
        are there."""
        if self.wire is None or rows.dtype != self.dtype:
            return [self.transport.start(rows, chunk, role, True, home[self.slots[chunk]])], None
        started = []
        for i, part in enumerate(pack(rows, self.wire)):
            other = self.transport.home(f"{role}{i}", part.shape[1], part.dtype, rows.device)
            started.append(self.transport.start(part, chunk, f"{role}{i}", True, other[self.slots[chunk]]))
        return started, home[self.slots[chunk]]

    def returned(self, pending):
        started, place = pending
        rows = [each.wait() for each in started]
        if place is not None:
            place.copy_(unpack(rows, self.dtype))

    def home(self, role, width, device, dtype=None):
        """The memory that rows come back to. Behind them is the row of tokens that had no room, and nobody's."""
        dtype = dtype or self.dtype
        packed = self.wire is not None and dtype == self.dtype
        rows = (Transport if packed else type(self.transport)).home(
            self.transport, role, width, dtype, device)
        if isinstance(self.index, Index) and self.index.capacity is not None:
            rows[-2:-1].fill_(float("nan"))
        return rows

    def ticket(self, like):
        return like.new_empty(0)


class Send(torch.autograd.Function):
    @staticmethod
    def forward(ctx, step, x, weights, experts):
        ctx.step, ctx.dtype = step, weights.dtype
        # Experts and weights of each token.
        said = torch.cat([experts, weights.to(step.weight_type).contiguous().view(torch.int32)], 1)
        told = step.transport.tell(said, step.index, "said")
        for chunk in step.chunks:
            step.out[chunk] = told[chunk], step.send(x, chunk, "x")
        return tuple(step.ticket(x) for _ in step.chunks)

    @staticmethod
    @once_differentiable
    def backward(ctx, *tickets):
        step = ctx.step
        for chunk in step.chunks:
            for pending in step.back.pop(chunk):
                if pending is not None:
                    step.returned(pending)
        # The share of this rank itself comes another way.
        dx, dw = [None if home is None else step.index.add_up(home, []) for home in step.homes]
        return None, dx, None if dw is None else dw.to(ctx.dtype), None


class Arrive(torch.autograd.Function):
    @staticmethod
    def forward(ctx, step, chunk, ticket):
        ctx.step, ctx.chunk = step, chunk
        said, rows = step.out.pop(chunk)
        rows, said = step.arrived(rows), said.wait()
        ids, weights = said[:, : step.layer.top], said[:, step.layer.top:]
        ids = step.layer.own(ids)
        ctx.mark_non_differentiable(ids)
        weights = weights.clone(memory_format=torch.contiguous_format).view(step.weight_type)
        if step.transport.in_place and step.wire is None and step.layer.trained:
            rows = rows.clone()  # gradients of experts read it, too
        ctx.sizes = rows.shape[1], weights.shape[1]
        return rows, weights, ids

    @staticmethod
    @once_differentiable
    def backward(ctx, drows, dweights, _):
        step, chunk = ctx.step, ctx.chunk
        if not hasattr(step, "homes"):
            columns, top = ctx.sizes
            device = drows.device
            step.homes = [
                step.home("dx", columns, device) if step.needs[0] else None,
                step.home("dweights", top, device, step.weight_type) if step.needs[1] else None]
        step.back[chunk] = [
            None if home is None else step.send_back(rows, chunk, role, home)
            for rows, role, home in zip((drows, dweights), ("dx", "dweights"), step.homes)]
        return None, None, step.ticket(drows)


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, step, chunk, home, rows):
        ctx.step, ctx.chunk = step, chunk
        step.back[chunk] = step.send_back(rows, chunk, "y", home)
        return step.ticket(rows)

    @staticmethod
    @once_differentiable
    def backward(ctx, ticket):
        step = ctx.step
        rows = step.arrived(step.out.pop(ctx.chunk))
        # The experts' gradient may still read these rows when others write here again.
        if step.transport.in_place and step.wire is None:
            rows = rows.clone()
        if not any(step.needs):
            step.transport.settle(rows)
        return None, None, None, rows


class Collect(torch.autograd.Function):
    """The sums of what came back and of what this rank has computed of its own tokens, in parts."""

    @staticmethod
    def forward(ctx, step, home, *tickets_and_own):
        own = tickets_and_own[len(step.chunks):]
        ctx.step, ctx.lengths = step, [len(part) for part in own]
        for chunk in step.chunks:
            step.returned(step.back.pop(chunk))
        return step.index.add_up(home, own)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        step = ctx.step
        dy = dy.to(step.dtype).contiguous()
        for chunk in reversed(step.chunks):  # as they are awaited
            step.out[chunk] = step.send(dy, chunk, "dy")
        return None, None, *(step.ticket(dy) for _ in step.chunks), *dy.split(ctx.lengths)


class Layer:
    """The facts about a mixture: how many experts a rank has (`each`), how many a token, the
    columns of the result, and the function (rows, weights, ids) that computes those of this rank.
    `nobody` is an id that is no expert's there."""

    def __init__(self, each, columns, compute, nobody=-1, hidden=0, gated=True):
        self.each, self.columns, self.compute, self.nobody = each, columns, compute, nobody
        self.hidden, self.gated, self.trained = hidden, gated, False
        self.top, self.first = 0, 0

    def own(self, ids):
        """This rank's numbers of experts, of those of all."""
        ids = ids - self.first
        if ids.is_cuda and self.nobody == -1:
            return ids  # a number that is no expert's counts as none there
        return ids.masked_fill_((ids < 0) | (ids >= self.each), self.nobody)


def check(x, router_weights, experts):
    if x.dtype not in TYPES:
        raise Error(f"moe: x is {x.dtype}; it takes {', '.join(map(str, TYPES))}")
    if x.dim() != 2:
        raise Error(f"moe: x has shape {tuple(x.shape)}; it must be (tokens, k)")
    if experts.shape != router_weights.shape or experts.dim() != 2 or len(experts) != len(x):
        raise Error(f"moe: router_weights have shape {tuple(router_weights.shape)}, experts "
                    f"{tuple(experts.shape)}; both must be ({len(x)}, top), as x has {len(x)} tokens")
    if experts.dtype not in (torch.int32, torch.int64):
        raise Error(f"moe: experts are {experts.dtype}; they must be int32 or int64")


def run(layer, x, router_weights, experts, where, capacity, chunks, wire, meanwhile=None):
    """The result of a Layer on the tokens of this rank."""
    here, grad = member(where), torch.is_grad_enabled()
    try:
        check(x, router_weights, experts)
        check_wire(wire, x)
        check_chunks(chunks)
        capacity = room_of(here, capacity)
    except Error as error:
        here.note(error)
        if capacity is None or not any(header[CAPACITY] for header in here.tokens):
            # As the others do in this call.
            counts = here.nothing
            if capacity is None and not _plan.goes_to_all(here.size, layer.each, experts.shape[-1]):
                counts = torch.zeros(1, here.size, dtype=torch.int32, device=x.device)
            here.contact((0,) * len(HEADER), 0, counts, x.device, failed=True)
        raise
    layer.top, layer.first = experts.shape[1], here.rank * layer.each
    if here.size == 1:
        y = layer.compute(x, router_weights, layer.own(experts.clamp(-1, layer.each).to(torch.int32))).to(x.dtype)
        return y if meanwhile is None else y + meanwhile(x)
    symmetric = capacity is not None and capacity.symmetric
    needs = grad and x.requires_grad, grad and router_weights.requires_grad
    header = (layer.each, x.shape[-1], layer.columns, experts.shape[-1], TYPES.index(x.dtype),
              chunks or 0, capacity.rows if capacity else 0,
              symmetric, WIRES[wire], needs[0] + 2 * needs[1] + 4 * layer.trained)
    tokens = here.tokens.get(header)
    if capacity is not None and tokens is None:
        *_, tokens = here.contact(header, len(x), here.nothing, x.device)
        here.tokens[header] = tokens
    chunks, parts = _plan.steps_of(here, layer, x, tokens, chunks, capacity, wire)
    if experts.dtype == torch.int64:  # before their high halves are dropped
        experts = experts.clamp(-1, here.size * layer.each).to(torch.int32)
    room = capacity and capacity.of_chunk(chunks)
    if capacity is not None and capacity.rows >= len(x) or capacity is None and _plan.goes_to_all(
            here.size, layer.each, layer.top):
        index = Whole(len(x), here.size, chunks, room)
    else:
        index = Index(experts, here.size, here.rank, layer.each, chunks, room)
    if capacity is None:
        counts = index.counts(here.rank) if isinstance(index, Whole) else index.counts
        *sizes, most = here.contact(header, len(x), counts, x.device)
        here.tokens.setdefault(header, most)
        transport = Exact(here, index, *sizes)
    else:
        transport = (Symmetric if symmetric else Padded)(here, index)
        capacity.keep(here, index.wanted, chunks, x.device)
    step = Step(index, transport, layer, x, wire, needs)
    with here.computing():
        tickets = Send.apply(step, x, router_weights, experts)
        other = None if meanwhile is None else meanwhile(x)
        # The tokens of this rank itself are on no wire. They are computed while the first rows come,
        # or half of them then, and half while the last results return.
        parts = [index.middle(), len(x) - index.middle()] if parts == 2 else [len(x)]
        own = list(zip(x.split(parts), router_weights.split(parts), layer.own(experts).split(parts)))
        own_y = [layer.compute(*own[0]).to(x.dtype)]
        home, left = step.home("y", layer.columns, x.device), []
        for chunk, ticket in enumerate(tickets):
            y = layer.compute(*Arrive.apply(step, chunk, ticket))
            left.append(Leave.apply(step, chunk, home, y.to(x.dtype)))
        own_y += [layer.compute(*part).to(x.dtype) for part in own[1:]]
        y = Collect.apply(step, home, *left, *own_y)
        return y if other is None else y + other


run._torchdynamo_disable = True  # graphs of torch.compile end before it


def check_chunks(chunks):
    if chunks is None:
        return
    if isinstance(chunks, bool) or not isinstance(chunks, int) or not 0 < chunks <= MAX_CHUNKS:
        raise Error(f"moe: chunks={chunks!r}; it is a number in [1, {MAX_CHUNKS}]")


def room_of(here, capacity):
    if capacity is None or isinstance(capacity, Capacity):
        return capacity
    if capacity not in here.capacities:
        here.capacities[capacity] = Capacity(capacity)
    return here.capacities[capacity]


def moe(x, router_weights, experts, w_gate, w_up, w_down, *, group=None, activation="silu",
        capacity=None, chunks=None, wire=None, meanwhile=None):
    """pit.moe whose experts lie on the ranks of a group, as many on each.

        y = pit.torch.distributed.moe(x, weights, experts, w_gate, w_up, w_down, group=group)

    x, router_weights and experts are those of this rank's tokens, of which each rank may have
    another number; `experts` are numbers of all experts: expert e is number e % n of rank
    e // n, if a rank has n. An id that is no expert's, such as -1 or the number of experts, is
    nobody. The weights are those of this rank's experts; all arguments else are as in pit.moe.
    All ranks of the group make the same call, and take the same gradients.

    group       a ProcessGroup, or a DeviceMesh of one dimension; by default all ranks
    capacity    None: the host waits once for how many rows come. A number of rows that a rank
                may send to another, or a Capacity: nothing waits, and each pair of ranks
                exchanges so many
    chunks      parts of the tokens that overlap; by default as `explain` says
    wire        "fp8": rows travel as floats of 8 bits (e4m3), with a scale each
    meanwhile   a function of x, such as shared experts, whose result is added; it is
                computed while the first rows are on their way
    Result      (tokens, n), of x's type, sums of ranks' results taken in f32
    """
    x, w_gate, w_up, w_down = autocast(x, w_gate, w_up, w_down)

    def compute(rows, weights, ids):
        return ops.moe(rows, weights, ids, w_gate, w_up, w_down, activation=activation)

    layer = Layer(w_down.shape[0], w_down.shape[-1], compute, -1, w_down.shape[1],
                  w_gate is not None)
    layer.trained = torch.is_grad_enabled() and any(
        w is not None and w.requires_grad for w in (x, router_weights, w_gate, w_up, w_down))
    if x.dim() == 2:
        return run(layer, x, router_weights, experts, group, capacity, chunks, wire, meanwhile)
    y = run(layer, x.reshape(-1, x.shape[-1]), router_weights.flatten(0, -2), experts.flatten(0, -2),
            group, capacity, chunks, wire, meanwhile)
    return y.reshape(*x.shape[:-1], y.shape[-1])


def autocast(*tensors):
    device = tensors[0].device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return tensors
    dtype = torch.get_autocast_dtype(device)
    return [x if x is None or x.dtype == torch.float64 else x.to(dtype) for x in tensors]
