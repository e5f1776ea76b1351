// The element types of the format idx. Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "messages/values/dtype.h"

namespace troupe::data {

inline constexpr std::array<std::pair<uint8_t, DType>, 6> idx_types = {{{0x08, DType::UInt8},
                                                                        {0x09, DType::Int8},
                                                                        {0x0b, DType::Int16},
                                                                        {0x0c, DType::Int32},
                                                                        {0x0d, DType::Float},
                                                                        {0x0e, DType::Double}}};

/// Returns Invalid if there is no such code.
constexpr DType idx_type_of(uint8_t code) {
  for (const auto& [known, dtype] : idx_types)
    if (known == code) return dtype;
  return DType::Invalid;
}
constexpr std::optional<uint8_t> idx_code_of(DType dtype) {
  for (const auto& [code, known] : idx_types)
    if (known == dtype) return code;
  return {};
}

}  // namespace troupe::data
