# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Layers with few weights, pit.torch.FixedFanInLinear and MaskedLinear, and products of packed
weights with gradients, against torch's dense ones in float64."""

import copy
import pickle
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _op  # noqa: E402
from pit.torch import _masked, _packed  # noqa: E402

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


class Case(unittest.TestCase):
    def close(self, found, expected, dtype=torch.float64):
        self.assertEqual(found.shape, expected.shape)
        scale = max(1, expected.abs().max().item() if expected.numel() else 0)
        self.assertLessEqual(((found.double() - expected.double()).abs().max().item()
                              if found.numel() else 0) / scale, TOLERANCE[dtype])

    def check(self, layer, weight, dense, x):
        """A layer and all gradients; `dense` makes of its weight, in f64, the dense one."""
        parameters = [p for p in (weight, layer.bias) if p is not None]
        y = layer(x)
        self.assertEqual(y.dtype, x.dtype)
        grad = torch.randn_like(y)
        found = torch.autograd.grad(y, (x, *parameters), grad)
        wide = [p.detach().double().requires_grad_() for p in (x, *parameters)]
        expected = torch.nn.functional.linear(wide[0], dense(wide[1]), *wide[2:])
        self.close(y, expected, x.dtype)
        wanted = torch.autograd.grad(expected, wide, grad.double())
        for mine, theirs in zip(found, wanted):
            self.assertEqual(mine.dtype, x.dtype)
            self.close(mine, theirs, x.dtype)


class Compressed(Case):
    def test_layers(self):
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            for shape, zeros in (((70, 130), 0.6), ((1, 1), 0), ((64, 64), 1), ((129, 64), 0)):
                linear = torch.nn.Linear(shape[1], shape[0], dtype=dtype)
                kept = torch.rand(shape) >= zeros
                layer = pit.torch.CompressedLinear.from_linear(linear, kept)
                dense = torch.where(kept, linear.weight, 0).detach()
                self.assertTrue(torch.equal(layer.weight, dense))
                self.assertEqual(len(layer.values), max(1, int(kept.sum())))
                for lead in ((5,), (), (2, 3), (0,)):
                    x = torch.randn(*lead, shape[1], dtype=dtype, requires_grad=True)
                    self.check(layer, x, dense.double())

    def check(self, layer, x, dense):
        y = layer(x)
        grad = torch.randn_like(y)
        found = torch.autograd.grad(y, (x, layer.bias), grad)
        wide = [p.detach().double().requires_grad_() for p in (x, layer.bias)]
        expected = torch.nn.functional.linear(wide[0], dense, wide[1])
        self.close(y, expected, x.dtype)
        for mine, theirs in zip(found, torch.autograd.grad(expected, wide, grad.double())):
            self.assertEqual(mine.dtype, x.dtype)
            self.close(mine, theirs, x.dtype)

    def test_state(self):
        model = torch.nn.Sequential(torch.nn.Linear(100, 70), torch.nn.ReLU(), torch.nn.Linear(70, 3, bias=False))
        with torch.no_grad():
            model[0].weight[torch.rand(70, 100) < 0.7] = 0
        state, x = {name: each.clone() for name, each in model.state_dict().items()}, torch.randn(4, 100)
        expected = model(x)
        self.assertEqual(pit.torch.compress_linears(model), 1)
        self.assertIsInstance(model[0], pit.torch.CompressedLinear)
        self.assertIs(type(model[2]), torch.nn.Linear)
        self.close(model(x), expected.double(), torch.float32)
        found = model.state_dict()
        self.assertEqual(list(found), list(state))
        for name in state:
            self.assertTrue(torch.equal(found[name], state[name]))
        others = {name: torch.where(torch.rand_like(each) < 0.5, each, 0) for name, each in state.items()}
        model.load_state_dict(others)
        self.assertTrue(torch.equal(model[0].weight, others["0.weight"]))
        for each in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertTrue(torch.equal(each(x), model(x)))
        with self.assertRaisesRegex(RuntimeError, "size mismatch for 0.weight"):
            model.load_state_dict({**others, "0.weight": torch.zeros(70, 99)})
        with self.assertRaisesRegex(RuntimeError, 'Missing key.*"0.weight"'):
            model.load_state_dict({name: each for name, each in others.items() if name != "0.weight"})
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.close(model[0](x), torch.nn.functional.linear(
                x.double(), others["0.weight"].double(), others["0.bias"].double()), torch.bfloat16)

    def test_graphs_and_ties(self):
        layer = pit.torch.CompressedLinear.from_linear(torch.nn.Linear(64, 8))
        x = torch.randn(3, 64)
        compiled = torch.compile(layer, backend="eager", fullgraph=True)
        self.close(compiled(x), layer(x).double(), torch.float32)
        tied = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
        tied[1].weight = tied[0].weight
        torch.nn.init.zeros_(tied[0].weight)
        self.assertEqual(pit.torch.compress_linears(tied), 0)

    def test_errors(self):
        layer = pit.torch.CompressedLinear(64, 8)
        with self.assertRaisesRegex(pit.Error, r"x has shape \(3, 63\); its last dimension must be that of the weight"):
            layer(torch.randn(3, 63))
        with self.assertRaisesRegex(pit.Error, "values has elements of f32, x of f64"):
            layer(torch.randn(3, 64, dtype=torch.float64))
        with self.assertRaisesRegex(pit.Error, r"compress: a mask of shape \(2, 3\)"):
            pit.compress(torch.randn(3, 3), torch.ones(2, 3))
        with self.assertRaisesRegex(pit.Error, "compress: a weight of shape"):
            pit.compress(torch.randn(3))
        self.assertEqual(repr(pit.compress(torch.eye(16, 64))),
                         "Compressed(16 x 64, 16 values of torch.float32, 256 bytes)")
        with self.assertRaisesRegex(pit.Error, "weight must be what pit.compress makes, not Tensor"):
            pit.compressed_linear(torch.randn(3, 3), torch.randn(3, 3))
        with self.assertRaisesRegex(pit.Error, r"values has shape \(0,\); it is a vector of one element at least"):
            pit.Compressed(layer.words, layer.values[:0], (8, 64))
        with self.assertRaisesRegex(pit.Error, r"words has shape \(1, 1, 48\); for a weight of \(17, 64\) it is"):
            pit.Compressed(layer.words, layer.values, (17, 64))
        with self.assertRaisesRegex(pit.Error, "compress_linears: zeros is 2"):
            pit.torch.compress_linears(layer, zeros=2)


