// RUN: pit-opt %s -split-input-file -verify-diagnostics

func.func @mixed_outputs(%n: index, %a: tensor<4xf32>, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 1] output 1 is 'memref<4xf32>'; outputs are all tensors}}
  %r = pit.launch @kernels::@k iterations(%n) outs(%a, %m : tensor<4xf32>, memref<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @missing_result(%n: index, %a: tensor<4xf32>) {
  // expected-error@+1 {{[launch 2] has 2 outputs but 1 results}}
  %r = pit.launch @kernels::@k iterations(%n) outs(%a, %a : tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @result_type(%n: index, %a: tensor<4xf32>) {
  // expected-error@+1 {{[launch 3] result 0 is 'tensor<8xf32>' but output 0 is 'tensor<4xf32>'}}
  %r = pit.launch @kernels::@k iterations(%n) outs(%a : tensor<4xf32>) -> (tensor<8xf32>)
  return
}

// -----

func.func @kernel_without_module(%n: index, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 4] kernel @k has to be named as @module::@kernel}}
  pit.launch @k iterations(%n) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @choice_type(%n: index, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 5] choice is 'index'; it must be the bitmap of a pit.choose}}
  pit.launch @kernels::@k if(%n : index is 1) iterations(%n) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @choice_of_tensors(%n: index, %bitmap: !pit.bitmap, %a: tensor<4xf32>) {
  // expected-error@+1 {{[launch 6] has results and a choice; variants write memrefs}}
  %r = pit.launch @kernels::@k if(%bitmap : !pit.bitmap is 1) iterations(%n) outs(%a : tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @choice_of_nothing(%n: index, %bitmap: !pit.bitmap, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 7] has a choice, and variant -1; variants are numbered from 0}}
  pit.launch @kernels::@k if(%bitmap : !pit.bitmap is -1) iterations(%n) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @fill_of_others(%n: index, %m: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error@+1 {{[launch 8] fills a 'memref<4xf32>' that is none of its 1 outputs}}
  pit.launch @kernels::@k iterations(%n) fill(%o : memref<4xf32> by @kernels::@zeros elements(%n)) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @fill_kernel(%n: index, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 9] fill_kernel @zeros has to be named as @module::@kernel}}
  pit.launch @kernels::@k iterations(%n) fill(%m : memref<4xf32> by @zeros elements(%n)) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @no_fill(%n: index, %m: memref<4xf32>) {
  // expected-error@+1 {{[launch 9] has no fill, a fill_kernel and no number of its elements; all three stand together}}
  pit.launch @kernels::@k iterations(%n) outs(%m : memref<4xf32>) {fill_kernel = @kernels::@zeros}
  return
}

// -----

func.func @view_rank(%i: index, %m: memref<?x?xf32>) {
  // expected-error@+1 {{[view 1] has a tile of rank 1 and 2 subscripts for a source of rank 2; all have to be equal}}
  %v = pit.view %m[%i, %i : index, index] : memref<?x?xf32> -> vector<4xf32>
  return
}

// -----

func.func @view_by_index(%i: index, %all: !pit.index<micro_tile = [1, *], axis = 0>, %m: memref<?x?xf32>) {
  // expected-error@+1 {{[view 2] subscript 0 is an index; a view is of one tile}}
  %v = pit.view %m[%all, %i : !pit.index<micro_tile = [1, *], axis = 0>, index] : memref<?x?xf32> -> vector<4x4xf32>
  return
}

// -----

func.func @view_of_ids(%i: index, %ids: !pit.ids<8>, %m: memref<?x?xf32>) {
  // expected-error@+1 {{[view 3] subscript 0 has 8 ids, the tile has 4 there}}
  %v = pit.view %m[%ids, %i : !pit.ids<8>, index] : memref<?x?xf32> -> vector<4x4xf32>
  return
}
