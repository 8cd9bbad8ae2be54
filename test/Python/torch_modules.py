# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""Layers of transformers that sparsify may replace, forward and backward against the
unmodified ones, on inputs ten times larger than the usual ones, too. Classes are built
from their code alone, with a configuration that makes up small numbers.

    torch_modules.py          a class of each kind of code
    torch_modules.py --all    every class of transformers that can be built and called so
"""

import collections
import copy
import importlib
import inspect
import os
import re
import sys
import unittest
import warnings
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
import transformers  # noqa: E402
from torch import nn  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import setup  # noqa: E402, F401

from pit.torch import _mixtures, _modules  # noqa: E402

HIDDEN, WIDE, EXPERTS, HEADS = 32, 48, 6, 4
TOLERANCE = 1e-4  # as sparsify allows in f32

# Experts: the usual code, a limit, an f32 gate, interleaved and with biases, transposed, a
# norm afterwards, no gate, without the decorator, and identities in place of some.
SOME_EXPERTS = """
    mixtral.MixtralExperts deepseek_v4.DeepseekV4Experts beam.BeamExperts gpt_oss.GptOssExperts
    aria.AriaExperts muse_spark.MuseSparkExperts nemotron_h.NemotronHExperts step3p7.Step3p7Experts
    longcat_flash.LongcatFlashExperts
""".split()
# Layers of Linear: gated, in f32, plain; attention, with norms of its heads.
SOME_LAYERS = """
    mixtral.MixtralAttention llama.LlamaMLP beam.BeamMLP clip.CLIPMLP qwen3_moe.Qwen3MoeAttention
