// RUN: pit-opt %s -pit-sanitize | FileCheck %s
// RUN: not pit-opt %s -pit-sanitize=sanitizer=memory 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: sanitizer 'memory' is not known; it must be address

// CHECK: llvm.func @declared() attributes {passthrough = ["cold"]}
llvm.func @declared() attributes {passthrough = ["cold"]}

// CHECK: llvm.func @defined() attributes {passthrough = ["sanitize_address"]}
llvm.func @defined() {
  llvm.return
}

// CHECK: llvm.func @more() attributes {passthrough = ["cold", "sanitize_address"]}
llvm.func @more() attributes {passthrough = ["cold"]} {
  llvm.return
}
