"""Processes that check one case after another, so that a crash or a case
without end costs only itself. And what their command lines have in common."""

import argparse
import json
import os
import re
import subprocess
import threading
import time


class Worker:
    """Runs `command`, which reads a case from each line of its input and writes
    a line `RESULT {json}` for each."""

    def __init__(self, command, timeout, environment=None):
        self.command, self.timeout = command, timeout
        # The cores are busy with other cases: numpy needs no threads, and OpenMP's must
        # not spin while they wait.
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1",
                            "KMP_BLOCKTIME": "0", **(environment or {})}
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=self.environment)

    def check(self, case):
        """The outcome of a case, as a dict with a `status`."""
        if self.process is None:
            self.start()
        process = self.process
        timer = threading.Timer(self.timeout, process.kill)
        timer.start()
        started = time.monotonic()
        noise = []
        try:
            process.stdin.write(f"{case}\n")
            process.stdin.flush()
            for line in process.stdout:
                if line.startswith("RESULT "):
                    return json.loads(line[len("RESULT "):])
                noise.append(line)
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        code = process.wait()
        self.process = None
        slow = time.monotonic() - started >= self.timeout
        what = f"no end after {self.timeout} s" if slow else f"the process died with {code}"
        return {"status": "failed", "message": what + "\n" + "".join(noise[-40:])}

    def restart(self):
        """A new process for the next case."""
        self.stop()
        self.process = None

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def answer(outcome):
    """What the process of a Worker writes."""
    print("RESULT " + json.dumps(outcome), flush=True)


def regex(text):
    """An option's type."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None
