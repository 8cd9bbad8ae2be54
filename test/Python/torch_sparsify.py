# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""pit.torch.sparsify: what it measures, takes and gives back. With PIT_TEST_DEVICE=cuda
on a GPU."""

import collections
import contextlib
import copy
import functools
import io
import os
import sys
import threading
import unittest
import warnings
from pathlib import Path
from unittest import mock

import torch
from torch import nn
from torch.nn.utils import prune

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit import _cache  # noqa: E402
from pit.torch import _pruned, _run, _sparsify  # noqa: E402

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)


class Mlp(nn.Module):
    def __init__(self, width=32, hidden=256):
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.pruned = nn.Linear(width, width)
        nn.init.constant_(self.up.bias, -1.2)
        with torch.no_grad():
            self.pruned.weight.mul_(torch.arange(width)[:, None] < 2)

    def forward(self, x):
        return self.pruned(self.down(torch.relu(self.up(x))))


class Expert(nn.Module):
    def __init__(self, k, f):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(k, f, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(f, k, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """As transformers' OlmoeSparseMoeBlock."""

    def __init__(self, normalized, k=16, f=24, experts=6, top=2):
        super().__init__()
        self.top_k, self.norm_topk_prob = top, normalized
        self.gate = nn.Linear(k, experts, bias=False)
        self.experts = nn.ModuleList(Expert(k, f) for _ in range(experts))

    def forward(self, hidden_states):
        batch, length, width = hidden_states.shape
        x = hidden_states.view(-1, width)
        logits = self.gate(x)
        weights, chosen = logits.float().softmax(1).topk(self.top_k, dim=-1)
        if self.norm_topk_prob:
            weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            tokens, place = torch.where(chosen == i)
            result.index_add_(0, tokens, expert(x[tokens]) * weights[tokens, place, None].to(
                x.dtype))
        return result.reshape(batch, length, width), logits


class Experts(nn.Module):
    """As transformers' MixtralExperts."""

    def __init__(self, k=16, f=24, experts=6):
        super().__init__()
        self.gate_up_proj = nn.Parameter(torch.randn(experts, 2 * f, k) / 4)
        self.down_proj = nn.Parameter(torch.randn(experts, k, f) / 4)
        self.act_fn = nn.SiLU()

    def forward(self, hidden_states, top_k_index, top_k_weights):
        result = torch.zeros_like(hidden_states)
        for i in range(self.down_proj.shape[0]):
            tokens, place = torch.where(top_k_index == i)
            gate, up = (hidden_states[tokens] @ self.gate_up_proj[i].T).chunk(2, -1)
            found = (self.act_fn(gate) * up) @ self.down_proj[i].T
            result.index_add_(0, tokens, found * top_k_weights[tokens, place, None])
        return result


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(True), Block(False)
        self.router, self.experts = nn.Linear(16, 6), Experts()

    def forward(self, x):
        x = x + self.first(x)[0]
        x, logits = self.second(x)
        rows = x.reshape(-1, 16)
        weights, chosen = self.router(rows).softmax(-1).topk(2)
        return self.experts(rows, chosen, weights).reshape(x.shape) + logits.mean()


def sparse_layers(model):
    return [name for name, m in model.named_modules()
            if type(m) is pit.torch.Linear or hasattr(type(m), "give_back")]


def sparsify(model, samples, factor=0.5, rule="32x1 along axis 1"):
    """With times that are made up: each sparse layer multiplies those of a model by
    `factor`. Whichever rule a program chose, it is `rule`."""
    def timed(step, repeats, device):
        step()
        return factor ** len(sparse_layers(model))

    real = _sparsify.chosen_rule

    def chosen_rule(module, layer):
        found = real(module, layer)
        assert found in ("dense", "one rule", "up where gate is not 0") or found.startswith(
            ("rows ", "zeros of ")) or " along axis " in found or found.endswith(" of its mask"), found
        return rule

    with mock.patch.object(_sparsify, "timed", timed), mock.patch.object(
            _sparsify, "chosen_rule", chosen_rule):
        return pit.torch.sparsify(model, samples, verbose=False)


