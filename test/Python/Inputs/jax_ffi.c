// What lib/Jax/Ffi.h declares lies where XLA's own header has it.
#include "Jax/Ffi.h"

#include "xla/ffi/api/c_api.h"

#define SAME(ours, field, theirs, of)                                          \
  _Static_assert(offsetof(ours, field) == offsetof(theirs, of) &&              \
                     sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->of),  \
                 #theirs "." #of)
#define EQUAL(ours, theirs)                                                    \
  _Static_assert((int)(ours) == (int)(theirs), #theirs)

EQUAL(PIT_FFI_MAJOR, XLA_FFI_API_MAJOR);
_Static_assert(PIT_FFI_MINOR <= XLA_FFI_API_MINOR, "an older XLA");

SAME(pit_ffi_extension, type, XLA_FFI_Extension_Base, type);
SAME(pit_ffi_extension, next, XLA_FFI_Extension_Base, next);
EQUAL(PIT_FFI_METADATA, XLA_FFI_Extension_Metadata);
SAME(pit_ffi_version, major, XLA_FFI_Api_Version, major_version);
SAME(pit_ffi_version, minor, XLA_FFI_Api_Version, minor_version);
SAME(pit_ffi_metadata, version, XLA_FFI_Metadata, api_version);
SAME(pit_ffi_metadata, traits, XLA_FFI_Metadata, traits);
SAME(pit_ffi_metadata_extension, metadata, XLA_FFI_Metadata_Extension,
     metadata);

SAME(pit_ffi_error_args, message, XLA_FFI_Error_Create_Args, message);
SAME(pit_ffi_error_args, code, XLA_FFI_Error_Create_Args, errc);
EQUAL(PIT_FFI_INVALID_ARGUMENT, XLA_FFI_Error_Code_INVALID_ARGUMENT);
EQUAL(PIT_FFI_RESOURCE_EXHAUSTED, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
EQUAL(PIT_FFI_UNIMPLEMENTED, XLA_FFI_Error_Code_UNIMPLEMENTED);
SAME(pit_ffi_stream_args, context, XLA_FFI_Stream_Get_Args, ctx);
SAME(pit_ffi_stream_args, stream, XLA_FFI_Stream_Get_Args, stream);
SAME(pit_ffi_device_args, context, XLA_FFI_DeviceOrdinal_Get_Args, ctx);
SAME(pit_ffi_device_args, ordinal, XLA_FFI_DeviceOrdinal_Get_Args,
     device_ordinal);
SAME(pit_ffi_api, struct_size, XLA_FFI_Api, struct_size);
SAME(pit_ffi_api, make_error, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME(pit_ffi_api, get_stream, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME(pit_ffi_api, get_device, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);

EQUAL(PIT_FFI_PRED, XLA_FFI_DataType_PRED);
EQUAL(PIT_FFI_S8, XLA_FFI_DataType_S8);
EQUAL(PIT_FFI_S16, XLA_FFI_DataType_S16);
EQUAL(PIT_FFI_S32, XLA_FFI_DataType_S32);
EQUAL(PIT_FFI_S64, XLA_FFI_DataType_S64);
EQUAL(PIT_FFI_F16, XLA_FFI_DataType_F16);
EQUAL(PIT_FFI_BF16, XLA_FFI_DataType_BF16);
EQUAL(PIT_FFI_F32, XLA_FFI_DataType_F32);
EQUAL(PIT_FFI_F64, XLA_FFI_DataType_F64);

SAME(pit_ffi_buffer, type, XLA_FFI_Buffer, dtype);
SAME(pit_ffi_buffer, data, XLA_FFI_Buffer, data);
SAME(pit_ffi_buffer, rank, XLA_FFI_Buffer, rank);
SAME(pit_ffi_buffer, dims, XLA_FFI_Buffer, dims);
SAME(pit_ffi_buffers, count, XLA_FFI_Args, size);
SAME(pit_ffi_buffers, kinds, XLA_FFI_Args, types);
SAME(pit_ffi_buffers, values, XLA_FFI_Args, args);
SAME(pit_ffi_buffers, values, XLA_FFI_Rets, rets);
EQUAL(PIT_FFI_BUFFER, XLA_FFI_ArgType_BUFFER);
EQUAL(PIT_FFI_BUFFER, XLA_FFI_RetType_BUFFER);
SAME(pit_ffi_bytes, data, XLA_FFI_ByteSpan, ptr);
SAME(pit_ffi_bytes, size, XLA_FFI_ByteSpan, len);
SAME(pit_ffi_attributes, count, XLA_FFI_Attrs, size);
SAME(pit_ffi_attributes, kinds, XLA_FFI_Attrs, types);
SAME(pit_ffi_attributes, names, XLA_FFI_Attrs, names);
SAME(pit_ffi_attributes, values, XLA_FFI_Attrs, attrs);
EQUAL(PIT_FFI_STRING, XLA_FFI_AttrType_STRING);

SAME(pit_ffi_frame, extension, XLA_FFI_CallFrame, extension_start);
SAME(pit_ffi_frame, api, XLA_FFI_CallFrame, api);
SAME(pit_ffi_frame, context, XLA_FFI_CallFrame, ctx);
SAME(pit_ffi_frame, stage, XLA_FFI_CallFrame, stage);
SAME(pit_ffi_frame, args, XLA_FFI_CallFrame, args);
SAME(pit_ffi_frame, results, XLA_FFI_CallFrame, rets);
SAME(pit_ffi_frame, attributes, XLA_FFI_CallFrame, attrs);
