"""One program for each op of MLIR's linalg dialect, for ../linalg_ops.py.

Shapes are strings of one character a dim: a letter is an extent that is known at run
time only, a digit one that is known at compile time.

    N M K B      rows, columns, what is summed, and batches of products
    N C F G      batch, channels in and out, groups of convolutions
    D H W        image, T R S filter or window, O P Q result
"""

from dataclasses import dataclass, field

ALIKE = "linalg.{name} {attributes} ins({ins}) outs({outs}) -> {out}"


@dataclass(frozen=True)
class Op:
    shapes: str  # "MK KN -> MN"
    types: str = "f32"  # of the operands and the result, or one for all
    attributes: str = ""
    scalars: tuple = ()  # constants (type, value), behind the tensors of `ins`
    text: str = ALIKE
    positive: bool = False  # no operand is negative
    nonzero: tuple = ()  # operands that may not be zero
    background: dict = field(default_factory=dict)  # of a mark, where 0 is no value
    sizes: dict = field(default_factory=dict)  # extents that follow from others
    tolerance: float = 0.0  # relative; sums of products are exact here
    static: bool = False  # MLIR lowers it for static extents only
    # The op and the transform op that decomposes it, where MLIR has no pass for it.
    lowering: tuple = ()

    @property
    def ins(self):
        return self.shapes.split("->")[0].split()

    @property
    def out(self):
        return self.shapes.split("->")[1].strip()

    @property
    def element_types(self):
        types = self.types.split()
        return types if len(types) > 1 else types * (len(self.ins) + 1)


def unary(**how):
    return Op("MN -> MN", **how)


def binary(**how):
    return Op("MN MN -> MN", **how)


def strided(rank):
    return f"{{strides = dense<2> : tensor<{rank}xi64>}}"


def windowed(shapes, rank, **how):
    """A convolution or a pooling with strides of 2."""
    return Op(shapes, attributes=strided(rank), **how)


def quantized(shapes, rank):
    """In i8, less zero points, which are the backgrounds."""
    return Op(shapes, "i8 i8 i32", strided(rank) if rank else "", background={0: -2, 1: 3},
              scalars=(("i32", -2), ("i32", 3)))


def maps(*results):
    return "indexing_maps = [" + ", ".join(
        f"affine_map<(m, n, k) -> ({', '.join(r)})>" for r in results) + "]"


def winograd(name, shapes):
    op = f"winograd_{name}_transform"
    return Op(shapes, attributes="fmr(F_2_3)", lowering=(op, "decompose_winograd_op"),
              static=True, tolerance=1e-5)


BLOCKED = {"M": lambda s: 4 * s["P"] - 1 if s["P"] else 0,
           "N": lambda s: 3 * s["Q"] - 1 if s["Q"] else 0}
U32 = {"types": "i32", "positive": True}

