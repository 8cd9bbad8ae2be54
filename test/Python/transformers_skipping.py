# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""Layers of transformers that some tokens skip, with caches of keys and values, in float64. The reference
has no cache: its layers are run by hand, text by text, on the kept tokens alone."""

import copy
import os
import pickle
import sys
import unittest
import unittest.mock
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
import transformers  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

import pit.transformers  # noqa: E402
from pit.transformers import _kept  # noqa: E402

GPT2 = dict(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, eos_token_id=None)
ROTARY = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, head_dim=8,
              pad_token_id=1, intermediate_size=48, num_key_value_heads=2)
MODELS = {"GPT2": GPT2, "Llama": ROTARY, "Mistral": dict(ROTARY, sliding_window=4)}
ROUTERS = torch.randn(2, 32, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
LEFT = torch.tensor([[1] * 12, [0] * 5 + [1] * 7, [0] + [1] * 11])
POSITIONS = (LEFT.cumsum(1) - 1).clamp(min=0)
IDS = torch.randint(2, 64, LEFT.shape, generator=torch.Generator().manual_seed(3))


def where(number, x):
    return x @ ROUTERS[number] > 0


def made(name, implementation="pit", kind="Model"):
    torch.manual_seed(0)
    cls = getattr(transformers, f"{name}{'LMHeadModel' if kind != 'Model' and name == 'GPT2' else kind}")
    config = getattr(transformers, f"{name}Config")(**MODELS[name])
    model = cls._from_config(config, attn_implementation=implementation)
    for p in model.parameters():
        p.data.normal_(0, 0.2)
    return model.eval().double()


def layers(model):
    body = model.base_model
    return body.h if hasattr(body, "h") else body.layers


def skipping(name, numbers=(0, 1), kind="Model"):
    model = made(name, kind=kind)
    for n in numbers:
        pit.transformers.skip_tokens(layers(model)[n], lambda x, n=n: where(n, x))
    return model


def by_hand(name, there, numbers=(0, 1), kind="Model"):
    """A model whose layers are run on what is kept alone; `there` makes (batch, positions) of bool."""
    model = made(name, "sdpa", kind)
    for n in numbers:
        layer = layers(model)[n]

        def forward(x, *args, n=n, real=layer.forward, position_embeddings=None, **kwargs):
            mask = (args + (None, None))[1] if name == "GPT2" else kwargs.pop("attention_mask")
            kwargs = {k: v for k, v in kwargs.items() if k not in ("cache", "position_ids")}
            y = x.clone()
            for row, kept in enumerate(where(n, x) & there(x)):
                at = kept.nonzero().flatten()
                if len(at) == 0:
                    continue
                if position_embeddings is not None:
                    kwargs["position_embeddings"] = tuple(
                        v.expand(len(x), -1, -1)[row, at][None] for v in position_embeddings)
                seen = mask
                if mask is not None:
                    seen = mask.expand(len(x), -1, -1, -1)[row][:, at][:, :, at][None]
                y[row, at] = real(x[row, at][None], attention_mask=seen, **kwargs)[0]
            return y

        layer.forward = forward
    return model


def all_at_once(name, mask, numbers=(0, 1)):
    """The reference's states, and its gradients of the embedding."""
    model = by_hand(name, lambda x: mask != 0, numbers)
    y = model(input_ids=IDS, attention_mask=mask, position_ids=POSITIONS if mask is LEFT else None,
              use_cache=False).last_hidden_state
    grad, = torch.autograd.grad(y[mask != 0].square().sum(), model.get_input_embeddings().weight)
    return y.detach(), grad


def call(model, cache, part, mask):
    return model(input_ids=IDS[:, part], attention_mask=mask[:, : part.stop], cache=cache, use_cache=True,
                 position_ids=POSITIONS[:, part] if mask is LEFT else None).last_hidden_state


