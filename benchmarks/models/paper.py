"""Times the models of the PIT paper, and some since, as torch runs them and with pit, in turns:

    python3 benchmarks/models/paper.py [--rows=switch,opt] [--device=cpu --small] [--compile]

| row | model | what is sparse; the line for pit |
|---|---|---|
| switch | an encoder of Switch-base, 64, 128 or 256 experts, batch 8 and 32 | one expert for a token; sparsify |
| experts | a layer or two of OLMoE, Qwen3-MoE, Mixtral, DeepSeek-V3, batch 8 and 32 | set_experts_implementation |
| opt | layers of OPT-1.3B and 6.7B: 1 to 16 tokens, padded prompts | zeros behind ReLUs, padding; sparsify |
| bert | BERT-base and large, lengths as in MRPC and in documents | padding; unpad |
| longformer | its base model, 2048 and 4096 tokens, a window of 512 | attention; pit.attention |
| museformer | layers in which bars see bars and summaries | attention; pit.attention |
| finetune | OPT-125M, layers of 350M and 1.3B; padded texts, forward and backward | padding, ReLUs; sparsify |
| pruning | BERT, trained while weights are pruned in 32x1 or 32x64 blocks | weights; MaskedLinear |
| depths | LLaMA layers, every second one of which an eighth of the tokens takes | tokens; skip_tokens |
| relu_llama | layers of a ReLU-fied LLaMA-7B, 1 and 16 tokens, prompts | gates; sparsify |

Weights are random, and biases in front of ReLUs are shifted until as many values are 0 as is said. "torch" is
transformers' own code; beside it stand drop-ins: an attention by a mask, unpadding by hand, tokens gathered by hand,
and with --compile torch.compile and FlexAttention. Results of all are compared with torch's. Times are medians on the
host's clock; memory is the most that a step takes beside what was there before it. Rows share the seconds of --total.
"""

import argparse
import copy
import functools
import itertools
import math
import sys

import measure
import torch
import transformers
from by_hand import Gathered, Multiplied, Unpadded
from measure import ALLOWED_ROUTED, SEEDS, fresh, infer, train, ways_of

import long_texts
import pit.torch
import pit.transformers

# The part of zeros behind the ReLUs of trained models: 93 to 97 % in OPT (Mirzadeh et al. 2023, "ReLU
# strikes back"), 90 to 97 % in the PIT paper's.
ZEROS = 0.95
# Of the gates of ReLU-fied LLaMAs, about two thirds are 0 (the same); ProSparse has 89 %.
ZEROS_OF_GATES = 0.89
# Mean, spread of the logarithm, and most of the lengths of texts in tokens: GLUE's pairs of sentences, the
# instructions of Alpaca (which the paper fine-tunes with). Documents are uniform from 32 to 512.
LENGTHS = {"MRPC": (53, 0.3, 128), "Alpaca": (90, 0.7, 512), "documents": None}


def ids_of(shape, words, device):
    return [torch.randint(4, words, shape, generator=torch.Generator().manual_seed(seed)).to(device)
            for seed in range(SEEDS)]


def padded_batches(task, count, words, device):
    """Batches of a model, padded to the longest text, and the part of them that is there."""
    found, there, whole = [], 0, 0
    for seed in range(SEEDS):
        generator = torch.Generator().manual_seed(seed)
        if LENGTHS[task] is None:
            lengths = torch.randint(32, 513, (count,), generator=generator)
        else:
            mean, spread, most = LENGTHS[task]
            drawn = torch.randn(count, generator=generator) * spread + math.log(mean) - spread**2 / 2
            lengths = drawn.exp().round().long().clamp(4, most)
        mask = (torch.arange(int(lengths.max())) < lengths[:, None]).long()
        ids = torch.randint(4, words, mask.shape, generator=generator).masked_fill(mask == 0, 1)
        found.append(dict(input_ids=ids.to(device), attention_mask=mask.to(device)))
        there, whole = there + int(lengths.sum()), whole + mask.numel()
    return found, there / whole


# --------------------------------------------------------------------------
# Rows: generators of (what, steps by names of ways, allowed errors)
# --------------------------------------------------------------------------


def switch(options, dtype):
    wide = 128 if options.small else 768
    for count in (8, 64) if options.small else (64, 128, 256):
        config = transformers.SwitchTransformersConfig(
            d_model=wide, d_ff=4 * wide, num_heads=wide // 64, num_experts=count, vocab_size=4096, expert_capacity=64,
            num_layers=2 if options.small else 4, num_sparse_encoder_layers=1 if options.small else 2, dropout_rate=0.0)

        def make(config=config):
            return transformers.SwitchTransformersEncoderModel(config).to(options.device, dtype).eval()

        model = make()
        for batch in (2,) if options.small else (8, 32):
            batches = [{"input_ids": ids} for ids in ids_of((batch, 128), 4096, options.device)]
            made, taken = sparsified(model, make, batches)
            yield (f"{count} experts ({taken} taken), batch {batch} x 128",
                   ways_of(options, infer, batches, torch=model, pit=made), ALLOWED_ROUTED)
            del made