class Sparsify(unittest.TestCase):
    def close(self, x, y, tolerance=1e-5):
        torch.testing.assert_close(x, y, atol=tolerance, rtol=tolerance)

    def test_linear(self):
        model, samples = Mlp().eval(), [torch.randn(4, 16, 32) for _ in range(3)]
        names, before = list(model.state_dict()), model(samples[0])
        rows = {row.name: row for row in sparsify(model, samples)}
        self.assertEqual(sparse_layers(model), ["down", "pruned"])
        self.assertEqual(model.pruned.sparse, "weight")
        self.assertRegex(rows["up"].why, r"^\d+ % zeros; 30 % are worth a try$")
        self.assertGreater(rows["down"].zeros, 0.5)
        self.assertEqual((rows["down"].shape, rows["down"].rows), ((32, 256), 64))
        self.assertAlmostEqual(rows["pruned"].weight_zeros, 30 / 32)
        self.assertEqual(rows["pruned"].rule, "32x1 along axis 1")
        self.assertEqual(list(model.state_dict()), names)
        self.close(model(samples[0]), before)
        torch.autograd.grad(model(samples[0]).sum(), list(model.parameters()))
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        self.close(compiled(samples[0]), before)
        exported = torch.export.export(model, (samples[0],)).module()
        self.close(exported(samples[0]), before)
        self.assertIs(pit.torch.densify(model), model)
        self.assertEqual(sparse_layers(model), [])
        self.assertTrue(torch.equal(model(samples[0]), before))

    def test_nothing_that_loses(self):
        model, samples = Mlp().eval(), [torch.randn(8, 32)]
        table = sparsify(model, samples, factor=1.02)
        self.assertEqual((sparse_layers(model), table.taken, table.speed_up), ([], [], 1.0))
        self.assertEqual(table[1].why, "0.980 times as fast; 1.05 is needed")
        table = sparsify(model, samples, factor=0.97)  # less than is worth it
        self.assertEqual(sparse_layers(model), [])
        with mock.patch.object(_sparsify, "measure_model", lambda *_: 0.9):
            table = sparsify(model, samples)
        self.assertEqual((sparse_layers(model), table.taken), ([], []))
        self.assertEqual(table[1].why, "the whole model is 0.900 times as fast")

        table = sparsify(model, samples, rule="dense")
        self.assertEqual(sparse_layers(model), [])
        self.assertEqual(table[1].why, "its program chose the dense variant")

    def test_unsteady(self):
        """A layer that is faster in five of nine rounds, by its median 1.25 times."""
        model, count = Mlp().eval(), 0

        def timed(step, repeats, device):
            nonlocal count
            step()
            if not sparse_layers(model):
                return 1.0
            count += 1
            return 0.8 if (count - 1) % 12 < 8 else 1.2  # of 12, three warm up

        with mock.patch.object(_sparsify, "timed", timed), mock.patch.object(
                _sparsify, "chosen_rule", lambda *_: "one rule"):
            table = pit.torch.sparsify(model, [torch.randn(8, 32)], verbose=False)
        self.assertAlmostEqual(table[1].speed_up, 1.25)
        self.assertEqual(table[1].why, "faster in 5 of 9 rounds; 7 are needed")

    def test_results_must_agree(self):
        model, samples = Mlp().eval(), [torch.randn(8, 32)]
        with mock.patch.object(pit.torch.Linear, "forward", lambda layer, x: 1.01 * (
                x @ layer.weight.T + layer.bias)):
            table = sparsify(model, samples)
        self.assertEqual(sparse_layers(model), [])
        self.assertRegex(table[1].why, r"results differ by \d.*; 1e-04 is allowed$")

    def test_measured(self):
        """With real times: whatever is taken, the results and names stay."""
        model, samples = Mlp(64, 512), [{"x": torch.randn(32, 64)}, (torch.randn(8, 64),)]
        before = model.eval()(**samples[0])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            table = pit.torch.sparsify(model, samples)
        self.assertIn("of 3 layers replaced", printed.getvalue())
        self.assertEqual(sparse_layers(model), table.taken)
        for row in table:
            if row.taken:
                self.assertGreater(row.speed_up, 1)
        self.close(model(**samples[0]), before)

    def test_training(self):
        model, samples = Mlp(), [torch.randn(8, 32)]
        x = samples[0]
        expected = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
        table = sparsify(model, samples)
        self.assertEqual(table.taken, ["up", "down", "pruned"])
        self.assertEqual(model.up.sparse, "grad")  # since a ReLU follows
        self.assertGreater(table[0].grad_zeros, 0.5)
        self.assertTrue(model.training and model.down.training)
        self.close(torch.autograd.grad(model(x).square().sum(), list(model.parameters())),
                   expected, 1e-4)
        self.assertIsNone(model.up.weight.grad)

    def test_compiled_ahead(self):
        """Programs of layers that differ are compiled by threads, in forms that are measured then."""
        model = nn.Sequential(nn.Linear(24, 40), nn.ReLU(), nn.Linear(40, 56), nn.ReLU(), nn.Dropout(0.1),
                              nn.Linear(56, 24), nn.ReLU(), nn.Linear(24, 8))
        for layer in model[::2]:
            if isinstance(layer, nn.Linear):
                nn.init.constant_(layer.bias, -0.5)
        compiled, measured = [], []
        real_read, real_caller = _cache.read_or_compile, _sparsify.caller

        def read_or_compile(*given):
            compiled.append(threading.get_ident())
            return real_read(*given)

        def caller(*given):
            measured.append(threading.get_ident())
            return real_caller(*given)

        for training in (False, True):
            model.train(training)
            compiled.clear(), measured.clear()
            x = torch.randn(16, 24)
            state = torch.get_rng_state()
            with (mock.patch.object(_cache, "read_or_compile", read_or_compile),
                  mock.patch.object(_sparsify, "caller", caller),
                  mock.patch.object(_sparsify.os, "cpu_count", lambda: 4)):
                table = pit.torch.sparsify(model, [x], verbose=False)
            here = threading.get_ident()
            self.assertTrue(compiled)
            self.assertNotIn(here, compiled)
            self.assertIn(here, measured)
            self.assertTrue(torch.equal(torch.get_rng_state(), state))
            self.assertFalse([row.why for row in table if "differ" in row.why])
            pit.torch.densify(model)
            self.assertEqual({type(layer) for layer in model}, {nn.Linear, nn.ReLU, nn.Dropout})

    def test_statistics_stay(self):
        model = nn.Sequential(nn.BatchNorm1d(32), Mlp())
        sparsify(model, [torch.randn(8, 32)])
        self.assertEqual(model[0].num_batches_tracked.item(), 0)
        self.assertEqual(sparse_layers(model), ["1.up", "1.down", "1.pruned"])

    def test_copies(self):
        model, samples = Mixture().eval(), [torch.randn(2, 20, 16)]
        with torch.no_grad():
            before = model(samples[0])
            sparsify(model, samples)
            other = copy.deepcopy(model)
            model.load_state_dict({name: 0 * value for name, value in model.state_dict().items()})
            self.close(other(samples[0]), before)
            pit.torch.densify(other)
            self.close(other(samples[0]), before)

    def test_layout(self):
        """For few rows a weight is tried that lies as (k, n). It is that of no other module."""
        def timed(step, repeats, device):
            step()
            return 1 + ("exchanged" not in vars(model.down)) - 0.5 * bool(sparse_layers(model))

        model = Mlp().eval()
        other = copy.deepcopy(model)
        x = torch.randn(4, 32)
        names, before = dict(model.state_dict()), model(x)
        with mock.patch.object(_sparsify, "timed", timed), mock.patch.object(
                _sparsify, "chosen_rule", lambda *_: "1x1 along axis 1"):
            table = pit.torch.sparsify(model, [x], verbose=False)
            self.assertIn("down", table.taken)
            self.assertEqual(model.down.weight.stride(), (1, 32))
            self.close(model(x), before)
            self.assertEqual(list(names), list(model.state_dict()))
            for name, value in model.state_dict().items():
                self.assertTrue(torch.equal(value, names[name]), name)
            model.load_state_dict(other.state_dict())
            self.assertEqual(model.down.weight.stride(), (1, 32))
            self.assertEqual(copy.deepcopy(model).down.weight.stride(), (1, 32))
            asked = list(model.down.parameters())
            grads = torch.autograd.grad(model(x).square().sum(), asked)
            pit.torch.densify(model)
            for one, two in zip(grads, torch.autograd.grad(model(x).square().sum(), asked)):
                self.close(one, two)
            self.assertTrue(model.down.weight.is_contiguous())
            for rows, tied in ((100, False), (4, True)):
                if tied:
                    model.twin = nn.Embedding(32, 256)
                    model.twin.weight = model.down.weight
                pit.torch.sparsify(model, [torch.randn(rows, 32)], verbose=False)
                self.assertTrue(model.down.weight.is_contiguous())
                pit.torch.densify(model)

    def test_mixtures(self):
        model, samples = Mixture().eval(), [torch.randn(2, 20, 16) for _ in range(2)]
        names = list(model.state_dict())
        with torch.no_grad():
            before = model(samples[0])
            table = sparsify(model, samples)
            taken = ["first", "second", "experts"]
            self.assertEqual(sparse_layers(model), taken)
            self.assertEqual(table.taken, taken)
            self.assertEqual([row.name for row in table],
                             ["first", "second", "router", "experts"])
            self.close(model(samples[0]), before)
            compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
            self.close(compiled(samples[0]), before)
        self.assertEqual(list(model.state_dict()), names)
        self.close(model(samples[0]), before)  # with gradients
        # Weights that move or are loaded.
        with torch.no_grad():
            self.close(model.double()(samples[0].double()), before.double(), 1e-4)
            model.float()
            changed = {name: 2 * value for name, value in model.state_dict().items()}
            model.load_state_dict(changed, assign=True)
            found = model(samples[0])
            pit.torch.densify(model)
            self.assertEqual(sparse_layers(model), [])
            self.assertIs(type(model.first), Block)
            self.close(model(samples[0]), found, 1e-3)
            self.assertEqual(list(model.state_dict()), names)

    def test_table(self):
        table = sparsify(Mlp().eval(), [torch.randn(8, 32)])
        self.assertEqual(len(table), 3)
        self.assertEqual(table.columns()["layer"], ["up", "down", "pruned"])
        self.assertIn("<td>pruned</td>", table._repr_html_())
        self.assertIn("2 of 3 layers replaced; the model takes 0.25 of its time", repr(table))

    def test_errors(self):
        with self.assertRaisesRegex(pit.Error, "there are no samples"):
            pit.torch.sparsify(Mlp(), [])
        x = torch.randn(8, 32)
        for samples, kind in ((x, "Tensor"), ({"x": x}, "dict"), (collections.UserDict(x=x), "UserDict")):
            with self.assertRaisesRegex(pit.Error, f"samples is one {kind}; it must be a list"):
                pit.torch.sparsify(Mlp(), samples)

    def test_samples(self):
        """What stands for arguments: tokenizers return a UserDict, loaders tuples."""
        x = torch.randn(8, 32)
        pair = collections.namedtuple("pair", "x")
        for sample in (x, (x,), [x], {"x": x}, collections.UserDict(x=x), pair(x)):
            self.assertEqual(sparsify(Mlp().eval(), [sample]).taken, ["down", "pruned"])
        self.assertEqual(sparsify(Mlp().eval(), (x for _ in range(2))).taken, ["down", "pruned"])

    def test_not_called(self):
        """Layers whose class's forward the model does not call, which replacing changes."""
        x = torch.randn(8, 32)
        model = Mlp().eval()
        old = model.down.forward
        hook = lambda layer, *args: 3 * old(*args)  # noqa: E731
        model.down.forward = functools.partial(hook, model.down)  # as accelerate's hooks
        before = model(x)
        rows = {row.name: row for row in sparsify(model, [x])}
        self.assertEqual(sparse_layers(model), ["pruned"])
        self.assertRegex(rows["down"].why, "has a forward of its own")
        self.close(model(x), before)

        encoder = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0).eval()
        nn.init.constant_(encoder.linear1.bias, -2)
        x = torch.randn(2, 8, 32)
        torch.set_default_device(None)  # a mode, with which torch does not do so
        try:
            table = sparsify(encoder, [x])
        finally:
            torch.set_default_device(DEVICE)
        self.assertEqual([row.kind for row in table], ["encoder"])
        self.assertEqual(table.taken, [""])

        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.unused = Mlp(), nn.Linear(32, 32)

            def forward(self, x):
                return self.used(x)

        table = sparsify(Two().eval(), [torch.randn(8, 32)])
        self.assertEqual(table[-1].why, "the samples do not reach it")

    def test_kept_methods(self):
        """A hook that keeps the forward of a replaced layer calls it after densify, too."""
        tokens = torch.randn(20, 16)
        weights, chosen = torch.rand(20, 6).topk(2)
        with torch.no_grad():
            for model, x, name, args in (
                    (Mlp().eval(), torch.randn(8, 32), "down", (torch.randn(8, 256),)),
                    (Mixture().eval(), tokens[None], "first", (tokens[None],)),
                    (Mixture().eval(), tokens[None], "experts", (tokens, chosen, weights))):
                self.assertIn(name, sparsify(model, [x]).taken)
                layer = model.get_submodule(name)
                kept = layer.forward
                found = kept(*args)
                pit.torch.densify(model)
                self.close(kept(*args), layer(*args))
                self.close(found, layer(*args))


