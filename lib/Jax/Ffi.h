//===- Ffi.h - What a handler of XLA's FFI is given -----------------------===//
//
// The part of XLA's C interface for custom calls (xla/ffi/api/c_api.h, version
// 0.x) that Handler.c uses, as memory. The interface promises to keep what is
// declared here where it is: newer versions append. test/Python/jax_ffi.test
// compares it with the header that JAX installs.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_JAX_FFI_H
#define PIT_JAX_FFI_H

#include <stddef.h>
#include <stdint.h>

/// The version that Handler.c is written for.
enum { PIT_FFI_MAJOR = 0, PIT_FFI_MINOR = 1 };

typedef struct pit_ffi_extension {
  size_t struct_size;
  int32_t type; ///< PIT_FFI_METADATA, or what is of no concern
  struct pit_ffi_extension *next;
} pit_ffi_extension;

enum { PIT_FFI_METADATA = 1 };

typedef struct pit_ffi_version {
  size_t struct_size;
  pit_ffi_extension *extension;
  int32_t major;
  int32_t minor;
} pit_ffi_version;

/// The metadata that a handler gives when it is registered.
typedef struct pit_ffi_metadata {
  size_t struct_size;
  pit_ffi_version version;
  uint32_t traits;
} pit_ffi_metadata;

typedef struct pit_ffi_metadata_extension {
  pit_ffi_extension base;
  pit_ffi_metadata *metadata;
} pit_ffi_metadata_extension;

typedef struct pit_ffi_error pit_ffi_error; ///< NULL: none
typedef struct pit_ffi_context pit_ffi_context;

/// absl's codes.
enum {
  PIT_FFI_INVALID_ARGUMENT = 3,
  PIT_FFI_RESOURCE_EXHAUSTED = 8,
  PIT_FFI_UNIMPLEMENTED = 12
};

typedef struct pit_ffi_error_args {
  size_t struct_size;
  pit_ffi_extension *extension;
  const char *message;
  int32_t code;
} pit_ffi_error_args;

typedef struct pit_ffi_stream_args {
  size_t struct_size;
  pit_ffi_extension *extension;
  pit_ffi_context *context;
  void *stream; ///< out
} pit_ffi_stream_args;

typedef struct pit_ffi_device_args {
  size_t struct_size;
  pit_ffi_extension *extension;
  pit_ffi_context *context;
  int32_t ordinal; ///< out
} pit_ffi_device_args;

typedef struct pit_ffi_api {
  size_t struct_size;
  pit_ffi_extension *extension;
  pit_ffi_version version;
  const void *internal;
  pit_ffi_error *(*make_error)(pit_ffi_error_args *);
  void (*unused_after_error[3])(void);
  pit_ffi_error *(*get_stream)(pit_ffi_stream_args *);
  void (*unused_after_stream[12])(void);
  pit_ffi_error *(*get_device)(pit_ffi_device_args *);
} pit_ffi_api;

/// XLA_FFI_DataType.
enum {
  PIT_FFI_PRED = 1,
  PIT_FFI_S8 = 2,
  PIT_FFI_S16 = 3,
  PIT_FFI_S32 = 4,
  PIT_FFI_S64 = 5,
  PIT_FFI_F16 = 10,
  PIT_FFI_F32 = 11,
  PIT_FFI_F64 = 12,
  PIT_FFI_BF16 = 16,
  PIT_FFI_F8E5M2 = 19,
  PIT_FFI_F8E4M3FN = 20
};

typedef struct pit_ffi_buffer {
  size_t struct_size;
  pit_ffi_extension *extension;
  int32_t type;
  void *data;
  int64_t rank;
  int64_t *dims;
} pit_ffi_buffer;

/// Arguments or results.
typedef struct pit_ffi_buffers {
  size_t struct_size;
  pit_ffi_extension *extension;
  int64_t count;
  int32_t *kinds; ///< PIT_FFI_BUFFER, or what is of no concern
  void **values;
} pit_ffi_buffers;

enum { PIT_FFI_BUFFER = 1 };

typedef struct pit_ffi_bytes {
  const char *data;
  size_t size;
} pit_ffi_bytes;

typedef struct pit_ffi_attributes {
  size_t struct_size;
  pit_ffi_extension *extension;
  int64_t count;
  int32_t *kinds; ///< PIT_FFI_STRING, or what is of no concern
  pit_ffi_bytes **names;
  void **values;
} pit_ffi_attributes;

enum { PIT_FFI_STRING = 4 };

/// A call.
typedef struct pit_ffi_frame {
  size_t struct_size;
  pit_ffi_extension *extension;
  const pit_ffi_api *api;
  pit_ffi_context *context;
  int32_t stage;
  pit_ffi_buffers args;
  pit_ffi_buffers results;
  pit_ffi_attributes attributes;
} pit_ffi_frame;

#endif // PIT_JAX_FFI_H
