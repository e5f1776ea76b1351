// Whatever the bytes are, reading them as the beginning of a file of tensors ends with entries that fill it, or a Status. For
// libFuzzer (tests/fuzz/CMakeLists.txt).
#include "actors/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size < safetensors_prefix) return 0;
  const auto length = safetensors_header_length(bytes.substr(0, safetensors_prefix), size);
  if (length && *length > size - safetensors_prefix) __builtin_trap();
  // The header at once, too: a length that fits is hard to guess.
  for (const uint64_t header : {length ? *length : 0, uint64_t{size - safetensors_prefix}}) {
    const uint64_t rest = size - safetensors_prefix - header;
    const auto entries = read_safetensors_header(bytes.substr(safetensors_prefix, header), rest);
    if (!entries) continue;
    uint64_t total = 0;
    for (const auto& entry : *entries) total += entry.bytes();
    if (total != rest) __builtin_trap();
  }
  return 0;
}
