# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Layers that sparsify has replaced choose for each phase (a prompt, a token, a training step) between pit and
torch, as the clock tells. Here that is one that the ways themselves move."""

import copy
import pickle
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit.torch import _choice, _gated, _modules  # noqa: E402


class Clock:
    """Seconds that pass with each call of pit, while torch takes one."""

    def __init__(self, test, pit_takes):
        self.now, self.pit_takes, self.calls = 0.0, pit_takes, {"pit": 0, "torch": 0}
        real, by_pit = nn.functional.linear, _modules.linear
        for where, name, function, way in ((nn.functional, "linear", real, "torch"),
                                           (_modules, "linear", by_pit, "pit")):
            patch = mock.patch.object(where, name, self.counted(function, way))
            patch.start()
            test.addCleanup(patch.stop)
        patch = mock.patch.object(_choice.time, "perf_counter", lambda: self.now)
        patch.start()
        test.addCleanup(patch.stop)

    def counted(self, function, way):
        def run(*args, **kwargs):
            self.now += self.pit_takes if way == "pit" else 1
            self.calls[way] += 1
            return function(*args, **kwargs)

        return run

    def of(self, step):
        """Calls of pit and of torch in a step."""
        self.calls = {"pit": 0, "torch": 0}
        step()
        return self.calls["pit"], self.calls["torch"]


class Phases(unittest.TestCase):
    def layer(self, **kwargs):
        layer = nn.Linear(24, 16)
        _modules.make_sparse(layer, "x", **kwargs)
        return layer

    def test_inference(self):
        for pit_takes, chosen in ((2.0, (0, 1)), (0.5, (1, 0))):
            clock, layer = Clock(self, pit_takes), self.layer()
            with torch.no_grad():
                for rows in (1, 64):
                    x = torch.relu(torch.randn(rows, 24))
                    expected = x @ layer.weight.t() + layer.bias
                    for _ in range(5):
                        torch.testing.assert_close(layer(x), expected)
                    self.assertEqual(clock.of(lambda: layer(x)), chosen)
                # Another number of rows is another phase, and pit's turn comes first.
                self.assertEqual(clock.of(lambda: layer(torch.randn(300, 24))), (1, 0))
            self.doCleanups()

    def test_training(self):
        """A training step is measured beside the model: whose gradients are added once."""
        for pit_takes, chosen in ((2.0, (0, 1)), (0.5, (1, 0))):
            clock, layer = Clock(self, pit_takes), self.layer()
            x = torch.randn(40, 24, requires_grad=True)
            for turn in range(3):
                layer(torch.relu(x)).sum().backward()
                wanted = (turn + 1.0) * torch.relu(x).detach().sum(0).expand(16, 24)
                torch.testing.assert_close(layer.weight.grad, wanted)
                torch.testing.assert_close(layer.bias.grad, torch.full((16,), 40.0 * (turn + 1)))
                torch.testing.assert_close(x.grad, (turn + 1) * (x > 0) * layer.weight.sum(0))
            self.assertEqual(clock.of(lambda: layer(torch.relu(x))), chosen)
            self.doCleanups()

    def test_gradients(self):
        """Behind a ReLU only gradients have zeros: backward chooses."""
        layer, ways = nn.Linear(24, 16), []
        _modules.make_sparse(layer, "grad")
        with mock.patch.object(_choice.Kind, "run", lambda kind, ways_, wait: (
                ways.append(len(ways) % 2), ways_[ways[-1]]())[1]):
            for _ in range(2):
                x = torch.randn(5, 8, 24, requires_grad=True)
                torch.relu(layer(x)).sum().backward()
                live = (layer(x) > 0).float()
                torch.testing.assert_close(x.grad, live @ layer.weight)
                torch.testing.assert_close(layer.weight.grad, torch.einsum("abn,abk->nk", live, x.detach()))
                layer.zero_grad()
        self.assertEqual(ways, [0, 1])

    def test_gated(self):
        class Mlp(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate_proj, self.up_proj = nn.Linear(24, 40), nn.Linear(24, 40)
                self.down_proj, self.act_fn = nn.Linear(40, 24), nn.ReLU()

            def forward(self, x):
                return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))

        mlp = Mlp()
        _modules.make(mlp, _gated.class_of(Mlp))
        x = torch.randn(9, 24)
        wanted = Mlp.forward(mlp, x)
        times = iter(range(0, 10**6, 7))
        with mock.patch.object(_choice.time, "perf_counter", lambda: next(times)):
            for _ in range(2 * _choice.MOST + 1):
                with torch.no_grad():
                    torch.testing.assert_close(mlp(x), wanted)
                torch.testing.assert_close(mlp(x), wanted)
        self.assertEqual({kind.faster for kind in mlp.ways.values()}, {0})
        self.assertFalse(any(p.grad is not None for p in mlp.parameters()))

    def test_close(self):
        """Ways that take about as long are timed more often."""
        for seconds, calls, faster in (((1.0, 1.6), 4, 0), ((1.0, 1.1), 12, 0), ((1.1, 1.0), 12, 1)):
            kind, now, called = _choice.Kind(), [0.0], []

            def way(which):
                called.append(which)
                now[0] += seconds[which] * (3 if len(called) in (2, 3) else 1)  # the first ones are late

            with mock.patch.object(_choice.time, "perf_counter", lambda: now[0]):
                kind.run((lambda: way(0), lambda: way(1)), _choice.nothing)
                while kind.faster is None:
                    kind.run((lambda: way(0), lambda: way(1)), _choice.nothing)
            self.assertEqual((len(called) - 1, kind.faster), (calls, faster))

    def test_not_measured(self):
        """What is traced, transformed, computed twice by a checkpoint, or captured has no phase."""
        model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 16))
        x = torch.randn(8, 24, requires_grad=True)
        wanted = model(x)
        grad, = torch.autograd.grad(wanted.sum(), x)
        _modules.make_sparse(model[0], "grad")
        _modules.make_sparse(model[2], "x")

        def check(found):
            torch.testing.assert_close(found, wanted)
            self.assertFalse(model[2].ways)

        check(torch.compile(model, fullgraph=True, backend="eager")(x))
        check(torch.func.vmap(model)(x[None].expand(3, 8, 24))[1])
        y = checkpoint(model, x, use_reentrant=False)
        check(y)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], grad)
        with torch.no_grad():
            torch.testing.assert_close(torch.jit.trace(model, (x,))(x), wanted)
        kind = _choice.Kind()
        with mock.patch.object(torch.cuda, "is_current_stream_capturing", lambda: True):
            for _ in range(9):
                self.assertEqual(kind.run((lambda: "pit", lambda: "torch"), self.fail), "pit")

    def test_copies(self):
        """Choices are those of a machine, and stay when a layer is replaced again."""
        layer = self.layer()
        with torch.no_grad():
            for _ in range(5):
                layer(torch.randn(3, 24))
        self.assertEqual(len(layer.ways), 1)
        self.assertFalse(copy.deepcopy(layer).ways or pickle.loads(pickle.dumps(layer)).ways)
        ways = layer.ways
        pit.torch.densify(layer)
        self.assertNotIn("ways", layer.__dict__)
        _modules.make_sparse(layer, "x")
        self.assertIs(layer.ways, ways)
        pit.torch.sparsify(layer, [torch.randn(4, 24)], verbose=False)
        self.assertIsNot(_choice.ways_of(layer, ("x", False)), ways)

    def test_measuring_is_of_pit(self):
        clock, layer = Clock(self, 2.0), self.layer()
        with torch.no_grad(), _choice.first_way():
            self.assertEqual(clock.of(lambda: [layer(torch.randn(3, 24)) for _ in range(8)]), (8, 0))
        self.assertFalse(layer.ways)


if __name__ == "__main__":
    unittest.main()
