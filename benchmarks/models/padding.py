"""Times models of transformers on padded batches: as they are, and after pit.transformers.unpad, in turns:

    python3 benchmarks/models/padding.py [--device=cuda] [--only=BERT-base] [--train]

Models have random weights. Lengths are drawn as tasks have them: GLUE's sentences are short (the mean and
the spread of MRPC, QNLI and RTE in tokens, log-normal, at most 128), documents are long (uniform from 32 to 512); a
batch is padded to its longest. Times are medians on the host's clock; results of both are compared.
"""

import argparse
import math
import statistics
import sys
import time
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit.transformers  # noqa: E402

NO_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
MODELS = {
    "BERT-base": lambda: BertModel(BertConfig(**NO_DROPOUT)),
    "BERT-large": lambda: BertModel(BertConfig(
        **NO_DROPOUT, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
        intermediate_size=4096)),
    "DistilBERT": lambda: DistilBertModel(DistilBertConfig(dropout=0.0, attention_dropout=0.0)),
}
# Mean and spread of the logarithm of lengths, and the longest.
TASKS = {"MRPC": (53, 0.3, 128), "QNLI": (50, 0.5, 128), "RTE": (70, 0.7, 256), "documents": None}


def lengths_of(task, count, generator):
    if TASKS[task] is None:
        return torch.randint(32, 513, (count,), generator=generator)
    mean, spread, longest = TASKS[task]
    drawn = torch.randn(count, generator=generator) * spread + math.log(mean) - spread**2 / 2
    return drawn.exp().round().long().clamp(4, longest)


def batch(task, count, device, seed):
    generator = torch.Generator().manual_seed(seed)
    lengths = lengths_of(task, count, generator)
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).long()
    ids = torch.randint(1000, 30000, mask.shape, generator=generator).masked_fill(mask == 0, 0)
    return dict(input_ids=ids.to(device), attention_mask=mask.to(device))


def step(model, given, train):
    if not train:
        with torch.no_grad():
            return model(**given).last_hidden_state
    for p in model.parameters():
        p.grad = None
    y = model(**given).last_hidden_state
    (y * given["attention_mask"][..., None]).float().square().mean().backward()
    return y.detach()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", default="", help="models whose names are in this, with commas")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--count", type=int, default=32, help="sequences of a batch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    device = torch.device(options.device)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    for name, make in MODELS.items():
        if options.only and name not in options.only.split(","):
            continue
        torch.manual_seed(0)
        model = make().to(device, dtype).train(options.train)
        for task in options.tasks.split(","):
            batches = [batch(task, options.count, device, seed) for seed in range(3)]
            forms = {"as it is": pit.transformers.pad,
                     "unpadded": lambda model: pit.transformers.unpad(model, measured=False)}
            times, results = {form: [] for form in forms}, {}
            for i in range(3 + options.rounds):
                for form, change in forms.items():
                    change(model)
                    wait()
                    start = time.perf_counter()
                    y = step(model, batches[i % 3], options.train)
                    wait()
                    times[form].append(1e3 * (time.perf_counter() - start))
                    if i == 0:
                        results[form] = y[batches[0]["attention_mask"] != 0].float()
            pit.transformers.pad(model)
            before, after = (statistics.median(each[3:]) for each in times.values())
            one, other = results.values()
            there = sum(b["attention_mask"].sum().item() for b in batches)
            part = there / sum(b["attention_mask"].numel() for b in batches)
            print(f"{name:11} {task:10} {100 * part:3.0f} % there, {before:8.2f} ms, unpadded {after:8.2f} ms, "
                  f"ratio {before / after:.2f}; results differ by "
                  f"{((one - other).norm() / one.norm()).item():.0e}", flush=True)


if __name__ == "__main__":
    main()
