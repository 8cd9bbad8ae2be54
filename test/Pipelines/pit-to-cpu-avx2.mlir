// If vectors have 256 bits, tiles of f32 have 96 columns: blocks of four rows
// and three vectors keep more sums going than a product takes time.

// RUN: pit-opt %s --pit-to-tiles="vector-width=256 explain" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=AVX2
// RUN: pit-opt %s --pit-to-tiles="vector-width=512 explain" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=WIDE
// RUN: pit-opt %s --pit-to-cpu=vector-width=256 --mlir-print-ir-after=convert-pit-to-scf -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS

// AVX2: chosen: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 96, 64]
// WIDE: chosen: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]
// BLOCKS: scf.for {{.*}} step %c24
// BLOCKS: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
func.func @columns(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<2048x2048xf32>
  %r = linalg.matmul ins(%s, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}

// AVX2: chosen: {{.*}} tile = [64, 192, 256]
// WIDE: chosen: {{.*}} tile = [64, 128, 64]
func.func @rows(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<2048x2048xf32>
  %r = linalg.matmul ins(%s, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}

// Rows that number groups make micro-tiles, which are best low; others share the
// columns of B that a tile reads.
// AVX2: chosen: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 96, 64]>
// AVX2: chosen: #pit.rule<operand = 1, axis = 0, micro_tile = [1, 64], tile = [64, 64, 64]>
// WIDE: chosen: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>
// WIDE: chosen: #pit.rule<operand = 1, axis = 0, micro_tile = [1, 64], tile = [32, 64, 64]>
func.func @groups(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : tensor<2048x2048xf32>
  %r = linalg.matmul ins(%s, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %t = pit.sparse %b rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<2048x2048xf32>
  %q = linalg.matmul ins(%a, %t : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%r : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %q : tensor<2048x2048xf32>
}

// A large result is written past the caches in whole lines, of two vectors.
// BLOCKS-LABEL: @filled
// BLOCKS:       scf.for {{.*}} step %c16 {
// BLOCKS-COUNT-2: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true} : {{.*}}, vector<8xf32>
func.func @filled(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<2048x2048xf32>
  %r = linalg.matmul ins(%s, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}

// What fits a cache is not, and what is added to is not either.
// BLOCKS-LABEL: @small
// BLOCKS-NOT:   nontemporal
func.func @small(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<512x512xf32>
  %r = linalg.matmul ins(%s, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
