#!/usr/bin/env python3
"""The Python package with tensors of torch and arrays of CuPy on a GPU. Run by
check_gpu.py; PIT_TEST_FUNCTIONS names test/Python/Inputs/functions.mlir compiled
for it."""

import os
import sys
import threading
import time
import unittest
from pathlib import Path

# In the place of this folder, whose cuda.py would hide the package that CuPy imports.
sys.path[0] = str(Path(__file__).resolve().parents[2] / "python")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import pit  # noqa: E402

try:
    import cupy
except ImportError:
    cupy = None

f = pit.load(os.environ["PIT_TEST_FUNCTIONS"])
SLEEP = 200_000_000  # clock cycles, about 0.1 s: later work must wait for it


def small(*shape, dtype=torch.float32):
    return torch.randint(-4, 5, shape, device="cuda").to(dtype)


class Torch(unittest.TestCase):
    def setUp(self):
        self.a, self.b, self.c = small(130, 70), small(70, 40), small(130, 40)
        self.a[torch.rand(130, device="cuda") < 0.5] = 0
        self.wanted = (self.a.double() @ self.b.double() + self.c.double()).float()

    def same(self, got, wanted=None):
        wanted = self.wanted if wanted is None else wanted
        self.assertTrue(torch.equal(got, wanted), f"{got} is not {wanted}")

    def refuses(self, message, entry, *arguments, **options):
        with self.assertRaisesRegex(pit.Error, message):
            entry(*arguments, **options)

    def test_results(self):
        result = f.matmul(self.a, self.b, self.c)
        self.assertEqual((type(result), result.device), (torch.Tensor, self.a.device))
        self.same(result)
        out = torch.full_like(self.c, float("nan"))
        self.assertIs(f.matmul(self.a, self.b, self.c, out=out), out)
        self.same(out)

    def test_slices(self):
        """Contiguous, and off the alignment of memory."""
        def slice_of(x):
            flat = torch.empty(x.numel() + 1, device="cuda")[1:]
            return flat.copy_(x.flatten()).view(x.shape)

        a, b, c = map(slice_of, (self.a, self.b, self.c))
        self.assertEqual(a.data_ptr() % 16, 4)
        self.same(f.matmul(a, b, c, out=slice_of(torch.full_like(c, float("nan")))))

    def test_capsules_instead_of_the_exchange_interface(self):
        class Older(torch.Tensor):
            __dlpack_c_exchange_api__ = None

        arguments = [x.as_subclass(Older) for x in (self.a, self.b, self.c)]
        self.same(f.matmul(*arguments))
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
            self.same(f.matmul(*arguments))
        torch.cuda.synchronize()

    def test_element_types(self):
        for name, dtype in {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
                            "bf16": torch.bfloat16, "i8": torch.int8, "i16": torch.int16,
                            "i32": torch.int32, "i64": torch.int64}.items():
            with self.subTest(name):
                x = small(1000, dtype=dtype)
                result = f[f"double_{name}"](x)
                self.assertEqual(result.dtype, dtype)
                self.same(result, x + x)

    def test_mask_and_scalar_result(self):
        x, mask = small(5000), torch.rand(5000, device="cuda") < 0.3
        self.same(f.masked(x, mask), x[mask].sum())

    def test_scalars(self):
        x = small(100)
        scaled, filled = f.scaled(x, 3, 0.5, 2.0, 4.0, 2**40)
        self.same(scaled, x * 0.5 + 9)
        self.same(filled, torch.full((100,), 2**40, device="cuda"))
        scaled, _ = f.scaled(x, np.int8(1), torch.tensor(2.0), 0.0, 0.0, np.array(3))
        self.same(scaled, x * 2 + 1)
        self.same(f.rows(3, x[:4]), x[:4].expand(3, 4))

    def test_index(self):
        x, w, c = small(200, 50), small(50, 4), small(200, 4)
        x[torch.rand(200, device="cuda") < 0.7] = 0
        index = pit.build_index(x, (1, 0), 0)
        self.same(f.indexed(x, w, index, c), x @ w + c)
        live = x.any(dim=1).nonzero().flatten().to(torch.int32)
        count = int(torch.as_tensor(index.counts, device="cuda")[0])
        self.assertEqual(count, len(live))
        self.same(torch.as_tensor(index.ids, device="cuda")[:count], live)
        x = x.roll(1, 0).contiguous()
        self.same(f.indexed(x, w, index.rebuild(x), c), x @ w + c)

    def test_imported_index(self):
        x, w, c = small(200, 50), small(50, 4), small(200, 4)
        ids = torch.arange(3, 200, 7, dtype=torch.int32, device="cuda")
        index = pit.import_index((200, 50), (1, 0), 0, ids=ids,
                                 counts=torch.tensor([len(ids)], dtype=torch.int32, device="cuda"),
                                 offsets=torch.zeros(1, dtype=torch.int64, device="cuda"))
        wanted = c.clone()
        wanted[ids.long()] += x[ids.long()] @ w
        self.same(f.indexed(x, w, index, c), wanted)

    def test_current_stream(self):
        """A call waits for what its stream did before, and what comes after it
        there waits for the call; nothing waits on the host."""
        f.matmul(self.a, self.b, self.c)
        stream = torch.cuda.Stream()
        late = torch.zeros_like(self.a)
        torch.cuda.synchronize()
        started = time.monotonic()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP)
            late.copy_(self.a)
            result = f.matmul(late, self.b, self.c)
            doubled = result * 2
        returned = time.monotonic() - started
        self.assertFalse(stream.query(), "the call waited for the device")
        stream.synchronize()
        self.same(doubled, self.wanted * 2)
        self.assertLess(returned, time.monotonic() - started)

    def test_given_stream(self):
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        for given in (stream, stream.cuda_stream):
            out = torch.full_like(self.c, float("nan"))
            torch.cuda.synchronize()
            f.matmul(self.a, self.b, self.c, out=out, stream=given)
            stream.synchronize()
            self.same(out)

    def test_graph(self):
        out = torch.empty_like(self.c)
        index = pit.build_index(self.a, (1, 0), 0)
        x4 = torch.empty(130, 4, device="cuda")
        w4, c4 = small(70, 4), small(130, 4)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # to warm up
            f.matmul(self.a, self.b, self.c, out=out)
            f.indexed(self.a, w4, index.rebuild(self.a), c4, out=x4)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            f.matmul(self.a, self.b, self.c, out=out)
            f.indexed(self.a, w4, index.rebuild(self.a), c4, out=x4)
        for _ in range(5):
            self.a.copy_(small(130, 70))
            self.a[torch.rand(130, device="cuda") < 0.5] = 0
            out.fill_(float("nan"))
            x4.fill_(float("nan"))
            graph.replay()
            self.same(out, (self.a.double() @ self.b.double() + self.c.double()).float())
            self.same(x4, self.a @ w4 + c4)

    def test_threads(self):
        wrong = []

        def work():
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                for _ in range(50):
                    if not torch.equal(f.matmul(self.a, self.b, self.c), self.wanted):
                        wrong.append(1)

        torch.cuda.synchronize()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_wrong_device(self):
        self.refuses("device", f.matmul, self.a, self.b.cpu(), self.c)
        self.refuses("device", f.matmul, self.a.cpu(), self.b.cpu(), self.c.cpu())
        self.refuses("device", f.matmul, self.a, self.b, self.c, out=torch.zeros(130, 40))

    def test_refused(self):
        self.refuses("contiguous", f.matmul, self.a.T.contiguous().T, self.b, self.c)
        self.refuses("element type", f.matmul, self.a.double(), self.b, self.c)
        self.refuses("dimension", f.matmul, self.a, self.a, self.c)
        self.refuses("detach", f.matmul, self.a.requires_grad_(), self.b, self.c)

    def test_overhead(self):
        out = torch.empty_like(self.c)
        call = lambda: f.matmul(self.a, self.b, self.c, out=out)
        add = lambda: torch.add(self.c, self.c, out=out)
        for _ in range(100):
            call(), add()
        torch.cuda.synchronize()
        times = []
        for what in (call, add):
            started = time.perf_counter()
            for _ in range(500):
                what()
            times.append((time.perf_counter() - started) / 500 * 1e6)
            torch.cuda.synchronize()
        print(f"a call takes {times[0]:.1f} us of the host, torch.add {times[1]:.1f} us",
              file=sys.stderr)


