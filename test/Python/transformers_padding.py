# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""Padded batches that are packed: pit.torch.pack and unpack, and models of transformers whose layers see
no padding, values and gradients against the unmodified ones."""

import copy
import os
import pickle
import sys
import unittest
from pathlib import Path
from unittest import mock

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
import transformers  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

import pit.transformers  # noqa: E402
from pit.torch import _choice  # noqa: E402
from pit.transformers import _attention  # noqa: E402

SMALL = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, pad_token_id=1,
             intermediate_size=48, max_position_embeddings=64)
ROTARY = dict(SMALL, num_key_value_heads=2, head_dim=8, use_cache=False)
# Names of models; the implementations of attention that they have; whether padding may be anywhere.
MODELS = {
    "Bert": (dict(SMALL), ("sdpa", "eager", "pit"), False),
    "Roberta": (SMALL, ("sdpa",), False),
    "DistilBert": (dict(vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=48, pad_token_id=1,
                        max_position_embeddings=64), ("sdpa",), True),
    "ModernBert": (dict(SMALL, local_attention=4, global_attn_every_n_layers=2), ("sdpa", "eager"), True),
    "Electra": (dict(SMALL, embedding_size=32), ("sdpa",), True),
    "GPT2": (dict(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, use_cache=False),
             ("sdpa",), True),
    "OPT": (dict(vocab_size=64, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4,
                 max_position_embeddings=64, word_embed_proj_dim=32, use_cache=False), ("sdpa",), False),
    "Llama": (ROTARY, ("sdpa", "eager"), True),
    "Mistral": (dict(ROTARY, sliding_window=3), ("sdpa", "eager", "pit"), True),
    "Gemma2": (dict(ROTARY, sliding_window=3), ("eager", "pit"), True),
    "Qwen3": (ROTARY, ("sdpa",), True),
    "GptOss": (dict(ROTARY, num_local_experts=4, num_experts_per_tok=2, sliding_window=3), ("eager",), True),
}
REFUSED = {
    "MPNet": (SMALL, "does not pass `pit_padding`"),
    "DebertaV2": (SMALL, "does not pass `pit_padding`"),
    "Albert": (dict(SMALL, embedding_size=16), ""),
    "Mamba": (dict(vocab_size=64, hidden_size=32, num_hidden_layers=1), ""),
}
RIGHT = torch.tensor([[1] * 5 + [0] * 4, [1] * 9, [1] * 7 + [0] * 2])
ANY = torch.tensor([[1] * 5 + [0] * 4, [0] * 4 + [1] * 5, [1, 1, 1, 0, 1, 1, 1, 0, 0]])


def made(name, values, implementation="sdpa"):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**values)
    model = getattr(transformers, f"{name}Model")._from_config(config, attn_implementation=implementation)
    for p in model.parameters():
        p.data.normal_(0, 0.2)
    return model.eval()


def inputs(mask):
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(2, 64, mask.shape, generator=generator)
    return dict(input_ids=ids.masked_fill(mask == 0, 1), attention_mask=mask)


def results(model, given, wanted):
    """The last layer's states that are there, and gradients of all parameters."""
    y = model(**given).last_hidden_state[wanted != 0]
    parameters = list(model.parameters())
    grads = torch.autograd.grad(y.square().sum(), parameters, allow_unused=True)
    return [y, *(g for g in grads if g is not None)]


class Counted:
    """How many calls of attention saw a packed batch."""

    def __enter__(self):
        self.count, self.real = 0, _attention.by_sequences

        def counting(*args, **kwargs):
            self.count += 1
            return self.real(*args, **kwargs)

        _attention.by_sequences = counting
        return self

    def __exit__(self, *_):
        _attention.by_sequences = self.real


