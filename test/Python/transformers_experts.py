# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""`experts_implementation="pit"` of transformers: every class that takes implementations, values and
gradients in float64 against the class's own code; what models do with it; and what stays torch's."""

import copy
import functools
import importlib
import os
import pickle
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch_modules import EXPERTS, HIDDEN, WIDE, build, transformers

import pit.transformers  # in the path by torch_modules
from pit.ops import _op
from pit.torch import _choice, _experts, _modules, _switch
from transformers import GptOssConfig, GptOssForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

LEAST = 65  # classes: fewer, and the test has lost some
SMALL = dict(hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
             head_dim=8, vocab_size=64, max_position_embeddings=64, num_experts_per_tok=2)
CHAIN = {"MuseSparkExperts"}  # which has a norm behind each expert


@functools.cache
def classes():
    """All classes with the decorator."""
    folder, found = Path(transformers.__file__).parent / "models", []
    for path in sorted(folder.glob("*/modeling_*.py")):
        if "@use_experts_implementation" not in path.read_text():
            continue
        module = importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}")
        for cls in vars(module).values():
            if (isinstance(cls, type) and cls.__module__ == module.__name__
                    and "_apply_gate" in dir(cls) and "original_forward" in getattr(
                        cls.forward, "__code__", class_of.__code__).co_freevars):
                found.append(cls)
    return found


def calls_of(function):
    """A function's result, and the names of pit's ops that it called."""
    found = []
    real = _op.call

    def call(op, *rest):
        found.append(type(op).__name__)
        return real(op, *rest)

    with mock.patch.object(_op, "call", call):
        return function(), found


def inputs(dtype=torch.float64):
    torch.manual_seed(1)
    weights, chosen = torch.rand(12, EXPERTS).softmax(-1).topk(2)
    return torch.randn(12, HIDDEN, dtype=dtype), chosen, weights.to(dtype)


def results(module, name, x, chosen, weights):
    """The result, and gradients of tokens, weights of the router and parameters."""
    module.config._experts_implementation = name
    asked = [x.requires_grad_(), weights.requires_grad_(), *module.parameters()]
    y = module(x, chosen, weights)
    with torch.no_grad():
        plain = module(x, chosen, weights)
    return [plain, y, *torch.autograd.grad(y.square().sum(), asked)]


class Classes(unittest.TestCase):
    def close(self, found, expected, name, tolerance):
        for one, other in zip(found, expected):
            self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype), name)
            scale = other.abs().max().item()
            torch.testing.assert_close(one, other, rtol=0, atol=tolerance * scale + 1e-30,
                                       msg=lambda text: f"{name}: {text}")

    def test_all(self):
        seen = []
        for cls in classes():
            module = build(cls).double()
            self.assertTrue(_experts.form_of(module, cls).fits(module))
            one = {"Einsum"} if cls.__name__ in CHAIN else {"ExpertsForward", "ExpertsBackward"}
            for factor in (1, 10):  # which reaches limits
                x, chosen, weights = inputs()
                x *= factor
                with self.subTest(cls.__name__, factor=factor):
                    found, called = calls_of(lambda: results(module, "pit", x, chosen, weights))
                    # The code of some computes in f32, whatever the weights are.
                    self.close(found, results(module, "eager", x, chosen, weights), cls.__name__, 1e-5)
                    self.assertEqual(set(called), one)
            seen.append(cls.__name__)
        self.assertGreaterEqual(len(seen), LEAST)
        self.assertLessEqual(CHAIN, set(seen))

    def test_choice(self):
        """On a CPU the first calls tell which way is faster; of f16 and bf16 in training it is torch's."""
        module = build(class_of("MixtralExperts"))
        module.config._experts_implementation = "pit"
        for dtype in (torch.float32, torch.bfloat16):
            module.to(dtype)
            for slow in (0, 1):
                _choice.kinds.clear()
                # A call of torch, then one of pit takes two ticks each, and one of them more.
                late = 1 if slow else 3
                clock = (tick + (tick % 4 == late) / 2 for tick in range(100)).__next__
                with mock.patch.object(_choice.time, "perf_counter", clock), torch.no_grad():
                    called = [bool(calls_of(lambda: module(*inputs(dtype)))[1]) for _ in range(8)]
                self.assertEqual(called, [True, False, True, False, True] + [bool(slow == 1)] * 3, slow)
        found, called = calls_of(lambda: module(*inputs(torch.bfloat16)))
        self.assertEqual((called, found.dtype), ([], torch.bfloat16))

    def test_absent(self):
        """An id of as many experts as there are is an expert of another device: nobody here."""
        for name in ("GptOssExperts", "MixtralExperts", "MuseSparkExperts"):
            module = build(class_of(name))
            module._is_expert_parallel = True
            x, chosen, weights = inputs(torch.float32)
            chosen[3], chosen[5, 1] = EXPERTS, EXPERTS
            weights = weights.masked_fill(chosen == EXPERTS, 0)
            found = results(module, "pit", x, chosen, weights)
            expected = results(module, "grouped_mm", x, chosen, weights)
            there = chosen < EXPERTS
            found[3], expected[3] = found[3] * there, expected[3] * there
            self.close(found, expected, name, 1e-5)

    def test_changes(self):
        """Each call looks whether what was noted of a module is still so."""
        module = build(class_of("DeepseekV4Experts"))
        x, chosen, weights = inputs(torch.float32)
        for change in (lambda: setattr(module, "limit", 0.25),
                       lambda: setattr(module, "act_fn", torch.nn.Tanh()),
                       lambda: setattr(module, "act_fn", torch.nn.Softplus()),  # no formula has it
                       lambda: module.act_fn.register_forward_hook(lambda _, args, y: 2 * y),
                       lambda: setattr(module, "_apply_gate", lambda both: both.chunk(2, -1)[1])):
            change()
            self.close(results(module, "pit", x, chosen, weights),
                       results(module, "eager", x, chosen, weights), "DeepseekV4Experts", 1e-5)

    def test_autocast(self):
        module = build(class_of("GptOssExperts"))
        x, chosen, weights = inputs(torch.float32)
        expected = results(module, "eager", x, chosen, weights)
        with torch.autocast("cpu", torch.bfloat16):
            found, called = calls_of(lambda: results(module, "pit", x, chosen, weights))
        self.assertIn("ExpertsForward", called)
        self.close(found[:2], expected[:2], "autocast", 0.05)


