// RUN: pit-opt %s --pit-abi-name-bodies --verify-diagnostics

func.func @f(%frame: !llvm.ptr {pit.frame}) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// expected-error @below {{has the name of the body of 'f'; give it another one}}
func.func private @pit_f.body() {
  return
}
