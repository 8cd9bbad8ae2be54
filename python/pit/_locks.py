"""Locks that the child of a fork finds open."""

import os
import threading


def lock():
    """A lock for a moment: a fork waits until no other thread has it. So who has it takes no
    other one of these, and computes nothing. It lives as long as the process."""
    made = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=made.acquire, after_in_parent=made.release,
                            after_in_child=made.release)
    return made
