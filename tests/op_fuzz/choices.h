// Choices: makes decisions from a seed. Equal seeds give equal decisions on every machine. One thread.
#pragma once

#include <cstdint>
#include <iterator>

namespace troupe::fuzz {

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}

  /// Returns a number in [0, n), or 0 if n is 0.
  uint64_t below(uint64_t n) { return n > 1 ? next() % n : 0; }
  /// Returns true in one of n cases.
  bool once_in(uint64_t n) { return below(n) == n - 1; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint64_t next() {  // SplitMix64 (Steele, Lea, Flood 2014)
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  uint64_t state_;
};

}  // namespace troupe::fuzz