def class_of(name):
    return next(cls for cls in classes() if cls.__name__ == name)


class Models(unittest.TestCase):
    def test_models(self):
        for config, cls in (
                (GptOssConfig(**SMALL, intermediate_size=WIDE, num_local_experts=EXPERTS), GptOssForCausalLM),
                (Qwen3MoeConfig(**SMALL, moe_intermediate_size=WIDE, num_experts=EXPERTS,
                                intermediate_size=WIDE), Qwen3MoeForCausalLM)):
            torch.manual_seed(0)
            model = cls(config).eval()
            for p in model.parameters():
                p.data.normal_(0, 0.2)
            ids = torch.randint(0, 64, (2, 9))
            model.set_experts_implementation("eager")
            logits, tokens, grads = self.run_model(model, model, ids)
            model.set_experts_implementation("pit")
            compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
            for run in (model, compiled):
                found = self.run_model(model, run, ids)
                torch.testing.assert_close(found[0], logits, rtol=0, atol=1e-5)
                self.assertTrue(torch.equal(found[1], tokens))
                for name, grad in grads.items():
                    scale = grad.abs().max().item()
                    torch.testing.assert_close(found[2][name], grad, rtol=0, atol=1e-4 * scale + 1e-9)
            model.config.use_cache = False
            exported = torch.export.export(model, (ids,), strict=False)
            self.assertTrue(any("pit." in str(node.target) for node in exported.graph.nodes))
            torch.testing.assert_close(exported.module()(ids).logits, logits, rtol=0, atol=1e-5)

    def run_model(self, model, run, ids):
        with torch.no_grad():
            logits = run(ids).logits
        tokens = model.generate(ids, max_new_tokens=4, do_sample=False)
        model.zero_grad()
        run(ids, labels=ids).loss.backward()
        return logits, tokens, {name: p.grad.clone() for name, p in model.named_parameters()}


