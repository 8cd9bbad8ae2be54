"""Small networks as other front ends write them: tensors are padded, cut, joined
and put into others between the ops that are marked, and loops carry them.
Each is a program as draw.py makes one, with a reference in numpy.

A model's function gets a Model, which hands out its arguments and takes its
results; it returns the program's text.
"""

import numpy as np

from dtypes import BF16, F16, F32, I32, I64
from layers import Layers
from linalg_ref import Val
from program import Dim, ScalarType, TensorType

RUNS = 3  # of each model, with other data


class Argument:
    def __init__(self, name, type_, array):
        self.name, self.type, self.array = name, type_, array


class Model:
    """A program of this file, as Draw makes one."""

    def __init__(self, name, step=None):
        self.name = name
        self.data = np.random.default_rng(len(name))
        self.runs = 1 if step else RUNS

    def run(self):
        self.new_run()
        return self

    def new_run(self):
        self.args, self.results = [], []
        self.source = MODELS[self.name](self)

    # What a model is made with.

    def tensor(self, name, shape, dtype=F32, zeros=0.0, values=None, scale=1.0):
        """An argument, with so many of its elements 0; its values as float64."""
        if values is None:
            values = self.data.standard_normal(shape) * scale
            values *= self.data.random(shape) >= zeros
        stored = dtype.store(values).reshape(shape)
        type_ = TensorType(dtype, [Dim(True, n) for n in shape], [True] * len(shape))
        self.args.append(Argument(name, type_, stored))
        return dtype.load(stored)

    def scalar(self, name, value):
        """An argument of type index."""
        self.args.append(Argument(name, ScalarType(I64), np.int64(value)))
        return value

    def result(self, values, dtype=F32, error=1e-4):
        """A result; `error` is relative to its largest element."""
        values = np.asarray(values, dtype=np.float64)
        bound = error * max(1.0, float(np.max(np.abs(values), initial=0.0)))
        errors = np.full_like(values, bound if dtype.is_float else 0.0)
        self.results.append((dtype, Val(values, errors)))

    # What checks see of a program.

    def text(self):
        return self.source

    def draw_data(self):
        return [argument.array for argument in self.args]

    def expected(self):
        return self.results

    def argument_offset(self, name):
        return 0

    def result_offset(self):
        return 0

    def fits_tma(self):
        return None


def resnet(model):
    """Two residual blocks, the second of which halves the image, between the
    poolings that a ResNet has around them."""
    net = Layers(model)
    x = net.argument((2, 18, 18, 8))

    def block(x, channels, stride):
        inner = x[1].shape[-1]
        weight = lambda *shape: net.argument(shape, scale=shape[0] ** -1.0 * shape[-2] ** -0.5)
        y = net.conv(net.mark(net.pad(x, 1)), weight(3, 3, inner, channels), stride)
        y = net.clamp(net.norm(y))
        y = net.norm(net.conv(net.mark(net.pad(y, 1)), weight(3, 3, channels, channels)))
        if stride != 1 or inner != channels:
            x = net.norm(net.conv(net.mark(x), weight(1, 1, inner, channels), stride))
        return net.clamp(net.add(y, x))

    x = net.max_pool(net.pad(net.clamp(x), 1, -np.inf), 3, 2)
    x = block(x, 8, 1)
    x = block(x, 16, 2)
    return net.function(net.mean(x), x)


def mobilenet(model):
    """Inverted residuals: widened, filtered by channel, narrowed."""
    net = Layers(model)
    x = net.argument((1, 14, 14, 8))
    for stride in (1, 2):
        narrow, wide = x[1].shape[-1], 32
        y = net.conv(net.mark(x), net.argument((1, 1, narrow, wide), scale=0.3))
        y = net.clamp(net.norm(y), 6.0)
        y = net.depthwise(net.pad(y, 1), net.argument((3, 3, wide), scale=0.3), stride)
        y = net.clamp(net.norm(y), 6.0)
        y = net.norm(net.conv(net.mark(y), net.argument((1, 1, wide, 8), scale=0.2)))
        x = net.add(x, y) if stride == 1 else y
    return net.function(x)