OPS = {
    # Element by element.
    **{name: unary() for name in ("abs", "ceil", "copy", "floor", "negf", "round", "square")},
    **{name: unary(tolerance=2e-6) for name in ("erf", "exp", "tanh")},
    **{name: unary(positive=True, tolerance=2e-6) for name in ("log", "rsqrt", "sqrt")},
    "reciprocal": unary(nonzero=(0,)),
    **{name: binary() for name in ("add", "max", "min", "mul", "sub")},
    "div": binary(nonzero=(1,)),
    "div_unsigned": binary(**U32, nonzero=(1,), background={1: 2}),
    "powf": binary(positive=True, tolerance=2e-6),
    "select": Op("MN MN MN -> MN", "i1 f32 f32 f32"),
    "elementwise": Op("MN MN -> MN", attributes="kind=#linalg.elementwise_kind<mul>"),
    "map": Op("MN MN -> MN", text="linalg.map {{ arith.mulf }} ins({ins}) outs({outs})"),
    "fill": Op("-> MN", scalars=(("f32", 1.5),)),
    "fill_rng_2d": Op("-> MN", scalars=(("f64", -1.0), ("f64", 1.0), ("i32", 7)),
                      tolerance=1e-6),
    # Moves and reductions.
    "transpose": Op("MN -> NM",
                    text="linalg.transpose ins({ins}) outs({outs}) permutation = [1, 0]"),
    "broadcast": Op("M -> MN", text="linalg.broadcast ins({ins}) outs({outs}) dimensions = [1]"),
    "reduce": Op("MN -> M",
                 text="linalg.reduce {{ arith.addf }} ins({ins}) outs({outs}) dimensions = [1]"),
    "generic": Op("MN N -> M", text="""linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                       affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]}} ins({ins}) outs({outs}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  }} -> {out}"""),
    "softmax": Op("MN -> MN", attributes="dimension(1)", tolerance=2e-5,
                  lowering=("softmax", "decompose_interface")),
    "pack": Op("MN -> PQ43", sizes=BLOCKED, text="linalg.pack {in0} padding_value(%zero : f32) "
               "inner_dims_pos = [0, 1] inner_tiles = [4, 3] into {out0} : {in0_type} -> {out}",
               lowering=("pack", "lower_pack")),
    "unpack": Op("PQ43 -> MN", sizes=BLOCKED, text="linalg.unpack {in0} inner_dims_pos = [0, 1] "
                 "inner_tiles = [4, 3] into {out0} : {in0_type} -> {out}",
                 lowering=("unpack", "lower_unpack")),
    # Products.
    "dot": Op("K K ->"),
    "matvec": Op("MK K -> M"),
    "vecmat": Op("K KN -> N"),
    "batch_matvec": Op("BMK BK -> BM"),
    "batch_vecmat": Op("BK BKN -> BN"),
    "matmul": Op("MK KN -> MN"),
    "batch_matmul": Op("BMK BKN -> BMN"),
    "batch_reduce_matmul": Op("BMK BKN -> MN"),
    "mmt4d": Op("MKXZ NKYZ -> MNXY"),
    "batch_mmt4d": Op("BMKXZ BNKYZ -> BMNXY"),
    "quantized_matmul": quantized("MK KN -> MN", 0),
    "quantized_batch_matmul": quantized("BMK BKN -> BMN", 0),
    "contract": Op("KM KN -> MN", attributes=maps("km", "kn", "mn")),
    # Convolutions.
    "conv_1d": Op("W S -> Q", sizes={"W": lambda s: s["Q"] + s["S"] - 1}),
    "conv_2d": Op("HW RS -> PQ", sizes={"H": lambda s: s["P"] + s["R"] - 1,
                                        "W": lambda s: s["Q"] + s["S"] - 1}),
    "conv_3d": Op("DHW TRS -> OPQ", sizes={"D": lambda s: s["O"] + s["T"] - 1,
                                           "H": lambda s: s["P"] + s["R"] - 1,
                                           "W": lambda s: s["Q"] + s["S"] - 1}),
    "conv_1d_ncw_fcw": windowed("NCW FCS -> NFQ", 1),
    "conv_1d_nwc_wcf": windowed("NWC SCF -> NQF", 1),
    "conv_2d_nchw_fchw": windowed("NCHW FCRS -> NFPQ", 2),
    "conv_2d_nchw_fchw_q": quantized("NCHW FCRS -> NFPQ", 2),
    "conv_2d_ngchw_fgchw": windowed("NGCHW FGCRS -> NGFPQ", 2),
    "conv_2d_ngchw_gfchw": windowed("NGCHW GFCRS -> NGFPQ", 2),
    "conv_2d_ngchw_gfchw_q": quantized("NGCHW GFCRS -> NGFPQ", 2),
    "conv_2d_nhwc_fhwc": windowed("NHWC FRSC -> NPQF", 2),
    "conv_2d_nhwc_fhwc_q": quantized("NHWC FRSC -> NPQF", 2),
    "conv_2d_nhwc_hwcf": windowed("NHWC RSCF -> NPQF", 2),
    "conv_2d_nhwc_hwcf_q": quantized("NHWC RSCF -> NPQF", 2),
    "conv_2d_nhwgc_gfhwc": windowed("NHWGC GFRSC -> NPQGF", 2),
    "conv_2d_nhwgc_gfhwc_q": quantized("NHWGC GFRSC -> NPQGF", 2),
    "conv_3d_ncdhw_fcdhw": windowed("NCDHW FCTRS -> NFOPQ", 3),
    "conv_3d_ndhwc_dhwcf": windowed("NDHWC TRSCF -> NOPQF", 3),
    "conv_3d_ndhwc_dhwcf_q": quantized("NDHWC TRSCF -> NOPQF", 3),
    "depthwise_conv_1d_ncw_cw": windowed("NCW CS -> NCQ", 1),
    "depthwise_conv_1d_nwc_wc": windowed("NWC SC -> NQC", 1),
    "depthwise_conv_1d_nwc_wcm": windowed("NWC SCM -> NQCM", 1),
    "depthwise_conv_2d_nchw_chw": windowed("NCHW CRS -> NCPQ", 2),
    "depthwise_conv_2d_nhwc_hwc": windowed("NHWC RSC -> NPQC", 2),
    "depthwise_conv_2d_nhwc_hwc_q": quantized("NHWC RSC -> NPQC", 2),
    "depthwise_conv_2d_nhwc_hwcm": windowed("NHWC RSCM -> NPQCM", 2),
    "depthwise_conv_2d_nhwc_hwcm_q": quantized("NHWC RSCM -> NPQCM", 2),
    "depthwise_conv_3d_ncdhw_cdhw": windowed("NCDHW CTRS -> NCOPQ", 3),
    "depthwise_conv_3d_ndhwc_dhwc": windowed("NDHWC TRSC -> NOPQC", 3),
    "depthwise_conv_3d_ndhwc_dhwcm": windowed("NDHWC TRSCM -> NOPQCM", 3),
    "winograd_filter_transform": winograd("filter", "F33C -> 44CF"),
    "winograd_input_transform": winograd("input", "N66C -> 4422NC"),
    "winograd_output_transform": winograd("output", "4422NF -> N44F"),
    # Poolings.
    **{f"pooling_nchw_{kind}": windowed("NCHW RS -> NCPQ", 2) for kind in ("max", "sum")},
    **{f"pooling_ncw_{kind}": windowed("NCW S -> NCQ", 1) for kind in ("max", "sum")},
    **{f"pooling_ndhwc_{kind}": windowed("NDHWC TRS -> NOPQC", 3)
       for kind in ("max", "min", "sum")},
    **{f"pooling_nhwc_{kind}": windowed("NHWC RS -> NPQC", 2) for kind in ("max", "min", "sum")},
    **{f"pooling_nwc_{kind}": windowed("NWC S -> NQC", 1) for kind in ("max", "min", "sum")},
    **{f"pooling_nhwc_{kind}_unsigned": windowed("NHWC RS -> NPQC", 2, **U32)
       for kind in ("max", "min")},
    **{f"pooling_nwc_{kind}_unsigned": windowed("NWC S -> NQC", 1, **U32)
       for kind in ("max", "min")},
}

# They stand in the bodies of others, and have no tensors.
IN_BODIES = ("index", "yield")