class Patterns(unittest.TestCase):
    """Layers that skip zeros by what stands beside them."""

    def expect(self, model, x, kinds, taken, limit=1e-5):
        """Which layers are taken; results, gradients and names stay, there and back, and in copies."""
        names, asked = list(model.state_dict()), list(model.parameters())
        types = [type(m) for m in model.modules()]
        expected = model(x)
        grads = torch.autograd.grad(expected.square().sum(), asked)
        table = sparsify(model, [x])
        self.assertEqual([row.kind for row in table], kinds, table)
        self.assertEqual(table.taken, taken, table)
        memory = io.BytesIO()
        torch.save(model, memory)
        memory.seek(0)
        for each in (model, copy.deepcopy(model), torch.load(memory, weights_only=False)):
            self.assertEqual([type(m) for m in each.modules()], [type(m) for m in model.modules()])
            found = each(x)
            torch.testing.assert_close(found, expected, atol=limit, rtol=limit)
            for one, other in zip(torch.autograd.grad(found.square().sum(), list(each.parameters())), grads):
                torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
            with torch.no_grad():
                torch.testing.assert_close(each(x), expected, atol=limit, rtol=limit)
        self.assertEqual(list(model.state_dict()), names)
        pit.torch.densify(model)
        self.assertEqual([type(m) for m in model.modules()], types)
        return table

    def test_gated(self):
        class Mlp(nn.Module):  # as transformers' LlamaMLP
            def __init__(self, activation):
                super().__init__()
                self.gate_proj, self.up_proj = nn.Linear(16, 48), nn.Linear(16, 48, bias=False)
                self.down_proj, self.act_fn = nn.Linear(48, 16), activation

            def forward(self, x):
                return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))

        model, x = nn.Sequential(Mlp(nn.ReLU()), Mlp(nn.SiLU())).eval(), torch.randn(2, 9, 16)
        globals()["Mlp_"] = Mlp
        Mlp.__qualname__ = "Mlp_"  # where pickle finds it
        table = self.expect(model, x, ["gated", "linear", "linear", "linear"], ["0"])
        self.assertGreater(table[0].zeros, 0.3)
        sparsify(model, [x])
        before = model(x)
        model[0].up_proj.register_forward_hook(lambda module, args, y: 2 * y)  # seen, later too
        self.assertFalse(torch.allclose(model(x), before))
        model[0].register_module("limit", nn.Identity())
        self.assertNotIn("gated", [row.kind for row in sparsify(model, [x])])

    def test_encoder(self):
        """torch computes these layers in one op; padding makes nested tensors of a batch."""
        layer = nn.TransformerEncoderLayer(16, 2, 64, batch_first=True, dropout=0.0)
        nn.init.constant_(layer.linear1.bias, -2)
        model, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(3, 8, 16)
        torch.set_default_device(None)  # a mode, with which torch does not do so
        try:
            self.expect(model, x, ["encoder", "encoder"], ["layers.0", "layers.1"])
            padded = {"src": x, "src_key_padding_mask": torch.arange(8) >= torch.tensor([[8], [5], [2]])}
            with torch.no_grad():
                expected = model(**padded)
                sparsify(model, [padded])
                torch.testing.assert_close(model(**padded), expected)
                hook = model.layers[0].linear1.register_forward_hook(lambda *given: None)
                torch.testing.assert_close(model(**padded), expected)  # layer by layer, of nested tensors
                hook.remove()
                model.use_nested_tensor = False
                padding = padded["src_key_padding_mask"]
                torch.testing.assert_close(model(**padded)[~padding], expected[~padding])
            self.assertEqual(sparsify(model.train(), [x]).taken, [
                f"layers.{i}.linear{j}" for i in range(2) for j in (1, 2)])
        finally:
            torch.set_default_device(DEVICE)

    def test_convolutions(self):
        model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2),
                              nn.Conv2d(32, 8, 1)).eval()
        nn.init.constant_(model[0].bias, -1)
        with torch.no_grad():
            model[3].weight.mul_(torch.arange(8)[:, None, None, None] < 2)
        table = self.expect(model, torch.randn(2, 3, 12, 12), ["conv"] * 3, ["2", "3"])
        self.assertRegex(table[0].why, r"^0 % zeros; 30 % are worth a try$")
        self.assertEqual((table[1].shape, table[1].rows), ((32, 16, 3, 3), 288))
        with self.assertRaisesRegex(pit.Error, "padding_mode='circular'; it must be 'zeros'"):
            pit.torch.Conv2d(3, 4, 3, padding=1, padding_mode="circular")
        image = torch.randn(3, 12, 12)
        layer = pit.torch.Conv2d(3, 4, 3)
        torch.testing.assert_close(layer(image), nn.Conv2d.forward(layer, image))

    def test_pruned(self):
        """What torch.nn.utils.prune makes: its mask says what is skipped."""
        model = nn.Sequential(nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 32))
        prune.ln_structured(model[0], "weight", amount=0.9, n=1, dim=0)
        prune.l1_unstructured(model[2], "weight", amount=0.95)
        names, x = list(model.state_dict()), torch.randn(40, 64)
        expected = model(x)
        grads = torch.autograd.grad(expected.square().sum(), list(model.parameters()))
        rules, real = [], _sparsify.chosen_rule

        def chosen(module, layer):
            rules.append(real(module, layer))
            return rules[-1]

        def timed(step, repeats, device):  # the mask's form is the faster one
            step()
            return 1.0 - 0.3 * sum(type(m) is _pruned.PrunedLinear for m in model.modules())

        with mock.patch.object(_sparsify, "timed", timed), mock.patch.object(
                _sparsify, "chosen_rule", chosen):
            table = pit.torch.sparsify(model, [x], verbose=False)
        self.assertEqual(table.taken, ["0", "2"])
        self.assertIn("1x* of its mask", rules)
        found = model(x)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(found.square().sum(), list(model.parameters())), grads):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
        prune.random_unstructured(model[0], "weight", amount=0.5)  # another mask, of fewer weights
        torch.testing.assert_close(model(x), model[2](model[1](nn.functional.linear(
            x, model[0].weight_orig * model[0].weight_mask, model[0].bias))))
        self.assertEqual(list(model.state_dict()), names)
        pit.torch.densify(model)
        self.assertIs(type(model[0]), nn.Linear)
        sparsify(model, [x])
        model[0].__class__ = _pruned.PrunedLinear
        model[0].take()
        prune.remove(model[0], "weight")
        with self.assertRaisesRegex(pit.Error, "its mask was removed"):
            model(x)

    def test_table(self):
        """Lines of layers that differ in their number alone are one."""
        model = nn.Sequential(*(Mlp() for _ in range(3))).eval()
        table = sparsify(model, [torch.randn(8, 32)])
        self.assertEqual(len(table), 9)
        self.assertEqual(len(table.columns()["layer"]), 9)
        lines = repr(table).splitlines()
        self.assertEqual([line.split("  ")[0] for line in lines[2:]],
                         ["*.up (3)", "*.down (3)", "*.pruned (3)"])


