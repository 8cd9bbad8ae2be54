# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""`attn_implementation="pit"` of transformers: values, gradients and what is generated against "eager";
which masks are numbers; and what stays torch's."""

import copy
import itertools
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import masking_utils  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

import pit.transformers  # noqa: E402
from pit.transformers import _attend, _choice, _masks  # noqa: E402

SIZES = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=48, max_position_embeddings=64, pad_token_id=1)
ROTARY = dict(SIZES, num_key_value_heads=2, head_dim=8)
SEQUENCES = dict(vocab_size=64, pad_token_id=1, d_model=32, encoder_layers=1, decoder_layers=1,
                 encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
                 decoder_ffn_dim=48, max_position_embeddings=64, decoder_start_token_id=2)
DECODERS = {
    "Llama": ROTARY,
    "Mistral": dict(ROTARY, sliding_window=3),
    "Gemma2": dict(ROTARY, sliding_window=3, attn_logit_softcapping=2.0),
    "Gemma3": dict(ROTARY, sliding_window=3, layer_types=["sliding_attention", "full_attention"]),
    "GptOss": dict(ROTARY, num_local_experts=4, num_experts_per_tok=2, sliding_window=3),
    "Qwen3": ROTARY,
    "Phi3": ROTARY,
    "Llama4": dict(ROTARY, attention_chunk_size=4, num_local_experts=2, intermediate_size_mlp=48,
                   layer_types=["chunked_attention", "full_attention"]),
    "OPT": dict(SIZES, ffn_dim=48, word_embed_proj_dim=32),
    "GPT2": dict(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64),
    "GPTNeoX": SIZES,
}
ENCODERS = {
    "Bert": SIZES,
    "Roberta": SIZES,
    "DistilBert": dict(vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=48, pad_token_id=1),
    "ModernBert": dict(SIZES, local_attention=4, global_attn_every_n_layers=2),
}
TEXTS = {"Gemma3", "Llama4"}  # whose configuration of a text has a name of its own
LEFT = torch.tensor([[0] * 3 + [1] * 6, [0] * 5 + [1] * 4, [1] * 9])
ANY = torch.tensor([[1] * 5 + [0] * 4, [0] * 4 + [1] * 5, [1, 1, 1, 0, 1, 1, 1, 0, 0]])
RIGHT = torch.tensor([[1] * 5 + [0] * 4, [1] * 9, [1] * 7 + [0] * 2])


def made(name, values, head=""):
    torch.manual_seed(0)
    config = getattr(transformers, name + ("TextConfig" if name in TEXTS else "Config"))(**values)
    if name == "GPT2" and head:
        head = "LMHeadModel"
    cls = getattr(transformers, name + ("TextModel" if name in TEXTS and not head else head or "Model"))
    model = cls._from_config(config, attn_implementation="eager").eval()
    for p in model.parameters():
        p.data.normal_(0, 0.2)
    return model


def with_pit(model):
    other = copy.deepcopy(model)
    other.set_attn_implementation("pit")
    return other


def inputs(mask, shape=(3, 9)):
    ids = torch.randint(2, 64, shape, generator=torch.Generator().manual_seed(0))
    return dict(input_ids=ids if mask is None else ids.masked_fill(mask == 0, 1), attention_mask=mask)


def results(model, given):
    """The states that are there, and gradients of all parameters."""
    y = model(**given).last_hidden_state
    if given["attention_mask"] is not None:
        y = y[given["attention_mask"] != 0]
    grads = torch.autograd.grad(y.square().sum(), list(model.parameters()), allow_unused=True)
    return [y, *(g for g in grads if g is not None)]


