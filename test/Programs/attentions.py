"""Attentions as loops over tiles, as FlashAttention has them: the loop carries the sums, and the
largest score and the sum of the powers of each row. In kernels they are mainloops with a
tile body. Tiles have ROWS queries and KEYS keys."""

import numpy as np

from suite import program

MAPS = """
#qk = [affine_map<(m, n, k) -> (0, m, k)>, affine_map<(m, n, k) -> (0, n, k)>, affine_map<(m, n, k) -> (m, n)>]
#pv = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (0, k, n)>, affine_map<(m, n, k) -> (m, n)>]
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#one = affine_map<(m) -> (m)>
"""

# The power of a score, over the largest one so far; 0 where there is none yet.
POWER = """^bb0(%x: f32, %t: f32, %o: f32):
          %d = arith.subf %x, %t : f32
          %y = math.exp %d : f32
          %none = arith.cmpf oeq, %t, %low : f32
          %z = arith.select %none, %zero, %y : f32
          linalg.yield %z : f32
        }"""

# A step, of the tiles %qt, %kt and %vt, and of the scores %s that count.
STEP = """
        %t1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
            ins(%s : tensor<ROWSxKEYSxf32>) outs(%top : tensor<ROWSxf32>) {
        ^bb0(%x: f32, %o: f32):
          %y = arith.maximumf %o, %x : f32
          linalg.yield %y : f32
        } -> tensor<ROWSxf32>
        %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
            ins(%s, %t1 : tensor<ROWSxKEYSxf32>, tensor<ROWSxf32>) outs(%e : tensor<ROWSxKEYSxf32>) {
        POWER -> tensor<ROWSxKEYSxf32>
        %scale = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
            ins(%top, %t1 : tensor<ROWSxf32>, tensor<ROWSxf32>) outs(%er : tensor<ROWSxf32>) {
        POWER -> tensor<ROWSxf32>
        %less = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
            ins(%total, %scale : tensor<ROWSxf32>, tensor<ROWSxf32>) outs(%er : tensor<ROWSxf32>) {
        ^bb0(%x: f32, %t: f32, %o: f32):
          %y = arith.mulf %x, %t : f32
          linalg.yield %y : f32
        } -> tensor<ROWSxf32>
        %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
            ins(%p : tensor<ROWSxKEYSxf32>) outs(%less : tensor<ROWSxf32>) {
        ^bb0(%x: f32, %o: f32):
          %y = arith.addf %o, %x : f32
          linalg.yield %y : f32
        } -> tensor<ROWSxf32>
        %eh = tensor.empty() : tensor<ROWSxKEYSxf16>
        %ph = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
            ins(%p : tensor<ROWSxKEYSxf32>) outs(%eh : tensor<ROWSxKEYSxf16>) {
        ^bb0(%x: f32, %o: f16):
          %y = arith.truncf %x : f32 to f16
          linalg.yield %y : f16
        } -> tensor<ROWSxKEYSxf16>
        %scaled = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
            ins(%acc, %scale : tensor<ROWSx64xf32>, tensor<ROWSxf32>) outs(%ea : tensor<ROWSx64xf32>) {
        ^bb0(%x: f32, %t: f32, %o: f32):
          %y = arith.mulf %x, %t : f32
          linalg.yield %y : f32
        } -> tensor<ROWSx64xf32>
        %next = linalg.generic {indexing_maps = #pv, iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%ph, %vt : tensor<ROWSxKEYSxf16>, tensor<1xKEYSx64xf16>) outs(%scaled : tensor<ROWSx64xf32>) {
        ^bb0(%x: f16, %y: f16, %o: f32):
          %xw = arith.extf %x : f16 to f32
          %yw = arith.extf %y : f16 to f32
          %d = arith.mulf %xw, %yw : f32
          %z = arith.addf %o, %d : f32
          linalg.yield %z : f32
        } -> tensor<ROWSx64xf32>
        pit.yield %next, %t1, %sum : tensor<ROWSx64xf32>, tensor<ROWSxf32>, tensor<ROWSxf32>
""".replace("POWER", POWER)

SCORES = """
        %first = linalg.fill ins(%zero : f32) outs(%e : tensor<ROWSxKEYSxf32>) -> tensor<ROWSxKEYSxf32>
        %dots = linalg.generic {indexing_maps = #qk, iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%qt, %kt : tensor<1xROWSx64xf16>, tensor<1xKEYSx64xf16>) outs(%first : tensor<ROWSxKEYSxf32>) {
        ^bb0(%x: f16, %y: f16, %o: f32):
          %xw = arith.extf %x : f16 to f32
          %yw = arith.extf %y : f16 to f32
          %d = arith.mulf %xw, %yw : f32
          %z = arith.addf %o, %d : f32
          linalg.yield %z : f32
        } -> tensor<ROWSxKEYSxf32>
"""

