"""Exchanges through torch's symmetric memory: each rank writes its rows where the others read
them, by copies that need no kernels of their own, and a barrier says that they are there.

Memory is of a capacity, so no size is known to the host and a step can be captured in a CUDA
graph. It is kept for all calls of equal sizes. A rank writes to it again when the others have
read what was there: between two exchanges of one kind lies one of the other kind, or `settle`,
whose barrier a rank reaches when it has read all."""

import torch

from ..._library import Error
from ._exchange import Padded, Pending
from ._group import expect_no_capture


def symmetric_memory():
    """torch's module, if this torch has it."""
    try:
        import torch.distributed._symmetric_memory as found
    except ImportError:
        return None
    return found if hasattr(found, "rendezvous") and hasattr(found, "empty") else None


class Landed(Pending):
    """Rows that others write here; `event` is behind the barrier."""

    def __init__(self, rows, event):
        self.rows, self.event = rows, event

    def wait(self):
        if self.event is not None:
            torch.cuda.current_stream(self.rows.device).wait_event(self.event)
        return self.rows


class Symmetric(Padded):
    in_place = True  # what arrives lies in memory that later calls write to

    def memory(self, role, width, dtype, device, more=0):
        """Memory of all ranks for all chunks of a call, and its handle."""
        key = role, width, dtype, self.chunks, self.room
        found = self.member.buffers.get(key)
        if found is None:
            expect_no_capture(device)
            torch_memory, size = symmetric_memory(), self.chunks * self.member.size * self.room + more
            try:
                rows = torch_memory.empty((size, width), dtype=dtype, device=device)
            except (AttributeError, RuntimeError) as error:
                raise Error(f"moe: torch has no symmetric memory on {device}: {error}") from None
            rows.zero_()
            if rows.is_cuda:
                torch.cuda.synchronize(device)  # before others write to it
            with self.member.talking("they made memory that all write to"):
                handle = torch_memory.rendezvous(rows, self.member.group)
            found = self.member.buffers[key] = rows, handle
        return found

    def home(self, role, width, dtype, device):
        return self.memory(role, width, dtype, device, more=2)[0]

    def settle(self, rows):
        handle = next(iter(self.member.buffers.values()))[1]
        with self.member.beside(rows) as stream:
            handle.barrier(0)
            event = stream and stream.record_event()
        Landed(rows, event).wait()

    def tell_all(self, rows, role, same):
        # Rows that follow bring the barrier.
        return self.put(rows, self.chunks * self.room, 0, role, same, barrier=False)

    def start(self, rows, chunk, role, back=False, out=None, same=False):
        first = chunk * self.member.size * self.room
        return self.put(rows, self.room, first, role, same, more=2 if back else 0)

    def put(self, rows, room, first, role, same, more=0, barrier=True):
        """Writes `room` rows to each other rank, behind row `first` at the place of this rank."""
        member, width = self.member, rows.shape[1]
        rows = rows.contiguous()
        memory, handle = self.memory(role, width, rows.dtype, rows.device, more)
        with member.beside(rows) as stream:
            for offset in range(1, member.size):
                peer = (member.rank + offset) % member.size
                here, there = peer - (peer > member.rank), member.rank - (member.rank > peer)
                to = handle.get_buffer(peer, (room, width), rows.dtype, (first + there * room) * width)
                to.copy_(rows if same else rows[here * room: (here + 1) * room])
            if barrier:
                handle.barrier(0)
            event = stream and stream.record_event()
        return Landed(memory[first: first + (member.size - 1) * room], event)
