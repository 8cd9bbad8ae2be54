// What the tests of the Python package call.

#id = affine_map<(i) -> (i)>

// Rows of a that are live, times b, added to c.
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// x where the index covers it, times w.
func.func @indexed(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>,
                   %i: !pit.index<micro_tile = [1, *], axis = 0>, %c: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  %s = pit.sparse %x index(%i : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %w : tensor<?x?xf32>, tensor<?x4xf32>)
         outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Two results of different types, and scalars.
func.func @scaled(%x: tensor<?xf32>, %n: i8, %s: f32, %h: f16, %b: bf16, %m: i64)
    -> (tensor<?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %k = tensor.empty(%d) : tensor<?xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e, %k : tensor<?xf32>, tensor<?xi64>) {
  ^bb0(%in: f32, %o: f32, %p: i64):
    %nf = arith.sitofp %n : i8 to f32
    %hf = arith.extf %h : f16 to f32
    %bf = arith.extf %b : bf16 to f32
    %0 = arith.mulf %in, %s : f32
    %1 = arith.addf %0, %nf : f32
    %2 = arith.addf %1, %hf : f32
    %3 = arith.addf %2, %bf : f32
    linalg.yield %3, %m : f32, i64
  } -> (tensor<?xf32>, tensor<?xi64>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi64>
}

// As many rows as an integer says.
func.func @rows(%n: index, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  return %r : tensor<?x4xf32>
}

// Sum of x where the mask says so.
func.func @masked(%x: tensor<?xf32>, %m: tensor<?xi1>) -> tensor<f32> {
  %s = pit.sparse %x mask(%m : tensor<?xi1>) : tensor<?xf32>
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// x or y.
func.func @chosen(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
                                        affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
         ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.select %c, %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// x + x, for each element type.
func.func @double_f64(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf64>
  %e = tensor.empty(%d) : tensor<?xf64>
  %r = linalg.add ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

func.func @double_f32(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @double_f16(%x: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf16>
  %e = tensor.empty(%d) : tensor<?xf16>
  %r = linalg.add ins(%x, %x : tensor<?xf16>, tensor<?xf16>) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>
}

func.func @double_bf16(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xbf16>
  %e = tensor.empty(%d) : tensor<?xbf16>
  %r = linalg.add ins(%x, %x : tensor<?xbf16>, tensor<?xbf16>) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

func.func @double_i8(%x: tensor<?xi8>) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xi8>
  %e = tensor.empty(%d) : tensor<?xi8>
  %r = linalg.add ins(%x, %x : tensor<?xi8>, tensor<?xi8>) outs(%e : tensor<?xi8>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}

func.func @double_i16(%x: tensor<?xi16>) -> tensor<?xi16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xi16>
  %e = tensor.empty(%d) : tensor<?xi16>
  %r = linalg.add ins(%x, %x : tensor<?xi16>, tensor<?xi16>) outs(%e : tensor<?xi16>) -> tensor<?xi16>
  return %r : tensor<?xi16>
}

func.func @double_i32(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%d) : tensor<?xi32>
  %r = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

func.func @double_i64(%x: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xi64>
  %e = tensor.empty(%d) : tensor<?xi64>
  %r = linalg.add ins(%x, %x : tensor<?xi64>, tensor<?xi64>) outs(%e : tensor<?xi64>) -> tensor<?xi64>
  return %r : tensor<?xi64>
}
