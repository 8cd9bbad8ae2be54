# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Mixtures of experts that pit replaces: which ones it knows, and that a replaced one
computes with the parameters, hooks and layers that it has at the time. With
PIT_TEST_DEVICE=cuda on a GPU."""

import copy
import io
import pickle
import unittest

import torch
from torch import nn
from torch.nn.utils import prune
from torch_sparsify import Block, Expert, Experts, pit, sparsify

from graphs import recorder  # in the path by torch_sparsify
from pit.ops._operand import halves
from pit.torch import _mixtures


class Clamped(Expert):
    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)).clamp(max=10) * self.up_proj(x))


class ClampedBlock(Block):
    def forward(self, hidden_states):
        return super().forward(hidden_states.clamp(max=10))


class Normed(Experts):
    def __init__(self):
        super().__init__()
        self.norm = nn.Identity()


class OwnGate(Experts):
    """As DeepseekV4's, without the decorator of transformers."""

    limit = 0.5

    def _apply_gate(self, both):
        gate, up = both.chunk(2, -1)
        return self.act_fn(gate.clamp(max=self.limit)) * up.clamp(-self.limit, self.limit)

    def forward(self, hidden_states, top_k_index, top_k_weights):
        result = torch.zeros_like(hidden_states)
        for i in range(self.down_proj.shape[0]):
            tokens, place = torch.where(top_k_index == i)
            hidden = self._apply_gate(hidden_states[tokens] @ self.gate_up_proj[i].T)
            result.index_add_(0, tokens, (hidden @ self.down_proj[i].T)
                              * top_k_weights[tokens, place, None])
        return result


class Branch(Experts):
    def forward(self, hidden_states, top_k_index, top_k_weights):
        if hidden_states.abs().max() > 100:
            hidden_states = hidden_states / 2
        return super().forward(hidden_states, top_k_index, top_k_weights)


class Identities(Experts):
    """As LongcatFlash's: an id that is no expert's stands for the token itself."""

    def forward(self, hidden_states, top_k_index, top_k_weights):
        result = torch.zeros_like(hidden_states)
        for i in range(8):
            tokens, place = torch.where(top_k_index == i)
            x = hidden_states[tokens]
            if i < self.down_proj.shape[0]:
                gate, up = (x @ self.gate_up_proj[i].T).chunk(2, -1)
                x = (self.act_fn(gate) * up) @ self.down_proj[i].T
            result.index_add_(0, tokens, x * top_k_weights[tokens, place, None])
        return result


