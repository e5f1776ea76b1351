#include "messages/values/crc32c.h"

#include <cstring>

#include <boost/crc.hpp>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace troupe {
namespace {

/// The remainder without the inversion at the beginning and at the end.
uint32_t remainder_by_table(std::string_view bytes, uint32_t before) {
  boost::crc_optimal<32, 0x1EDC6F41, 0, 0, true, true> crc(before);
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t remainder_by_instruction(std::string_view bytes, uint32_t before) {
  uint64_t remainder = before;
  const char* next = bytes.data();
  const char* const end = next + bytes.size();
  for (uint64_t word; end - next >= 8; next += 8) {
    std::memcpy(&word, next, 8);
    remainder = _mm_crc32_u64(remainder, word);
  }
  auto result = static_cast<uint32_t>(remainder);
  for (; next != end; ++next) result = _mm_crc32_u8(result, static_cast<uint8_t>(*next));
  return result;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~remainder_by_instruction(bytes, ~before);
#endif
  return ~remainder_by_table(bytes, ~before);
}

}  // namespace troupe
