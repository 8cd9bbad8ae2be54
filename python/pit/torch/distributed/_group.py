"""A group of ranks, what its members agree on, and how one that fails ends the others."""

import contextlib
import weakref
from dataclasses import dataclass

import torch
import torch.distributed as dist

from ..._library import Error

# The header of a call that a rank sends first, by place.
HEADER = ("experts on this rank", "columns of x", "columns of the result", "experts of a token",
          "element type", "chunks", "capacity", "symmetric", "wire", "whether gradients are taken")

TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)  # a header has their numbers
MAX_CHUNKS = 16


def group_of(where):
    """The ProcessGroup of a group, of a DeviceMesh of one dimension, or of None, the default."""
    if where is None:
        if not dist.is_initialized():
            raise Error("moe: torch.distributed is not initialized, and no group is given; call "
                        "torch.distributed.init_process_group first")
        return dist.group.WORLD
    if isinstance(where, dist.DeviceMesh):
        if where.ndim != 1:
            raise Error(f"moe: a DeviceMesh of {where.ndim} dimensions {where.mesh_dim_names or ''}; "
                        "experts lie along one: pass that one, as mesh['ep']")
        return where.get_group()
    if where == dist.GroupMember.NON_GROUP_MEMBER:
        raise Error("moe: this process is no member of the group; only members may call")
    return where


@dataclass
class Member:
    """This process in a group."""

    of_group: weakref.ref
    rank: int
    size: int
    store: object
    said: dict  # what this rank has told others of a call, by that
    tokens: dict  # the most tokens of a rank, by the header of calls that all have agreed to
    capacities: dict  # by rows, of calls that gave a number
    plans: dict  # numbers of chunks, by what is known of calls
    buffers: dict  # of symmetric memory
    streams: dict  # beside the current one, by device
    on_cpu: object = None  # whether collectives of the CPU's tensors go; None: not known yet

    @property
    def group(self):
        return self.of_group()

    @contextlib.contextmanager
    def beside(self, rows):
        """Work on rows beside the current stream, behind that stream's work: on a GPU."""
        if not rows.is_cuda:
            yield None
            return
        if rows.device not in self.streams:
            self.streams[rows.device] = torch.cuda.Stream(rows.device, priority=-1)
        stream = self.streams[rows.device]
        stream.wait_stream(torch.cuda.current_stream(rows.device))
        with torch.cuda.stream(stream):
            yield stream
        rows.record_stream(stream)

    def note(self, error):
        """Leaves word of an error for those that will miss this rank."""
        with contextlib.suppress(Exception):
            self.store.set(f"pit/failed/{dist.get_global_rank(self.group, self.rank)}",
                           f"{type(error).__name__}: {error}")

    def reason(self):
        """The traces of ranks that failed, as the end of a sentence."""
        found = []
        for rank in range(self.size):
            with contextlib.suppress(Exception):
                key = f"pit/failed/{dist.get_global_rank(self.group, rank)}"
                if rank != self.rank and self.store.check([key]):
                    found.append(f"rank {rank} failed with {self.store.get(key).decode()}")
        return "; ".join(found)

    @contextlib.contextmanager
    def talking(self, about):
        """Around collectives: an error of one names the ranks that caused it."""
        try:
            yield
        except RuntimeError as error:
            reason = self.reason()
            raise Error(f"moe: rank {self.rank} of {self.size} lost the others while {about}: "
                        f"{reason or error}") from error

    @contextlib.contextmanager
    def computing(self):
        """Around what can fail on this rank alone."""
        try:
            yield
        except Exception as error:
            self.note(error)
            raise

    @property
    def nothing(self):
        """The counts of no rows, of one chunk."""
        return (0,) * self.size,

    def contact(self, header, tokens, counts, device, failed=False):
        """Tells each rank how many rows come, by chunk and rank, and of what call, and hears the same
        of all: the rows for each of them and those of each, and the most tokens of a rank. Waits for
        the host. Counts are a tensor of the device, or tuples: then the CPU alone takes part, if the
        group has a backend for it."""
        expect_no_capture(device)
        known = isinstance(counts, tuple)
        if known and self.on_cpu is None:
            self.on_cpu = has_backend(self.group, "cpu")
        where = torch.device("cpu") if known and self.on_cpu else device
        # Tokens are read in the first call of a kind, so what is said can be kept.
        key = header, counts if known else None, where, failed
        mine = self.said.get(key)
        if mine is None:
            start = [int(failed), tokens, *header]
            rows = [[*start, *(c[rank] for c in (counts if known else ()))] for rank in range(self.size)]
            rows = [row + [0] * (len(start) + MAX_CHUNKS - len(row)) for row in rows]
            if len(self.said) > 1000:
                self.said.clear()
            mine = self.said[key] = torch.tensor(rows, dtype=torch.int32, device=where)
        start = len(HEADER) + 2
        if not known:
            mine = mine.clone()
            mine[:, start: start + len(counts)] = counts.T
        theirs = torch.empty_like(mine)
        with self.talking("it told them how many rows come"):
            dist.all_to_all_single(theirs, mine, group=self.group)
        if failed:
            return None
        if known:
            sent, theirs = [list(c) for c in counts], theirs.tolist()
        else:
            mine, theirs = torch.stack([mine, theirs]).tolist()
            sent = [[row[start + i] for row in mine] for i in range(len(counts))]
        self.expect_none_failed([row[0] for row in theirs])
        for rank, row in enumerate(theirs):
            for name, here, there in zip(HEADER, header, row[2:]):
                if here != there:
                    if name == "element type":
                        here, there = TYPES[here], TYPES[there]
                    raise Error(f"moe: {name}: rank {self.rank} has {here}, rank {rank} has {there}; "
                                "all ranks of a group make the same call")
        got = [[row[start + i] for row in theirs] for i in range(len(counts))]
        return sent, got, max(row[1] for row in theirs)

    def expect_none_failed(self, flags):
        failed = [rank for rank, flag in enumerate(flags) if flag]
        if failed:
            raise Error(f"moe: rank {self.rank} gives up, because rank "
                        f"{', '.join(map(str, failed))} has: {self.reason() or 'see its error'}")


def expect_no_capture(device):
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        raise Error("moe: exact sizes, and the first call of a kind, wait for the host, which a CUDA graph "
                    "cannot; pass capacity=, and call once before the capture")


def has_backend(group, device):
    try:
        return group._get_backend(torch.device(device)) is not None
    except RuntimeError:
        return False


members = weakref.WeakKeyDictionary()


def member(where):
    group = group_of(where)
    found = members.get(group)
    if found is None:
        from torch.distributed import distributed_c10d
        found = members[group] = Member(weakref.ref(group), group.rank(), group.size(),
                                        distributed_c10d._get_default_store(), {}, {}, {}, {}, {}, {})
    return found
