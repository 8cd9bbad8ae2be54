"""Ops by meaning on tensors of a GPU: the tests of test/Python on that device, and
streams and CUDA graphs. On a machine with a GPU, with PIT_RUNTIME_LIBRARY set:

    python3 test/GPU/torch_device.py         all tests, each in a process of its own
    python3 test/GPU/torch_device.py NAME...    those of a class, or one, as CudaGraphs

They compile about 300 programs, which PIT_CACHE_DIR keeps.
"""

import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["PIT_TEST_DEVICE"] = "cuda"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Python"))

import torch  # noqa: E402
import torch_graphs  # noqa: E402
import torch_base  # noqa: E402
from torch_conv import Convolutions  # noqa: E402, F401
from torch_graphs import Compile, Graphs, Model  # noqa: E402, F401
from torch_ops import Errors, Gradients, Values  # noqa: E402, F401
from torch_sparsify import Layer, Sparsify  # noqa: E402, F401

torch.backends.cudnn.allow_tf32 = False  # as pit: f32 is f32
pit = torch_base.pit
close = torch.testing.assert_close


class Streams(unittest.TestCase):
    def test_current_stream(self):
        """What a stream waits for, the call on it waits for, too."""
        x, w = torch_graphs.zeros(512, 512), torch.randn(512, 256)
        expected = (2 * x) @ w
        pit.matmul(x, w)  # compiled
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            doubled = 2 * x
            y = pit.matmul(doubled, w)
        torch.cuda.current_stream().wait_stream(side)
        close(y, expected, atol=1e-3, rtol=1e-3)

    def test_backward_on_its_stream(self):
        x, w = torch_graphs.zeros(256, 128), torch.randn(128, 64, requires_grad=True)
        pit.matmul(x, w).sum().backward()
        w.grad = None
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            pit.matmul(2 * x, w).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        close(w.grad, (2 * x).sum(0)[:, None].expand(128, 64), atol=1e-3, rtol=1e-3)

    def test_nothing_waits(self):
        """No call, forward or backward, synchronizes with the host."""
        x, w = torch_graphs.zeros(256, 128), torch.randn(128, 64, requires_grad=True)
        grad = torch.ones(256, 64)
        for _ in range(2):
            pit.matmul(x, w).backward(grad)
        torch.cuda.set_sync_debug_mode("error")
        try:
            pit.matmul(x, w).backward(grad)
        finally:
            torch.cuda.set_sync_debug_mode("default")


class CudaGraphs(unittest.TestCase):
    def capture(self, function):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                function()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function()
        return graph, result

    def test_forward(self):
        model, x = Model(), torch.randn(64, 16)
        with torch.no_grad():
            graph, y = self.capture(lambda: model(x))
            for _ in range(3):  # other zeros each time
                x.copy_(torch.randn(64, 16))
                graph.replay()
                close(y, model.reference(x), atol=1e-4, rtol=1e-4)

    def test_training(self):
        model, x = Model(), torch.randn(64, 16)
        parameters = list(model.parameters())

        def step():
            return torch.autograd.grad(model(x).square().sum(), parameters)

        graph, grads = self.capture(step)
        for _ in range(3):
            x.copy_(torch.randn(64, 16))
            graph.replay()
            close(grads, torch.autograd.grad(model.reference(x).square().sum(), parameters),
                  atol=1e-2, rtol=1e-3)

    def test_compiled(self):
        torch._dynamo.reset()
        model = Model()
        compiled = torch.compile(model, fullgraph=True, mode="reduce-overhead")
        with torch.no_grad():
            for _ in range(5):
                x = torch.randn(64, 16)
                close(compiled(x), model.reference(x), atol=1e-4, rtol=1e-4)


class Types(torch_base.Base):
    def test_large(self):
        """Sizes that fill tiles, in the types of tensor cores."""
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            x = torch_base.zeros(300, 512, dtype=dtype, live_fraction=0.1)
            w = torch_base.dense(256, 512, dtype=dtype)
            b = torch_base.dense(256, dtype=dtype)
            self.compare(lambda x, w, b: pit.linear(x, w, b, activation="relu"),
                         lambda x, w, b: torch.relu(x @ w.T + b), x, w, b)


def run_one(name):
    start = time.monotonic()
    try:
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, name], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=500)
        text, good = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as error:
        text, good = f"no end: {error}", False
    print(f"{'passed' if good else 'FAILED'} {name} ({time.monotonic() - start:.0f} s)"
          f"{'' if good else chr(10) + text}", flush=True)
    return good


def run_all():
    suites = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    names = [test.id().removeprefix("__main__.") for suite in suites for test in suite]
    names = sorted({".".join(name.split(".")[-2:]) for name in names})
    with ThreadPoolExecutor(min(12, os.cpu_count())) as pool:
        results = list(pool.map(run_one, names))
    print(f"torch_device: {sum(results)} of {len(results)} passed on "
          f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    return not all(results)


def run_here():
    """Threads of torch's autograd may abort a process that ends, once they have run
    functions in Python (pytorch/pytorch#38228): it does not come to that."""
    good = unittest.main(exit=False).result.wasSuccessful()
    sys.stdout.flush()
    os._exit(not good)


if __name__ == "__main__":
    sys.exit(run_here() if len(sys.argv) > 1 else run_all())
