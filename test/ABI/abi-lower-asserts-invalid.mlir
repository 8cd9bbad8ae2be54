// RUN: pit-opt %s --pit-abi-lower-asserts --verify-diagnostics

func.func @f(%frame: !llvm.ptr {pit.frame}, %p: i1) -> i32 {
  %ok = arith.constant 0 : i32
  omp.parallel {
    // expected-error @+1 {{stands inside 'omp.parallel', from where the call cannot end with an error; assert it before the loop}}
    cf.assert %p, "x < 4"
    omp.terminator
  }
  return %ok : i32
}