class LoRA(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.more = nn.Parameter(torch.ones(layer.out_features, layer.in_features) / 8)

    def forward(self, x):
        return self.layer(x) + x @ self.more.T


@torch.no_grad()
def double(model):
    for p in model.parameters():
        p.mul_(2)


def of_first(change):
    """A change of the first layer of the first expert."""
    return lambda model: change(model[0].experts[0].gate_proj)


def set_data(model):
    for p in model.parameters():
        p.data = 2 * p.data


def vector_to_parameters(model):
    vector = nn.utils.parameters_to_vector(model.parameters()).detach()
    nn.utils.vector_to_parameters(2 * vector, model.parameters())
    vector.mul_(3)  # as FSDP's flat parameter, whose views parameters are


def replaced_activation(model):
    for expert in model[0].experts:
        expert.act_fn = nn.ReLU()


def loaded(model):
    twice = {name: 2 * value for name, value in model.state_dict().items()}
    model.load_state_dict(twice, assign=True)


def loaded_child(model):
    experts = model[0].experts
    experts.load_state_dict({n: 2 * v for n, v in experts.state_dict().items()}, assign=True)


def there_and_back(model):
    model[0].experts[0].double().float()
    double(model)


def other_layer(model):
    model[0].experts[0].gate_proj = LoRA(model[0].experts[0].gate_proj)


def tied(model):
    model[0].experts[1].up_proj.weight = model[0].experts[0].up_proj.weight


CHANGES = {
    "nothing": lambda model: None,
    "in place": double,
    ".data": set_data,
    "vector_to_parameters": vector_to_parameters,
    "a new Parameter": of_first(lambda l: setattr(l, "weight", nn.Parameter(2 * l.weight))),
    "a transposed view": of_first(lambda l: setattr(l.weight, "data", l.weight.data.flip(0))),
    "state_dict": lambda m: m.load_state_dict({n: 2 * v for n, v in m.state_dict().items()}),
    "state_dict, assigned": loaded,
    "state_dict of a child, assigned": loaded_child,
    "there and back": there_and_back,
    "bf16 and back": lambda model: double(model.bfloat16().float()),
    "pruned": of_first(lambda l: prune.ln_structured(l, "weight", 0.5, n=2, dim=0)),
    "a wrapper": other_layer,
    "a hook": lambda m: m[0].experts[1].register_forward_hook(lambda _, args, y: 2 * y),
    "a hook before": of_first(lambda l: l.register_forward_pre_hook(lambda _, args: (2 * args[0],))),
    "a forward": of_first(lambda l: setattr(l, "forward", lambda x: x @ l.weight.T + 1)),
    "an activation": replaced_activation,
    "a weight for two": tied,
    "fewer experts per token": lambda model: setattr(model[0], "top_k", 1),
}


def made():
    """A block as it was, and a replaced one of the same weights."""
    torch.manual_seed(0)
    dense = nn.Sequential(Block(True)).eval().requires_grad_(False)
    sparse = copy.deepcopy(dense)
    _mixtures.make_experts_sparse(sparse[0], _mixtures.Block, True)
    return dense, sparse


class Kept(unittest.TestCase):
    def close(self, x, y):
        torch.testing.assert_close(x, y, atol=1e-5, rtol=1e-5)

    def setUp(self):
        self.x = torch.randn(2, 10, 16)

    def test_changes(self):
        for name, change in CHANGES.items():
            with self.subTest(name):
                dense, sparse = made()
                change(dense)
                change(sparse)
                self.close(sparse(self.x), dense(self.x))
                pit.torch.densify(sparse)
                self.close(sparse(self.x), dense(self.x))

    def test_still_sparse(self):
        """After what gives all weights new memory, they lie together again."""
        for change in ("nothing", "in place", "state_dict", "bf16 and back"):
            _, sparse = made()
            CHANGES[change](sparse)
            self.assertIsNotNone(_mixtures.as_one(sparse[0].weights()[0]), change)

    def test_copies(self):
        """EMA of a model; what torch.save and processes send."""
        def saved(model):
            memory = io.BytesIO()
            torch.save(model, memory)
            memory.seek(0)
            return torch.load(memory, weights_only=False)

        for copied in (copy.deepcopy, saved, lambda model: pickle.loads(pickle.dumps(model))):
            dense, sparse = made()
            other = copied(sparse)
            self.assertIs(type(other[0]), type(sparse[0]))
            self.assertIsNotNone(_mixtures.as_one(other[0].weights()[0]))
            before = dense(self.x)
            double(sparse)
            self.close(other(self.x), before)
            double(dense)
            double(other)
            self.close(sparse(self.x), dense(self.x))
            self.close(other(self.x), dense(self.x))

    def test_functional_call(self):
        dense, sparse = made()
        weights = {name: 2 * p for name, p in dense.named_parameters()}
        self.close(torch.func.functional_call(sparse, weights, (self.x,)),
                   torch.func.functional_call(dense, weights, (self.x,)))
        self.close(sparse(self.x), dense(self.x))

    def test_graphs(self):
        """A graph holds no weights, either."""
        dense, sparse = made()
        compiled = torch.compile(sparse, fullgraph=True, backend="aot_eager")
        exported = torch.export.export(sparse, (self.x,)).module()
        self.close(compiled(self.x), dense(self.x))
        self.close(exported(self.x), dense(self.x))
        set_data(sparse)
        set_data(dense)
        self.close(compiled(self.x), dense(self.x))

    def test_graphs_in_training(self):
        """A graph holds the layer's op, which has the module's gradients."""
        model, targets = Experts(), []
        tokens = torch.randn(12, 16, requires_grad=True)
        inputs = (tokens, *torch.rand(12, 6).topk(2)[::-1])

        asked = [tokens, *model.parameters()]
        expected = torch.autograd.grad(model(*inputs).square().sum(), asked)
        _mixtures.make_experts_sparse(model, _mixtures.Experts)
        compiled = torch.compile(model, fullgraph=True, backend=recorder(targets))
        found = torch.autograd.grad(compiled(*inputs).square().sum(), asked)
        self.assertIn("pit.train", targets)
        for one, other in zip(found, expected):
            self.close(one, other)

    def test_gradients(self):
        """They are those of the module, by parameters and by tokens, in training, too."""
        for model in (Block(True), Experts()):
            tokens = torch.randn(1, 12, 16) if isinstance(model, Block) else torch.randn(12, 16)
            rest = () if isinstance(model, Block) else torch.rand(12, 6).topk(2)[::-1]
            kind = _mixtures.Block if isinstance(model, Block) else _mixtures.Experts
            for parameters in (True, False):
                model.requires_grad_(parameters)
                tokens.requires_grad_(not parameters)
                asked = list(model.parameters()) if parameters else [tokens]
                found = []
                for _ in range(2):
                    y = model(tokens, *rest)
                    y = y[0] if isinstance(y, tuple) else y
                    found.append(torch.autograd.grad(y.square().sum(), asked))
                    _mixtures.make_experts_sparse(model, kind, True)
                for one, other in zip(*found):
                    self.close(one, other)
                pit.torch.densify(model)


class Known(unittest.TestCase):
    def test_known(self):
        for block in (Block(True), Block(False)):
            self.assertIsNone(_mixtures.unknown_of_block(block))
        for experts in (Experts(), OwnGate()):
            self.assertIsNone(_mixtures.unknown_of_experts(experts))

    def test_unknown(self):
        """What agrees on small samples, and differs elsewhere."""
        block, clamped = Block(True), Block(True)
        clamped.experts = nn.ModuleList(Clamped(16, 24) for _ in range(6))
        more = Block(True)
        more.shared_expert = Expert(16, 24)
        hooked = Block(True)
        hooked.experts[3].register_forward_hook(print)
        biased = Block(True)
        biased.register_buffer("correction", torch.zeros(6))
        for module, why in (
                (clamped, "Clamped uses `clamp`"), (ClampedBlock(True), "ClampedBlock uses `forward`"),
                (more, "Block has `shared_expert`"), (hooked, "experts differ, have hooks"),
                (biased, "Block has `correction`")):
            self.assertTrue(_mixtures.is_block(module))
            self.assertRegex(_mixtures.unknown_of_block(module), why)
        self.assertIsNone(_mixtures.unknown_of_block(block))
        for module, why in (
                (Normed(), "Normed has `norm`"), (Branch(), "Branch uses `hidden_states.abs"),
                (Identities(), r"Identities uses `i < self.down_proj.shape\[0\]`")):
            self.assertTrue(_mixtures.is_experts(module))
            self.assertRegex(_mixtures.unknown_of_experts(module), why)

    def test_table(self):
        class Model(nn.Module):
            def __init__(self, experts):
                super().__init__()
                self.router, self.experts = nn.Linear(16, 6), experts

            def forward(self, x):
                weights, chosen = self.router(x).softmax(-1).topk(2)
                return self.experts(x, chosen, weights)

        x = torch.randn(20, 16)
        with torch.no_grad():
            for experts, taken in ((OwnGate(), ["experts"]), (Branch(), [])):
                model = Model(experts).eval()
                before = model(10 * x)
                table = sparsify(model, [x])
                self.assertEqual(table.taken, taken, table)
                torch.testing.assert_close(model(10 * x), before)
        self.assertRegex(table[-1].why, "which pit does not know")

    def test_absent(self):
        """Ids that are no expert's: those of other devices."""
        experts, x = Experts().eval(), torch.randn(12, 16)
        weights, chosen = torch.rand(12, 6).topk(2)
        chosen[3], chosen[5, 1] = 6, 7
        with torch.no_grad():
            before = experts(x, chosen, weights)
            _mixtures.make_experts_sparse(experts, _mixtures.Experts)
            torch.testing.assert_close(experts(x, chosen, weights), before)
            torch.testing.assert_close(
                experts(top_k_weights=weights, hidden_states=x, top_k_index=chosen), before)


class Halves(unittest.TestCase):
    def test_halves(self):
        """Gates and ups that are stored as one, without and with gradients."""
        x, stored = torch.randn(12, 16), torch.randn(6, 48, 16) / 4
        down = torch.randn(6, 24, 16) / 4
        weights, chosen = torch.rand(12, 6).topk(2)
        apart = [w.contiguous() for w in stored.mT.chunk(2, -1)]
        expected = pit.moe(x, weights, chosen, *apart, down)
        gate, up = stored.mT.chunk(2, -1)
        whole = halves(gate, up)
        self.assertEqual(whole.data_ptr(), stored.data_ptr())
        self.assertIsNone(halves(up, gate))
        self.assertIsNone(halves(gate, up.clone()))
        torch.testing.assert_close(pit.moe(x, weights, chosen, gate, up, down), expected)
        stored.requires_grad_()
        found = pit.moe(x, weights, chosen, *stored.mT.chunk(2, -1), down)
        torch.testing.assert_close(found, expected)
        grad, = torch.autograd.grad(found.sum(), stored)
        apart = [w.requires_grad_() for w in apart]
        pair = torch.autograd.grad(pit.moe(x, weights, chosen, *apart, down).sum(), apart)
        torch.testing.assert_close(grad, torch.cat(pair, -1).mT)

    def test_export(self):
        """Tensors that are no memory may be halves, too."""
        class Layer(nn.Module):
            def forward(self, x, weights, chosen, stored, down):
                return pit.moe(x, weights, chosen, *stored.mT.chunk(2, -1), down)

        weights, chosen = torch.rand(12, 6).topk(2)
        given = (torch.randn(12, 16), weights, chosen, torch.randn(6, 48, 16), torch.randn(6, 24, 16))
        exported = torch.export.export(Layer(), given, strict=False).module()
        torch.testing.assert_close(exported(*given), Layer()(*given))


if __name__ == "__main__":
    unittest.main()
