"""The index of a step: which rows go to which rank, each once, with which experts and
weights, and where what comes back belongs.

Tokens are cut into chunks of equal length. Rows are ordered by chunk, then by rank, then
by token. Everything is built on the tokens' device by a dozen small kernels of torch: a
prefix sum over a table (chunks, ranks, tokens) numbers the rows."""

import functools

import torch


@functools.lru_cache(maxsize=64)
def token_ids(tokens, device):
    return torch.arange(tokens, dtype=torch.int32, device=device)


@functools.lru_cache(maxsize=64)
def cells(tokens, length, ranks, device):
    """The place of each token's row for rank 0 in a table (chunks, ranks + 2, length), whose
    first and last rows of a chunk are nobody's: (tokens, 1)."""
    ids = torch.arange(tokens, dtype=torch.int64, device=device)
    return (ids // length * (ranks + 2) * length + ids % length + length)[:, None]


class Index:
    """Of one call on one rank.

    rows      (slots), i32: the token of each slot, `tokens` where a slot is empty
    place     (tokens, ranks), i32: the slot of a token's row for a rank. `slots` where it
              has none, `slots + 1` where there is no room for it
    counts    (chunks, ranks): the rows for each rank, on the device
    slots     how many there are, an upper bound without a capacity
    wanted    the most rows of a chunk for a rank, as a tensor; None without a capacity
    """

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
            place = torch.where(here > 0, number - 1, self.slots)
        else:
            self.wanted = self.counts.max()
            self.slots = chunks * ranks * capacity
            starts = (ends.view(chunks, ranks) - self.counts)[..., None]
            slot = number - 1 - starts
            first = torch.arange(0, self.slots, capacity, dtype=torch.int32, device=device)
            place = torch.where(slot < capacity, slot + first.view(chunks, ranks, 1),
                                self.slots + 1)
            place = torch.where(here > 0, place, self.slots)
        place = place.permute(0, 2, 1).reshape(chunks * self.length, ranks)[:tokens]
        self.place = place
        self.rows = torch.full((self.slots + 2,), tokens, dtype=torch.int32, device=device)
        self.rows.scatter_(0, place.reshape(-1).long(),
                           token_ids(tokens, device)[:, None].expand(-1, ranks).reshape(-1))
        self.rows = self.rows[: self.slots]

    def span(self, chunk):
        """The tokens of a chunk."""
        return (min(self.tokens, chunk * self.length), min(self.tokens, (chunk + 1) * self.length))


def gather(x, rows, out=None):
    """Rows of x; of a slot that is empty any row."""
    if len(x) == 0:
        return x.new_zeros((len(rows), *x.shape[1:])) if out is None else out.zero_()
    return torch.index_select(x, 0, rows, out=out) if out is not None else x.index_select(0, rows)


def add_up(rows, place, out=None):
    """For each token the sum of its rows, added in f32 (in f64 where they are) and rounded once.
    The last two of `rows` are a token's that has none, and one that had no room."""
    found = torch.nn.functional.embedding_bag(place, rows, mode="sum", padding_idx=len(rows) - 2)
    return found if out is None else out.copy_(found)
