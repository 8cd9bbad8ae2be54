# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Sparse convolutions of torch: results and gradients against float64. With PIT_TEST_DEVICE=cuda on a
GPU, as test/GPU/torch_device.py runs it."""

import itertools
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch.autograd import gradcheck, gradgradcheck

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from torch_base import Base, DEVICE, FUNCTIONS, dense, pit, wide, zeros  # noqa: E402

from pit.ops import _op  # noqa: E402


class Convolutions(Base):
    def test_conv2d(self):
        mask = torch.rand(2, 4, 3, 2) < 0.5
        for arguments in ({"padding": 1, "activation": "relu"}, {"stride": (2, 1), "mask": mask},
                          {"sparse": None}, {"sparse": None, "padding": (0, 1, 2, 0)},
                          {"padding": "same"}):
            self.assertTrue(gradcheck(
                lambda x, w, b: pit.conv2d(x, w, b, layout="nhwc", **arguments),
                (dense(2, 4, 3, 2), dense(2, 2, 2, 3), dense(3)), nondet_tol=1e-10))
        self.assertTrue(gradgradcheck(
            lambda x, w: pit.conv2d(x, w, stride=2, padding=1, mask=torch.ones(1, 2, 3, 4).bool()),
            (dense(1, 2, 3, 4), dense(2, 2, 2, 2)), nondet_tol=1e-10))

    def test_conv2d_wanted(self):
        """Of pixels, filters and elements; what is not wanted goes nowhere."""
        x, w, b = dense(2, 4, 6, 5), dense(3, 4, 3, 2), dense(3)
        for shape in ((2, 1, 6, 6), (6, 6), (3, 1, 1), (2, 3, 6, 6)):
            for live, how in ((0.4, {"activation": "relu"}), (0.4, {"activation": "silu"}), (0, {})):
                mask = torch.rand(shape) < live

                def plain(x, w, b):
                    y = torch.nn.functional.conv2d(x, w, b, padding=1)
                    return torch.where(mask, FUNCTIONS[how.get("activation")](y), 0)

                self.compare(lambda *v: pit.conv2d(*v, padding=1, sparse="out", mask=mask, **how),
                             plain, x, w, b)
        batch = torch.randn(3, 2, 4, 6, 5)
        mask = torch.rand(2, 1, 6, 6) < 0.5
        call = lambda x: pit.conv2d(x, w, padding=1, sparse="out", mask=mask)
        batch = batch.double()
        self.close(torch.func.vmap(call)(batch), torch.stack([call(v) for v in batch]), 1e-12)
        compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
        self.close(compiled(x), call(x), 1e-12)

    def test_conv2d_of_groups(self):
        """Sparse gradients of groups, in both layouts; those of single channels are torch's."""
        dims = {"nchw": ((0, 1, 2, 3),) * 3, "nhwc": ((0, 2, 3, 1), (2, 3, 1, 0), (0, 3, 1, 2))}
        stride, padding, dilation = (2, 1), (0, 1), (1, 2)
        for groups, channels, each in ((2, 3, 2), (3, 2, 1), (4, 1, 1)):
            x, w, b = (dense(2, groups * channels, 7, 6), dense(groups * each, channels, 3, 2),
                       dense(groups * each))
            masks = {None: None, "x": torch.rand(x.shape) < 0.5, "weight": torch.rand(w.shape) < 0.5}
            for layout, name in itertools.product(dims, masks):
                images, filters, back = dims[layout]
                mask = masks[name]

                def call(x, w, b):
                    selected = {None: None, "x": images, "weight": filters}[name]
                    return pit.conv2d(
                        x.permute(images), w.permute(filters), b, stride=stride, padding=padding,
                        dilation=dilation, groups=groups, layout=layout, sparse=name or "x",
                        activation="relu", mask=None if mask is None else mask.permute(selected),
                    ).permute(back)

                def plain(x, w, b):
                    x = torch.where(mask, x, 0) if name == "x" else x
                    w = torch.where(mask, w, 0) if name == "weight" else w
                    return torch.relu(torch.nn.functional.conv2d(x, w, b, stride, padding, dilation,
                                                                 groups))

                with mock.patch.object(pit.ops._conv_gradients, "of_images",
                                       wraps=pit.ops._conv_gradients.of_images) as sparse:
                    self.compare(call, plain, x, w, b)
                self.assertEqual(sparse.called, channels > 1)
        for batch in (1, 3):
            self.compare(lambda x, w: pit.conv2d(x, w, groups=2),
                         lambda x, w: torch.nn.functional.conv2d(x, w, groups=2),
                         dense(batch, 4, 5, 5), dense(4, 2, 3, 3))

    def test_conv2d_beside_torch(self):
        """Which gradients are sparse convolutions, and what is masked goes nowhere."""
        for _ in range(2):
            n, c, f, h, w = (int(torch.randint(1, top, ())) for top in (4, 5, 5, 12, 12))
            how = {name: tuple(int(v) for v in torch.randint(low, 4, (2,)))
                   for name, low in (("stride", 1), ("padding", 0), ("dilation", 1))}
            window = [int(torch.randint(1, max(2, 1 + (
                size + 2 * p - 1) // d), ())) for size, p, d in zip(
                    (h, w), how["padding"], how["dilation"])]
            x, weight = zeros(n, c, h, w), dense(f, c, *window)
            mask, kept = torch.rand(n, c, h, w) < 0.3, torch.rand(f, c, *window) < 0.4
            plain = lambda x, w, b: torch.nn.functional.conv2d(x, w, b, **how)
            for options, reference in (
                    ({}, plain), ({"activation": "relu"}, lambda *v: torch.relu(plain(*v))),
                    ({"sparse": "weight"}, plain),
                    ({"mask": mask}, lambda x, w, b: plain(torch.where(mask, x, 0), w, b)),
                    ({"sparse": "weight", "mask": kept, "activation": "relu"},
                     lambda x, w, b: torch.relu(plain(x, torch.where(kept, w, 0), b)))):
                with self.subTest(x=x.shape, weight=weight.shape, **how, **options):
                    self.compare(lambda *v: pit.conv2d(*v, **how, **options), reference, x, weight,
                                 dense(f))
            poisoned = torch.where(mask, x.detach(), torch.nan).requires_grad_()
            y = pit.conv2d(poisoned, weight, mask=mask, **how)
            for found in torch.autograd.grad(y.square().sum(), (poisoned, weight)):
                self.assertTrue(found.isfinite().all())

    def in_training(self, call, plain, x, w, b, live_fraction=0.1):
        """Results and gradients of a convolution whose gradient is sparse, too, in f32 beside
        float64; which ops were run."""
        same, ops, run = [wide(v) for v in (x, w, b)], [], _op.call
        with mock.patch.object(_op, "call", lambda op, *v: ops.append(op) or run(op, *v)):
            y, expected = call(x, w, b), plain(*same)
            self.close(y, expected, 1e-5)
            grad = zeros(*y.shape, dtype=torch.float32, grad=False, live_fraction=live_fraction)
            grad = grad.contiguous(memory_format=torch.channels_last) if y.is_contiguous(
                memory_format=torch.channels_last) else grad
            found = torch.autograd.grad(y, (x, w, b), grad)
        for one, other, v in zip(found, torch.autograd.grad(expected, same, grad.double()), (x, w, b)):
            self.close(one, other, 1e-5)
            self.assertEqual(one.dtype, v.dtype)
        return y, ops

    @unittest.skipUnless(DEVICE == "cpu", "the choice is the CPU's")
    def test_conv2d_in_training(self):
        """Programs for zeros anywhere, in both layouts and orders of memory, of ragged sizes. Where
        they do not pay, torch is asked."""
        forward, images, filters = "SparseConv2d", "ImageGradient", "FilterGradient"
        for shape, (f, *window), how, expected in (
                ((2, 32, 7, 11), (48, 3, 3), {"padding": 1}, [forward, images, filters]),
                ((1, 32, 31, 45), (64, 3, 3), {"padding": (0, 1, 2, 0)}, [forward, images, filters]),
                ((3, 32, 12, 7), (32, 5, 2), {"padding": (2, 1), "dilation": (1, 2)},
                 [forward, images, filters]),
                ((2, 128, 5, 6), (128, 1, 1), {}, [forward, images, filters]),
                ((1, 32, 9, 9), (32, 7, 7), {"padding": 3}, [forward, images, filters]),
                ((2, 32, 9, 8), (32, 3, 3), {"padding": 1, "stride": 2}, [forward, images, filters]),
                ((1, 32, 11, 7), (48, 4, 3), {"padding": 2, "stride": (3, 2), "dilation": (2, 1)},
                 [forward, images, filters]),
                ((1, 32, 1, 2), (32, 3, 3), {"padding": 1, "stride": 3}, [forward, images, filters]),
                ((2, 160, 5, 7), (128, 1, 1), {"stride": 2}, [forward, images, filters]),
                ((2, 192, 9, 8), (40, 3, 3), {"padding": 0}, [forward, images, filters]),
                ((2, 3, 9, 8), (32, 3, 3), {"padding": 1}, [])):
            padding = how.get("padding", 0)
            sides = (padding,) * 4 if isinstance(padding, int) else padding
            sides = (sides[0], sides[0], sides[1], sides[1]) if len(sides) == 2 else sides
            plain = lambda x, w, b: torch.relu(torch.nn.functional.conv2d(
                torch.nn.functional.pad(x, (*sides[2:], *sides[:2])), w, b, how.get("stride", 1), 0,
                how.get("dilation", 1)))
            x = zeros(*shape, dtype=torch.float32, grad=False, live_fraction=0.1)
            w, b = torch.randn(f, shape[1], *window), torch.randn(f, requires_grad=True)
            forms = ((torch.channels_last, "nchw"), (torch.contiguous_format, "nchw"),
                     (torch.channels_last, "nhwc"))
            # Which phases there are, and who is met, does not depend on the order in memory.
            for form, layout in forms[:1] if "stride" in how and how["stride"] != 2 else forms:
                args = [v.to(memory_format=form).requires_grad_() for v in (x, w)]
                call = lambda x, w, b: pit.conv2d(x, w, b, activation="relu", **how)
                if layout == "nhwc":
                    call = lambda x, w, b: pit.conv2d(
                        x.permute(0, 2, 3, 1), w.permute(2, 3, 1, 0), b, activation="relu",
                        layout="nhwc", **how).permute(0, 3, 1, 2)
                with self.subTest(shape=shape, form=form, layout=layout):
                    y, ops = self.in_training(call, plain, *args, b)
                    self.assertTrue(y.is_contiguous(memory_format=form))
                    self.assertEqual([type(op).__name__ for op in ops], expected)

    @unittest.skipUnless(DEVICE == "cpu", "the choice is the CPU's")
    def test_conv2d_choice(self):
        """live_fraction= is believed, batches of many sizes share programs, second derivatives are right,
        and what is frozen costs nothing."""
        plain = lambda x, w, b: torch.nn.functional.conv2d(x, w, b, padding=1)
        draw = lambda n, live_fraction=0.1: zeros(n, 32, 6, 6, dtype=torch.float32, live_fraction=live_fraction)
        w, b = torch.randn(32, 32, 3, 3, requires_grad=True), torch.randn(32, requires_grad=True)
        for live, live_fraction, expected in ((0.1, None, 3), (0.1, 0.9, 0), (0.9, 0.1, 3), (0.9, None, 0)):
            _, ops = self.in_training(lambda *v: pit.conv2d(*v, padding=1, live_fraction=live_fraction), plain,
                                      draw(2, live), w, b)
            self.assertEqual(len(ops), expected)
        # The gradient of filters skips the zeros of whichever has more of them.
        for live, of_grad, by_grad in ((0.3, 0.02, [True]), (0.1, 0.9, [False]), (0.1, 0.3, [False])):
            _, ops = self.in_training(lambda *v: pit.conv2d(*v, padding=1), plain, draw(2, live),
                                      w, b, of_grad)
            self.assertEqual([op.by_grad for op in ops if hasattr(op, "by_grad")], by_grad)
        # Without gradients, too. What is zero in whole channels is skipped by these.
        channels = draw(2, 1).detach() * (torch.arange(32) % 4 == 0).float()[:, None, None]
        last = channels.contiguous(memory_format=torch.channels_last)
        for x, live_fraction, expected in (
                (draw(2), None, ["SparseConv2d"]), (draw(2, 0.9), None, []), (draw(2), 0.9, []),
                (channels, None, ["Conv2d"]), (last, None, ["SparseConv2d"])):
            with mock.patch.object(_op, "call", wraps=_op.call) as called, torch.no_grad():
                self.close(pit.conv2d(x, w, b, padding=1, live_fraction=live_fraction),
                           plain(x.double(), w.double(), b.double()), 1e-5)
            self.assertEqual([type(c.args[0]).__name__ for c in called.call_args_list], expected)
        with torch.no_grad(), self.assertRaisesRegex(pit.Error, "dimension 1 of weight is 32, but"):
            pit.conv2d(channels[:, 1:], w, padding=1)
        for n in (1, 3, 4, 5, 6, 7):
            self.in_training(lambda *v: pit.conv2d(*v, padding=1), plain, draw(n), w, b)
        x, second = draw(2), []
        for function in (lambda *v: pit.conv2d(*v, padding=1), plain):
            first, = torch.autograd.grad(function(x, w, b).square().sum(), x, create_graph=True)
            second.append(torch.autograd.grad(first.square().sum(), (x, w, b)))
        for one, other in zip(*second):
            self.close(one, other.double(), 1e-4)
        with mock.patch.object(_op, "call", wraps=_op.call) as called:
            torch.autograd.grad(pit.conv2d(x.detach(), w, padding=1).sum(), w)
        self.assertEqual([type(c.args[0]).__name__ for c in called.call_args_list],
                         ["SparseConv2d", "FilterGradient"])
        compiled = torch.compile(lambda x, w: pit.conv2d(x, w, padding=1), fullgraph=True,
                                 backend="aot_eager")
        for one, other in zip(torch.autograd.grad(compiled(x, w).square().sum(), (x, w)),
                              torch.autograd.grad(plain(x, w, None).square().sum(), (x, w))):
            self.close(one, other.double(), 1e-4)

    def test_groups(self):
        for groups, c, f in ((2, 3, 4), (3, 1, 1), (4, 1, 2)):
            x, w, b = zeros(2, groups * c, 6, 5), dense(groups * f, c, 3, 2), dense(groups * f)
            plain = lambda x, w, b: torch.relu(torch.nn.functional.conv2d(
                x, w, b, stride=(2, 1), padding=1, groups=groups))
            how = {"stride": (2, 1), "padding": 1, "groups": groups, "activation": "relu"}
            for _ in range(2):
                self.compare(lambda *v: pit.conv2d(*v, **how), plain, x, w, b)
            self.compare(
                lambda x, w, b: pit.conv2d(x.permute(0, 2, 3, 1), w.permute(2, 3, 1, 0), b,
                                           layout="nhwc", **how).permute(0, 3, 1, 2), plain, x, w, b)
            mask = torch.rand(x.shape) < 0.3
            self.compare(lambda *v: pit.conv2d(*v, mask=mask, **how),
                         lambda x, w, b: plain(torch.where(mask, x, 0), w, b), x, w, b)
            kept = torch.rand(w.shape) < 0.3
            self.compare(lambda *v: pit.conv2d(*v, sparse="weight", mask=kept, **how),
                         lambda x, w, b: plain(x, torch.where(kept, w, 0), b), x, w, b)
            for dtype in (torch.float32, torch.float16, torch.bfloat16):
                small = [v.detach().to(dtype) for v in (x, w, b)]
                self.compare(lambda *v: pit.conv2d(*v, **how), plain, *small)
        for wrong in (0, 5, -1, True, 1.5):
            with self.assertRaisesRegex(pit.Error, "groups"):
                pit.conv2d(x, w, b, groups=wrong)

    def test_conv2d_is_sparse(self):
        ops, call = [], _op.call
        x, w = zeros(2, 3, 6, 6), dense(4, 3, 3, 3)
        for options, count in (({}, 0), ({"activation": "relu"}, 1), ({"sparse": "weight"}, 1),
                               ({"sparse": None}, 0)):
            ops.clear()
            with mock.patch.object(_op, "call", lambda op, *v: ops.append(op) or call(op, *v)):
                torch.autograd.grad(pit.conv2d(x, w, **options).sum(), (x, w))
            self.assertEqual([bool(op.marks) for op in ops[1:]], [True] * count)


if __name__ == "__main__":
    unittest.main()
