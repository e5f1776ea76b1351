// Choices: makes decisions from the bytes of a fuzzer. The first four bytes are a seed; each later byte decides something, and
// after the last one the numbers come from the seed. So four bytes alone give a whole sample, and a fuzzer that changes one byte
// changes one decision. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::fuzz {

class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : bytes_(data, size) {
    for (size_t i = 0; i < 4; ++i) state_ = state_ << 8 | byte();
    state_ = state_ << 1 | 1;
  }

  /// Returns a number in [0, n), or 0 if n is 0. The number is 0 if the bytes are 0.
  uint64_t below(uint64_t n) {
    uint64_t number = 0;
    for (uint64_t left = n > 0 ? n - 1 : 0; left > 0; left >>= 8) number = number << 8 | byte();
    return n > 1 ? number % n : 0;
  }
  /// Returns true in one of n cases.
  bool once_in(uint64_t n) { return below(n) == n - 1; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint8_t byte() {
    if (next_ < bytes_.size()) return bytes_[next_++];
    // SplitMix64 (Steele, Lea, Flood 2014).
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<uint8_t>((x ^ x >> 31) >> 56);
  }

  const std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  uint64_t state_ = 0;
};

}  // namespace troupe::fuzz
