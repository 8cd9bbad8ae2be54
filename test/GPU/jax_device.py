"""Ops in functions that JAX compiles for a GPU: the tests of test/Python/jax_ops.py on
that device. On a machine with a GPU and JAX for CUDA, with PIT_RUNTIME_LIBRARY set:

    python3 test/GPU/jax_device.py [NAME...]
"""

import os
import sys
import unittest
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cuda"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# In the place of this folder, whose cuda.py hides a package that others import.
sys.path[0] = str(Path(__file__).resolve().parents[1] / "Python")

import jax_ops  # noqa: E402

if __name__ == "__main__":
    unittest.main(module=jax_ops)