class Counted:
    """Which calls pit computed, and which others; the masks of the former."""

    def __enter__(self):
        self.masks, self.others, reals = [], 0, (_attend.by_pit, _attend.others)

        def by_pit(*given):
            self.masks.append(given[4])
            return reals[0](*given)

        def others(*given):
            self.others += 1
            return reals[1](*given)

        self.patches = [mock.patch.object(_attend, "by_pit", by_pit),
                        mock.patch.object(_attend, "others", others),
                        mock.patch.object(_choice, "run", lambda kind, own, *rest, **_: own()),
                        mock.patch.object(_choice, "run_trained", lambda kind, own, *rest, **_: own())]
        for patch in self.patches:
            patch.start()
        return self

    def __exit__(self, *_):
        for patch in self.patches:
            patch.stop()


class Attention(unittest.TestCase):
    def close(self, found, expected, limit=2e-5):
        self.assertEqual(found.shape, expected.shape)
        scale = expected.abs().max().item()
        torch.testing.assert_close(found, expected, rtol=0, atol=limit * scale + 1e-6)

    def expect_small(self, masks):
        """No mask has elements for queries and keys."""
        for each in masks:
            if each is not None:
                self.assertIsInstance(each, _masks.Mask)
                self.assertTrue(each.kept is None or each.kept.shape[2] == 1)

    def test_values_and_gradients(self):
        for name, values in (DECODERS | ENCODERS).items():
            model = made(name, values)
            other = with_pit(model)
            for mask in (LEFT if name in DECODERS else ANY, RIGHT, None):
                given = inputs(mask)
                if name in DECODERS:
                    given["use_cache"] = False
                with self.subTest(name, mask=mask), Counted() as counted:
                    found = results(other, given)
                    self.assertEqual((len(counted.masks), counted.others), (2, 0))
                    if name != "Llama4" or mask is not LEFT:  # whose chunks begin where the text does
                        self.expect_small(counted.masks)
                    for one, expected in zip(found, results(model, given)):
                        self.close(one, expected)

    def test_generate(self):
        """Caches that grow, that have a window, and that are there as a whole."""
        for name in ("Llama", "Mistral", "Gemma2", "GptOss", "Llama4", "OPT", "GPT2"):
            model = made(name, DECODERS[name], "ForCausalLM")
            other = with_pit(model)
            for kind, mask in ((None, LEFT), ("static", LEFT), ("static", None)):
                with self.subTest(name, cache=kind, padding=mask is not None), Counted() as counted:
                    options = dict(max_new_tokens=3, do_sample=False, cache_implementation=kind,
                                   output_logits=True, return_dict_in_generate=True,
                                   disable_compile=True)
                    given = {k: v for k, v in inputs(mask).items() if v is not None}
                    expected = model.generate(**given, **options)
                    found = other.generate(**given, **options)
                    self.assertTrue(torch.equal(found.sequences, expected.sequences))
                    for one, each in zip(found.logits, expected.logits):
                        self.close(one, each)
                    self.assertEqual((len(counted.masks), counted.others), (6, 0))

    def test_chunks_of_a_prompt(self):
        """Several queries behind keys of a cache."""
        model = made("Mistral", DECODERS["Mistral"])
        other, ids = with_pit(model), inputs(None)["input_ids"]
        expected = model(input_ids=ids).last_hidden_state
        with Counted() as counted:
            first = other(input_ids=ids[:, :5], use_cache=True)
            second = other(input_ids=ids[:, 5:], cache=first.past_key_values)
            self.expect_small(counted.masks)
        self.close(torch.cat([first.last_hidden_state, second.last_hidden_state], 1), expected)

    def test_encoder_and_decoder(self):
        model = made("Bart", SEQUENCES)
        other = with_pit(model)
        given = dict(inputs(RIGHT), decoder_input_ids=inputs(None)["input_ids"], use_cache=False)
        with Counted() as counted:
            self.close(other(**given).last_hidden_state, model(**given).last_hidden_state)
            self.assertEqual((len(counted.masks), counted.others), (3, 0))

    def test_positions_that_are_learned(self):
        """Biases of scores: pit's without gradients, torch's with them."""
        model = made("T5", dict(vocab_size=64, d_model=32, d_kv=8, num_heads=4, num_layers=1, d_ff=48,
                                dropout_rate=0.0))
        other = with_pit(model)
        given = dict(inputs(RIGHT), decoder_input_ids=inputs(None)["input_ids"], use_cache=False)
        with Counted() as counted:
            expected = model(**given).last_hidden_state
            self.close(other(**given).last_hidden_state, expected)
            trained = counted.others
            with torch.no_grad():
                self.close(other(**given).last_hidden_state, expected)
            self.assertEqual((trained, counted.others, len(counted.masks)), (2, 2, 4))

    def test_masks_of_the_caller(self):
        model = made("Llama", ROTARY)
        other = with_pit(model)
        kept = torch.rand(3, 1, 9, 9) < 0.5
        kept |= torch.eye(9, dtype=torch.bool)
        kept[0, :, :8, 8] = False
        added = torch.zeros(kept.shape).masked_fill(~kept, torch.finfo(torch.float32).min)
        kept[0, 0, 8], added[0, 0, 8] = False, torch.finfo(torch.float32).min  # which nobody asks for
        ids = inputs(None)["input_ids"]
        with Counted() as counted:
            expected = model(input_ids=ids, attention_mask=added).last_hidden_state
            for each in (kept, added):
                found = other(input_ids=ids, attention_mask=each).last_hidden_state
                self.assertTrue(found.isfinite().all())
                self.close(found[1:], expected[1:])
                self.close(found[0, :8], expected[0, :8])
            self.assertEqual((len(counted.masks), counted.others), (4, 0))

    def test_packed_sequences(self):
        """Positions that begin again are another sequence."""
        model = made("Llama", ROTARY)
        places = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])
        given = dict(input_ids=inputs(None)["input_ids"][:1], position_ids=places, use_cache=False)
        self.close(with_pit(model)(**given).last_hidden_state, model(**given).last_hidden_state)

    def test_graphs(self):
        for name in ("Llama", "Mistral", "Bert"):
            model = made(name, (DECODERS | ENCODERS)[name])
            given = inputs(RIGHT)
            step = torch.compile(with_pit(model), fullgraph=True, backend="eager")
            with Counted() as counted:
                self.close(step(**given).last_hidden_state[RIGHT != 0],
                           model(**given).last_hidden_state[RIGHT != 0])
                self.assertEqual((len(counted.masks), counted.others), (2, 0))

    def test_others(self):
        """Probabilities that are asked for, or dropped, are the model's own."""
        model = made("Gemma2", dict(DECODERS["Gemma2"], attention_dropout=0.5))
        other, given = with_pit(model), inputs(LEFT)
        for training in (False, True):
            found = []
            with Counted() as counted:
                for each in (model, other):
                    each.train(training)
                    torch.manual_seed(0)
                    found.append(each(**given).last_hidden_state[LEFT != 0])
                self.assertEqual(counted.others, 2 * training)
            self.close(*found)

    def test_others_without_a_mask(self):
        """torch's attention gets no tensor for a mask that is_causal says."""
        module, known = torch.nn.Module(), 0
        real = torch.nn.functional.scaled_dot_product_attention
        places = itertools.product((1, 4, 9), (1, 4, 9), (0, 3), (False, True), (None, 5))
        for queries, keys, offset, causal, window in places:
            if offset + queries > keys:
                continue
            mask = _masks.Mask(queries, keys, offset, causal, window)
            q, k, v = (torch.randn(1, 2, n, 8, dtype=torch.float64) for n in (queries, keys, keys))
            taken = []

            def recorded(*given, attn_mask, **options):
                taken.append(attn_mask)
                return real(*given, attn_mask=attn_mask, **options)

            with mock.patch.object(torch.nn.functional, "scaled_dot_product_attention", recorded):
                found, _ = _attend.others(module, q, k, v, mask, {})
            scores = (q @ k.mT * 8 ** -0.5).masked_fill(~mask.dense(), -torch.inf)
            self.close(found, (scores.softmax(-1) @ v).transpose(1, 2), 1e-12)
            self.assertEqual(taken[0] is None, mask.as_is_causal() is not None)
            known += taken[0] is None
        self.assertEqual(known, 13)

    def test_measured(self):
        """Calls without gradients take turns with torch's attention."""
        _choice.kinds.clear()
        model = with_pit(made("Llama", ROTARY))
        with torch.no_grad():
            for _ in range(2 * _choice.MOST + 1):
                model(**inputs(LEFT))
        self.assertEqual([kind.faster is not None for kind in _choice.kinds.values()], [True])

    def test_measured_training(self):
        """The first call with gradients is measured beside the model, whose gradients are added once."""
        other = made("Llama", ROTARY)
        model = with_pit(other)
        for slow in (0, 1):
            _choice.kinds.clear()
            # Two ticks for each step, of which pit's or torch's take longer.
            clock = (tick + (tick % 4 == (3 - 2 * slow)) / 2 for tick in range(400)).__next__
            with mock.patch.object(_choice.time, "perf_counter", clock):
                found = model(**inputs(LEFT)).last_hidden_state
            self.assertEqual([kind.faster for kind in _choice.kinds.values()], [slow])
            found[LEFT != 0].square().sum().backward()
            other(**inputs(LEFT)).last_hidden_state[LEFT != 0].square().sum().backward()
            for mine, theirs in zip(model.parameters(), other.parameters()):
                self.close(mine.grad, theirs.grad, 1e-4)
            model.zero_grad(), other.zero_grad()

    def test_own_attention(self):
        """A model that adds its mask to scores of its own says so."""
        found = _masks.mask(1, 9, 9, attention_mask=LEFT[:1].bool())
        with self.assertRaisesRegex(pit.Error, "an attention of its own"):
            torch.zeros(1, 4, 9, 9) + found


