"""The measurements so far: a file of JSON that is replaced after every shape, so that an
interrupted run goes on where it was."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from .measure import Measured

FORMAT = 1


class StateError(Exception):
    pass


class State:
    """The measurements of a file, by key. `machine` and `options` have to be those of
    the file: times of another machine, or of other heights, do not go with these."""

    def __init__(self, path, described):
        self.path = Path(path)
        self.described = {"format": FORMAT, **described}
        self.measured = {}

    def load(self):
        """Reads the file, if there is one."""
        if not self.path.exists():
            return
        try:
            found = json.loads(self.path.read_text())
            described, measured = found["described"], found["measured"]
            self.measured = {key: [Measured(**one) for one in ones]
                             for key, ones in measured.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StateError(f"{self.path} is no state of pit-tune: {error!r}; remove it to "
                             f"begin anew") from None
        for name, value in self.described.items():
            if described.get(name) != value:
                raise StateError(
                    f"{self.path} was measured with {name} {described.get(name)!r}, not "
                    f"{value!r}; remove it to begin anew, or name another file")

    def add(self, key, measured):
        self.measured[key] = measured
        text = json.dumps({"described": self.described,
                           "measured": {key: [asdict(one) for one in ones]
                                        for key, ones in self.measured.items()}}, indent=1)
        # Either the old file is there or the new one, whenever the run is interrupted.
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(text)
        os.replace(beside, self.path)
