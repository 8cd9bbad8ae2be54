"""What the scripts beside share: pit-run compiles programs that they draw, and runs them on
the emulator or the CPU. A script's arguments are

    PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def draw_seed():
    """Random numbers that are other ones each time; the seed is printed."""
    seed = int(np.random.default_rng().integers(2 ** 31))
    print("seed", seed, flush=True)
    return np.random.default_rng(seed)


class PitRun:
    """The command that the script's arguments describe."""

    def __init__(self):
        program, library, chip, *options = sys.argv[1:]
        self.on_cpu = library == "cpu"
        self.program = program
        self.options = [f"--cpu={chip}"] if self.on_cpu else [
            "--target=cuda", f"--chip={chip}", "--device-code=ptx", f"--cuda-library={library}"]
        self.options += [f"--pipeline={option}" for option in options]

    def results(self, text, arrays, count=1):
        """The `count` results of the function in `text` from arrays as they are stored; None,
        and a line, if pit-run fails."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "program.mlir")
            source.write_text(text)
            names = [str(Path(folder, f"{i}.npy")) for i in range(len(arrays))]
            for name, array in zip(names, arrays):
                np.save(name, array)
            outs = [str(Path(folder, f"out{i}.npy")) for i in range(count)]
            ended = subprocess.run(
                [self.program, str(source), *self.options, *[f"--arg={name}" for name in names],
                 *[f"--out={out}" for out in outs]]).returncode
            if ended:
                print(f"pit-run ended with {ended}")
                return None
            return [np.load(out) for out in outs]