class Pack(unittest.TestCase):
    def test_there_and_back(self):
        x = torch.randn(3, 9, 2, requires_grad=True)
        for mask in (ANY, ANY.bool(), ANY.to(torch.uint8), -3 * ANY.int(), torch.zeros_like(ANY)):
            rows = pit.torch.pack(x, mask)
            torch.testing.assert_close(rows, x[mask != 0])
            y = pit.torch.unpack(rows, pit.torch.Padding(mask), fill=7)
            torch.testing.assert_close(y, torch.where(mask[..., None] != 0, x, 7))
            grad, = torch.autograd.grad(y.sum(), x)
            self.assertTrue(torch.equal(grad, (mask != 0)[..., None].expand(x.shape).float()))

    def test_nested(self):
        parts = [torch.randn(n, 4) for n in (3, 0, 5)]
        nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
        torch.testing.assert_close(pit.torch.pack(nested, None), torch.cat(parts))

    def test_errors(self):
        with self.assertRaisesRegex(pit.Error, r"is \(batch, positions\), .* \(3, 9\) of torch.float32"):
            pit.torch.Padding(ANY.float())
        with self.assertRaisesRegex(pit.Error, r"x is \(3, 8\), its mask \(3, 9\)"):
            pit.torch.pack(torch.zeros(3, 8), ANY)
        with self.assertRaisesRegex(pit.Error, "there are 4 rows; the mask has 16 positions"):
            pit.torch.unpack(torch.zeros(4, 8), ANY)


class Unpad(unittest.TestCase):
    def test_models(self):
        for name, (values, implementations, is_any) in MODELS.items():
            for implementation in implementations:
                with self.subTest(name, implementation=implementation):
                    model = made(name, values, implementation)
                    other = pit.transformers.unpad(copy.deepcopy(model), measured=False)
                    self.assertEqual(other.right_alone, not is_any)
                    for mask in (RIGHT, ANY):
                        with Counted() as packed:
                            found = results(other, inputs(mask), mask)
                        self.assertEqual(bool(packed.count), mask is RIGHT or is_any)
                        for one, expected in zip(found, results(model, inputs(mask), mask)):
                            scale = expected.abs().max().item()
                            torch.testing.assert_close(one, expected, rtol=0, atol=2e-5 * scale + 1e-6)
                        if packed.count:
                            y = other(**inputs(mask)).last_hidden_state
                            self.assertFalse(y[mask == 0].any())

    def test_refused(self):
        for name, (values, why) in REFUSED.items():
            model = made(name, values, "eager")
            with self.assertRaisesRegex(pit.Error, f"unpad: {name}Model: .*{why}"):
                pit.transformers.unpad(model)
            self.assertEqual((type(model).__name__, model.config._attn_implementation),
                             (f"{name}Model", "eager"))

    def test_as_before(self):
        """Calls that are not packed, and models that are taken back, copied or pickled."""
        model = made("Llama", ROTARY)
        given, mask = inputs(ANY), ANY != 0
        before = model(**given).last_hidden_state
        pit.transformers.unpad(pit.transformers.unpad(model, measured=False))
        with Counted() as packed:
            self.assertIsNotNone(model(**given, use_cache=True).past_key_values)
            model(input_ids=given["input_ids"])
            model(**inputs(torch.ones_like(ANY)))
            torch.compile(model, backend="eager")(**given)
        self.assertEqual(packed.count, 0)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            with Counted() as packed:
                torch.testing.assert_close(other(**given).last_hidden_state[mask], before[mask])
            self.assertEqual(packed.count, 2)
        pit.transformers.pad(model)
        self.assertEqual((type(model).__name__, model.config._attn_implementation), ("LlamaModel", "sdpa"))
        self.assertTrue(torch.equal(model(**given).last_hidden_state, before))

    def test_measured(self):
        """The first calls of a kind take turns."""
        model = pit.transformers.unpad(made("Llama", ROTARY))
        for slow in (0, 1):
            _choice.kinds.clear()
            late = 1 if slow else 3  # the second tick of a call as before, or of a packed one
            clock = (tick + (tick % 4 == late) / 2 for tick in range(100)).__next__
            called = []
            with mock.patch.object(_choice.time, "perf_counter", clock), torch.no_grad():
                for _ in range(7):
                    with Counted() as packed:
                        model(**inputs(ANY))
                    called.append(bool(packed.count))
            self.assertEqual(called, [True, False, True, False, True] + [slow == 1] * 2)

    def test_heads(self):
        """A model with a head, and its loss; what generates."""
        config = transformers.LlamaConfig(**ROTARY)
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config).eval()
        given = inputs(RIGHT)
        labels = given["input_ids"].masked_fill(RIGHT == 0, -100)
        tokens = model.generate(**inputs(ANY), max_new_tokens=3, do_sample=False, use_cache=True)
        loss = model(**given, labels=labels).loss
        pit.transformers.unpad(model, measured=False)
        with Counted() as packed:
            torch.testing.assert_close(model(**given, labels=labels).loss, loss)
        self.assertEqual(packed.count, 2)
        again = model.generate(**inputs(ANY), max_new_tokens=3, do_sample=False, use_cache=True)
        self.assertTrue(torch.equal(again, tokens))

    def test_sparsify(self):
        from torch_sparsify import sparsify
        for training in (False, True):
            model = made("Bert", SMALL).train(training)
            given = inputs(RIGHT)
            table = sparsify(model, [given])
            row, = [row for row in table if row.kind == "padding"]
            self.assertAlmostEqual(row.zeros, 6 / 27)
            self.assertTrue(row.taken, row.why)
            self.assertIs(type(model).dense, transformers.BertModel)
            pit.torch.densify(model)
            self.assertIs(type(model), transformers.BertModel)