class Products(Case):
    def test_gradients(self):
        mask = torch.rand(11, 9) < 0.3
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        x, b = (torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((5, 9), (11,)))
        values = torch.randn(int(mask.sum()), dtype=torch.float64, requires_grad=True)
        how = {"index": index, "packed": True}
        for call, given in (
                (lambda x, v, b: pit.linear(x, v, b, sparse="weight", activation="tanh", **how),
                 (x, values, b)),
                (lambda v, x: pit.einsum("nk,mk->m", v, x, sparse="a", **how), (values, x)),
                (lambda x, y: pit.matmul(x.t(), y, sparse="out", index=pit.build_index(
                    mask.t().contiguous(), (1, 1), 0, source="mask"), packed=True),
                 (x, torch.randn(5, 11, dtype=torch.float64, requires_grad=True)))):
            self.assertTrue(gradcheck(call, given, check_forward_ad=True))
            self.assertTrue(gradgradcheck(call, given))

    def test_flops(self):
        """Counted as those of a dense product."""
        mask = torch.rand(6, 9) < 0.4
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        with FlopCounterMode(display=False) as counter:
            pit.linear(torch.randn(5, 9), torch.randn(int(mask.sum())), sparse="weight",
                       index=index, packed=True)
        self.assertEqual(counter.get_total_flops(), 2 * 5 * 6 * 9)

    def test_vmap(self):
        mask = torch.rand(6, 9) < 0.4
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        w, x = torch.randn(6, 9), torch.randn(3, 5, 9)
        found = torch.vmap(lambda x: pit.linear(x, w[mask], sparse="weight", index=index,
                                                packed=True))(x)
        self.close(found, (x @ (w * mask).t()).double(), torch.float32)


