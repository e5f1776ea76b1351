// Random orders of samples. They depend only on the numbers that the functions are given. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::data {

/// What a random order is used for: orders of different streams are independent of each other.
enum class RandomStream : uint64_t { Epoch = 1, Split = 2, Blocks = 3, Buffer = 4, Files = 5 };

/// The random number generator SplitMix64 (Steele, Lea, Flood 2014).
class SplitMix {
 public:
  explicit SplitMix(uint64_t state) : state_(state) {}
  /// Returns the generator of a stream, for an epoch or another index.
  static SplitMix of(uint64_t seed, RandomStream stream, uint64_t index) {
    return SplitMix(SplitMix(SplitMix(seed).next() ^ static_cast<uint64_t>(stream)).next() ^ index);
  }

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number below n; all numbers are equally likely.
  uint64_t below(uint64_t n) {
    while (true) {
      const uint64_t drawn = next(), value = drawn % n;
      if (drawn - value <= UINT64_MAX - (n - 1)) return value;
    }
  }

 private:
  uint64_t state_;
};

/// Returns the numbers from 0 to n-1 in a random order that depends only on (seed, stream, index).
std::vector<int64_t> permutation(int64_t n, uint64_t seed, RandomStream stream, uint64_t index);

}  // namespace troupe::data
