"""The named ops and the tile programs that draw.py draws from."""

# --------------------------------------------------------------------------
# Named ops: what they iterate over, their maps, and how they are written
# --------------------------------------------------------------------------


def named(name, iterators, *maps):
    return lambda draw: (iterators, [list(m) for m in maps], (f"linalg.{name}", "", True))


def with_maps(name, iterators, choices):
    """A named op whose maps are written out, some of them transposed."""

    def draw_maps(draw):
        maps = [list(draw.rng.choice(c)) for c in choices]
        rank = len(iterators)
        dims = ", ".join(f"d{i}" for i in range(rank))
        text = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(f'd{d}' for d in m)})>" for m in maps)
        return iterators, maps, (f"linalg.{name} indexing_maps = [{text}]", "", True)

    return draw_maps


P, R = True, False
NAMED = [
    named("matmul", [P, P, R], (0, 2), (2, 1), (0, 1)),
    named("matmul", [P, P, R], (0, 2), (2, 1), (0, 1)),
    with_maps("matmul", [P, P, R], [[(0, 2), (2, 0)], [(2, 1), (1, 2)], [(0, 1)]]),
    named("batch_matmul", [P, P, P, R], (0, 1, 3), (0, 3, 2), (0, 1, 2)),
    with_maps("batch_matmul", [P, P, P, R], [[(0, 1, 3), (0, 3, 1)], [(0, 3, 2), (0, 2, 3)], [(0, 1, 2)]]),
    with_maps("contract", [P, P, R], [[(0, 2), (2, 0)], [(2, 1), (1, 2)], [(0, 1), (1, 0)]]),
    with_maps("contract", [P, P, P, R], [[(0, 1, 3), (1, 0, 3)], [(0, 3, 2), (3, 2)], [(0, 1, 2), (1, 2, 0)]]),
    named("batch_reduce_matmul", [R, P, P, R], (0, 1, 3), (0, 3, 2), (1, 2)),
    named("matvec", [P, R], (0, 1), (1,), (0,)),
    named("vecmat", [P, R], (1,), (1, 0), (0,)),
    named("dot", [R], (0,), (0,), ()),
    named("batch_matvec", [P, P, R], (0, 1, 2), (0, 2), (0, 1)),
    named("batch_vecmat", [P, P, R], (0, 2), (0, 2, 1), (0, 1)),
    named("mmt4d", [P, P, R, P, P, R], (0, 2, 3, 5), (1, 2, 4, 5), (0, 1, 3, 4)),
]

# name, spatial dims, batch, channel, feature, layouts of image, filter, result:
# n batch, c channel, f feature, i image, k kernel, o windows.
CONVOLUTIONS = [
    ("conv_2d_nchw_fchw", 2, "n", "c", "f", ("nci", "fck", "nfo")),
    ("conv_2d_nhwc_hwcf", 2, "n", "c", "f", ("nic", "kcf", "nof")),
    ("conv_2d_nhwc_fhwc", 2, "n", "c", "f", ("nic", "fkc", "nof")),
    ("conv_1d_nwc_wcf", 1, "n", "c", "f", ("nic", "kcf", "nof")),
    ("conv_1d_ncw_fcw", 1, "n", "c", "f", ("nci", "fck", "nfo")),
    ("depthwise_conv_2d_nhwc_hwc", 2, "n", "c", None, ("nic", "kc", "noc")),
]

# --------------------------------------------------------------------------
# Tile programs: capitals stand for what is drawn
# --------------------------------------------------------------------------

TILES_ALONG_K = """
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
%M = tensor.dim %O, %zero : TYPE_O
%N = tensor.dim %O, %one : TYPE_O
%i = pit.index %AINDEX_OPTION : TYPE_A -> !pit.index<micro_tile = [MT, 1], axis = 1>
%RESULT = pit.forall (%m, %n) = (%zero, %zero) to (%M, %N) step (MT, NT) iter_args(%c = %O) -> (TYPE_O) {
  %first = pit.sread %c[%m, %n] : TYPE_O -> tensor<MTxNTxOUT>
  %sum = pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [MT, 1], axis = 1> chunk KT iter_args(%acc = %first) -> (tensor<MTxNTxOUT>) {
    %at = pit.sread %A[%m, %ids : !pit.ids<KT>] : TYPE_A -> tensor<MTxKTxIN>
    %bt = pit.sread %B[%ids : !pit.ids<KT>, %n] : TYPE_B -> tensor<KTxNTxIN>
    %p = linalg.matmul ins(%at, %bt : tensor<MTxKTxIN>, tensor<KTxNTxIN>) outs(%acc : tensor<MTxNTxOUT>) -> tensor<MTxNTxOUT>
    pit.yield %p : tensor<MTxNTxOUT>
  }
  %w = pit.swrite %sum into %c[%m, %n] : tensor<MTxNTxOUT> into TYPE_O
  pit.yield %w : TYPE_O
}
"""

TILES_OF_ROWS = """
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
%K = tensor.dim %A, %one : TYPE_A
%N = tensor.dim %O, %one : TYPE_O
%i = pit.index %AINDEX_OPTION : TYPE_A -> !pit.index<micro_tile = [1, *], axis = 0>
%RESULT = pit.forall (%n) = (%zero) to (%N) step (NT), %ids at %pos in %i : !pit.index<micro_tile = [1, *], axis = 0> chunk MT iter_args(%c = %O) -> (TYPE_O) {
  %first = pit.sread %c[%ids : !pit.ids<MT>, %n] : TYPE_O -> tensor<MTxNTxOUT>
  %sum = pit.for (%k) = (%zero) to (%K) step (KT) iter_args(%acc = %first) -> (tensor<MTxNTxOUT>) {
    %at = pit.sread %A[%ids : !pit.ids<MT>, %k] : TYPE_A -> tensor<MTxKTxIN>
    %bt = pit.sread %B[%k, %n] : TYPE_B -> tensor<KTxNTxIN>
    %p = linalg.matmul ins(%at, %bt : tensor<MTxKTxIN>, tensor<KTxNTxIN>) outs(%acc : tensor<MTxNTxOUT>) -> tensor<MTxNTxOUT>
    pit.yield %p : tensor<MTxNTxOUT>
  }
  %w = pit.swrite %sum into %c[%ids : !pit.ids<MT>, %n] : tensor<MTxNTxOUT> into TYPE_O
  pit.yield %w : TYPE_O
}
"""
