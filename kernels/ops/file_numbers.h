// Numbers in the bytes of files, as formats of images and sounds have them. A pure function; any thread may call it.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Returns the integer whose lowest byte is bytes[at]; the bytes must be there.
template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(bytes[at + i])) << 8 * i);
  return value;
}

}  // namespace troupe