@unittest.skipIf(cupy is None, "there is no CuPy")
class Cupy(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        draw = lambda *shape: cupy.asarray(rng.integers(-4, 5, size=shape).astype(np.float32))
        self.a, self.b, self.c = draw(130, 70), draw(70, 40), draw(130, 40)
        self.wanted = (self.a.get().astype(np.float64) @ self.b.get() + self.c.get())

    def test_results(self):
        result = f.matmul(self.a, self.b, self.c)
        self.assertIs(type(result), cupy.ndarray)
        np.testing.assert_array_equal(result.get(), self.wanted)
        out = cupy.full_like(self.c, np.nan)
        self.assertIs(f.matmul(self.a, self.b, self.c, out=out), out)
        np.testing.assert_array_equal(out.get(), self.wanted)

    def test_mask(self):
        x, mask = self.a[0], self.a[1] > 0
        self.assertEqual(f.masked(x, mask).get(), x[mask].sum().get())

    def test_current_stream(self):
        stream = cupy.cuda.Stream(non_blocking=True)
        cupy.cuda.Device().synchronize()
        with stream:
            out = cupy.full_like(self.c, np.nan)
            late = self.a + 1 - 1
            f.matmul(late, self.b, self.c, out=out)
            doubled = out * 2
        stream.synchronize()
        np.testing.assert_array_equal(doubled.get(), 2 * self.wanted)

    def test_beside_torch(self):
        out = torch.empty(130, 40, device="cuda")
        cupy.cuda.Device().synchronize()
        f.matmul(self.a, self.b, torch.from_dlpack(self.c), out=out)
        torch.cuda.synchronize()
        np.testing.assert_array_equal(out.cpu().numpy(), self.wanted)

    def test_index(self):
        x = cupy.eye(64, dtype=np.float32)
        index = pit.build_index(x, (32, 1), 1)
        np.testing.assert_array_equal(cupy.asarray(index.counts).get(), [32, 32])
        offsets = cupy.asarray(index.offsets).get()
        ids = cupy.asarray(index.ids).get()
        np.testing.assert_array_equal(ids[offsets[1]: offsets[1] + 32], range(32, 64))


if __name__ == "__main__":
    unittest.main()