# Around the steps; LOOP is the head of the loop over them, INDEX what it needs.
FRAME = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %H = tensor.dim %q, %c0 : tensor<HxMx64xf16>
  %M = tensor.dim %q, %c1 : tensor<HxMx64xf16>
  %N = tensor.dim %k, %c1 : tensor<HxNx64xf16>
  INDEX
  %r = pit.forall (%h, %i) = (%c0, %c0) to (%H, %M) step (1, ROWS) iter_args(%o0 = %out) -> (tensor<HxMx64xf32>) {
    %e = tensor.empty() : tensor<ROWSxKEYSxf32>
    %er = tensor.empty() : tensor<ROWSxf32>
    %ea = tensor.empty() : tensor<ROWSx64xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%ea : tensor<ROWSx64xf32>) -> tensor<ROWSx64xf32>
    %top0 = linalg.fill ins(%low : f32) outs(%er : tensor<ROWSxf32>) -> tensor<ROWSxf32>
    %total0 = linalg.fill ins(%zero : f32) outs(%er : tensor<ROWSxf32>) -> tensor<ROWSxf32>
    %sums:3 = LOOP iter_args(%acc = %acc0, %top = %top0, %total = %total0)
        -> (tensor<ROWSx64xf32>, tensor<ROWSxf32>, tensor<ROWSxf32>) {
      %qt = pit.sread %q[%h, %i, %c0] : tensor<HxMx64xf16> -> tensor<1xROWSx64xf16>
      STEP
    }
    %ew = tensor.empty() : tensor<1xROWSx64xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (m)>,
                                          affine_map<(b, m, n) -> (b, m, n)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%sums#0, %sums#2 : tensor<ROWSx64xf32>, tensor<ROWSxf32>) outs(%ew : tensor<1xROWSx64xf32>) {
    ^bb0(%x: f32, %t: f32, %o: f32):
      %none = arith.cmpf oeq, %t, %zero : f32
      %y = arith.divf %x, %t : f32
      %z = arith.select %none, %zero, %y : f32
      linalg.yield %z : f32
    } -> tensor<1xROWSx64xf32>
    %o1 = pit.swrite %w into %o0[%h, %i, %c0] : tensor<1xROWSx64xf32> into tensor<HxMx64xf32>
    pit.yield %o1 : tensor<HxMx64xf32>
  }
  return %r : tensor<HxMx64xf32>