@mock.patch.object(_packed, "OUTPUTS", 16)
class Csr(Case):
    """Weights as lists of any length, against a dense weight."""

    def test_gradients(self):
        for dtype in TOLERANCE:
            for (k, n), rows, part in (((24, 50), (130,), 0.1), ((9, 33), (2, 3), 0.5), ((7, 20), (4,), 0)):
                linear = torch.nn.Linear(k, n, bias=k != 9, dtype=dtype)
                kept = torch.rand(n, k) < part
                kept[3] = False  # an output without weights
                if part:
                    kept[5] = True  # and one with all
                layer = pit.torch.CsrLinear.from_linear(linear, kept)
                self.assertEqual(len(layer.values), int(kept.sum()))
                self.assertTrue(torch.equal(layer.to_dense(), linear.weight * kept))
                if not part:
                    x = torch.randn(*rows, k, dtype=dtype, requires_grad=True)
                    self.assertTrue(torch.equal(layer(x), layer.bias.expand(*rows, n)))
                    continue
                self.check(layer, layer.values, lambda values, kept=kept: values.new_zeros(
                    kept.shape).masked_scatter(kept, values), torch.randn(
                        *rows, k, dtype=dtype, requires_grad=True))

    def test_copies(self):
        pruned = torch.nn.Linear(12, 40)
        with torch.no_grad():
            pruned.weight.mul_(torch.rand(40, 12) < 0.3)
        layer, x = pit.torch.CsrLinear.from_linear(pruned), torch.randn(5, 12)
        expected = pruned(x)
        weight = pruned.weight.detach().to_sparse_csr()
        other = pit.torch.CsrLinear(12, 40, len(layer.values))
        self.assertEqual(other(x).shape, expected.shape)
        other.load_state_dict(layer.state_dict())  # lists of other lengths
        for each in (layer, other, pit.torch.CsrLinear.from_csr(weight, pruned.bias), copy.deepcopy(layer),
                     pickle.loads(pickle.dumps(layer))):
            self.close(each(x), expected.double(), torch.float32)
        self.assertIn("weights=", repr(layer))

    def test_errors(self):
        with self.assertRaisesRegex(pit.Error, "25 weights; 4 outputs of 6 inputs have 0 to 24"):
            pit.torch.CsrLinear(6, 4, 25)
        linear = torch.nn.Linear(6, 4)
        with self.assertRaisesRegex(pit.Error, r"a mask of shape \(6, 4\); .* weight's, \(4, 6\)"):
            pit.torch.CsrLinear.from_linear(linear, torch.ones(6, 4))
        with self.assertRaisesRegex(pit.Error, "layout torch.strided .* weight.to_sparse_csr"):
            pit.torch.CsrLinear.from_csr(linear.weight)
        layer = pit.torch.CsrLinear(6, 4, 12)
        layer.columns[1] = layer.columns[0]
        with self.assertRaisesRegex(pit.Error, "CsrLinear: columns of outputs 0 to 3: .* ascending order"):
            layer(torch.zeros(2, 6))
        layer = pit.torch.CsrLinear(6, 4, 12)
        layer.ends[0] = 9
        with self.assertRaisesRegex(pit.Error, "12 values and 12 columns; ends must ascend to their number"):
            layer(torch.zeros(2, 6))