MIXTURES = {  # and how many layers of it
    "OLMoE": (transformers.OlmoeConfig, 2, {}),
    "Qwen3-MoE": (transformers.Qwen3MoeConfig, 2, dict(
        hidden_size=2048, num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768,
        num_attention_heads=32, num_key_value_heads=4, head_dim=128, norm_topk_prob=True)),
    "Mixtral": (transformers.MixtralConfig, 1, {}),
    "DeepSeek-V3": (transformers.DeepseekV3Config, 1, dict(first_k_dense_replace=0)),
}
SMALL_MIXTURE = dict(hidden_size=128, intermediate_size=128, moe_intermediate_size=64, num_attention_heads=4,
                     num_key_value_heads=4, head_dim=32)
SMALL_LATENT = dict(head_dim=16, n_routed_experts=16, n_group=4, topk_group=2, q_lora_rank=32, kv_lora_rank=32,
                    qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32)


def experts(options, dtype):
    small, device = options.small, options.device
    for name, (make, layers, sizes) in MIXTURES.items():
        if small:
            sizes = sizes | SMALL_MIXTURE | (SMALL_LATENT if name == "DeepSeek-V3" else {})
        config = make(num_hidden_layers=layers, vocab_size=4096, pad_token_id=0, use_cache=False, **sizes)
        torch.set_default_dtype(dtype)
        with torch.device(device):
            model = transformers.AutoModel.from_config(config).eval()
        torch.set_default_dtype(torch.float32)
        run = torch.compile(model, dynamic=False) if options.compile else None
        shapes = ((2, 64), (8, 1)) if small else ((8, 512), (32, 1), (8, 1), (32, 128))
        for shape in shapes:
            batches = ids_of(shape, 4096, device)

            def step(i, way, form=model, model=model, batches=batches):
                model.set_experts_implementation(way)
                return infer(form, input_ids=batches[i])

            # "grouped_mm" is what transformers takes by itself, and the best that pip has.
            ways = {"torch": functools.partial(step, way="grouped_mm"), "pit": functools.partial(step, way="pit")}
            if options.compile:
                ways |= {f"{each} compiled": functools.partial(way, form=run) for each, way in ways.items()}
            yield f"{name}, {layers} layers, batch {shape[0]} x {shape[1]}", ways, ALLOWED_ROUTED
        del model, run


@torch.no_grad()
def shift_biases(model, ids, part):
    """Has so many values behind the ReLU of each layer be 0."""
    for layer in model.decoder.layers:
        found = []
        handle = layer.fc1.register_forward_hook(lambda module, args, y, found=found: found.append(y))
        model(input_ids=ids)
        handle.remove()
        layer.fc1.bias -= torch.quantile(found[0].float().flatten()[: 1 << 20], part).to(layer.fc1.bias.dtype)