class Caches(unittest.TestCase):
    def close(self, x, y, atol=1e-12):
        torch.testing.assert_close(x, y, rtol=0, atol=atol * max(1, y.abs().max().item()))

    def test_steps(self):
        """Prompts, parts of prompts, and tokens; texts of several lengths and counts."""
        for name, numbers in (("GPT2", (0, 1)), ("GPT2", (1,)), ("Llama", (0, 1)), ("Mistral", (0, 1))):
            model = skipping(name, numbers)
            for mask in (LEFT, torch.ones_like(LEFT)):
                expected, grad = all_at_once(name, mask, numbers)
                for steps in ((6, 3, 1, 1, 1), (1,) * 12):
                    with self.subTest(name, numbers=numbers, mask=mask is LEFT, steps=len(steps)):
                        cache, at, found = transformers.DynamicCache(config=model.config), 0, []
                        for n in steps:
                            with torch.set_grad_enabled(len(steps) < 12):
                                found.append(call(model, cache, slice(at, at + n), mask))
                            at += n
                            self.assertEqual(cache.get_seq_length(), at)
                        found, there = torch.cat(found, 1), mask != 0
                        # Norms of Llama and Mistral are of f32.
                        self.close(found[there], expected[there], 1e-12 if name == "GPT2" else 1e-6)
                        if name == "GPT2" and len(steps) < 12:
                            found, = torch.autograd.grad(found[there].square().sum(),
                                                         model.get_input_embeddings().weight)
                            self.close(found, grad, 1e-10)

    def test_keys(self):
        """A layer's cache has keys of kept tokens alone, and of a window's positions."""
        for name in ("GPT2", "Mistral"):
            model = skipping(name, (0,))
            cache = transformers.DynamicCache(config=model.config)
            kept = where(0, model.get_input_embeddings()(IDS) if name == "Mistral" else (
                model.wte(IDS) + model.wpe(POSITIONS))) & (LEFT != 0)
            with torch.no_grad():
                for part in (slice(0, 8), slice(8, 9), slice(9, 12)):
                    call(model, cache, part, LEFT)
            first = 0 if name == "GPT2" else 12 - 3
            expected = kept[:, first:].sum(1)
            self.assertEqual(cache.layers[0].counts.tolist(), expected.tolist())
            self.assertEqual(cache.layers[0].keys.shape[2], expected.max())
            self.assertEqual(cache.layers[1].keys.shape[2], 12 - first)
            for row, places in enumerate(kept):
                self.assertEqual(cache.layers[0].places[row, :expected[row]].tolist(),
                                 (first + places[first:].nonzero().flatten()).tolist())

    def test_texts(self):
        """Caches are copied, cropped, and change their texts; one that no token skipped is continued."""
        mask = torch.ones_like(LEFT)
        expected, _ = all_at_once("GPT2", mask)
        model = skipping("GPT2")
        cache = transformers.DynamicCache(config=model.config)
        with torch.no_grad():
            call(model, cache, slice(0, 8), mask)
            for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
                call(model, other, slice(8, 12), mask)
                other.crop(-3)
                self.assertEqual(other.get_seq_length(), 9)
                self.close(call(model, other, slice(9, 12), mask), expected[:, 9:])
            texts = torch.tensor([2, 0, 0])
            for change in ("reorder_cache", "batch_select_indices"):
                other = copy.deepcopy(cache)
                getattr(other, change)(texts)
                y = model(IDS[texts, 8:], cache=other).last_hidden_state
                self.close(y, expected[texts, 8:])
            cache.batch_repeat_interleave(2)
            y = model(IDS[:, 8:].repeat_interleave(2, 0), cache=cache).last_hidden_state
            self.close(y, expected[:, 8:].repeat_interleave(2, 0))
            cache.reset()
            self.close(call(model, cache, slice(0, 12), mask), expected)
            # Keys of all tokens, and then of some: the reference keeps all tokens of the first call.
            whole, cache = made("GPT2"), transformers.DynamicCache()
            call(whole, cache, slice(0, 5), mask)
            reference = by_hand("GPT2", lambda x: mask != 0, ())
            for n, layer in enumerate(layers(reference)):
                layer.forward = self.begun(layer.forward, n)
            expected = reference(IDS, use_cache=False).last_hidden_state
            y = torch.cat([call(model, cache, part, mask) for part in (slice(5, 9), slice(9, 10))], 1)
            self.close(y, expected[:, 5:10])

    def test_past(self):
        """A window's cache that keeps what is behind the window, until it is cropped."""
        mask = torch.ones_like(LEFT)
        expected, _ = all_at_once("Mistral", mask)
        model = skipping("Mistral")
        cache = transformers.DynamicCache(config=model.config)
        cache.activate_past_recording()
        with torch.no_grad():
            for start, end in ((0, 7), (7, 8), (8, 12)):
                self.close(call(model, cache, slice(start, end), mask), expected[:, start:end], 1e-6)
            cache.crop(-3)
            self.close(call(model, cache, slice(9, 12), mask), expected[:, 9:], 1e-6)
            cache.crop(0)
            self.assertLessEqual(cache.layers[0].keys.shape[2], 3)

    def begun(self, real, n):
        """A layer that the first 5 tokens do not skip."""
        def forward(x, *args, **kwargs):
            y = x.clone()
            for row, kept in enumerate(where(n, x)):
                kept[:5] = True
                y[row, kept] = real(x[row, kept][None])[0]
            return y
        return forward

    def test_generate(self):
        """Greedy, in beams, and guessed by another model; padding on the left."""
        options = dict(max_new_tokens=6, do_sample=False, pad_token_id=0)
        there = dict(input_ids=IDS, attention_mask=LEFT)
        model = skipping("GPT2", kind="ForCausalLM")
        reference = by_hand("GPT2", lambda x: torch.nn.functional.pad(
            LEFT.repeat_interleave(len(x) // 3, 0), (0, x.shape[1] - 12), value=1) != 0, kind="ForCausalLM")
        for beams in (1, 2):
            found = model.generate(**there, **options, num_beams=beams)
            expected = reference.generate(**there, **options, num_beams=beams, use_cache=False)
            self.assertTrue(torch.equal(found, expected), beams)
        one = dict(input_ids=IDS[:1], attention_mask=LEFT[:1])
        found = model.generate(**one, **options, assistant_model=made("GPT2", kind="ForCausalLM"))
        self.assertTrue(torch.equal(found, model.generate(**one, **options)))

    def test_as_many(self):
        """Routers that take the best tokens of each text, of which perhaps one text has none."""
        mask = torch.ones_like(LEFT)
        for texts in (3, 2):
            def best(number, x, texts=texts):
                found = (x @ ROUTERS[number]).argsort(1).argsort(1) >= 7
                return found & (torch.arange(len(x)) < texts)[:, None]

            for name in MODELS:
                with self.subTest(name, texts=texts), unittest.mock.patch.dict(globals(), where=best):
                    expected, grad = all_at_once(name, mask)
                    model = skipping(name)
                    y = model(input_ids=IDS, attention_mask=mask, use_cache=False).last_hidden_state
                    self.close(y, expected, 1e-12 if name == "GPT2" else 1e-6)
                    found, = torch.autograd.grad(y.square().sum(), model.get_input_embeddings().weight)
                    self.close(found, grad, 1e-10 if name == "GPT2" else 1e-5)

    def test_nobody(self):
        """Calls that all tokens skip count as positions; results of a tuple stay one."""
        model = made("GPT2")
        kept = torch.zeros(3, 12, dtype=torch.bool)
        kept[1, 6:] = True
        at = [0]
        for layer in layers(model):
            pit.transformers.skip_tokens(layer, lambda x: kept[:, at[0]:at[0] + x.shape[1]])
        reference, cache, mask = made("GPT2", "sdpa"), transformers.DynamicCache(), torch.ones_like(LEFT)
        with torch.no_grad():
            for end in (4, 5, 8, 9, 12):
                y = call(model, cache, slice(at[0], end), mask)
                at[0] = end
                self.assertEqual(cache.get_seq_length(), end)
            x = reference.wte(IDS[1:2, 6:]) + reference.wpe(torch.arange(6, 12))
            for layer in layers(reference):
                x = layer(x)
            self.close(y[1], reference.ln_f(x)[0, -3:])
        block = type("Pair", (torch.nn.Linear,), {"forward": lambda self, x: (
            torch.nn.functional.linear(x, self.weight), None)})(4, 4)
        pit.torch.skip_tokens(block, lambda x: x[..., 0] > 9)
        x = torch.zeros(2, 3, 4)
        y, none = block(x)
        self.assertTrue(y is x and none is None)

    def test_unpadded(self):
        """A model whose batches are packed already."""
        right = LEFT.flip(1)
        model = skipping("GPT2")
        expected = model(input_ids=IDS, attention_mask=right, use_cache=False).last_hidden_state
        pit.transformers.unpad(model, measured=False)
        y = model(input_ids=IDS, attention_mask=right, use_cache=False).last_hidden_state
        self.close(y[right != 0], expected[right != 0])

    def test_errors(self):
        model = skipping("Mistral")
        with torch.no_grad():
            with self.assertRaisesRegex(pit.Error, "MistralDecoderLayer: layer 0 of its cache is Static.*"
                                                   "DynamicCache"):
                call(model, transformers.StaticCache(config=model.config, max_cache_len=16), slice(0, 4),
                     LEFT)
            cache = transformers.DynamicCache(config=model.config)
            call(model, cache, slice(0, 6), LEFT)
            with self.assertRaisesRegex(pit.Error, "a cache is of 3 texts; the call has 2"):
                model(IDS[:2, 6:], cache=copy.deepcopy(cache))
            with self.assertRaisesRegex(pit.Error, r"crop\(-1\): keys outside of the window of 4 are gone"):
                cache.crop(-1)
            with self.assertRaisesRegex(pit.Error, r"crop\(1\): a negative number"):
                cache.crop(1)
            with self.assertRaisesRegex(pit.Error, "asks its cache for `get_seq_length`"):
                _kept.Packed(cache, None, "Layer").get_seq_length
            model.set_attn_implementation("sdpa")  # which would have texts see each other
            with self.assertRaisesRegex(pit.Error, "Layer: attn_implementation='sdpa'; it must be 'pit'"):
                model(IDS)
            model.set_attn_implementation("pit")
            with self.assertRaisesRegex(pit.Error, "where is Tensor; it is a function"):
                pit.transformers.skip_tokens(model.layers[0], LEFT)
            pit.transformers.skip_tokens(model.layers[0], torch.nn.Linear(32, 1).double())
            pit.transformers.skip_tokens(model.layers[0], lambda x: [1])
            with self.assertRaisesRegex(pit.Error, r"`where` gives list \[1\]; it gives a tensor"):
                model(IDS)
            pit.torch.densify(model)
            with self.assertRaisesRegex(pit.Error, "keys of kept tokens alone"):
                call(model, cache, slice(6, 7), LEFT)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