class Skip(unittest.TestCase):
    def test_block(self):
        """A block that sees each token alone; the router's gradient by the scales."""
        block = torch.nn.Linear(8, 8)
        x = torch.randn(2, 6, 8, requires_grad=True)
        kept, scales = torch.rand(2, 6) < 0.5, torch.rand(2, 6, requires_grad=True)
        change = block(x) - x
        expected = x + change * (scales * kept)[..., None]
        asked = [x, scales, *block.parameters()]
        grads = torch.autograd.grad(expected.square().sum(), asked)
        names = list(block.state_dict())
        pit.torch.skip_tokens(block, lambda x: (kept, scales))
        found = block(x)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(found.square().sum(), asked), grads):
            torch.testing.assert_close(one, other)
        self.assertEqual(list(block.state_dict()), names)
        pit.torch.skip_tokens(block, lambda x: torch.zeros(2, 6))
        self.assertTrue(torch.equal(block(x), x))
        with self.assertRaisesRegex(pit.Error, r"`where` gives \(2, 5\) for \(2, 6, 8\)"):
            pit.torch.skip_tokens(block, lambda x: torch.zeros(2, 5))(x)
        self.assertIs(type(pit.torch.densify(block)), torch.nn.Linear)

    def test_layers(self):
        """Layers of decoders, of which kept tokens are as a sequence of their own."""
        for name, implementation in (("Llama", "pit"), ("Mistral", "pit"), ("Gemma2", "pit")):
            model = made(name, MODELS[name][0], "eager")
            given, kept = inputs(RIGHT), torch.rand(RIGHT.shape) < 0.6
            kept[1, :2] = True
            reference = copy.deepcopy(model)
            layer = reference.layers[1]
            real = layer.forward

            def forward(x, attention_mask, position_embeddings, layer=layer, real=real, **kwargs):
                y = x.clone()
                for row, mask in enumerate(kept & (RIGHT != 0)):
                    at = mask.nonzero().flatten()
                    if len(at):
                        places = tuple(v.expand(3, -1, -1)[row, at][None] for v in position_embeddings)
                        seen = attention_mask[row, :, at][:, :, at][None]
                        y[row, at] = real(x[row, at][None], attention_mask=seen,
                                          position_embeddings=places)[0]
                return y

            layer.forward = forward
            expected = results(reference, given, RIGHT)
            model.set_attn_implementation(implementation)
            pit.transformers.skip_tokens(model.layers[1], lambda x: kept)
            with mock.patch.object(_attention, "Window", wraps=_attention.Window) as window:
                found = results(model, given, RIGHT)
            # The order of the tokens and padding say all; a window needs its function of places.
            self.assertEqual(window.called, name == "Mistral", name)
            for one, other in zip(found, expected):
                scale = other.abs().max().item()
                torch.testing.assert_close(one, other, rtol=0, atol=2e-5 * scale + 1e-6)
        with self.assertRaisesRegex(pit.Error, "attn_implementation='sdpa'; it must be 'pit'"):
            pit.transformers.skip_tokens(made("Llama", ROTARY).layers[0], lambda x: kept)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