def unet(model):
    """Down, up again by a transposed convolution, and joined with what was
    before; then the channels are split."""
    net = Layers(model)
    x = net.argument((1, 12, 12, 8))
    down = net.clamp(net.conv(net.mark(net.pad(x, 1)), net.argument((3, 3, 8, 16), scale=0.1), 2))
    up = net.conv(net.mark(net.pad(net.spread(down), 1)), net.argument((3, 3, 16, 8), scale=0.1))
    both = net.concat(up, x)
    y = net.clamp(net.conv(net.mark(net.pad(both, 1)), net.argument((3, 3, 16, 12), scale=0.1)))
    left, right = net.cut(y, 0, 5), net.cut(y, 5, 5)
    return net.function(net.concat(net.add(left, right), x), net.cut(y, 3, 4))


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(model):
    """A cell in a loop over time: rows of a sequence are cut out, the gates are
    parts of one product, and states are put into the output."""
    steps, batch, width, hidden = 6, 4, 24, 16
    x = model.tensor("x", (steps, batch, width), zeros=0.7)
    w = model.tensor("w", (width, 4 * hidden), scale=0.3)
    u = model.tensor("u", (hidden, 4 * hidden), scale=0.3)
    b = model.tensor("b", (4 * hidden,))
    h, c, out = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
    for t in range(steps):
        i, f, g, o = np.split(x[t] @ w + h @ u + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    model.result(np.stack(out))
    model.result(c)
    gate = "".join(
        f"    %{g} = tensor.extract_slice %gates[0, {n * hidden}] [{batch}, {hidden}] [1, 1] : "
        f"tensor<{batch}x{4 * hidden}xf32> to tensor<{batch}x{hidden}xf32>\n"
        for n, g in enumerate("ifgo"))
    state = f"tensor<{batch}x{hidden}xf32>"
    sequence = f"tensor<{steps}x{batch}x{hidden}xf32>"
    gates = f"tensor<{batch}x{4 * hidden}xf32>"
    return f"""
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @f(%x: tensor<{steps}x{batch}x{width}xf32>, %w: tensor<{width}x{4 * hidden}xf32>,
             %u: tensor<{hidden}x{4 * hidden}xf32>, %b: tensor<{4 * hidden}xf32>)
    -> ({sequence}, {state}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {steps} : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %se = tensor.empty() : {state}
  %s0 = linalg.fill ins(%zero : f32) outs(%se : {state}) -> {state}
  %oe = tensor.empty() : {sequence}
  %h, %cell, %out = scf.for %t = %c0 to %n step %c1
      iter_args(%ht = %s0, %ct = %s0, %ot = %oe) -> ({state}, {state}, {sequence}) {{
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, {batch}, {width}] [1, 1, 1] :
        tensor<{steps}x{batch}x{width}xf32> to tensor<{batch}x{width}xf32>
    %xs = pit.sparse %xt : tensor<{batch}x{width}xf32>
    %ge = tensor.empty() : {gates}
    %bias = linalg.generic {{indexing_maps = [#col, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%b : tensor<{4 * hidden}xf32>) outs(%ge : {gates}) {{
    ^bb0(%p: f32, %q: f32):
      linalg.yield %p : f32
    }} -> {gates}
    %xw = linalg.matmul ins(%xs, %w : tensor<{batch}x{width}xf32>, tensor<{width}x{4 * hidden}xf32>)
        outs(%bias : {gates}) -> {gates}
    %gates = linalg.matmul ins(%ht, %u : {state}, tensor<{hidden}x{4 * hidden}xf32>)
        outs(%xw : {gates}) -> {gates}
{gate}    %e0 = tensor.empty() : {state}
    %cn = linalg.generic {{indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%i, %f, %g, %ct : {state}, {state}, {state}, {state}) outs(%e0 : {state}) {{
    ^bb0(%pi: f32, %pf: f32, %pg: f32, %pc: f32, %q: f32):
      %ni = arith.negf %pi : f32
      %ei = math.exp %ni : f32
      %di = arith.addf %ei, %one : f32
      %si = arith.divf %one, %di : f32
      %nf = arith.negf %pf : f32
      %ef = math.exp %nf : f32
      %df = arith.addf %ef, %one : f32
      %sf = arith.divf %one, %df : f32
      %tg = math.tanh %pg : f32
      %m0 = arith.mulf %sf, %pc : f32
      %m1 = arith.mulf %si, %tg : f32
      %r = arith.addf %m0, %m1 : f32
      linalg.yield %r : f32
    }} -> {state}
    %hn = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%o, %cn : {state}, {state}) outs(%e0 : {state}) {{
    ^bb0(%po: f32, %pc: f32, %q: f32):
      %no = arith.negf %po : f32
      %eo = math.exp %no : f32
      %do = arith.addf %eo, %one : f32
      %so = arith.divf %one, %do : f32
      %tc = math.tanh %pc : f32
      %r = arith.mulf %so, %tc : f32
      linalg.yield %r : f32
    }} -> {state}
    %on = tensor.insert_slice %hn into %ot[%t, 0, 0] [1, {batch}, {hidden}] [1, 1, 1] :
        {state} into {sequence}
    scf.yield %hn, %cn, %on : {state}, {state}, {sequence}
  }}
  return %out, %cell : {sequence}, {state}
}}
"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def decode(model):
    """A step of a decoder: an embedding as torch-mlir writes it, keys and values
    put into a cache at a position that is an argument, attention over the cache,
    and a hidden layer whose activations are sparse."""
    tokens, vocabulary, width, room, hidden = 4, 50, 32, 24, 64
    ids = model.data.integers(0, vocabulary, tokens)
    model.tensor("ids", (tokens,), I64, values=ids)
    table = model.tensor("table", (vocabulary, width))
    wqkv = model.tensor("wqkv", (width, 3 * width), scale=width**-0.5)
    cache = model.tensor("cache", (2, tokens, room, width))
    up = model.tensor("up", (width, hidden), scale=width**-0.5)
    down = model.tensor("down", (hidden, width), scale=hidden**-0.5)
    at = model.scalar("at", int(model.data.integers(0, room)))
    x = table[ids]
    q, k, v = np.split(x @ wqkv, 3, axis=1)
    cache[0, :, at], cache[1, :, at] = k, v
    scores = np.einsum("bd,btd->bt", q, cache[0])
    scores[:, at + 1:] = -np.inf
    y = x + np.einsum("bt,btd->bd", softmax(scores), cache[1])
    z = y + np.maximum(y @ up, 0.0) @ down
    model.result(z)
    model.result(cache)
    row, qkv = f"tensor<{tokens}x{width}xf32>", f"tensor<{tokens}x{3 * width}xf32>"
    kv, one = f"tensor<2x{tokens}x{room}x{width}xf32>", f"tensor<{tokens}x{room}x{width}xf32>"
    score, wide = f"tensor<{tokens}x{room}xf32>", f"tensor<{tokens}x{hidden}xf32>"
    return f"""
#b = affine_map<(d0, d1) -> (d0)>
#bd = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%ids: tensor<{tokens}xi64>, %table: tensor<{vocabulary}x{width}xf32>,
             %wqkv: tensor<{width}x{3 * width}xf32>, %cache: {kv},
             %up: tensor<{width}x{hidden}xf32>, %down: tensor<{hidden}x{width}xf32>, %at: index)
    -> ({row}, {kv}) {{
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %rows = arith.constant {vocabulary} : index
  %e0 = tensor.empty() : {row}
  %x = linalg.generic {{indexing_maps = [#b, #bd], iterator_types = ["parallel", "parallel"]}}
      ins(%ids : tensor<{tokens}xi64>) outs(%e0 : {row}) {{
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %fits = arith.cmpi slt, %i, %rows : index
    cf.assert %fits, "the id must be smaller than the vocabulary"
    %r = tensor.extract %table[%i, %j] : tensor<{vocabulary}x{width}xf32>
    linalg.yield %r : f32
  }} -> {row}
  %e1 = tensor.empty() : {qkv}
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : {qkv}) -> {qkv}
  %all = linalg.matmul ins(%x, %wqkv : {row}, tensor<{width}x{3 * width}xf32>)
      outs(%z1 : {qkv}) -> {qkv}
  %q = tensor.extract_slice %all[0, 0] [{tokens}, {width}] [1, 1] : {qkv} to {row}
  %k = tensor.extract_slice %all[0, {width}] [{tokens}, {width}] [1, 1] : {qkv} to {row}
  %v = tensor.extract_slice %all[0, {2 * width}] [{tokens}, {width}] [1, 1] : {qkv} to {row}
  %c0 = tensor.insert_slice %k into %cache[0, 0, %at, 0] [1, {tokens}, 1, {width}] [1, 1, 1, 1] :
      {row} into {kv}
  %c1 = tensor.insert_slice %v into %c0[1, 0, %at, 0] [1, {tokens}, 1, {width}] [1, 1, 1, 1] :
      {row} into {kv}
  %keys = tensor.extract_slice %c1[0, 0, 0, 0] [1, {tokens}, {room}, {width}] [1, 1, 1, 1] :
      {kv} to {one}
  %values = tensor.extract_slice %c1[1, 0, 0, 0] [1, {tokens}, {room}, {width}] [1, 1, 1, 1] :
      {kv} to {one}
  %e2 = tensor.empty() : {score}
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : {score}) -> {score}
  %dots = linalg.generic {{indexing_maps = [affine_map<(b, t, d) -> (b, d)>,
      affine_map<(b, t, d) -> (b, t, d)>, affine_map<(b, t, d) -> (b, t)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%q, %keys : {row}, {one}) outs(%z2 : {score}) {{
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }} -> {score}
  %masked = linalg.generic {{indexing_maps = [#bd, #bd], iterator_types = ["parallel", "parallel"]}}
      ins(%dots : {score}) outs(%e2 : {score}) {{
  ^bb0(%l: f32, %o: f32):
    %t = linalg.index 1 : index
    %past = arith.cmpi ule, %t, %at : index
    %r = arith.select %past, %l, %none : f32
    linalg.yield %r : f32
  }} -> {score}
  %e3 = tensor.empty() : {score}
  %p = linalg.softmax dimension(1) ins(%masked : {score}) outs(%e3 : {score}) -> {score}
  %y = linalg.generic {{indexing_maps = [affine_map<(b, d, t) -> (b, t)>,
      affine_map<(b, d, t) -> (b, t, d)>, affine_map<(b, d, t) -> (b, d)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%p, %values : {score}, {one}) outs(%x : {row}) {{
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }} -> {row}
  %e4 = tensor.empty() : {wide}
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : {wide}) -> {wide}
  %hidden = linalg.matmul ins(%y, %up : {row}, tensor<{width}x{hidden}xf32>) outs(%z4 : {wide}) -> {wide}
  %relu = linalg.generic {{indexing_maps = [#bd, #bd], iterator_types = ["parallel", "parallel"]}}
      ins(%hidden : {wide}) outs(%e4 : {wide}) {{
  ^bb0(%l: f32, %o: f32):
    %r = arith.maximumf %l, %zero : f32
    linalg.yield %r : f32
  }} -> {wide}
  %sparse = pit.sparse %relu : {wide}
  %z = linalg.matmul ins(%sparse, %down : {wide}, tensor<{hidden}x{width}xf32>) outs(%y : {row}) -> {row}
  return %z, %c1 : {row}, {kv}
}}
"""


def padded(model, widths, batch=5, rows=150):
    """Layers of a padded batch in f16, of extents that are not known: the padding
    is 0. What is there of x beside the rows is no number."""
    lengths = model.data.integers(0, rows + 1, batch)
    lengths[:2] = 0, rows
    lengths = (lengths, np.full(batch, rows), 0 * lengths)[model.data.integers(0, 3)]
    there = (np.arange(rows) < lengths[:, None])[..., None]
    x = model.data.standard_normal((batch, rows, widths[0]))
    x = model.tensor("x", x.shape, F16, values=np.where(there, x, np.nan))
    model.tensor("lengths", (batch,), I32, values=lengths)
    y, arguments, layers = np.where(there, x, 0.0), [], ""
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        w = model.tensor(f"w{i}", (n, k), F16, scale=k**-0.5)
        bias = model.tensor(f"b{i}", (n,), F16)
        y = F16.load(F16.store(np.where(there, np.tanh(y @ w.T + bias), 0.0)))
        sums, values = f"tensor<?x?x{n}xf32>", f"tensor<?x?x{n}xf16>"
        arguments += [f"%w{i}: tensor<{n}x{k}xf16>", f"%b{i}: tensor<{n}xf16>"]
        layers += f"""
  %e{i} = tensor.empty(%batch, %rows) : {sums}
  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {sums}) -> {sums}
  %p{i} = linalg.generic {{indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>,
      affine_map<(b, s, n, k) -> (n, k)>, affine_map<(b, s, n, k) -> (b, s, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%x{i}, %w{i} : tensor<?x?x{k}xf16>, tensor<{n}x{k}xf16>) outs(%z{i} : {sums}) {{
  ^bb0(%l: f16, %r: f16, %o: f32):
    %lw = arith.extf %l : f16 to f32
    %rw = arith.extf %r : f16 to f32
    %m = arith.mulf %lw, %rw : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  }} -> {sums}
  %f{i} = tensor.empty(%batch, %rows) : {values}
  %h{i} = linalg.generic {{indexing_maps = [affine_map<(b, s, n) -> (b, s, n)>,
      affine_map<(b, s, n) -> (n)>, affine_map<(b, s, n) -> (b, s, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p{i}, %b{i} : {sums}, tensor<{n}xf16>) outs(%f{i} : {values}) {{
  ^bb0(%l: f32, %r: f16, %o: f16):
    %w = arith.extf %r : f16 to f32
    %a = arith.addf %l, %w : f32
    %t = math.tanh %a : f32
    %v = arith.truncf %t : f32 to f16
    linalg.yield %v : f16
  }} -> {values}
  %x{i + 1} = pit.sparse %h{i} lengths(%lengths : tensor<?xi32>) : {values}"""
    model.result(y, F16, 2e-3)
    first = f"tensor<?x?x{widths[0]}xf16>"
    return f"""
func.func @f(%x: {first}, %lengths: tensor<?xi32>, {", ".join(arguments)}) -> {values} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : {first}
  %rows = tensor.dim %x, %c1 : {first}
  %x0 = pit.sparse %x lengths(%lengths : tensor<?xi32>) : {first}{layers}
  return %x{len(widths) - 1} : {values}
}}
"""


def projections(model, rows=264, width=136, used=136):
    """Queries and keys are parts of one product in bf16, wide enough for whole
    tiles and TMA; the scores go into a part of a larger tensor."""
    x = model.tensor("x", (rows, width), BF16, zeros=0.5)
    w = model.tensor("w", (width, 3 * width), BF16, scale=width**-0.5)
    scores = model.tensor("scores", (rows + 16, rows + 24), BF16)
    both = BF16.load(BF16.store(x @ w))
    q, k = both[:, :used], both[:, width: width + used]
    scores[8: 8 + rows, 16: 16 + rows] = q @ k.T
    model.result(scores, BF16, 2e-2)
    part, all_ = f"tensor<{rows}x{used}xbf16>", f"tensor<{rows}x{3 * width}xbf16>"
    square, larger = f"tensor<{rows}x{rows}xbf16>", f"tensor<{rows + 16}x{rows + 24}xbf16>"
    return f"""
func.func @f(%x: tensor<{rows}x{width}xbf16>, %w: tensor<{width}x{3 * width}xbf16>,
             %scores: {larger}) -> {larger} {{
  %zero = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : {all_}
  %z0 = linalg.fill ins(%zero : bf16) outs(%e0 : {all_}) -> {all_}
  %both = linalg.matmul ins(%x, %w : tensor<{rows}x{width}xbf16>, tensor<{width}x{3 * width}xbf16>)
      outs(%z0 : {all_}) -> {all_}
  %q = tensor.extract_slice %both[0, 0] [{rows}, {used}] [1, 1] : {all_} to {part}
  %k = tensor.extract_slice %both[0, {width}] [{rows}, {used}] [1, 1] : {all_} to {part}
  %e1 = tensor.empty() : {square}
  %z1 = linalg.fill ins(%zero : bf16) outs(%e1 : {square}) -> {square}
  %s = pit.sparse %q {{rule = #pit.rule<axis = 0, micro_tile = [1, *]>}} : {part}
  %dots = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%s, %k : {part}, {part}) outs(%z1 : {square}) {{
  ^bb0(%l: bf16, %r: bf16, %o: bf16):
    %m = arith.mulf %l, %r : bf16
    %a = arith.addf %o, %m : bf16
    linalg.yield %a : bf16
  }} -> {square}
  %r = tensor.insert_slice %dots into %scores[8, 16] [{rows}, {rows}] [1, 1] : {square} into {larger}
  return %r : {larger}
}}
"""


def forall(model):
    """Rows in parts, of which each iteration of a scf.forall computes one."""
    a = model.tensor("a", (64, 48), zeros=0.8)
    b = model.tensor("b", (48, 64))
    c = model.tensor("c", (64, 64))
    model.result(a @ b + c)
    return """
func.func @f(%a: tensor<64x48xf32>, %b: tensor<48x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %c) -> tensor<64x64xf32> {
    %k = affine.apply affine_map<(d0) -> (d0 * 16)>(%i)
    %x = tensor.extract_slice %a[%k, 0] [16, 48] [1, 1] : tensor<64x48xf32> to tensor<16x48xf32>
    %s = pit.sparse %x : tensor<16x48xf32>
    %y = tensor.extract_slice %o[%k, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
    %q = linalg.matmul ins(%s, %b : tensor<16x48xf32>, tensor<48x64xf32>)
        outs(%y : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%k, 0] [16, 64] [1, 1] :
          tensor<16x64xf32> into tensor<64x64xf32>
    }
  }
  return %r : tensor<64x64xf32>
}
"""


def slices(model):
    """Parts of every kind: in one piece at an offset, with gaps between rows, with
    gaps between elements, of sizes that are known at run time only."""
    m = model.scalar("m", int(model.data.integers(0, 20)))
    at = model.scalar("at", int(model.data.integers(0, 10)))
    x = model.tensor("x", (32, 30))
    y = model.tensor("y", (32, 30))
    rows = np.exp(x[8: 24])
    model.result(rows)
    columns = x[:, 3: 24] + y[:, at: at + 21]
    model.result(columns)
    spaced = x[1::2, ::3].copy()
    model.result(spaced.sum(1))
    larger = y.copy()
    larger[at: at + m, 2: 29: 2] = np.maximum(x[at: at + m, 1: 15], 0.0)
    model.result(larger)
    model.result(x[at: at + m].T @ y[10: 10 + m], error=1e-4)
    return """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%m: index, %at: index, %x: tensor<32x30xf32>, %y: tensor<32x30xf32>)
    -> (tensor<16x30xf32>, tensor<32x21xf32>, tensor<16xf32>, tensor<32x30xf32>, tensor<30x30xf32>) {
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.extract_slice %x[8, 0] [16, 30] [1, 1] : tensor<32x30xf32> to tensor<16x30xf32>
  %e0 = tensor.empty() : tensor<16x30xf32>
  %r0 = linalg.exp ins(%x0 : tensor<16x30xf32>) outs(%e0 : tensor<16x30xf32>) -> tensor<16x30xf32>

  %x1 = tensor.extract_slice %x[0, 3] [32, 21] [1, 1] : tensor<32x30xf32> to tensor<32x21xf32>
  %y1 = tensor.extract_slice %y[0, %at] [32, 21] [1, 1] : tensor<32x30xf32> to tensor<32x21xf32>
  %e1 = tensor.empty() : tensor<32x21xf32>
  %r1 = linalg.add ins(%x1, %y1 : tensor<32x21xf32>, tensor<32x21xf32>)
      outs(%e1 : tensor<32x21xf32>) -> tensor<32x21xf32>

  %x2 = tensor.extract_slice %x[1, 0] [16, 10] [2, 3] : tensor<32x30xf32> to tensor<16x10xf32>
  %e2 = tensor.empty() : tensor<16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  %r2 = linalg.reduce { arith.addf } ins(%x2 : tensor<16x10xf32>) outs(%z2 : tensor<16xf32>) dimensions = [1]

  %x3 = tensor.extract_slice %x[%at, 1] [%m, 14] [1, 1] : tensor<32x30xf32> to tensor<?x14xf32>
  %e3 = tensor.empty(%m) : tensor<?x14xf32>
  %p3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x3 : tensor<?x14xf32>) outs(%e3 : tensor<?x14xf32>) {
  ^bb0(%l: f32, %o: f32):
    %p = arith.maximumf %l, %zero : f32
    linalg.yield %p : f32
  } -> tensor<?x14xf32>
  %r3 = tensor.insert_slice %p3 into %y[%at, 2] [%m, 14] [1, 2] : tensor<?x14xf32> into tensor<32x30xf32>

  %x4 = tensor.extract_slice %x[%at, 0] [%m, 30] [1, 1] : tensor<32x30xf32> to tensor<?x30xf32>
  %y4 = tensor.extract_slice %y[10, 0] [%m, 30] [1, 1] : tensor<32x30xf32> to tensor<?x30xf32>
  %s4 = pit.sparse %x4 : tensor<?x30xf32>
  %e4 = tensor.empty() : tensor<30x30xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<30x30xf32>) -> tensor<30x30xf32>
  %r4 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
      affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s4, %y4 : tensor<?x30xf32>, tensor<?x30xf32>) outs(%z4 : tensor<30x30xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<30x30xf32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<16x30xf32>, tensor<32x21xf32>, tensor<16xf32>,
      tensor<32x30xf32>, tensor<30x30xf32>
}
"""


def gathers(model):
    """An embedding whose ids may lie outside of its table."""
    ids = model.data.integers(-20, 70, 37)
    model.tensor("ids", (37,), I64, values=ids)
    table = model.tensor("table", (50, 24))
    fits = (ids >= 0) & (ids < 50)
    model.result(np.where(fits[:, None], table[np.clip(ids, 0, 49)], 0.0), error=0.0)
    return """
func.func @f(%ids: tensor<37xi64>, %table: tensor<50x24xf32>) -> tensor<37x24xf32> {
  %e = tensor.empty() : tensor<37x24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<37xi64>) outs(%e : tensor<37x24xf32>) {
  ^bb0(%x: i64, %o: f32):
    %i = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<50x24xf32>
    linalg.yield %v : f32
  } -> tensor<37x24xf32>
  return %r : tensor<37x24xf32>
}
"""


MODELS = {
    "resnet": resnet, "mobilenet": mobilenet, "unet": unet, "lstm": lstm, "decode": decode,
    "projections": projections,
    # Rows that end within 16 bytes: what is copied as a whole would reach into the gap.
    "projections-part": lambda model: projections(model, used=132),
    "projections-odd": lambda model: projections(model, rows=130, width=67, used=67),
    # Rows are gathered and scattered by the same kernel, or by one each.
    "projections-padded": lambda model: padded(model, (64, 264)),
    "projections-padded-twice": lambda model: padded(model, (64, 128, 264)),
    "forall": forall, "slices": slices,
}
# What only a device defines.
DEVICE_MODELS = {"gathers": gathers}
MODELS |= DEVICE_MODELS
VARIANTS = {"": "", "dense": "--pipeline=dense=true"}


def cases(target):
    """(name, model, options) of every program for a target."""
    for name in MODELS:
        if target == "cpu" and name in DEVICE_MODELS:
            continue
        for variant, options in VARIANTS.items():
            if variant and target == "cpu":
                continue
            yield "-".join(filter(None, ("model", name, variant))), name, options