def opt_of(wide, layers, options, dtype):
    config = transformers.OPTConfig(
        hidden_size=wide, ffn_dim=4 * wide, num_hidden_layers=layers, dropout=0.0, use_cache=False,
        num_attention_heads=wide // 64, word_embed_proj_dim=wide, vocab_size=4096)

    def make():
        return transformers.OPTModel(copy.deepcopy(config)).to(options.device, dtype).eval()

    model = make()
    shift_biases(model, ids_of((4, 128), 4096, options.device)[0], options.zeros)
    return model, make


def sparsified(model, make, batches, training=False):
    """Another model that sparsify has seen, and how many layers it took."""
    made = fresh(model, make).train(training)
    table = pit.torch.sparsify(made, batches[:2], verbose=False)
    return made, len(table.taken)


def opt(options, dtype):
    for name, wide, layers in (("small", 512, 2),) if options.small else (
            ("OPT-1.3B", 2048, 4), ("OPT-6.7B", 4096, 2)):
        model, make = opt_of(wide, layers, options, dtype)
        for tokens in (1, 4, 16):
            batches = [{"input_ids": ids} for ids in ids_of((tokens, 1), 4096, options.device)]
            made, taken = sparsified(model, make, batches)
            yield (f"{name}, {layers} layers ({taken} taken), {tokens} tokens",
                   ways_of(options, infer, batches, torch=model, pit=made))
        batches, there = padded_batches("Alpaca", 4 if options.small else 16, 4096, options.device)
        made, taken = sparsified(model, make, batches)
        yield (f"{name} ({taken} taken), prompts, {there:.0%} there",
               ways_of(options, infer, batches, torch=model, pit=made, by_hand=Unpadded(fresh(model, make))), *(
                   kept(batches)))
        del model, made


def kept(batches):
    return measure.ALLOWED, batches[0]["attention_mask"] != 0


def bert_of(options, dtype, **sizes):
    config = transformers.BertConfig(
        vocab_size=4096, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **sizes)
    return transformers.BertModel(config, add_pooling_layer=False).to(options.device, dtype)


BERTS = {"base": dict(), "large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                       intermediate_size=4096)}
SMALL_BERT = dict(hidden_size=256, num_attention_heads=4, intermediate_size=1024, num_hidden_layers=2)


def bert(options, dtype):
    for name, sizes in {"small": SMALL_BERT}.items() if options.small else BERTS.items():
        def make(sizes=sizes):
            return bert_of(options, dtype, **sizes).eval()

        model = make()
        for task in ("MRPC", "documents"):
            batches, there = padded_batches(task, 4 if options.small else 32, 4096, options.device)
            yield (f"BERT-{name}, {task}, {there:.0%} there",
                   ways_of(options, infer, batches, torch=model, pit=pit.transformers.unpad(fresh(model, make)),
                           by_hand=Unpadded(fresh(model, make))), *kept(batches))


def finetune(options, dtype):
    for name, wide, layers in (("small", 256, 2),) if options.small else (
            ("OPT-125M", 768, 12), ("OPT-350M", 1024, 6), ("OPT-1.3B", 2048, 4)):
        model, make = opt_of(wide, layers, options, dtype)
        model.train()
        batches, there = padded_batches("Alpaca", 4 if options.small else 16, 4096, options.device)
        made, taken = sparsified(model, make, batches, training=True)
        # All models have the same gradients; what is compared is that, and what is there of the result.
        of_hand = Unpadded(fresh(model, make).train())

        def step(model, **given):
            found = train(model, **given)
            count = given["attention_mask"].numel()
            y = found[: count * wide].view(count, wide)[given["attention_mask"].flatten() != 0]
            return torch.cat([y.flatten(), found[count * wide:]])

        yield (f"{name}, {layers} layers ({taken} taken), {there:.0%} there",
               ways_of(options, step, batches, torch=model, pit=made, by_hand=of_hand))
        del model, made, of_hand


def kept_blocks(weight, block, part):
    """The mask of the blocks of largest magnitude."""
    rows, columns = weight.shape[0] // block[0], weight.shape[1] // block[1]
    size = weight.detach().float().abs().view(rows, block[0], columns, block[1]).sum((1, 3))
    kept = size >= torch.quantile(size.flatten()[: 1 << 24], part)
    return kept.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)


def pruning(options, dtype):
    """Weights are pruned anew before each step, as in the paper."""
    batches = ids_of((4, 64) if options.small else (32, 128), 4096, options.device)
    for part, block in itertools.product((0.5, 0.9) if options.small else (0.5, 0.75, 0.9, 0.95, 0.98),
                                         ((32, 1), (32, 64))):
        models = {}
        for name, cls in (("torch", Multiplied), ("pit", pit.torch.MaskedLinear)):
            torch.manual_seed(0)
            model = bert_of(options, dtype, **SMALL_BERT if options.small else {})
            models[name] = model, [m for m in model.encoder.modules() if type(m) is torch.nn.Linear]
            for layer in models[name][1]:
                layer.__class__ = cls
                layer.register_buffer("mask", torch.ones_like(layer.weight, dtype=torch.bool))
                layer._scanned = None

        def step(i, name, models=models, block=block, part=part):
            model, layers = models[name]
            for layer in layers:
                mask = kept_blocks(layer.weight, block, part)
                layer.set_mask(mask) if name == "pit" else layer.mask.copy_(mask)
            return train(model, input_ids=batches[i])

        yield (f"BERT-base, {block[0]}x{block[1]} blocks, {part:.0%} pruned",
               {name: functools.partial(step, name=name) for name in models})
        del models, model, layer


def depths(options, dtype):
    small, device = options.small, options.device
    wide = 256 if small else 2048
    config = transformers.LlamaConfig(
        hidden_size=wide, intermediate_size=3 * wide, num_hidden_layers=2 if small else 8, vocab_size=4096,
        num_attention_heads=wide // 64, num_key_value_heads=wide // 64, use_cache=False)
    shape = (2, 256) if small else (4, 2048)
    batches = ids_of(shape, 4096, device)
    now = {}
    ranks = [torch.rand(shape, generator=torch.Generator().manual_seed(i)).argsort(1).argsort(1) for i in range(SEEDS)]
    kept = [(each < shape[1] // 8).to(device) for each in ranks]

    def make():  # each has a configuration of its own, in which the implementation of attention stands
        return transformers.LlamaModel(copy.deepcopy(config)).to(device, dtype).eval()

    whole = make()
    by_hand, skipping = fresh(whole, make), fresh(whole, make)
    skipping.set_attn_implementation("pit")
    for layer in by_hand.layers[1::2]:
        layer.forward = Gathered(layer, lambda: now["kept"])
    for layer in skipping.layers[1::2]:
        pit.transformers.skip_tokens(layer, lambda x: now["kept"])

    def run(i, model, step):
        now["kept"] = kept[i]
        return step(model, input_ids=batches[i])

    for way, step in (("inference", infer), ("training", train)):
        yield (f"LLaMA, {shape[0]} x {shape[1]}, {way}",
               {"torch": functools.partial(run, model=by_hand, step=step),
                "pit": functools.partial(run, model=skipping, step=step)})
    for way, step in (("inference", infer), ("training", train)):
        yield (f"LLaMA, all tokens, {way}", {"torch": functools.partial(run, model=whole, step=step)})


@torch.no_grad()
def scale_gates(model, ids, part):
    """Has so many values behind the ReLU of each gate be 0: a shift of its inputs' mean direction does it, as
    gates have no bias."""
    for layer in model.layers:
        found = []
        handle = layer.mlp.register_forward_pre_hook(lambda module, args, found=found: found.append(args[0]))
        model(input_ids=ids)
        handle.remove()
        x, weight = found[0].flatten(0, 1).float(), layer.mlp.gate_proj.weight
        direction = x.mean(0)
        along = x @ direction / direction.square().sum()  # the part of each input along it
        scores = x @ weight.float().T
        shift = torch.quantile((scores / along[:, None].clamp_min(0.1)).flatten()[: 1 << 20], part)
        weight -= (shift * direction / direction.square().sum()).to(weight.dtype)


def relu_llama(options, dtype):
    small = options.small
    wide, layers = (256, 2) if small else (4096, 2)
    config = transformers.LlamaConfig(
        hidden_size=wide, intermediate_size=11008 if not small else 704, num_hidden_layers=layers, vocab_size=4096,
        num_attention_heads=wide // 64, num_key_value_heads=wide // 64, use_cache=False, hidden_act="relu")

    def make():
        return transformers.LlamaModel(copy.deepcopy(config)).to(options.device, dtype).eval()

    model = make()
    # Inputs of trained models have directions that they share; here words have.
    model.embed_tokens.weight.data += 0.02 * torch.randn(wide, device=options.device).to(dtype)
    scale_gates(model, ids_of((4, 128), 4096, options.device)[0], ZEROS_OF_GATES)
    for shape in (1, 1), (16, 1), ((2, 128) if small else (4, 512)):
        batches = [{"input_ids": ids} for ids in ids_of(shape, 4096, options.device)]
        made, taken = sparsified(model, make, batches)
        yield (f"{layers} layers ({taken} taken), {shape[0]} x {shape[1]}",
               ways_of(options, infer, batches, torch=model, pit=made))


ROWS = {"bert": bert, "opt": opt, "switch": switch, "finetune": finetune, "pruning": pruning, **long_texts.ROWS,
        "experts": experts, "depths": depths, "relu_llama": relu_llama}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {', '.join(ROWS)}")
    parser.add_argument("--small", action="store_true", help="small models, for a CPU")
    parser.add_argument("--long", action="store_true", help="Longformer with 16384 tokens, too")
    parser.add_argument("--compile", action="store_true", help="beside torch.compile and FlexAttention, too")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="of torch")
    parser.add_argument("--cpu-time", action="store_true",
                        help="the process's time on all cores, for a machine that has other work")
    parser.add_argument("--zeros", type=float, default=ZEROS, help="the part behind OPT's ReLUs")
    parser.add_argument("--each", type=float, default=4, help="seconds of rounds of a line, at most")
    parser.add_argument("--total", type=float, default=270, help="seconds, of which each row gets its share")
    parser.add_argument("--json", metavar="FILE", help="a line is added to it for each case, for plot.py")
    options = parser.parse_args()
    unknown = set(options.rows.split(",")) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    if options.threads:
        torch.set_num_threads(options.threads)
    on_gpu = options.device == "cuda"
    name = torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads"
    options.machine = f"{name}, torch {torch.__version__}, transformers {transformers.__version__}"
    print(options.machine, flush=True)
    sys.exit(min(1, measure.run(ROWS, options, torch.bfloat16 if on_gpu else torch.float32)))


if __name__ == "__main__":
    main()
