#include "apps/serve/infer_types.h"

namespace troupe::serve {

std::string_view datatype_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "BOOL";
    case DType::UInt8: return "UINT8";
    case DType::UInt16: return "UINT16";
    case DType::UInt32: return "UINT32";
    case DType::UInt64: return "UINT64";
    case DType::Int8: return "INT8";
    case DType::Int16: return "INT16";
    case DType::Int32: return "INT32";
    case DType::Int64: return "INT64";
    case DType::Half: return "FP16";
    case DType::BFloat16: return "BF16";
    case DType::Float: return "FP32";
    case DType::Double: return "FP64";
    case DType::String: return "BYTES";
    default: return {};
  }
}

}  // namespace troupe::serve
