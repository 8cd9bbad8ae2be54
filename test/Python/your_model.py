# RUN: %quick_python %s
# REQUIRES: pit-compile, torch, transformers
"""The examples of docs/YourModel.md, on small models of random weights."""

import os
import re
import sys
import unittest
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
from transformers import (  # noqa: E402
    BertConfig, BertModel, OPTConfig, OPTForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM)

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT  # noqa: E402

TEXT = (ROOT / "docs" / "YourModel.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
SIZES = dict(vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=4)


class Documents(unittest.TestCase):
    def test_examples(self):
        torch.manual_seed(0)
        model = Qwen3MoeForCausalLM(Qwen3MoeConfig(
            **SIZES, num_key_value_heads=2, head_dim=8, num_experts=4, num_experts_per_tok=2,
            moe_intermediate_size=48)).eval()
        encoder = BertModel(BertConfig(**SIZES, intermediate_size=48)).eval()
        opt = OPTForCausalLM(OPTConfig(**SIZES, ffn_dim=256, word_embed_proj_dim=32)).eval()
        mask = (torch.arange(9) < torch.tensor([[9], [4], [6]])).long()
        values = {"torch": torch, "model": model, "encoder": encoder, "opt": opt, "backend": "aot_eager",
                  "ids": torch.randint(2, 64, (2, 9)), "mlp": torch.nn.Linear(32, 32),
                  "batch": {"input_ids": torch.randint(1, 64, (3, 9)), "attention_mask": mask}}
        with torch.no_grad():
            expected = model(input_ids=values["ids"]).logits
            expected_texts = model.generate(values["ids"], max_new_tokens=4)
            states = encoder(**values["batch"]).last_hidden_state
        for example in EXAMPLES:
            exec(compile(example, "docs/YourModel.md", "exec"), values)
        self.assertEqual(len(EXAMPLES), 6)
        self.assertEqual(model.config._experts_implementation, "pit")
        self.assertEqual(model.config._attn_implementation, "pit")
        self.assertTrue(torch.equal(values["texts"], expected_texts))
        torch.testing.assert_close(values["y"], expected)
        torch.testing.assert_close(values["z"], expected)
        there = (mask != 0)[..., None]
        torch.testing.assert_close(values["states"], torch.where(there, values["mlp"](states), 0.0))
        self.assertEqual(type(encoder).__name__, "UnpaddedBertModel")
        self.assertIn("model.decoder.layers.0.fc2", [row.name for row in values["table"]])


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
