// What the stateless random ops share: numbers made of the bits of Philox 4x32-10 as TensorFlow makes them. Pure functions;
// any thread may call them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/random/generator.h"

namespace troupe {

/// Returns the generator whose key and stream are words of a first group, made of the seed. Fails with InvalidArgument if the
/// seed is no integer vector [2].
Result<Philox> generator_of_seed(const Tensor& seed);

/// output = numbers drawn from the distribution of the op.
struct StatelessArguments {
  Tensor& output;
  Philox philox;
};

/// Fails with InvalidArgument if `shape` is no vector of dimensions, or the seed no integer vector [2].
Result<StatelessArguments> check_stateless(KernelContext& context);

/// output = integers in [least, least + range).
struct StatelessIntegerArguments {
  Tensor& output;  ///< int32 or int64
  Philox philox;
  int64_t least;
  uint64_t range;  ///< at least 1 if the output has elements
};

/// Fails with InvalidArgument as check_stateless() does, if minval or maxval is no scalar, or if minval is not below maxval and the
/// output has elements.
Result<StatelessIntegerArguments> check_stateless_integers(KernelContext& context);

/// The groups of bits from a counter of 128 bits on.
struct CountedPhilox {
  uint64_t key, low, high;

  TROUPE_ANY Words operator()(uint64_t index) const {
    const uint64_t sum = low + index;
    return Philox(key, high + (sum < low ? 1 : 0))(sum);
  }
};

/// The same arguments for the ops whose generator is an input.
struct CountedArguments {
  Tensor& output;
  CountedPhilox bits;
};
struct CountedIntegerArguments {
  CountedArguments counted;
  int64_t least;
  uint64_t range;
};

/// Fail with InvalidArgument if `shape` is no vector of dimensions, or the key, the counter or the algorithm is wrong, and with
/// Unimplemented for an algorithm that is not Philox. The second one fails as check_stateless_integers() does, too.
Result<CountedArguments> check_counted(KernelContext& context);
Result<CountedIntegerArguments> check_counted_integers(KernelContext& context);

namespace stateless {

// Floats: the bits are the mantissa of a number in [1, 2), from which 1 is subtracted.

/// Returns a number of type T in [0, 1) for word i of a group, or pair i of words for double, in the type in which it is computed.
template <class T>
TROUPE_ANY ComputeType<T> fraction_number(const Words& words, size_t i) {
  if constexpr (std::is_same_v<T, double>) {
    const uint64_t mantissa = uint64_t{words[2 * i] & 0xFFFFF} << 32 | words[2 * i + 1];
    return std::bit_cast<double>(uint64_t{1023} << 52 | mantissa) - 1;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(uint32_t{127} << 23 | (words[i] & 0x7FFFFF)) - 1;
  } else {
    constexpr int bits = std::is_same_v<T, Half> ? 10 : 7;
    return static_cast<float>(words[i] & ((1u << bits) - 1)) / static_cast<float>(1 << bits);
  }
}
template <class T>
T fraction(const Words& words, size_t i) {
  return T(fraction_number<T>(words, i));
}

/// Computes two normal numbers from two words, or from four for double (Box and Muller 1958).
template <class T>
TROUPE_ANY std::array<T, 2> normals(const Words& words) {
  const T u = std::max(fraction_number<T>(words, 0), static_cast<T>(1.0e-7f));
  const T angle = static_cast<T>(2 * std::numbers::pi * fraction_number<T>(words, 1));
  const T radius = std::sqrt(T{-2} * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

/// The type in which numbers are computed.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct Uniform {
  template <class T, class Bits>
  static void group(const Bits& bits, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = bits(index);
    for (size_t i = 0; i < out.size(); ++i) out[i] = fraction<T>(words, i);
  }
};

struct Normal {
  template <class T, class Bits>
  static void group(const Bits& bits, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = bits(index);
    for (size_t i = 0; i < out.size(); i += 2) {
      const Words pair = out.size() == 2 ? words : Words{words[i], words[i + 1]};
      const auto numbers = normals<Computed<T>>(pair);
      out[i] = T(numbers[0]);
      out[i + 1] = T(numbers[1]);
    }
  }
};

struct Truncated {
  template <class T, class Bits>
  static void group(const Bits& bits, uint64_t index, std::array<T, group_size<T>>& out) {
    constexpr size_t words_of_pair = sizeof(T) == 8 ? 4 : 2;
    const uint64_t first = index * (sizeof(T) == 8 ? 128 : 256);
    size_t found = 0;
    for (uint64_t word = 0;; word += words_of_pair) {
      const Words words = bits(first + word / 4);
      const Words pair = words_of_pair == 4 ? words : Words{words[word % 4], words[word % 4 + 1]};
      for (const auto number : normals<Computed<T>>(pair))
        if (std::abs(number) < 2) {
          out[found++] = T(number);
          if (found == out.size()) return;
        }
    }
  }
};

/// Returns integer i of a group: least + bits % range.
template <class T>
TROUPE_ANY T integer_in(const Words& words, size_t i, int64_t least, uint64_t range) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(least) + bits_of<T>(words, i) % static_cast<Unsigned>(range));
}

/// Calls group(index, numbers) for all groups of the output.
template <class T, class Group>
void fill(Pool& pool, std::span<T> out, Group&& group) {
  constexpr size_t size = group_size<T>;
  parallel_items(pool, (out.size() + size - 1) / size, 64, [&](size_t begin, size_t end) {
    std::array<T, size> numbers;
    for (size_t index = begin; index < end; ++index) {
      group(index, numbers);
      std::copy_n(numbers.begin(), std::min(size, out.size() - index * size), out.begin() + index * size);
    }
  });
}

/// Writes integers of every value of their type.
template <class Bits>
void fill_with_bits(Pool& pool, const Bits& bits, Tensor& output) {
  using Types = TypeList<int32_t, int64_t, uint32_t, uint64_t>;
  with_type(Types{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    fill(pool, output.write<T>(), [&](uint64_t index, auto& out) {
      const Words words = bits(index);
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(bits_of<T>(words, i));
    });
  });
}

/// Writes integers least + bits % range.
template <class Bits>
void fill_with_integers(Pool& pool, const Bits& bits, int64_t least, uint64_t range, Tensor& output) {
  with_type(TypeList<int32_t, int64_t>{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    fill(pool, output.write<T>(), [&](uint64_t index, auto& out) {
      const Words words = bits(index);
      for (size_t i = 0; i < out.size(); ++i) out[i] = integer_in<T>(words, i, least, range);
    });
  });
}

/// Writes numbers of a distribution: Uniform, Normal or Truncated.
template <class Distribution, class Bits>
void fill_with(Pool& pool, const Bits& bits, Tensor& output) {
  with_type(AllFloatTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    fill(pool, output.write<T>(), [&](uint64_t index, auto& out) { Distribution::group(bits, index, out); });
  });
}

}  // namespace stateless
}  // namespace troupe
