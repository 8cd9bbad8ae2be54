"""How long a call should take, by bytes and operations, and how many chunks are best for that.

The rates are those that were measured (docs/performance/distributed.md). A plan is for tokens
that choose experts at random."""

import math
from dataclasses import dataclass

import torch

from ..._library import Error
from ._group import MAX_CHUNKS
from ._wire import bytes_of


@dataclass(frozen=True)
class Machine:
    """Rates of one GPU, per second, and times of steps in seconds."""

    name: str
    operations: float = 700e12  # of the products, bf16
    memory: float = 3.7e12  # bytes read and written
    inside: float = 250e9  # bytes that leave a GPU for others of its node
    outside: float = 45e9  # and for other nodes
    node: int = 8  # GPUs that reach each other by NVLink
    start: float = 25e-6  # of an exchange
    part: float = 30e-6  # of the kernels between products, of one part of the tokens
    setup: float = 60e-6  # of the index


WHOLE = 0.8  # from this share on every token goes to every rank, and nothing is counted
MACHINES = {"H200": Machine("H200"), "H100": Machine("H100", memory=2.6e12)}


@dataclass(frozen=True)
class Row:
    chunks: int
    parts: int  # in which a rank's own tokens are computed
    exposed: float  # the wire's time that nothing hides, in seconds
    total: float


@dataclass(frozen=True)
class Plan:
    """The report of `explain` on a layer. Times are in seconds, of one rank, forwards."""

    machine: Machine
    tokens: int
    ranks: int
    share: float  # of a rank's tokens that have an expert on another rank: rows for a rank
    rows: float  # that a rank sends to others
    sent: float  # bytes of these
    operations: float
    weights: float  # bytes
    products: float
    wire: float  # one way
    alone: float  # one GPU that has all experts, with its own tokens
    room: int
    table: tuple
    best: Row

    def __str__(self):
        lines = [
            f"{self.tokens} tokens on each of {self.ranks} ranks, {self.machine.name}, "
            f"{min(self.machine.node, self.ranks)} in a node",
            f"a token goes to {self.rows / max(1, self.tokens):.2f} other ranks: {self.rows:.0f} rows, "
            f"{self.sent / 1e6:.1f} MB each way, {1e3 * self.wire:.3f} ms",
            f"products: {self.operations / 1e12:.3f} TFLOP, {self.weights / 1e6:.0f} MB of weights, "
            f"{1e3 * self.products:.3f} ms; one GPU with all experts {1e3 * self.alone:.3f} ms",
            f"bound by the {'wire' if 2 * self.wire > self.products else 'products'}; "
            f"capacity={self.room} has room for random routings",
            "chunks  own parts  exposed ms  total ms  rate"]
        for row in self.table:
            mark = "  <- chosen" if row is self.best else ""
            lines.append(f"{row.chunks:6}  {row.parts:9}  {1e3 * row.exposed:10.3f}  {1e3 * row.total:8.3f}  "
                         f"{self.alone / row.total:4.2f}{mark}")
        return "\n".join(lines)


