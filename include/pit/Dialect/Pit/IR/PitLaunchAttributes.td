//===- PitLaunchAttributes.td - How kernels are launched ---*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITLAUNCHATTRIBUTES_TD
#define PIT_DIALECT_PIT_IR_PITLAUNCHATTRIBUTES_TD

include "pit/Dialect/Pit/IR/PitScheduleAttributes.td"

//===----------------------------------------------------------------------===//
// TMA descriptors
//===----------------------------------------------------------------------===//

def Pit_TensorMapAttr : Pit_Attr<"TensorMap", "tensor_map"> {
  let summary = "a TMA descriptor that a kernel takes";
  let description = [{
    Part of a `#pit.launch_info`. The host makes the descriptor at each launch
    (`pit_rt_tensor_map`), of the memref that is the launch's operand `argument`. The
    kernel gets it behind its other parameters.

    - `argument`: number of the memref among the kernel's arguments: the launch's inputs,
      then its outputs.
    - `box`: elements of one copy along each dimension of the memref, 1 to 256 each. A
      memref has 1 to 5 dimensions.
    - `swizzle`: bytes of the lines of shared memory in which 16-byte chunks change
      places: 32, 64 or 128; 0 if they do not.
    - `along_k`: the dimension of the memref along which products are added, if the kernel
      reads the memref by descriptors alone. Then the host may have it copied to rows that
      TMA takes (`pit_rt_pack_rows`).
    - `order`: dimensions of the memref, in the order of the copy's. With it the host always
      makes the copy, and `box` is of the copy. It stands beside `along_k`.

    Example:

    ```mlir
    #pit.tensor_map<argument = 0, box = [128, 64], swizzle = 128>
    #pit.tensor_map<argument = 1, box = [1, 64, 32], swizzle = 128, along_k = 1, order = [0, 2, 1]>
    ```
  }];
  let parameters = (ins
    "int64_t":$argument,
    "DenseI64ArrayAttr":$box,
    "int64_t":$swizzle,
    DefaultValuedParameter<"int64_t", "-1">:$along_k,
    OptionalParameter<"DenseI64ArrayAttr">:$order);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Pit_LaunchGridOneBlock : I32EnumAttrCase<"OneBlock", 0, "one_block">;
def Pit_LaunchGridIterations : I32EnumAttrCase<"Iterations", 1, "iterations">;
def Pit_LaunchGridGroups : I32EnumAttrCase<"Groups", 2, "groups">;
def Pit_LaunchGridSteps : I32EnumAttrCase<"Steps", 3, "steps">;
def Pit_LaunchGridRows : I32EnumAttrCase<"Rows", 4, "rows">;
def Pit_LaunchGridTiles : I32EnumAttrCase<"Tiles", 5, "tiles">;
def Pit_LaunchGridMachine : I32EnumAttrCase<"Machine", 6, "machine">;
def Pit_LaunchGridTaken : I32EnumAttrCase<"Taken", 7, "taken">;

def Pit_LaunchGrid : I32EnumAttr<"LaunchGrid", "which blocks a launch has", [
    Pit_LaunchGridOneBlock, Pit_LaunchGridIterations, Pit_LaunchGridGroups,
    Pit_LaunchGridSteps, Pit_LaunchGridRows, Pit_LaunchGridTiles,
    Pit_LaunchGridMachine, Pit_LaunchGridTaken]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}

def Pit_LaunchGridParameter : EnumParameter<Pit_LaunchGrid> {
  let defaultValue = "::mlir::pit::LaunchGrid::Iterations";
}

/// A list in brackets.
def Pit_TensorMapsParameter
    : OptionalArrayRefParameter<"::mlir::pit::TensorMapAttr", "descriptors"> {
  let parser = "::mlir::pit::parseTensorMaps($_parser)";
  let printer = "::mlir::pit::printTensorMaps($_printer, $_self)";
}

