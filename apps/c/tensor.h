// Tensors in C: typed, dense arrays in row-major order, which do not change. Any thread may read a tensor, also while steps use it.
// Public header, C11 and C++.
#pragma once

#include "apps/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_tensor troupe_tensor;

/// The types of elements, with TensorFlow's numbers.
typedef int32_t troupe_dtype;
enum {
  TROUPE_FLOAT = 1,
  TROUPE_DOUBLE = 2,
  TROUPE_INT32 = 3,
  TROUPE_UINT8 = 4,
  TROUPE_INT16 = 5,
  TROUPE_INT8 = 6,
  TROUPE_STRING = 7,
  TROUPE_COMPLEX64 = 8,
  TROUPE_INT64 = 9,
  TROUPE_BOOL = 10,
  TROUPE_QINT8 = 11,
  TROUPE_QUINT8 = 12,
  TROUPE_QINT32 = 13,
  TROUPE_BFLOAT16 = 14,
  TROUPE_QINT16 = 15,
  TROUPE_QUINT16 = 16,
  TROUPE_UINT16 = 17,
  TROUPE_COMPLEX128 = 18,
  TROUPE_HALF = 19,
  TROUPE_RESOURCE = 20,
  TROUPE_VARIANT = 21,
  TROUPE_UINT32 = 22,
  TROUPE_UINT64 = 23
};

/// Creates a tensor with a copy of the elements. `bytes` must be their size. Each byte of a tensor of bools must be 0 or 1. Fails
/// with InvalidArgument if one is not, for String, Resource and Variant, or if shape and size do not fit, and with
/// ResourceExhausted if there is no memory.
TROUPE_C troupe_code troupe_tensor_create(troupe_dtype dtype, const int64_t* dims, size_t rank,
                                          const void* data, size_t bytes, troupe_tensor** tensor);
/// Does the same without a copy. The memory belongs to the tensor, and nobody else may use it, until `release` is called with
/// `data` and `context`: once, by any thread, when neither the tensor nor what was made of it is left. `data` must be aligned to
/// the size of an element, at most 16. After a failure the memory is the caller's, and `release` is not called.
TROUPE_C troupe_code troupe_tensor_adopt(troupe_dtype dtype, const int64_t* dims, size_t rank, void* data,
                                         size_t bytes, void (*release)(void* data, void* context),
                                         void* context, troupe_tensor** tensor);
/// Creates a tensor of strings with copies of them. `lengths` are their sizes in bytes; null: each ends with a zero byte. `count`
/// must be the number of elements of the shape.
TROUPE_C troupe_code troupe_tensor_create_strings(const int64_t* dims, size_t rank,
                                                  const char* const* strings, const size_t* lengths,
                                                  size_t count, troupe_tensor** tensor);
TROUPE_C void troupe_tensor_destroy(troupe_tensor* tensor);

TROUPE_C troupe_code troupe_tensor_dtype(const troupe_tensor* tensor, troupe_dtype* dtype);
TROUPE_C troupe_code troupe_tensor_shape(const troupe_tensor* tensor, const int64_t** dims, size_t* rank);
/// Returns the elements and their size. Fails with InvalidArgument for strings and variants.
TROUPE_C troupe_code troupe_tensor_data(const troupe_tensor* tensor, const void** data, size_t* bytes);
/// Returns one element of a tensor of strings; a zero byte follows it. Fails with OutOfRange, or with InvalidArgument if it is no
/// tensor of strings.
TROUPE_C troupe_code troupe_tensor_string(const troupe_tensor* tensor, size_t index, const char** string,
                                          size_t* length);

#ifdef __cplusplus
}
#endif