"""


def frame(**parts):
    text = FRAME
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


CAUSAL = MAPS + """
func.func @f(%q: tensor<HxMx64xf16>, %k: tensor<HxNx64xf16>, %v: tensor<HxNx64xf16>,
             %out: tensor<HxMx64xf32>) -> tensor<HxMx64xf32> {
""" + frame(INDEX="", LOOP="pit.for (%j) = (%c0) to (%N) step (KEYS)", STEP="""
      %kt = pit.sread %k[%h, %j, %c0] : tensor<HxNx64xf16> -> tensor<1xKEYSx64xf16>
      %vt = pit.sread %v[%h, %j, %c0] : tensor<HxNx64xf16> -> tensor<1xKEYSx64xf16>
""" + SCORES + """
        %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
            ins(%dots : tensor<ROWSxKEYSxf32>) outs(%e : tensor<ROWSxKEYSxf32>) {
        ^bb0(%x: f32, %o: f32):
          %m = linalg.index 0 : index
          %n = linalg.index 1 : index
          %row = arith.addi %i, %m : index
          %col = arith.addi %j, %n : index
          %before = arith.cmpi sle, %col, %row : index
          %inside = arith.cmpi slt, %col, %N : index
          %counts = arith.andi %before, %inside : i1
          %y = arith.select %counts, %x, %low : f32
          linalg.yield %y : f32
        } -> tensor<ROWSxKEYSxf32>
""" + STEP) + "}\n"

MASKED = MAPS + """
func.func @f(%q: tensor<HxMx64xf16>, %k: tensor<HxNx64xf16>, %v: tensor<HxNx64xf16>,
             %mask: tensor<MxNxi1>, %out: tensor<HxMx64xf32>) -> tensor<HxMx64xf32> {
""" + frame(INDEX="%live = pit.index mask %mask : tensor<MxNxi1> -> !pit.index<micro_tile = [ROWS, 1], axis = 1>",
            LOOP="pit.for %ids at %pos in %live[%i] : !pit.index<micro_tile = [ROWS, 1], axis = 1> chunk KEYS",
            STEP="""
      %kt = pit.sread %k[%h, %ids : !pit.ids<KEYS>, %c0] : tensor<HxNx64xf16> -> tensor<1xKEYSx64xf16>
      %vt = pit.sread %v[%h, %ids : !pit.ids<KEYS>, %c0] : tensor<HxNx64xf16> -> tensor<1xKEYSx64xf16>
      %mt = pit.sread %mask[%i, %ids : !pit.ids<KEYS>] : tensor<MxNxi1> -> tensor<ROWSxKEYSxi1>
""" + SCORES + """
        %s = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
            ins(%dots, %mt : tensor<ROWSxKEYSxf32>, tensor<ROWSxKEYSxi1>) outs(%e : tensor<ROWSxKEYSxf32>) {
        ^bb0(%x: f32, %b: i1, %o: f32):
          %y = arith.select %b, %x, %low : f32
          linalg.yield %y : f32
        } -> tensor<ROWSxKEYSxf32>
""" + STEP) + "}\n"

# The same, and the logarithm of each row's sum of powers as a second result.
LOGS = CAUSAL
for old, new in (
        ("%out: tensor<HxMx64xf32>) -> tensor<HxMx64xf32> {",
         "%out: tensor<HxMx64xf32>, %logs: tensor<HxMxf32>) -> (tensor<HxMx64xf32>, tensor<HxMxf32>) {"),
        ("%r = pit.forall", "%r:2 = pit.forall"),
        ("iter_args(%o0 = %out) -> (tensor<HxMx64xf32>) {",
         "iter_args(%o0 = %out, %l0 = %logs) -> (tensor<HxMx64xf32>, tensor<HxMxf32>) {"),
        ("    pit.yield %o1 : tensor<HxMx64xf32>", """    %el = tensor.empty() : tensor<1xROWSxf32>
    %l = linalg.generic {indexing_maps = [affine_map<(b, m) -> (m)>, affine_map<(b, m) -> (m)>, affine_map<(b, m) -> (b, m)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%sums#1, %sums#2 : tensor<ROWSxf32>, tensor<ROWSxf32>) outs(%el : tensor<1xROWSxf32>) {
    ^bb0(%t: f32, %p: f32, %o: f32):
      %log = math.log %p : f32
      %y = arith.addf %t, %log : f32
      linalg.yield %y : f32
    } -> tensor<1xROWSxf32>
    %l1 = pit.swrite %l into %l0[%h, %i] : tensor<1xROWSxf32> into tensor<HxMxf32>
    pit.yield %o1, %l1 : tensor<HxMx64xf32>, tensor<HxMxf32>"""),
        ("return %r : tensor<HxMx64xf32>", "return %r#0, %r#1 : tensor<HxMx64xf32>, tensor<HxMxf32>")):
    assert old in LOGS
    LOGS = LOGS.replace(old, new)


def tiles(text, rows, keys):
    return text.replace("ROWS", str(rows)).replace("KEYS", str(keys))


def attend(q, k, v, allowed):
    scores = np.where(allowed, q @ k.transpose(0, 2, 1), -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(most == -np.inf, 0, most))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ v


def draw(d):
    q, k, v = (d.f16(d.H, n, 64, scale=1 / 16) for n in (d.M, d.N, d.N))
    return q, k, v


SIZES = (dict(H=2, M=70, N=90), dict(H=1, M=1, N=1), dict(H=3, M=64, N=32), dict(H=2, M=130, N=33),
         dict(H=0, M=5, N=5), dict(H=2, M=0, N=5))
# Wide tiles: on sm_90a two warpgroups compute each, and take turns.
WIDE = (dict(H=2, M=200, N=300), dict(H=1, M=1, N=1), dict(H=3, M=128, N=64), dict(H=0, M=5, N=5))


@program(tiles(CAUSAL, 64, 32), *SIZES, tolerance=2e-3, tiled=False, forms=("marked", "marked-static"))
def tiles_causal_attention(d):
    q, k, v = draw(d)
    d.f32(d.H, d.M, 64)
    return attend(q, k, v, np.arange(d.N) <= np.arange(d.M)[:, None])


@program(tiles(CAUSAL, 128, 64), *WIDE, tolerance=2e-3, tiled=False, forms=("marked", "marked-static"))
def tiles_wide_causal_attention(d):
    return tiles_causal_attention(d)


@program(tiles(MASKED, 64, 32), *SIZES, dict(H=2, M=70, N=0), tolerance=2e-3, forms=("marked", "marked-static"))
def tiles_masked_attention(d):
    q, k, v = draw(d)
    mask = d.i1(d.M, d.N, true=0.04)
    d.f32(d.H, d.M, 64)
    return attend(q, k, v, mask)


@program(tiles(MASKED, 128, 64), *WIDE, dict(H=2, M=70, N=0), tolerance=2e-3, forms=("marked", "marked-static"))
def tiles_wide_masked_attention(d):
    return tiles_masked_attention(d)


@program(tiles(LOGS, 64, 64), *WIDE, tolerance=2e-3, tiled=False, forms=("marked", "marked-static"))
def tiles_causal_attention_with_logs(d):
    q, k, v = draw(d)
    d.f32(d.H, d.M, 64), d.f32(d.H, d.M)
    allowed = np.arange(d.N) <= np.arange(d.M)[:, None]
    scores = np.where(allowed, q @ k.transpose(0, 2, 1), -np.inf)
    most = scores.max(-1, initial=-np.inf)
    return attend(q, k, v, allowed), most + np.log(np.exp(scores - most[..., None]).sum(-1))
