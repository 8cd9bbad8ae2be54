"""How rows get from rank to rank: torch's collectives, started early and waited for late.

A transport starts exchanges of rows, forth (from tokens to experts) or back, by chunk.
`Exact` knows all sizes on the host, which waited for them once. `Padded` sends as many
rows to each rank as the caller's capacity says, so no size is known to the host."""

import torch
import torch.distributed as dist

from ..._library import Error
from ._group import expect_no_capture
from ._index import Whole


class Pending:
    """Rows under way: where they come to, and what has to be done before they are read."""

    def __init__(self, member, rows, work, sent):
        self.member, self.rows, self.work, self.sent = member, rows, work, sent

    def wait(self):
        if self.work is not None:
            with self.member.talking("rows were on their way"):
                self.work.wait()
            self.work = self.sent = None
        return self.rows


class Part:
    """A part of what is pending."""

    def __init__(self, pending, part):
        self.pending, self.part = pending, part

    def wait(self):
        return self.part(self.pending.wait())


def as_bytes(rows):
    """Rows as collectives take them, whatever their element type is."""
    if rows.numel():
        return rows.view(torch.uint8)
    return rows.new_empty((len(rows), rows.shape[1] * rows.element_size()), dtype=torch.uint8)


class Transport:
    in_place = False

    def home(self, role, width, dtype, device):
        """Rows for all slots of a call, and two more."""
        return torch.empty((self.count + 2, width), dtype=dtype, device=device)

    def tell(self, said, index, role):
        """Sends what is said of tokens, a row each. The pending work of each chunk."""
        raise NotImplementedError

    def settle(self, rows):
        """Says that rows which came were read, where nothing is sent back for them."""

    def start(self, rows, chunk, role, back=False, out=None, same=False):
        """Sends rows, those for a rank together, in the order of ranks; `same`: all of them to each.
        `back`: those of what this rank got in that chunk return to where they came from, to `out`
        of `home(role)`."""
        sent, got = self.sizes(chunk)
        if back:
            sent, got = got, sent
        if out is None:
            out = rows.new_empty((sum(got), *rows.shape[1:]))
        if same:
            rows = rows.repeat(self.member.size - 1, 1)
        rows = rows.contiguous()
        with self.member.talking("it sent rows"):
            work = dist.all_to_all_single(as_bytes(out), as_bytes(rows), got, sent,
                                          group=self.member.group, async_op=True)
        return Pending(self.member, out, work, rows)


class Exact(Transport):
    """Sizes are those that there are. The host waits for them, once for all chunks."""

    def __init__(self, member, index, sent, got):
        self.member, self.count, self.sent, self.got = member, index.slots, sent, got
        if isinstance(index, Whole):
            self.slots = [index.span(chunk) for chunk in range(index.chunks)]
            return
        self.slots, first = [], 0
        for chunk in sent:
            self.slots.append(slice(first, first + sum(chunk)))
            first += sum(chunk)

    def tell(self, said, index, role):
        if isinstance(index, Whole):
            return [self.start(index.taken(said, chunk), chunk, role, same=True)
                    for chunk in range(index.chunks)]
        said = with_nobody(said)
        return [self.start(said.index_select(0, index.rows[slots]), chunk, role)
                for chunk, slots in enumerate(self.slots)]

    def sizes(self, chunk):
        return self.sent[chunk], self.got[chunk]


def with_nobody(said):
    """Facts about tokens, and behind the last one about none."""
    return torch.nn.functional.pad(said, (0, 0, 0, 1), value=-1)


class Padded(Transport):
    """`capacity` rows from each rank to each other, in each chunk."""

    def __init__(self, member, index):
        self.member, self.count = member, index.slots
        self.chunks, self.room, size = index.chunks, index.capacity, member.size
        self.slots = [slice(chunk * size * self.room, (chunk * size + size - 1) * self.room)
                      for chunk in range(self.chunks)]

    def tell(self, said, index, role):
        others, width = self.member.size - 1, said.shape[1]
        whole = isinstance(index, Whole)
        if whole:
            rows = torch.cat([index.taken(said, chunk, -1) for chunk in range(self.chunks)])
        else:
            rows = index.rows.view(self.chunks, others + 1, self.room)[:, :others].transpose(0, 1)
            rows = with_nobody(said).index_select(0, rows.reshape(-1))
        pending = self.tell_all(rows, role, whole)
        return [Part(pending, lambda rows, chunk=chunk: rows.view(
            others, self.chunks, self.room, width)[:, chunk].reshape(-1, width))
            for chunk in range(self.chunks)]

    def tell_all(self, rows, role, same):
        """Sends the rows of all chunks at once."""
        return self.start(rows, None, role, same=same)

    def sizes(self, chunk):
        room = self.room * (self.chunks if chunk is None else 1)
        sizes = [0 if rank == self.member.rank else room for rank in range(self.member.size)]
        return sizes, sizes


class Capacity:
    """Room for the rows that a rank sends to another in one call, and whether it was enough.

        room = pit.torch.distributed.Capacity(rows)
        y = pit.torch.distributed.moe(..., capacity=room)
        room.check()

    Nothing waits for the host, so a step can be captured in a CUDA graph. Rows that have no
    room are not sent: the results of their tokens are NaN, and `check`, which all ranks of the
    group call, raises an error on all of them, once. A chunk has its share of the room, rounded up."""

    def __init__(self, rows, symmetric=False):
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise Error(f"moe: capacity={rows!r}; it is a number of rows, at least 1")
        self.rows, self.symmetric = rows, symmetric
        # The most rows of a chunk for a rank, on the device, by the number of chunks of calls.
        self.most = {}
        self.member = None

    def of_chunk(self, chunks):
        return -(-self.rows // chunks)

    def keep(self, member, wanted, chunks, device):
        """Notes what a call wanted; None: it has room for all."""
        if chunks not in self.most or self.most[chunks].device != device:
            expect_no_capture(device)
            self.most[chunks] = torch.zeros((), dtype=torch.int32, device=device)
        if wanted is not None:
            torch.maximum(self.most[chunks], wanted, out=self.most[chunks])
        self.member = member

    def check(self):
        """Raises an error if rows of any rank had no room. Waits for the host."""
        if self.member is None:
            return
        kinds = sorted(self.most)  # the same on all ranks, as calls are
        most = torch.stack([self.most[chunks] for chunks in kinds])
        for kept in self.most.values():
            kept.zero_()
        if self.member.size > 1:
            with self.member.talking("they compared what room was wanted"):
                dist.all_reduce(most, dist.ReduceOp.MAX, group=self.member.group)
        for chunks, wanted in zip(kinds, most.tolist()):
            if wanted > self.of_chunk(chunks):
                raise Error(f"moe: a rank had {wanted} rows for another in one of {chunks} chunks, and "
                            f"capacity={self.rows} has room for {self.of_chunk(chunks)}: the results of "
                            f"some tokens are NaN; capacity={wanted * chunks} has room for all of them")
