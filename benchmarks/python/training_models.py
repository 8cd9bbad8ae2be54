"""Times training steps of transformers models with experts, as they are and after
pit.torch.sparsify, in turns, on a GPU:

    python3 benchmarks/python/training_models.py [--tokens=4096] [--only=OLMoE] [--compile]

Weights are random, the experts of torch's model are `grouped_mm`, and a step is forward and
backward on the host's clock; with --compile by torch.compile, both models. Needs transformers 5.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch
from transformers import (
    MixtralConfig, MixtralForCausalLM, OlmoeConfig, OlmoeForCausalLM, Qwen3MoeConfig,
    Qwen3MoeForCausalLM)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit.torch  # noqa: E402

MODELS = {
    "OLMoE": (OlmoeForCausalLM, lambda: OlmoeConfig(num_hidden_layers=4, use_cache=False)),
    "Qwen3-MoE": (Qwen3MoeForCausalLM, lambda: Qwen3MoeConfig(
        num_hidden_layers=4, hidden_size=2048, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=768, num_attention_heads=32, num_key_value_heads=4, head_dim=128,
        norm_topk_prob=True, use_cache=False)),
    "Mixtral": (MixtralForCausalLM, lambda: MixtralConfig(num_hidden_layers=2, use_cache=False)),
}


def step(model, ids):
    for p in model.parameters():
        p.grad = None
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    return loss.item()


def timed(model, ids):
    torch.cuda.synchronize()
    start = time.perf_counter()
    step(model, ids)
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    for name, (cls, make) in MODELS.items():
        if options.only not in name:
            continue
        config = make()
        config._experts_implementation = "grouped_mm"
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            models = {"torch": cls(config).train(), "pit": cls(config).train()}
        torch.set_default_dtype(torch.float32)
        models["pit"].load_state_dict(models["torch"].state_dict())
        ids = [torch.randint(0, config.vocab_size, (2, options.tokens // 2), device="cuda")
               for _ in range(3)]
        table = pit.torch.sparsify(models["pit"], ids[:1], verbose=False)
        if options.compile:
            models = {k: torch.compile(m) for k, m in models.items()}
        losses = {k: step(m, ids[0]) for k, m in models.items()}
        times = {k: [] for k in models}
        for i in range(3 + options.rounds):
            for k, model in models.items():
                times[k].append(timed(model, ids[i % 3]))
        torch_ms, pit_ms = (statistics.median(t[3:]) for t in times.values())
        print(f"{name}: torch {torch_ms:.1f} ms, pit {pit_ms:.1f} ms, ratio {torch_ms / pit_ms:.2f}; "
              f"losses {losses}; {sum(row.taken for row in table)} layers replaced", flush=True)
        del models
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
