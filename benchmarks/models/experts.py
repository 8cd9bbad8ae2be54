"""Times models of transformers with experts, by "grouped_mm" and by pit.transformers, in turns, on a GPU:

    python3 benchmarks/models/experts.py [--only=OLMoE] [--ways=prefill,decode,train] [--compile]

Models are built from their configurations with random weights in bf16, some layers each, and so that
tokens are routed as random ones are. Prefill is 2 sequences of 2048 tokens, decode 64 sequences of one,
train forward and backward of the same tokens as prefill. Times are medians on the host's clock; both run the
same module. Results of both are compared. Needs transformers 5.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch
from transformers import (
    GptOssConfig, GptOssForCausalLM, MixtralConfig, MixtralForCausalLM, OlmoeConfig, OlmoeForCausalLM,
    Qwen3MoeConfig, Qwen3MoeForCausalLM)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit.transformers  # noqa: E402

MODELS = {
    "OLMoE": (OlmoeForCausalLM, lambda n: OlmoeConfig(num_hidden_layers=n or 4)),
    "Qwen3-MoE": (Qwen3MoeForCausalLM, lambda n: Qwen3MoeConfig(
        num_hidden_layers=n or 4, hidden_size=2048, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=768, num_attention_heads=32, num_key_value_heads=4, head_dim=128,
        norm_topk_prob=True)),
    "Mixtral": (MixtralForCausalLM, lambda n: MixtralConfig(num_hidden_layers=n or 2)),
    "GPT-OSS-20B": (GptOssForCausalLM, lambda n: GptOssConfig(
        num_hidden_layers=n or 4, num_local_experts=32)),
}
SHAPES = {"prefill": (2, 2048), "decode": (64, 1), "train": (2, 2048)}
NAMES = "grouped_mm", "pit"


def step(model, run, ids, way):
    if way != "train":
        with torch.no_grad():
            return run(input_ids=ids, use_cache=False, logits_to_keep=1).logits
    for p in model.parameters():
        p.grad = None
    loss = run(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    return loss.detach()


def timed(*args):
    torch.cuda.synchronize()
    start = time.perf_counter()
    step(*args)
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def compare(name, model, run, way, options):
    generator = torch.Generator(device="cuda").manual_seed(0)
    ids = [torch.randint(0, model.config.vocab_size, SHAPES[way], device="cuda", generator=generator)
           for _ in range(3)]
    results, times, first = {}, {each: [] for each in NAMES}, {}
    for each in NAMES:
        model.set_experts_implementation(each)
        start = time.perf_counter()
        results[each] = step(model, run, ids[0], way).float()
        first[each] = time.perf_counter() - start
    for i in range(2 + options.rounds):
        for each in NAMES if i % 2 else NAMES[::-1]:
            model.set_experts_implementation(each)
            times[each].append(timed(model, run, ids[i % 3], way))
    torch_ms, pit_ms = (statistics.median(times[each][2:]) for each in NAMES)
    one, other = (results[each] for each in NAMES)
    error = ((one - other).norm() / one.norm()).item()
    print(f"{name:12} {way:8} {'compiled' if options.compile else 'eager':9} torch {torch_ms:8.2f} ms, "
          f"pit {pit_ms:8.2f} ms, ratio {torch_ms / pit_ms:.2f}; results differ by {error:.0e}; first calls "
          f"{first['grouped_mm']:.0f} and {first['pit']:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose names are in this, with commas")
    parser.add_argument("--ways", default="prefill,decode,train")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--layers", type=int, default=0, help="of each model")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which nothing new begins")
    options = parser.parse_args()
    start = time.perf_counter()
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    for name, (cls, make) in MODELS.items():
        if options.only and name not in options.only.split(","):
            continue
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            model = cls(make(options.layers)).train()
        torch.set_default_dtype(torch.float32)
        run = torch.compile(model, dynamic=False) if options.compile else model
        for way in options.ways.split(","):
            if time.perf_counter() - start < options.seconds:
                try:
                    compare(name, model, run, way, options)
                except Exception as error:
                    print(f"{name} {way}: {type(error).__name__}: {str(error)[:500]}", flush=True)
        del model, run
        torch.compiler.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
