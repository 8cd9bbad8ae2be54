"""The index of a step: which rows go to which rank, each once, with which experts and
weights, and where what comes back belongs.

Tokens are cut into chunks of equal length. Rows are ordered by chunk, then by rank, then
by token. Everything is built on the tokens' device by a dozen small kernels of torch: a
prefix sum over a table (chunks, ranks, tokens) numbers the rows."""

import torch

from ... import tile
from ...tile import jit


numbers = {}  # 0, 1, 2, ... by device, in several lengths: CUDA graphs read them for ever


def counting(start, stop, device):
    """The numbers from start to stop, i64."""
    kept = numbers.setdefault(device, [])
    if not kept or len(kept[-1]) < stop:
        kept.append(torch.arange(max(stop, 2 * len(kept[-1]) if kept else 4096), device=device))
    return kept[-1][start:stop]


def cells(tokens, length, ranks, device):
    """The place of each token's row for rank 0 in a table (chunks, ranks + 2, length), whose
    first and last rows of a chunk are nobody's: (tokens, 1)."""
    places = counting(length, length + tokens, device)
    if length < tokens:
        chunk = torch.div(counting(0, tokens, device), length, rounding_mode="floor")
        places = torch.add(places, chunk, alpha=(ranks + 1) * length)
    return places[:, None]


class Whole:
    """The index where all tokens of a chunk have room for each rank: every token goes to every rank,
    and slot i is the chunk's token i. Nothing is counted."""

    wanted = None

    def __init__(self, tokens, ranks, chunks, capacity):
        self.tokens, self.chunks, self.ranks, self.capacity = tokens, chunks, ranks, capacity
        self.length = max(1, -(-tokens // chunks))
        self.slots = chunks * ranks * capacity

    def span(self, chunk):
        """The tokens of a chunk."""
        return slice(min(self.tokens, chunk * self.length), min(self.tokens, (chunk + 1) * self.length))

    def taken(self, x, chunk, empty=0):
        """What is sent of x, the same to each rank, with a value for slots that are empty."""
        rows = x[self.span(chunk)]
        more = self.capacity - len(rows)
        return torch.nn.functional.pad(rows, (0, 0, 0, more), value=empty) if more else rows

    def add_up(self, home, chunk, out):
        """The sums of what came back for a chunk's tokens."""
        first = chunk * self.ranks * self.capacity
        parts = home[first: first + self.ranks * self.capacity].view(self.ranks, self.capacity, -1)
        if out.shape[0]:
            torch.sum(parts[:, : len(out)], 0, out=out)


class Index:
    """Of one call on one rank.

    rows      (slots), i64: the token of each slot, `tokens` where a slot is empty
    place     (tokens, ranks), i32: the slot of a token's row for a rank. `slots` where there
              is no room for it, `slots + 1` where it has none
    counts    (chunks, ranks): the rows for each rank, on the device
    slots     how many there are, an upper bound without a capacity
    wanted    the most rows of a chunk for a rank, as a tensor; None without a capacity
    """

    span = Whole.span

    def __init__(self, experts, ranks, each, chunks, capacity=None):
        tokens, top = experts.shape
        device = experts.device
        self.tokens, self.chunks, self.ranks, self.capacity = tokens, chunks, ranks, capacity
        self.length = max(1, -(-tokens // chunks))
        # A rank -1 or `ranks` is that of an id that is no expert's.
        to = torch.div(experts, each, rounding_mode="floor").clamp_(-1, ranks)
        at = torch.add(cells(tokens, self.length, ranks, device), to, alpha=self.length)
        table = torch.zeros(chunks * (ranks + 2) * self.length, dtype=torch.int8, device=device)
        table.scatter_(0, at.view(-1), 1)
        here = table.view(chunks, ranks + 2, self.length)[:, 1: ranks + 1]
        number = here.reshape(-1).cumsum(0, dtype=torch.int32).view(chunks, ranks, self.length)
        ends = number[:, :, -1].reshape(-1)
        self.counts = torch.diff(ends, prepend=ends.new_zeros(1)).view(chunks, ranks)
        if capacity is None:
            self.wanted = None
            self.slots = tokens * min(ranks, top)
            place = torch.where(here > 0, number - 1, self.slots + 1)
        else:
            self.wanted = self.counts.max()
            self.slots = chunks * ranks * capacity
            starts = (ends.view(chunks, ranks) - self.counts)[..., None]
            slot = number - 1 - starts
            first = torch.arange(0, self.slots, capacity, dtype=torch.int32, device=device)
            place = torch.where(slot < capacity, slot + first.view(chunks, ranks, 1),
                                self.slots)
            place = torch.where(here > 0, place, self.slots + 1)
        place = place.permute(0, 2, 1).reshape(chunks * self.length, ranks)[:tokens]
        self.place = place.contiguous()
        self.rows = torch.full((self.slots + 2,), tokens, dtype=torch.int64, device=device)
        self.rows.scatter_(0, self.place.view(-1).long(),
                           counting(0, tokens, device)[:, None].expand(-1, ranks).reshape(-1))
        self.rows = self.rows[: self.slots]

    def add_up(self, home, chunk, out):
        """The sums of what came back for a chunk's tokens. The row behind those of slots is that
        of a token without room, and the last one nobody's."""
        add_rows(home, self.place[self.span(chunk)], out)


def gather(x, rows):
    """Rows of x; those of a slot that is empty are any."""
    return x.index_select(0, rows) if len(x) else x.new_zeros((len(rows), *x.shape[1:]))


def add_rows(rows, place, out):
    """For each token the sum of its rows, added in f32 (in f64 where they are) and rounded once."""
    if not len(out):
        return
    if not rows.is_cuda or rows.shape[1] < NARROW:
        out.copy_(torch.nn.functional.embedding_bag(place, rows, mode="sum", padding_idx=len(rows) - 1))
        return
    sums_of_rows(rows[:-1], place, wide=tile.f64 if rows.dtype == torch.float64 else tile.f32, out=out)


NARROW = 256  # columns, of which a block of the program below takes 1024


@jit
def sums_of_rows(rows: tile.tensor["S", "N"], place: tile.i32["T", "R"], *, R, wide, n=1024):
    """Rows behind the last one read 0."""
    N, T = rows.shape[1], place.shape[0]
    y = tile.empty((T, N), rows.dtype)
    for t, j in tile.forall(T, (0, N, n)):
        total = tile.zeros((n,), wide)
        for r in range(R):
            total += tile.sread(rows[tile.number(tile.sread(place[t, r])), j]).to(wide)
        tile.swrite(y[t, j], total.to(rows.dtype))
    return y