def explain(tokens, experts, top, k, f, ranks, *, machine="H200", columns=None, itemsize=2, gated=True,
            wire=None, capacity=None):
    """A Plan of a mixture of `experts` experts, `top` for a token, that are k x f each, on `ranks` GPUs
    with so many `tokens` each. print() shows it.

        print(pit.torch.distributed.explain(4096, 64, 8, 2048, 1024, ranks=4))

    machine is "H100", "H200", or a Machine of other rates. With a `capacity` so many rows travel."""
    if experts % ranks:
        raise Error(f"moe: {experts} experts on {ranks} ranks; each rank has the same number")
    machine = MACHINES.get(machine, machine)
    if not isinstance(machine, Machine):
        raise Error(f"moe: machine={machine!r}; there are {', '.join(MACHINES)}, or a Machine")
    columns, each = columns or k, experts // ranks
    share = share_of(ranks, each, top)
    slack = 6 * math.sqrt(share * (1 - share) / max(1, tokens))
    room = min(tokens, -(-math.ceil(tokens * (share + slack)) // 16) * 16)
    if share > WHOLE:
        room = tokens
    per_rank = tokens * share if capacity is None else capacity
    rows = per_rank * (ranks - 1)
    inside = per_rank * (min(ranks, machine.node) - 1)
    row = (bytes_of(k, itemsize, wire) + bytes_of(columns, itemsize, wire)) / 2
    sent = rows * row
    # A row for another node may go there once for all its GPUs; torch's collectives send each.
    on_wire = max(inside * row / machine.inside, (rows - inside) * row / machine.outside)
    factors = (3 if gated else 2)
    operations = 2 * factors * tokens * top * k * f
    weights = factors * each * k * f * itemsize

    def products(of_weights):
        # Half of the time in which weights are read is not hidden by operations.
        between = tokens * top * (f + k) * itemsize
        return operations / machine.operations + (of_weights / 2 + between) / machine.memory

    alone, own = products(weights * ranks), products(weights)
    passes = 2 * (rows + per_rank) * k * itemsize / machine.memory
    if ranks == 1:
        on_wire = passes = 0.0
    # Another part of the tokens reads weights again, and has half a tile of 128 rows of each expert.
    more = machine.part + weights / 2 / machine.memory + each * 64 * 2 * factors * k * f / machine.operations
    own_tokens = own / ranks  # which no wire carries
    table, chunks = [], 1
    while chunks <= MAX_CHUNKS and chunks <= max(1, tokens // 256):
        one = on_wire / chunks + machine.start
        rows_of = []
        for parts in 1, 2:
            busy = own + (chunks + parts - 1) * more
            # The first chunk comes while own tokens are computed, and the last one returns while their
            # second part is.
            hidden = own_tokens / parts + more
            exposed = max(0, one - hidden) + (max(0, one - hidden) if parts == 2 else one)
            exposed += max(0, 2 * on_wire * (1 - 1 / chunks) - busy)
            rows_of.append(Row(chunks, parts, exposed, machine.setup + exposed + busy + passes))
        table.append(min(rows_of, key=lambda row: row.total))
        chunks *= 2
    best = min(table, key=lambda row: row.total)
    return Plan(machine, tokens, ranks, share, rows, sent, operations, weights, own, on_wire, alone, room,
                tuple(table), best)


def share_of(ranks, each, top):
    """The part of tokens, which choose at random, that have an expert of another rank."""
    experts = ranks * each
    return 1 - math.prod(max(0, experts - each - i) / (experts - i) for i in range(min(top, experts)))


def goes_to_all(ranks, each, top):
    """Whether so many tokens go to a rank that counting which do would not pay."""
    return share_of(ranks, each, top) > WHOLE


def machine_of(device):
    name = torch.cuda.get_device_name(device)
    return next((m for known, m in MACHINES.items() if known in name), MACHINES["H100"])


def steps_of(here, layer, x, tokens, chunks, capacity, wire):
    """The chunks of a call, if they are not given, and the parts of own tokens. `tokens` are the most
    that a rank had in the first call of this kind; None: this is that call. Chunks are the same on all
    ranks."""
    if layer.trained:
        return chunks or 1, 1  # each part adds to the gradients of weights
    if not x.is_cuda or not tokens:
        return chunks or 1, 1 if chunks in (None, 1) else 2
    key = layer.each, x.shape[1], layer.hidden, layer.top, tokens, capacity and capacity.rows, wire
    plan = here.plans.get(key)
    if plan is None:
        plan = here.plans[key] = explain(
            tokens, layer.each * here.size, min(layer.top, layer.each * here.size), x.shape[1],
            layer.hidden or x.shape[1], here.size, machine=machine_of(x.device), columns=layer.columns,
            itemsize=x.element_size(), gated=layer.gated, wire=wire, capacity=capacity and capacity.rows)
    if chunks is None:
        return plan.best.chunks, plan.best.parts
    return chunks, min(plan.table, key=lambda row: abs(row.chunks - chunks)).parts