class Switch(unittest.TestCase):
    """Experts of Switch Transformers, which take no implementations: by sparsify."""

    def made(self, **more):
        torch.manual_seed(0)
        return transformers.SwitchTransformersEncoderModel(transformers.SwitchTransformersConfig(
            d_model=16, d_ff=24, d_kv=8, num_heads=2, num_experts=5, num_layers=2, num_sparse_encoder_layers=1,
            vocab_size=64, **more)).eval()

    def experts_of(self, model):
        return next(m for m in model.modules() if _switch.is_switch(m) or isinstance(m, _switch.Switch))

    def calls_of(self, function):
        """A function's result, and how often experts are one call."""
        with mock.patch.object(_switch, "moe", wraps=_switch.moe) as moe:
            return function(), moe.call_count

    def test_model(self):
        """Also where an expert has no room for all tokens; and what stays of the model."""
        for capacity in 2, 64:
            model = self.made(expert_capacity=capacity)
            ids = torch.randint(4, 64, (3, 20))
            with torch.no_grad(), _choice.first_way():
                before, names = model(ids).last_hidden_state, list(model.state_dict())
                experts = self.experts_of(model)
                _modules.make_experts_sparse(experts, _switch.Switch)
                for made in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                    found, called = self.calls_of(lambda: made(ids).last_hidden_state)
                    self.assertEqual(called, 1)
                    torch.testing.assert_close(found, before)
                self.assertEqual(list(model.state_dict()), names)
                other = {name: x + 0.01 for name, x in model.state_dict().items()}
                model.load_state_dict(other)
                found, called = self.calls_of(lambda: model(ids).last_hidden_state)
                self.assertEqual(called, 1)
            pit.torch.densify(model)
            self.assertIs(type(experts).__name__, "SwitchTransformersExperts")
            with torch.no_grad():
                torch.testing.assert_close(model(ids).last_hidden_state, found)

    def test_as_before(self):
        """What trains, and what is no longer as it was known."""
        model, ids = self.made(dropout_rate=0.0), torch.randint(4, 64, (3, 20))
        experts = self.experts_of(model)
        wanted = model(ids).last_hidden_state
        wanted.sum().backward()
        grad = model.get_input_embeddings().weight.grad.clone()
        _modules.make_experts_sparse(experts, _switch.Switch)
        model.zero_grad()
        found, called = self.calls_of(lambda: model(ids).last_hidden_state)
        found.sum().backward()
        self.assertEqual(called, 0)
        torch.testing.assert_close(model.get_input_embeddings().weight.grad, grad)
        first = next(iter(experts.values()))
        with torch.no_grad():
            hook = first.wo.register_forward_hook(lambda *_: None)
            self.assertFalse(self.calls_of(lambda: model(ids))[1])
            hook.remove()
            first.wi.weight.data = first.wi.weight.data.clone()
            self.assertFalse(self.calls_of(lambda: model(ids))[1])
        self.assertIsNone(_switch.unknown(experts))
        first.act = torch.nn.Tanh()
        self.assertIn("activation", _switch.unknown(experts))

    def test_sparsify(self):
        model = self.made()
        with mock.patch("pit.torch._sparsify.GAIN", 0), mock.patch("pit.torch._sparsify.ROUNDS_FASTER", 0), (
                mock.patch("pit.torch._sparsify.measure_model", lambda *_: 2.0)):
            table = pit.torch.sparsify(model, [torch.randint(4, 64, (3, 20))], verbose=False)
        self.assertIn("encoder.block.1.layer.1.mlp.experts", table.taken)
        self.assertFalse([row.name for row in table if "expert_0" in row.name])
        training = pit.torch.sparsify(self.made().train(), [torch.randint(4, 64, (3, 20))], verbose=False)
        self.assertIn("run as they were", next(row.why for row in training if row.kind == "experts"))


class Missing(unittest.TestCase):
    def test_missing(self):
        """Without transformers, or with one that has no registry, the import says what it needs."""
        for fake in ("sys.modules['transformers'] = None",
                     "sys.modules['transformers.integrations.moe'] = None"):
            made = subprocess.run(
                [sys.executable, "-c", f"import sys; {fake}; import pit.transformers"],
                capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertRegex(made.stderr, "ImportError: pit.transformers needs transformers 5.*installed")


if __name__ == "__main__":
    torch.set_num_threads(1)  # the layers are small
    unittest.main()