@mock.patch.object(_packed, "OUTPUTS", 16)
class FixedFanIn(Case):
    def make(self, *sizes, **how):
        return pit.torch.FixedFanInLinear(*sizes, **how)

    def dense(self, layer):
        place = layer.columns.long()
        shape = layer.out_features, layer.in_features
        return lambda values: values.new_zeros(shape).scatter(1, place, values)

    def test_gradients(self):
        # Rows of one part of a batch and of more, blocks with a rest and without, fan-in 1 and
        # whole.
        shapes = (((24, 50, 5), (130,)), ((24, 48, 1), (2, 3)), ((70, 33, 70), ()),
                  ((9, 1, 4), (300,)), ((5, 6, 2), (0,)))
        for dtype in TOLERANCE:
            for sizes, rows in shapes if dtype == torch.float32 else shapes[:1]:
                layer = self.make(*sizes, bias=sizes[0] != 70, dtype=dtype)
                x = torch.randn(*rows, sizes[0], dtype=dtype, requires_grad=True)
                self.check(layer, layer.values, self.dense(layer), x)

    def test_gradcheck(self):
        layer = self.make(7, 21, 3, dtype=torch.float64)
        x = torch.randn(4, 7, dtype=torch.float64, requires_grad=True)

        def call(x, values, bias):
            return torch.func.functional_call(layer, {"values": values, "bias": bias}, (x,))

        self.assertTrue(gradcheck(call, (x, layer.values, layer.bias)))
        call(x, layer.values, layer.bias)  # leaves the layer as it was
        self.assertEqual(layer.to_dense().count_nonzero().item(), 63)

    def test_some_gradients(self):
        layer = self.make(7, 21, 3)
        layer(torch.randn(4, 7)).sum().backward()
        self.assertEqual(layer.values.grad.shape, (21, 3))
        layer.values.requires_grad_(False)
        x = torch.randn(4, 7, requires_grad=True)
        layer(x).sum().backward()
        self.close(x.grad, layer.to_dense().sum(0).expand(4, 7), torch.float32)

    def test_no_weights(self):
        layer = self.make(6, 5, 0)
        x = torch.randn(3, 6, requires_grad=True)
        y = layer(x)
        y.sum().backward()
        self.assertTrue(torch.equal(y, layer.bias.expand(3, 5)))
        self.assertFalse(x.grad.any())
        self.assertTrue((layer.bias.grad == 3).all())

    def test_copies(self):
        layer = self.make(12, 40, 3)
        x = torch.randn(5, 12)
        y = layer(x)
        other = self.make(12, 40, 3)
        self.assertFalse(torch.equal(other(x), y))
        other.load_state_dict(layer.state_dict())
        for each in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)),
                     layer.double().float()):
            self.assertTrue(torch.equal(each(x), y))

    def test_from_linear(self):
        linear = torch.nn.Linear(12, 40)
        layer = pit.torch.FixedFanInLinear.from_linear(linear, 4)
        largest = linear.weight.abs().topk(4).indices
        mask = torch.zeros(40, 12).scatter(1, largest, 1)
        self.assertTrue(torch.equal(layer.to_dense(), linear.weight * mask))
        self.assertTrue(torch.equal(layer.bias, linear.bias))

    def test_autocast(self):
        layer = self.make(12, 40, 3)
        x = torch.randn(5, 12)
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(x)
            y.float().sum().backward()
        self.assertEqual(y.dtype, torch.bfloat16)
        self.assertEqual(layer.values.grad.dtype, torch.float32)
        self.close(y, layer(x), torch.bfloat16)

    def test_errors(self):
        with self.assertRaisesRegex(pit.Error, "fan_in is 13; .* 0 to in_features = 12"):
            self.make(12, 40, 13)
        layer = self.make(12, 40, 3)
        with self.assertRaisesRegex(pit.Error, "last dimension must be in_features = 12"):
            layer(torch.randn(5, 11))
        with self.assertRaisesRegex(pit.Error, "x has elements of torch.float64, the weights of"):
            layer(torch.randn(5, 12).double())
        columns = layer.columns.clone()
        for bad in (columns[20, 1], columns[20, 2], -1, 12):  # twice, not in order, outside
            with torch.no_grad():
                layer.columns.copy_(columns)
                layer.columns[20, 0] = bad
            with self.assertRaisesRegex(pit.Error, "columns of outputs 16 to 31: .*ids .* group 4|"
                                                   "columns of outputs 16 to 31: .*id"):
                layer(torch.randn(5, 12))
        y = self.make(12, 40, 3)
        result = y(torch.randn(5, 12))
        y.regrow(0.5)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            result.sum().backward()
        with self.assertRaisesRegex(pit.Error, "needs both x and grad"):
            y.regrow(0.5, x=torch.randn(5, 12))
        with self.assertRaisesRegex(pit.Error, "a fraction is in"):
            y.regrow(1.5)

    def test_regrow(self):
        for gradient in (False, True):
            layer = self.make(12, 40, 4, dtype=torch.float64)
            optimizer = torch.optim.Adam(layer.parameters())
            x = torch.randn(9, 12, dtype=torch.float64)
            kept = {}
            with mock.patch("pit.torch._fan_in.DENSE_BYTES", 700):  # some outputs at a time
                for _ in range(4):
                    optimizer.zero_grad()
                    y = layer(x)
                    y.retain_grad()
                    y.square().sum().backward()
                    optimizer.step()
                    before, moments = layer.to_dense().detach(), self.moments(layer, optimizer)
                    dense = (y.grad.t() @ x).abs()
                    given = {"x": x, "grad": y.grad} if gradient else {}
                    grown = layer.regrow(0.5, optimizer=optimizer, **given)
                    self.assertEqual(grown, 2)
                    after = layer.to_dense().detach()
                    # The two largest stay as they are, with their moments; all others are 0.
                    largest = before.abs().topk(2).indices
                    kept = torch.zeros_like(before).scatter(1, largest, 1)
                    self.assertTrue(torch.equal(after, before * kept))
                    self.assertTrue(torch.equal(self.moments(layer, optimizer), moments * kept))
                    here = torch.zeros_like(before).scatter(1, layer.columns.long(), 1)
                    self.assertTrue((here >= kept).all() and (here.sum(1) == 4).all())
                    if gradient:
                        wanted = (dense - 1e9 * kept).topk(2).indices
                        self.assertTrue((here.gather(1, wanted) == 1).all())
                    self.check(layer, layer.values, self.dense(layer),
                               x.clone().requires_grad_())
        self.assertEqual(layer.regrow(0), 0)

    @staticmethod
    def moments(layer, optimizer):
        found = optimizer.state[layer.values]["exp_avg"]
        return torch.zeros(40, 12, dtype=found.dtype).scatter(1, layer.columns.long(), found)