class Layer(unittest.TestCase):
    def test_mask(self):
        kept = torch.rand(8, 16) < 0.3
        layer = pit.torch.Linear(16, 8, mask=kept)
        x = torch.randn(5, 16, requires_grad=True)
        weight = layer.weight.detach().clone().requires_grad_()
        found, expected = layer(x), nn.functional.linear(x, weight * kept, layer.bias)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(found.square().sum(), (x, layer.weight)),
                              torch.autograd.grad(expected.square().sum(), (x, weight))):
            torch.testing.assert_close(one, other)
        self.assertEqual(list(layer.state_dict()), ["weight", "bias", "mask"])
        graph = torch.compile(layer, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(graph(x), expected)
        self.assertIs(type(pit.torch.densify(layer)), pit.torch.Linear)  # whose mask counts
        with self.assertRaisesRegex(pit.Error, r"a mask of shape \(16, 8\) .* about weights, \(8, 16\)"):
            pit.torch.Linear(16, 8, mask=kept.T)
        with self.assertRaisesRegex(pit.Error, "sparse='y'; it is 'x', 'weight' or 'grad'"):
            pit.torch.Linear(16, 8, sparse="y")

    def test_linear(self):
        for which in ("x", "weight", "grad"):
            layer = pit.torch.Linear(16, 8, sparse=which)
            x = torch.relu(torch.randn(2, 5, 16))
            torch.testing.assert_close(layer(x), nn.functional.linear(x, layer.weight, layer.bias))
            self.assertIn(f"sparse='{which}'", repr(layer))
        self.assertIsNone(pit.torch.Linear(16, 8, bias=False).bias)

    def test_traces(self):
        """torch.jit and torch.fx, on a layer whose program is there and on one that is new."""
        layer = nn.Sequential(nn.ReLU(), pit.torch.Linear(16, 8)).requires_grad_(False)
        x, other = torch.randn(5, 16), torch.randn(5, 16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.jit is to go
            first = torch.jit.trace(layer, x)
            self.assertTrue(torch.equal(first(other), layer(other)))
            traced = torch.jit.trace(layer, x)
            self.assertIn("pit::run", str(traced.inlined_graph))
            memory = io.BytesIO()
            torch.jit.save(traced, memory)
            memory.seek(0)
            self.assertTrue(torch.equal(torch.jit.load(memory)(other), layer(other)))
        self.assertTrue(torch.equal(torch.fx.symbolic_trace(layer)(other), layer(other)))

    def test_onnx(self):
        """ONNX has no op of pit, and gets torch's: what its exporter traces holds these alone."""
        model = nn.Sequential(pit.torch.Linear(16, 8), pit.torch.Linear(8, 4, sparse="weight"))
        x = torch.randn(5, 16)
        with mock.patch.object(torch.onnx, "is_in_onnx_export", lambda: True), mock.patch.object(
                _run, "ONNX_MODULES", {"torch"}):
            found = torch.export.export(model.requires_grad_(False), (x,))
            with self.assertRaisesRegex(pit.Error, "matmul: a format without ops of pit"):
                torch.export.export(Masked(), (x, x.T > 0, x.T))
        self.assertNotIn("pit.run", str(found.graph))
        torch.testing.assert_close(found.module()(x), model(x))


class Masked(nn.Module):
    def forward(self, x, mask, weight):
        return pit.matmul(x, weight, sparse="b", mask=mask)


if __name__ == "__main__":
    unittest.main()