def Pit_LaunchInfoAttr : Pit_Attr<"LaunchInfo", "launch_info"> {
  let summary = "how a kernel is launched";
  let description = [{
    The attribute `pit.launch_info` of a kernel, a `gpu.func`. `convert-pit-to-gpu` makes
    it, and `convert-pit-launch` does what it says. On a `func.func` that has yet to become
    a kernel it is a plan of `pit-schedule-kernels`, which decides threads, grid and parts
    alone.

    - `threads`: of a block, a multiple of 32 up to 1024.
    - `shared_bytes`: dynamic shared memory of a block.
    - `scratch_bytes`: global memory of each block, for tiles that shared memory cannot
      hold. The kernel gets all of it as one memref, behind its arguments.
    - `grid`: which blocks there are. I is the launch's `iterations`, and M the number of
      multiprocessors.
      - `one_block`: one.
      - `iterations`: I along x. A launch of `elements`, or a kernel with a scratch, has no
        more than fill the machine.
      - `groups`: I along x. An iteration is a group of an index, whose chunks as many blocks
        along y share as fill the machine.
      - `steps`: I along x, one for each tile, whose steps up to `splits` blocks along y share
        (split-K).
      - `rows`: the same, but they share the rows that are added up for the tile.
      - `tiles`: the smaller one of I and M. Blocks stay, and take tiles in turn.
      - `taken`: as many as of `tiles`. Each takes the next tile that none has, by a counter:
        the kernel gets one more parameter, the address of 16 KB of counters, which are 0.
      - `machine`: M. Blocks stay. The device alone knows how many tiles an iteration has,
        or blocks share tiles (stream-K).
    - `splits`: the most parts of a tile, of `steps` and `rows`: 2 or more. Fewer are used if
      there are enough tiles.
    - `partial_bytes`: partial results of one part of one tile. The kernel gets two more
      parameters: the address of these for all tiles and parts, and that of a counter of 4
      bytes for each tile, which is 0.
    - `stream_bytes`: of `machine`, partial results of one block (stream-K). The kernel gets
      two more parameters: the address of these for M blocks, and that of 16 KB of counters,
      which are 0.
    - `cluster`: blocks of a cluster, 1 to 16. The number of blocks is a multiple of it.
    - `pdl`: the kernel may start before the one before it has ended, and waits
      itself (programmatic dependent launch).
    - `predicated`: the kernel asks whether its variant is chosen. Its last two parameters are
      the address of a word on the device, or 0, and the number that the word has to be.
    - `fills`: number of the argument whose other elements, which no tile writes, the kernel
      fills, in place of the `fill` of its launch.
    - `fills_at_most`: elements that a block can fill; any number if it is missing.
    - `preferred`: a kernel of the same module that does the same, and that is launched in
      place of this one where its `tensor_maps` can be made.
    - `tensor_maps`: a `#pit.tensor_map` for each descriptor, in the order of the parameters.

    Parameters come in this order: the arguments, the scratch, the address of partial
    results and that of counters, the descriptors, those of `predicated`.

    Example: a kernel that splits tiles along k, one that starts 64 threads for each
    iteration if `@f_hopper` cannot be launched, and that kernel.

    ```mlir
    #pit.launch_info<threads = 128, shared_bytes = 49152, grid = steps, splits = 4, partial_bytes = 16384>
    #pit.launch_info<threads = 64, preferred = @f_hopper>
    #pit.launch_info<threads = 384, shared_bytes = 213120, grid = tiles, cluster = 2, pdl = true, tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128>, <argument = 1, box = [64, 64], swizzle = 128>]>
    ```
  }];
  let parameters = (ins
    "int64_t":$threads,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
    DefaultValuedParameter<"int64_t", "0">:$scratch_bytes,
    Pit_LaunchGridParameter:$grid,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    DefaultValuedParameter<"int64_t", "0">:$partial_bytes,
    DefaultValuedParameter<"int64_t", "0">:$stream_bytes,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    OptionalParameter<"BoolAttr">:$pdl,
    OptionalParameter<"BoolAttr">:$predicated,
    DefaultValuedParameter<"int64_t", "-1">:$fills,
    DefaultValuedParameter<"int64_t", "0">:$fills_at_most,
    OptionalParameter<"FlatSymbolRefAttr">:$preferred,
    Pit_TensorMapsParameter:$tensor_maps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // PIT_DIALECT_PIT_IR_PITLAUNCHATTRIBUTES_TD
