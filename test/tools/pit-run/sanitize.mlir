// Programs for processes with AddressSanitizer (--pipeline=sanitize=address).

// REQUIRES: asan

// With the sanitizer a library is not searched for beside who loads it.
// DEFINE: %{with-asan} = env LD_PRELOAD=%asan LD_LIBRARY_PATH=%pit_lib_dir ASAN_OPTIONS=detect_leaks=0

// RUN: %{with-asan} pit-run %s --entry=pick --pipeline=sanitize=address --arg='full(8,f32,3)' --arg='full(4,i64,7)' --print | FileCheck %s --check-prefix=INSIDE
// INSIDE: result 0: f32 4
// INSIDE-NEXT: 3 3 3 3

// An argument has the memory that its shape says.
// RUN: %{with-asan} not pit-run %s --entry=pick --pipeline=sanitize=address --arg='full(8,f32,3)' --arg='full(4,i64,8)' 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: AddressSanitizer: heap-buffer-overflow

// Memory of the call has it, too, although the runtime has more.
// RUN: %{with-asan} pit-run %s --entry=pick_sum --pipeline=sanitize=address --arg='full(8,f32,3)' --arg='full(4,i64,7)' --print | FileCheck %s --check-prefix=SUM
// SUM: 6 6 6 6
// RUN: %{with-asan} not pit-run %s --entry=pick_sum --pipeline=sanitize=address --arg='full(8,f32,3)' --arg='full(4,i64,8)' 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: AddressSanitizer: use-after-poison

// A shared library is the same.
// RUN: pit-compile %s --pipeline=sanitize=address -o %t.so
// RUN: %{with-asan} pit-run %t.so --entry=pick --arg='full(8,f32,3)' --arg='full(4,i64,7)' --print | FileCheck %s --check-prefix=INSIDE
// RUN: %{with-asan} not pit-run %t.so --entry=pick --arg='full(8,f32,3)' --arg='full(4,i64,8)' 2>&1 | FileCheck %s --check-prefix=BEYOND

// Neither runs without the sanitizer.
// RUN: not pit-run %s --entry=pick --pipeline=sanitize=address --arg='full(8,f32,3)' --arg='full(4,i64,7)' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not pit-run %t.so --entry=pick --arg='full(8,f32,3)' --arg='full(4,i64,7)' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: __asan_{{.*}}; the program was compiled with sanitize=address: the process needs AddressSanitizer, by -fsanitize=address of what starts it or by LD_PRELOAD of clang's libclang_rt.asan

// RUN: not pit-run %s --entry=pick --pipeline=sanitize=memory --arg='full(8,f32,3)' --arg='full(4,i64,7)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: sanitizer 'memory' is not known; it must be address
#id = affine_map<(d0) -> (d0)>
func.func @pick(%a: tensor<8xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %x = tensor.extract %a[%i] : tensor<8xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @pick_sum(%a: tensor<8xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %s = tensor.empty() : tensor<8xf32>
  %sum = linalg.add ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %x = tensor.extract %sum[%i] : tensor<8xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
