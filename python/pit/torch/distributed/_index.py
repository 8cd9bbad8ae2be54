"""The index of a step: which rows go to which rank, each once, with which experts and
weights, and where what comes back belongs.

Tokens are cut into chunks of equal length. Slots, which rows have, are ordered by chunk, then by
rank, then by token. Everything is built on the tokens' device by a dozen small kernels of torch: a
prefix sum over a table (chunks, ranks, tokens) numbers the rows. A rank's own tokens are no rows."""

import torch

from ... import tile
from ...tile import jit

kept = {}  # numbers that CUDA graphs read for ever: 0, 1, 2, ... by device, and offsets of ranks


def counting(start, stop, device):
    """The numbers from start to stop, i64."""
    found = kept.setdefault(device, [])
    if not found or len(found[-1]) < stop:
        found.append(torch.arange(max(stop, 2 * len(found[-1]) if found else 4096), device=device))
    return found[-1][start:stop]


def offsets(chunks, ranks, rank, capacity, device):
    """The first slot of each chunk for each rank (chunks, ranks, 1), i32. The last `capacity` slots of a
    chunk are no rank's."""
    key = chunks, ranks, rank, capacity, device
    if key not in kept:
        kept[key] = torch.tensor(
            [[(chunk * ranks + other - (other > rank)) * capacity for other in range(ranks)]
             for chunk in range(chunks)], dtype=torch.int32, device=device)[..., None]
    return kept[key]


def cells(tokens, length, ranks, device):
    """The place of each token's row for rank 0 in a table (chunks, ranks + 2, length), whose
    first and last rows of a chunk are nobody's: (tokens, 1)."""
    places = counting(length, length + tokens, device)
    if length < tokens:
        chunk = torch.div(counting(0, tokens, device), length, rounding_mode="floor")
        places = torch.add(places, chunk, alpha=(ranks + 1) * length)
    return places[:, None]