@mock.patch.object(_packed, "OUTPUTS", 32)
class Masked(Case):
    MASKS = {"nothing": lambda: torch.rand(96, 70) < 0.7,
             "weights": lambda: torch.rand(96, 70) < 0.05,
             "32x1": lambda: (torch.rand(3, 70) < 0.2).repeat_interleave(32, 0),
             "1x*": lambda: (torch.rand(96, 1) < 0.3).expand(96, 70)}

    def test_gradients(self):
        for dtype in (torch.float64, torch.bfloat16):
            layer = pit.torch.MaskedLinear(70, 96, dtype=dtype)
            self.assertEqual(layer.skips, "nothing")
            for what, make in self.MASKS.items():
                mask = make()
                layer.set_mask(mask)
                self.assertEqual(layer.skips, what)
                self.assertFalse(layer.weight[~mask].any())
                torch.nn.init.normal_(layer.weight)
                layer.set_mask(mask)
                x = torch.randn(2, 9, 70, dtype=dtype, requires_grad=True)
                self.check(layer, layer.weight, lambda weight: weight * mask, x)
                layer.zero_grad()
                layer(x).square().sum().backward()
                self.assertFalse(layer.weight.grad[~mask].any())

    def test_dims_before_features_are_rows(self):
        """A batch of texts is the same program as its tokens, and so are its gradients."""
        layer = pit.torch.MaskedLinear(70, 96)
        layer.set_mask(self.MASKS["32x1"]())
        with _op.capture() as plans:
            layer(torch.randn(2, 9, 70, requires_grad=True))
        (plan, _), = plans
        self.assertEqual([*map(len, plan.op.inputs), len(plan.op.output)], [2, 2, 2])

    def test_live_parts(self):
        for shape in (96, 70), (33, 7), (1, 1), (0, 4):
            for part in 0, 0.1, 1:
                mask = torch.rand(*shape) < part
                for rows, columns in (32, 1), (1, 0), (1, 1):
                    wide = columns or shape[1]
                    live = [mask[i:i + rows, j:j + wide].any() for i in range(0, shape[0], rows)
                            for j in range(0, shape[1], wide)]
                    self.assertAlmostEqual(_masked.live_part(mask, (rows, columns)),
                                           sum(map(int, live)) / len(live) if live else 1.0, places=6)
        exchanged = (torch.rand(70, 96) < 0.1).t()
        self.assertEqual(_masked.scan(exchanged)[0], "weights")

    def test_compiled(self):
        """Graphs end before the layers."""
        layer = pit.torch.MaskedLinear(70, 96)
        layer.set_mask(self.MASKS["weights"]())
        model = torch.nn.Sequential(layer, torch.nn.ReLU(), pit.torch.FixedFanInLinear(96, 50, 4))
        x = torch.randn(4, 70)
        found = torch.compile(model, backend="eager")(x)
        self.assertTrue(torch.equal(found, model(x)))
        found.sum().backward()
        self.assertTrue(layer.weight.grad.any())

    def test_empty_rows(self):
        layer = pit.torch.MaskedLinear(200, 64, dtype=torch.float64)
        mask = torch.rand(64, 200) < 0.02
        mask[10:40] = mask[:, 7] = False
        layer.set_mask(mask)
        self.assertEqual(layer.skips, "weights")
        self.check(layer, layer.weight, lambda weight: weight * mask,
                   torch.randn(5, 200, dtype=torch.float64, requires_grad=True))
        layer.set_mask(torch.zeros_like(mask))
        self.check(layer, layer.weight, lambda weight: weight * 0,
                   torch.randn(5, 200, dtype=torch.float64, requires_grad=True))

    def test_index_is_kept(self):
        """A mask is looked at when it has changed, and not else."""
        layer = pit.torch.MaskedLinear(70, 96)
        layer.set_mask(self.MASKS["32x1"]())
        x = torch.randn(4, 70)
        from pit.torch import _masked
        with mock.patch.object(_masked, "scan", wraps=_masked.scan) as scan:
            for _ in range(3):
                layer(x).sum().backward()
                with torch.no_grad():
                    layer.weight.mul_(0.5)
            self.assertEqual(scan.call_count, 1)
            layer.set_mask(self.MASKS["weights"]())
            layer(x), layer(x)
            self.assertEqual(scan.call_count, 2)

    def test_forward_alone(self):
        """As on a GPU, where the gradients of what blocks select are dense products."""
        layer = pit.torch.MaskedLinear(70, 96, dtype=torch.float64)
        mask = self.MASKS["32x1"]()
        layer.set_mask(mask)
        from pit.torch import _masked
        way = "forward", pit.build_index(mask, (32, 1), 1, source="mask")
        with mock.patch.object(_masked, "scan", return_value=way):
            layer._scanned = None
            self.assertEqual(layer.skips, "32x1")
            x = torch.randn(2, 9, 70, dtype=torch.float64, requires_grad=True)
            self.check(layer, layer.weight, lambda weight: weight * mask, x)

    def test_multiplied(self):
        """As small layers on a GPU: weights that are not kept count as 0 whoever writes to them."""
        layer = pit.torch.MaskedLinear(70, 96, dtype=torch.float64)
        mask = self.MASKS["weights"]()
        layer.set_mask(mask)
        with torch.no_grad():
            layer.weight.add_(1)
        from pit.torch import _masked
        with mock.patch.object(_masked, "scan", return_value=("multiplied", None)):
            layer._scanned = None
            self.assertEqual(layer.skips, "nothing")
            x = torch.randn(2, 9, 70, dtype=torch.float64, requires_grad=True)
            self.check(layer, layer.weight, lambda weight: weight * mask, x)

    def test_copies(self):
        layer = pit.torch.MaskedLinear(70, 96)
        layer.set_mask(self.MASKS["weights"]())
        x = torch.randn(4, 70)
        y = layer(x)
        other = pit.torch.MaskedLinear(70, 96)
        other.load_state_dict(layer.state_dict())
        for each in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            self.assertTrue(torch.equal(each(x), y))
        with self.assertRaisesRegex(pit.Error, r"a mask of shape \(96, 71\); .* \(96, 70\)"):
            layer.set_mask(torch.ones(96, 71))


if __name__ == "__main__":
    unittest.main()