""".split()
# Experts that are not replaced: ids of more than the weights are those of identities; all of
# them run for each token, or on tokens that are sorted.
REFUSED = {"LongcatFlashExperts", "InklingSharedExperts", "Llama4TextExperts"}
LEAST = {"experts": 72, "layers": 650}  # of all classes: fewer, and the test has lost some


class Config:
    """Small numbers, by the names that configurations have for them."""

    VALUES = [
        (r"_experts_implementation|_attn_implementation", "eager"),
        (r".*(act|activation|act_fn|activation_function|nonlinearity)", "silu"),
        (r".*(experts_per_tok|top_?k|topk)", 2),
        (r"(num|n)_.*experts|.*num_experts", EXPERTS),
        (r".*key_value_heads|.*kv_heads", 2),
        (r"head_dim|attention_head_dim", HIDDEN // HEADS),
        (r".*heads", HEADS),
        (r"moe_latent_size|sliding_window|pretraining_tp", None),
        (r"zero_expert_num", 2),
        (r".*(intermediate|ffn|mlp|inner).*(size|dim|hidden)", WIDE),
        (r".*(hidden_size|hidden_dim|d_model|embed_dim|n_embd)", HIDDEN),
        (r".*dropout.*|.*drop_prob|.*pdrop", 0.0),
        (r".*(eps|epsilon)", 1e-6),
        (r".*(swiglu_limit|limit)", 1.0),
        (r".*softcap", 5.0),
        (r".*alpha", 1.702),
        (r".*(scaling_factor|multiplier)", 1.0),
        (r"max_position_embeddings", 64),
        (r".*bias|use_.*|.*is_.*|.*_norm", False),
        (r"initializer_range", 0.02),
        (r"rope_parameters|rope_scaling", {"rope_type": "default", "rope_theta": 1e4}),
        (r"rope_theta", 1e4),
        (r"layer_types", ["full_attention"]),
        (r"num_hidden_layers", 1),
    ]

    def __getattr__(self, name):
        for pattern, value in self.VALUES:
            if re.fullmatch(pattern, name):
                return value
        raise AttributeError(name)


class Skipped(Exception):
    pass


def classes(names):
    for name in names:
        module, _, cls = name.partition(".")
        yield getattr(importlib.import_module(
            f"transformers.models.{module}.modeling_{module}"), cls)


def all_classes(wanted):
    folder = Path(transformers.__file__).parent / "models"
    for path in sorted(folder.glob("*/modeling_*.py")):
        try:
            module = importlib.import_module(
                f"transformers.models.{path.parent.name}.{path.stem}")
        except Exception:  # for packages that are not here
            continue
        for cls in vars(module).values():
            if (isinstance(cls, type) and issubclass(cls, nn.Module)
                    and cls.__module__ == module.__name__ and wanted(cls)):
                yield cls


def build(cls):
    """A module of a class, with weights of the usual size."""
    made_up = {"config": Config(), "layer_idx": 0}
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    given = {}
    for each in parameters:
        if each.name in made_up:
            given[each.name] = made_up[each.name]
        elif each.default is each.empty and each.kind == each.POSITIONAL_OR_KEYWORD:
            try:
                given[each.name] = getattr(made_up["config"], each.name)
            except AttributeError:
                raise Skipped(f"argument {each.name}") from None
    torch.manual_seed(0)
    module = cls(**given)
    with torch.no_grad():
        for p in module.parameters():
            p.normal_(0, p.shape[-1] ** -0.5)
    return module.eval()


def arguments(cls, x):
    """Of a forward, for hidden states of (batch, positions, hidden)."""
    found = {}
    angles = torch.outer(torch.arange(float(x.shape[1])), torch.rand(HIDDEN // HEADS))[None]
    for i, each in enumerate(list(inspect.signature(cls.forward).parameters.values())[1:]):
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            continue
        if i == 0:
            found[each.name] = x
        elif "position_emb" in each.name:
            found[each.name] = angles.cos(), angles.sin()
        elif each.default is each.empty:
            found[each.name] = None
    return found


def tensors(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [x for each in result for x in tensors(each)] if isinstance(result, (tuple, list)) else []


def run(module, kwargs, gradients):
    """Results, and gradients of parameters and of the tensors that are passed."""
    torch.manual_seed(1)
    if not gradients:
        with torch.no_grad():
            return tensors(module(**kwargs))
    floats = [x for x in kwargs.values() if isinstance(x, torch.Tensor) and x.is_floating_point()]
    for x in floats:
        x.requires_grad_()
    found = tensors(module(**kwargs))
    loss = sum(y.square().sum() for y in found if y.requires_grad)
    grads = torch.autograd.grad(loss, [*floats, *module.parameters()], allow_unused=True)
    for x in floats:
        x.requires_grad_(False)
    return [*found, *(g for g in grads if g is not None)]


class Modules(unittest.TestCase):
    def agree(self, name, before, after):
        self.assertEqual(len(before), len(after), name)
        def largest(x):
            return x[x.isfinite()].abs().max().item() if x.isfinite().any() else 0.0

        floats = [x for x in before if x.is_floating_point() and x.numel()]
        least = 1e-2 * max(map(largest, floats))  # gradients that are sums to 0 are noise
        for one, other in zip(before, after):
            self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype), name)
            if one.is_floating_point() and one.numel():
                torch.testing.assert_close(
                    other, one, rtol=0, atol=TOLERANCE * max(largest(one), least),
                    msg=lambda text: f"{name}: {text}")
            else:
                self.assertTrue(torch.equal(one, other), name)

    def compare(self, name, module, replace, kwargs):
        """A module and a replaced copy, on inputs and on ten times these."""
        other = copy.deepcopy(module)
        replace(other)
        for factor in (1, 10):
            larger = {name: factor * x if isinstance(x, torch.Tensor) and x.is_floating_point()
                      and x.shape[-1] == HIDDEN else x for name, x in kwargs.items()}
            for gradients in (False, True):
                self.agree(f"{name}, inputs times {factor}", run(module, larger, gradients),
                           run(other, larger, gradients))

    def experts(self, found):
        seen, skipped = [], {}
        for cls in found:
            try:
                module = build(cls)
            except Exception as error:
                skipped[cls.__name__] = repr(error)
                continue
            if not _mixtures.is_experts(module):
                skipped[cls.__name__] = "other weights"
                continue
            why = _mixtures.unknown_of_experts(module)
            self.assertEqual(why is not None, cls.__name__ in REFUSED, f"{cls.__name__}: {why}")
            if why is not None:
                seen.append(cls.__name__)
                continue
            weights, chosen = torch.rand(12, EXPERTS).softmax(-1).topk(2)
            names = _mixtures.names_of(cls)
            kwargs = dict(zip(names, (torch.randn(12, HIDDEN), chosen, weights)))
            with self.subTest(cls.__name__):
                self.compare(cls.__name__, module, lambda m: _mixtures.make_experts_sparse(
                    m, _mixtures.Experts), kwargs)
                seen.append(cls.__name__)
        return seen, skipped

    def layers(self, found):
        seen, skipped = [], collections.OrderedDict()
        for cls in found:
            try:
                module = build(cls)
                if not any(type(m) is nn.Linear for m in module.modules()):
                    raise Skipped("no Linear")
                kwargs = arguments(cls, torch.randn(2, 6, HIDDEN))
                run(module, kwargs, True)
            except Exception as error:
                skipped[cls.__name__] = repr(error)
                continue
            with self.subTest(cls.__name__):
                for which in ("x", "weight") if ALL else ("x",):
                    self.compare(cls.__name__, module, lambda m: [
                        _modules.make_sparse(each, which) for each in m.modules()
                        if type(each) is nn.Linear], kwargs)
                seen.append(cls.__name__)
        return seen, skipped

    def test_experts(self):
        if ALL:
            seen, skipped = self.experts(all_classes(lambda cls: "Experts" in cls.__name__))
            print(f"{len(seen)} classes of experts; not built: {skipped}")
            self.assertGreaterEqual(len(seen), LEAST["experts"])
        else:
            seen, skipped = self.experts(classes(SOME_EXPERTS))
            self.assertEqual(seen, [name.partition(".")[2] for name in SOME_EXPERTS], skipped)

    def test_layers(self):
        if ALL:
            seen, skipped = self.layers(all_classes(lambda cls: re.search(
                "MLP|FeedForward|FFN|Attention|Mlp", cls.__name__)))
            print(f"{len(seen)} layers; not built: {len(skipped)}")
            for name, why in skipped.items():
                print(f"  {name}: {why[:150]}")
            self.assertGreaterEqual(len(seen), LEAST["layers"])
        else:
            seen, skipped = self.layers(classes(SOME_LAYERS))
            self.assertEqual(seen, [name.partition(".")[2] for name in SOME_LAYERS], skipped)


ALL = "--all" in sys.argv

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # the layers are small
    unittest.main(argv=[each for each in sys.argv if each != "--all"])