class Whole:
    """The index where every token goes to every other rank, and its slot is its number in the chunk.
    Nothing is counted. The slots of a chunk are blocks of `capacity`, or of as many as it has
    tokens: one for each other rank, and one for the results of this rank."""

    wanted = None

    def __init__(self, tokens, ranks, chunks, capacity=None):
        self.tokens, self.chunks, self.ranks, self.capacity = tokens, chunks, ranks, capacity
        self.length = max(1, -(-tokens // chunks))
        self.slots = chunks * ranks * (capacity or self.length)

    def count(self, chunk):
        """The tokens of a chunk."""
        return max(0, min(self.length, self.tokens - chunk * self.length))

    def counts(self, rank):
        """The rows for each rank, by chunk."""
        return tuple(tuple(0 if other == rank else self.count(chunk) for other in range(self.ranks))
                     for chunk in range(self.chunks))

    def block(self, chunk):
        return self.count(chunk) if self.capacity is None else self.capacity

    def span(self, chunk):
        """The places of the slots for other ranks."""
        first = chunk * self.ranks * (self.capacity or self.length)
        return slice(first, first + (self.ranks - 1) * self.block(chunk))

    def taken(self, x, chunk, empty=0):
        """The part of x that is sent, the same to each rank, with a value for slots that are empty."""
        first = min(self.tokens, chunk * self.length)
        rows = x[first: first + self.count(chunk)]
        more = self.block(chunk) - len(rows)
        return torch.nn.functional.pad(rows, (0, 0, 0, more), value=empty) if more else rows

    def middle(self):
        """The place where own tokens are cut in two: between chunks, if there are several."""
        return min(self.tokens, self.length * (self.chunks // 2)) if self.chunks > 1 else self.tokens // 2

    def add_up(self, home, own):
        """The sums of what came back for each token, and of what this rank has of it, if it has: in
        parts, one behind the other."""
        width = home.shape[1]
        found = home.new_empty((self.tokens, width))
        first = 0
        for part in own:
            self.put_own(home, part, first)
            first += len(part)
        count = self.ranks if own else self.ranks - 1
        if self.tokens == self.chunks * self.length:
            parts = home[: self.slots].view(self.chunks, self.ranks, -1, width)
            torch.sum(parts[:, :count, : self.length], 1,
                      out=found.view(self.chunks, self.length, width))
            return found
        for chunk in range(self.chunks):
            some = self.count(chunk)
            if some:
                at = chunk * self.length
                torch.sum(self.blocks(home, chunk)[:count, :some], 0, out=found[at: at + some])
        return found

    def blocks(self, home, chunk):
        first, block = self.span(chunk).start, self.block(chunk)
        return home[first: first + self.ranks * block].view(self.ranks, block, -1)

    def put_own(self, home, rows, first):
        """Rows from token `first` on go to the last block of their chunks."""
        while len(rows):
            chunk, at = divmod(first, self.length)
            some = rows[: self.length - at]
            self.blocks(home, chunk)[-1, at: at + len(some)].copy_(some)
            rows, first = rows[len(some):], first + len(some)


class Index:
    """The index of one call on one rank.

    rows      (slots), i64: the token of each slot, `tokens` where a slot is empty
    place     (tokens, ranks), i32: the slot of a token's row for a rank. `slots` where there
              is no room for it, `slots + 1` where it has none
    counts    (chunks, ranks): the rows for each rank, on the device
    slots     how many there are, an upper bound without a capacity
    wanted    the most rows of a chunk for a rank, as a tensor; None without a capacity
    """

    middle = Whole.middle

    def __init__(self, experts, ranks, rank, each, chunks, capacity=None):
        tokens, top = experts.shape
        device = experts.device
        self.tokens, self.chunks, self.ranks, self.capacity = tokens, chunks, ranks, capacity
        self.length = length = max(1, -(-tokens // chunks))
        # A rank -1 or `ranks` is that of an id that is no expert's.
        to = torch.div(experts, each, rounding_mode="floor").clamp_(-1, ranks)
        at = torch.add(cells(tokens, length, ranks, device), to, alpha=length)
        table = torch.zeros(chunks * (ranks + 2) * length, dtype=torch.int8, device=device)
        table.scatter_(0, at.view(-1), 1)
        table = table.view(chunks, ranks + 2, length)
        table[:, rank + 1].zero_()
        here = table[:, 1: ranks + 1]
        number = here.reshape(-1).cumsum(0, dtype=torch.int32).view(chunks, ranks, length)
        ends = number[:, :, -1].reshape(-1)
        self.counts = torch.diff(ends, prepend=ends.new_zeros(1)).view(chunks, ranks)
        if capacity is None:
            self.wanted = None
            self.slots = tokens * min(ranks - 1, top)
            place = number - 1
        else:
            self.wanted = self.counts.max()
            self.slots = chunks * ranks * capacity
            slot = number - (ends.view(chunks, ranks) - self.counts + 1)[..., None]
            place = slot + offsets(chunks, ranks, rank, capacity, device)
            place = torch.where(slot < capacity, place, self.slots)
        place = torch.where(here > 0, place, self.slots + 1)
        place = place.permute(0, 2, 1).reshape(chunks * length, ranks)[:tokens]
        self.place = place.contiguous()
        self.rows = torch.full((self.slots + 2,), tokens, dtype=torch.int64, device=device)
        self.rows.scatter_(0, self.place.view(-1).long(),
                           counting(0, tokens, device)[:, None].expand(-1, ranks).reshape(-1))
        self.rows = self.rows[: self.slots]

    def add_up(self, home, own):
        """As Whole's. In `home` the row behind those of slots is that of a token without room, and
        the last one nobody's."""
        own = None if not own else own[0] if len(own) == 1 else torch.cat(own)
        return add_rows(home, self.place, own)


def gather(x, rows):
    """Rows of x; those of a slot that is empty are any."""
    return x.index_select(0, rows) if len(x) else x.new_zeros((len(rows), *x.shape[1:]))


NARROW = 256  # columns, of which a block of the program below takes 1024


def add_rows(rows, place, own):
    """For each token the sum of its rows and its own one, taken in f32 (in f64 where they are) and
    rounded once. The last row is 0, whatever it holds."""
    wide = torch.promote_types(rows.dtype, torch.float32)
    if not rows.is_cuda or rows.shape[1] < NARROW or not len(place):
        found = torch.nn.functional.embedding_bag(place, rows.to(wide), mode="sum",
                                                  padding_idx=len(rows) - 1)
        return (found if own is None else found + own).to(rows.dtype)
    wide = tile.f64 if wide == torch.float64 else tile.f32
    if own is None:
        return sums_of_rows(rows[:-1], place, wide=wide)
    return sums_of_rows_and_own(rows[:-1], place, own, wide=wide)


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


@jit
def sums_of_rows_and_own(rows: tile.tensor["S", "N"], place: tile.i32["T", "R"],
                         own: tile.tensor["T", "N"], *, R, wide, n=1024):
    N, T = rows.shape[1], place.shape[0]
    y = tile.empty((T, N), rows.dtype)
    for t, j in tile.forall(T, (0, N, n)):
        total = tile.sread(own[t, j]).to(wide)
        for r in range(R):
            total += tile.sread(rows[tile.number(tile.sread(place[t, r])), j]).to(wide)
        tile.swrite(y[t, j], total.to(rows.dtype))
    return y