class Masks(unittest.TestCase):
    def test_as_transformers_has_them(self):
        """Each mask that is numbers, element by element."""
        functions = {
            "causal": masking_utils.causal_mask_function,
            "all": masking_utils.bidirectional_mask_function,
            "window": masking_utils.sliding_window_causal_mask_function(3),
            "around": masking_utils.sliding_window_bidirectional_mask_function(2),
            "chunks": masking_utils.chunked_causal_mask_function(4, torch.zeros(3, dtype=torch.long)),
            "or": masking_utils.or_masks(masking_utils.causal_mask_function, lambda b, h, q, k: k < 2),
        }
        small = 0
        # Queries, keys, and the places of the first ones.
        places = (9, 9, 0, 0), (1, 9, 8, 0), (4, 9, 5, 0), (1, 3, 8, 6), (3, 9, 2, 0), (2, 4, 8, 6), (4, 9, 0, 0)
        for (name, function), (queries, keys, first, first_key) in itertools.product(
                functions.items(), places):
            for padding, whole in itertools.product((None, LEFT, ANY, RIGHT), (False, True)):
                given = dict(batch_size=3, q_length=queries, kv_length=keys, mask_function=function,
                             q_offset=torch.tensor(first) if whole else first, kv_offset=first_key,
                             attention_mask=None if padding is None else padding.bool())
                with self.subTest(name, places=(queries, keys, first, first_key), padding=padding):
                    expected = masking_utils.sdpa_mask(**given, allow_is_causal_skip=False)
                    found = _masks.mask(**given, allow_is_bidirectional_skip=True)
                    if found is None:
                        self.assertTrue(expected.all())
                        continue
                    self.assertEqual(found.shape, expected.shape)
                    self.assertTrue(torch.equal(found.dense(), expected))
                    small += found.kept is None or found.kept.shape[2] == 1
        self.assertGreater(small, 200)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
