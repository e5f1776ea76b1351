// The random bits of a node, and numbers made of them. All bits are a pure function of seeds, node and step: equal for any number
// of threads, and if a step is repeated. They are those of Philox 4x32-10 (kernels/loops/philox.h). m is the finalizer of
// SplitMix64, h the FNV-1a hash.
//   key      For a node with attribute seed or seed2 other than 0: m(m(m(seed) ^ seed2)); nodes with equal seeds draw equal
//            numbers. For any other node: m(m(s) ^ h(node name)), where s is the seed of the session. A node "shard/x" has the name
//            "shard_i/x" in a step of the logical shard i.
//   stream   In a step that trains: m(m(2 t + 1) ^ frame key), where t is its training round. In any other step:
//            m(m(2 t) ^ frame key), where t is the ordinal of the step, or, for a node with seeds of its own, the number of
//            earlier steps of the session that ran the node, so that other steps of the session do not matter.
//   counter  The file of an op says what it counts.
// Free functions; any thread may call them.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/philox.h"

namespace troupe {

/// Returns the generator of the node in the step.
Philox generator_of(const KernelContext& context);
/// Returns a generator that is the same in every step: its stream is 0.
Philox steady_generator_of(const KernelContext& context);

/// Returns a definition with the attributes of ops that draw numbers.
OpDefBuilder random_op(std::string name);
/// Every output has the shape whose dimensions are the elements of input 0.
Status random_shape(ShapeContext& context);
/// Allocates output 0 of the shape whose dimensions are the elements of input 0. Fails with InvalidArgument if that is no vector of
/// dimensions.
Result<Tensor*> random_output(KernelContext& context);

/// The integers in [least, limit).
struct IntegerRange {
  int64_t least, limit;

  uint64_t size() const { return static_cast<uint64_t>(limit) - static_cast<uint64_t>(least); }
  /// Fails with InvalidArgument if there are no such integers, but the output has elements.
  Status check(const Tensor& output) const;
};
/// Returns the range [minval, maxval) of the scalars `first` and `first` + 1. Fails with InvalidArgument if they are no scalars.
Result<IntegerRange> integer_range(const KernelContext& context, size_t first);

using Words = std::array<uint32_t, 4>;

TROUPE_ANY inline uint64_t wide_word(const Words& words, size_t i) {
  return uint64_t{words[2 * i + 1]} << 32 | words[2 * i];
}

/// The number of values of type T in one group.
template <class T>
constexpr size_t group_size = sizeof(T) == 8 ? 2 : 4;

/// Returns the bits of number i of a group as an unsigned integer of the size of T.
template <class T>
TROUPE_ANY auto bits_of(const Words& words, size_t i) {
  if constexpr (sizeof(T) == 8)
    return wide_word(words, i);
  else
    return words[i];
}

/// Returns a number of type T in [0, 1), in the type in which it is computed.
template <class T>
TROUPE_ANY ComputeType<T> uniform_number(const Words& words, size_t i) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(wide_word(words, i) >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(words[i] >> 8) * 0x1p-24f;
  else
    return static_cast<float>(words[i] >> 21) * 0x1p-11f;
}
template <class T>
T uniform(const Words& words, size_t i) {
  return T(uniform_number<T>(words, i));
}

/// Computes elements 2i and 2i + 1 of a group (Box and Muller 1958).
template <class T>
TROUPE_ANY std::array<T, 2> normal_pair(const Words& words, size_t i) {
  const T radius = std::sqrt(T{-2} * std::log(T{1} - uniform_number<T>(words, 2 * i)));
  const T angle = T{2} * std::numbers::pi_v<T> * uniform_number<T>(words, 2 * i + 1);
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

/// Numbers one after the other, from the groups 256 i, 256 i + 1, ... for element i. The generator must outlive it. One thread.
class Draws {
 public:
  Draws(const Philox& philox, uint64_t element) : philox_(philox), next_(element * 256) {}

  /// Returns a number in [0, 1).
  double uniform() {
    if (used_ == 2) {
      words_ = philox_(next_++);
      used_ = 0;
    }
    return troupe::uniform<double>(words_, used_++);
  }
  /// Returns a number in (0, 1].
  double positive() { return 1 - uniform(); }
  double normal() {
    return std::sqrt(-2 * std::log(positive())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  const Philox& philox_;
  uint64_t next_;
  Words words_{};
  size_t used_ = 2;
};

}  // namespace troupe
