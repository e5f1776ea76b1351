// Philox 4x32-10: random bits as a pure function of a key and a counter.
// Source: Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A plain value; any thread may use
// it.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/gpu/any.h"

namespace troupe {

/// Returns four words of 32 random bits for each value of a 64-bit counter. `stream` is the upper half of the counter of
/// Philox.
class Philox {
 public:
  TROUPE_ANY Philox(uint64_t key, uint64_t stream) : key_(key), stream_(stream) {}

  uint64_t key() const { return key_; }
  uint64_t stream() const { return stream_; }

  TROUPE_ANY std::array<uint32_t, 4> operator()(uint64_t counter) const {
    std::array<uint32_t, 4> x = {low(counter), high(counter), low(stream_), high(stream_)};
    uint32_t k0 = low(key_), k1 = high(key_);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {high(b) ^ x[1] ^ k0, low(b), high(a) ^ x[3] ^ k1, low(a)};
    }
    return x;
  }

 private:
  TROUPE_ANY static uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
  TROUPE_ANY static uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

  uint64_t key_, stream_;
};

}  // namespace troupe
