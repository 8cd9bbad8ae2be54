"""A mixture of experts: each token goes to two of 16 feed-forward blocks.

    moe.py [--device=cuda] [--picture=FILE]

The usual way in torch sorts tokens by expert and runs one product after another, on batches
of sizes that are known when the router has spoken: the host waits for them. `pit.moe` is one
call. It gathers the tokens of each expert tile by tile, and pads nothing. A model of
transformers takes a line for that (docs/YourModel.md); where transformers is installed, one runs
both ways, too.
"""

import copy
import sys

import pit
import torch
import torch.nn.functional as F

import shared


def by_expert(x, weights, experts, w_gate, w_up, w_down):
    """In torch: the tokens of an expert are gathered, multiplied, and added to the result."""
    y = torch.zeros(x.shape[0], w_down.shape[2], dtype=x.dtype)
    flat = experts.flatten()
    order = flat.argsort()
    tokens = order // experts.shape[1]
    start = 0
    for e, count in enumerate(torch.bincount(flat, minlength=len(w_up)).tolist()):
        chosen = slice(start, start + count)
        start += count
        rows = x[tokens[chosen]]
        rows = (F.silu(rows @ w_gate[e]) * (rows @ w_up[e])) @ w_down[e]
        y.index_add_(0, tokens[chosen], rows * weights.flatten()[order[chosen], None])
    return y


def by_all(x, weights, experts, w_gate, w_up, w_down):
    """Every expert on every token, weighted by 0 where it was not chosen: the definition."""
    table = torch.zeros(x.shape[0], len(w_up), dtype=x.dtype).scatter_(1, experts, weights)
    hidden = F.silu(torch.einsum("tk,ekf->tef", x, w_gate)) * torch.einsum("tk,ekf->tef", x, w_up)
    return torch.einsum("te,tef,efn->tn", table, hidden, w_down)


def of_transformers(arguments):
    """A model of OLMoE's kind, as it is and with the line of docs/YourModel.md. Are its results right?"""
    try:
        import pit.transformers
        from transformers import OlmoeConfig, OlmoeModel
    except ImportError:
        return True
    model = OlmoeModel(OlmoeConfig(
        hidden_size=arguments.width, intermediate_size=arguments.hidden, num_experts=arguments.experts,
        num_experts_per_tok=2, num_hidden_layers=2, num_attention_heads=4, vocab_size=128, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, use_cache=False)).eval().requires_grad_(False)
    before = copy.deepcopy(model)
    model.set_experts_implementation("pit")
    ids = torch.randint(3, 128, (4, arguments.tokens // 4))

    exact = copy.deepcopy(before).double()
    exact.set_experts_implementation("eager")
    expected = exact(input_ids=ids).last_hidden_state
    right = shared.check("the model's result", model(input_ids=ids).last_hidden_state, expected, 1e-4)
    shared.compare({"transformers": lambda: before(input_ids=ids),
                    'experts_implementation="pit"': lambda: model(input_ids=ids)},
                   arguments.repeat, arguments.device)
    return right


def main():
    arguments = shared.read_arguments(__doc__, tokens=512, width=128, hidden=256, experts=16)
    torch.manual_seed(arguments.seed)
    torch.set_default_device(arguments.device)
    t, k, f, e = arguments.tokens, arguments.width, arguments.hidden, arguments.experts
    x = torch.randn(t, k)
    w_gate, w_up = torch.randn(e, k, f) / k**0.5, torch.randn(e, k, f) / k**0.5
    w_down = torch.randn(e, f, k) / f**0.5

    # The router. Some experts are liked more than others.
    logits = x @ (torch.randn(k, e) / k**0.5) + torch.randn(e)
    weights, experts = logits.softmax(dim=-1).topk(2)
    counts = torch.bincount(experts.flatten(), minlength=e)
    print(f"{t} tokens, each to 2 of {e} experts; an expert has {counts.min().item()} to "
          f"{counts.max().item()} of them")

    y = pit.moe(x, weights, experts, w_gate, w_up, w_down, activation="silu")

    given = weights.double(), experts, w_gate.double(), w_up.double(), w_down.double()
    right = shared.check("the layer's result", y, by_all(x.double(), *given), 1e-5)

    shared.compare({"torch, sorted by expert": lambda: by_expert(
                        x, weights, experts, w_gate, w_up, w_down),
                    "pit.moe": lambda: pit.moe(x, weights, experts, w_gate, w_up, w_down)},
                   arguments.repeat, arguments.device)
    right &= of_transformers(arguments)

    if arguments.picture:
        table = torch.zeros(t, e).scatter_(1, experts, weights).cpu()
        drawn, axes = shared.figure(8, 4)
        image = axes.imshow(table.T, cmap="Greys", aspect="auto", interpolation="nearest")
        axes.set_xlabel("token")
        axes.set_ylabel("expert")
        axes.set_title("How much of each expert a token gets")
        drawn.colorbar(image)
        shared.save(drawn, arguments.picture)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
