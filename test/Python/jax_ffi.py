# RUN: env PIT_TEST_CC=%cc %python %s
# REQUIRES: jax
"""lib/Jax/Ffi.h declares what the header of the JAX that is installed declares."""

import os
import subprocess
from pathlib import Path

import jax

here = Path(__file__).resolve().parent
subprocess.run([os.environ["PIT_TEST_CC"], "-std=c11", "-fsyntax-only", f"-I{here.parents[1]}/lib",
                f"-I{jax.ffi.include_dir()}", str(here / "Inputs/jax_ffi.c")], check=True)
