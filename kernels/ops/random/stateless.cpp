// Random tensors as a function of the input seed, an integer vector [2], alone; the numbers are those of TensorFlow.
//   StatelessRandomUniform(shape, seed)             [0, 1)
//   StatelessRandomNormal(shape, seed)              mean 0, standard deviation 1
//   StatelessTruncatedNormal(shape, seed)           the same, without values outside (-2, 2)
//   StatelessRandomUniformInt(shape, seed, minval, maxval)  [minval, maxval)
//   StatelessRandomUniformFullInt(shape, seed)      every value of the type
//   StatelessMultinomial(logits, num_samples, seed) [batch, num_samples]: classes with the probabilities softmax(logits[batch])
// The bits are those of Philox 4x32-10: words of a first group, made of the seed, are key and stream. The counter is the index of a
// group of four numbers (two of 64 bits); a group of truncated numbers takes 256 groups of bits (128 for double).
#include <cstring>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/random/categorical.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

Result<Philox> generator_of_seed(const Tensor& seed) {
  TROUPE_ASSIGN(const Dims numbers, integer_vector(seed, "seed"));
  if (numbers.size() != 2)
    return invalid_argument("seed has shape " + seed.shape().text() + ", expected [2]");
  const Words mix =
      Philox(0x02461E293EC8F720, static_cast<uint64_t>(numbers[1]))(static_cast<uint64_t>(numbers[0]));
  return Philox(wide_word(mix, 0), wide_word(mix, 1));
}

// ---- From bits to numbers: the bits are the mantissa of a number in [1, 2), from which 1 is subtracted.

/// Returns a number in [0, 1) for word i of a group, or pair i of words for double.
template <class T>
T fraction(const Words& words, size_t i) {
  if constexpr (std::is_same_v<T, double>) {
    const uint64_t mantissa = uint64_t{words[2 * i] & 0xFFFFF} << 32 | words[2 * i + 1];
    return std::bit_cast<double>(uint64_t{1023} << 52 | mantissa) - 1;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(uint32_t{127} << 23 | (words[i] & 0x7FFFFF)) - 1;
  } else {
    constexpr int bits = std::is_same_v<T, Half> ? 10 : 7;
    return T(static_cast<float>(words[i] & ((1u << bits) - 1)) / static_cast<float>(1 << bits));
  }
}

/// Computes two normal numbers from two words, or from four for double (Box and Muller 1958).
template <class T>
std::array<T, 2> normals(const Words& words) {
  const T u = std::max(fraction<T>(words, 0), static_cast<T>(1.0e-7f));
  const T angle = static_cast<T>(2 * std::numbers::pi * fraction<T>(words, 1));
  const T radius = std::sqrt(T{-2} * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

/// The type in which numbers are computed.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct Uniform {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = philox(index);
    for (size_t i = 0; i < out.size(); ++i) out[i] = fraction<T>(words, i);
  }
};

struct Normal {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = philox(index);
    for (size_t i = 0; i < out.size(); i += 2) {
      const Words pair = out.size() == 2 ? words : Words{words[i], words[i + 1]};
      const auto numbers = normals<Computed<T>>(pair);
      out[i] = T(numbers[0]);
      out[i + 1] = T(numbers[1]);
    }
  }
};

struct Truncated {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    constexpr size_t words_of_pair = sizeof(T) == 8 ? 4 : 2;
    const uint64_t first = index * (sizeof(T) == 8 ? 128 : 256);
    size_t found = 0;
    for (uint64_t word = 0;; word += words_of_pair) {
      const Words words = philox(first + word / 4);
      const Words pair = words_of_pair == 4 ? words : Words{words[word % 4], words[word % 4 + 1]};
      for (const auto number : normals<Computed<T>>(pair))
        if (std::abs(number) < 2) {
          out[found++] = T(number);
          if (found == out.size()) return;
        }
    }
  }
};

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

// ---- Kernels

struct StatelessArguments {
  Tensor& output;
  Philox philox;
};

Result<StatelessArguments> check_stateless(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(1)));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  return StatelessArguments{*output, philox};
}

template <class Distribution>
void compute_stateless(const StatelessArguments& arguments, DeviceContext& device) {
  with_type(AllFloatTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    fill(device.pool(), arguments.output.write<T>(),
         [&](uint64_t index, auto& out) { Distribution::group(arguments.philox, index, out); });
  });
}

/// Returns the bits of number i of a group as an unsigned integer of the size of T.
template <class T>
auto bits_of(const Words& words, size_t i) {
  if constexpr (sizeof(T) == 8)
    return wide_word(words, i);
  else
    return words[i];
}

void compute_full_integers(const StatelessArguments& arguments, DeviceContext& device) {
  using Types = TypeList<int32_t, int64_t, uint32_t, uint64_t>;
  with_type(Types{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    fill(device.pool(), arguments.output.write<T>(), [&](uint64_t index, auto& out) {
      const Words words = arguments.philox(index);
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(bits_of<T>(words, i));
    });
  });
}

struct StatelessIntegerArguments {
  Tensor& output;
  Philox philox;
  int64_t least;
  uint64_t range;
};

Result<StatelessIntegerArguments> check_stateless_integers(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(1)));
  TROUPE_ASSIGN(const IntegerRange range, integer_range(context, 2));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  TROUPE_RETURN_IF_FAILED(range.check(*output));
  return StatelessIntegerArguments{*output, philox, range.least, range.size()};
}

void compute_stateless_integers(const StatelessIntegerArguments& arguments, DeviceContext& device) {
  with_type(TypeList<int32_t, int64_t>{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto least = static_cast<Unsigned>(arguments.least), range = static_cast<Unsigned>(arguments.range);
    fill(device.pool(), arguments.output.write<T>(), [&](uint64_t index, auto& out) {
      const Words words = arguments.philox(index);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<T>(least + static_cast<Unsigned>(bits_of<T>(words, i)) % range);
    });
  });
}

struct StatelessMultinomialArguments {
  CategoricalArguments categorical;
  Philox philox;
};

Result<StatelessMultinomialArguments> check_stateless_multinomial(KernelContext& context) {
  TROUPE_ASSIGN(const Philox philox, generator_of_seed(context.input(2)));
  TROUPE_ASSIGN(const CategoricalArguments categorical, check_categorical(context));
  return StatelessMultinomialArguments{categorical, philox};
}

/// Sample i of a row takes pair number i of the words of the row's groups.
void compute_stateless_multinomial(const StatelessMultinomialArguments& arguments, DeviceContext& device) {
  const CategoricalArguments& categorical = arguments.categorical;
  const uint64_t groups = (categorical.samples + 3) / 4 * 2;
  draw_categories(categorical, device.pool(), [&](size_t row, size_t sample) {
    return fraction<double>(arguments.philox(row * groups + sample / 2), sample % 2);
  });
}

// ---- Definitions

Status stateless_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  return random_shape(context);
}

Status stateless_integer_shape(ShapeContext& context) {
  for (size_t i = 2; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return stateless_shape(context);
}

Status stateless_multinomial_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 1).status());
  return categorical_shape(context);
}

OpDefBuilder stateless_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .host_input("shape: T")
      .host_input("seed: Tseed")
      .output("output: dtype")
      .attr(types)
      .attr("T: {int32, int64} = int32")
      .attr("Tseed: {int32, int64} = int64")
      .not_differentiable();
}

template <class Distribution>
void add_float_op(OpLibrary& library, const char* name, const std::string& constructor) {
  library.op(stateless_op(name, "dtype: floattype = float")
                 .constructor(constructor + "(shape, seed, dtype)")
                 .shape(stateless_shape));
  library.kernel(cpu_kernel(name, check_stateless, compute_stateless<Distribution>));
}

}  // namespace

void add_stateless_random_ops(OpLibrary& library) {
  add_float_op<Uniform>(library, "StatelessRandomUniform", "stateless_random_uniform");
  add_float_op<Normal>(library, "StatelessRandomNormal", "stateless_random_normal");
  add_float_op<Truncated>(library, "StatelessTruncatedNormal", "stateless_truncated_normal");
  library.op(stateless_op("StatelessRandomUniformFullInt", "dtype: {int32, int64, uint32, uint64} = uint64")
                 .constructor("stateless_random_uniform_full_int(shape, seed, dtype)")
                 .shape(stateless_shape));
  library.kernel(cpu_kernel("StatelessRandomUniformFullInt", check_stateless, compute_full_integers));
  library.op(stateless_op("StatelessRandomUniformInt", "dtype: {int32, int64}")
                 .host_input("minval: dtype")
                 .host_input("maxval: dtype")
                 .constructor("stateless_random_uniform_int(shape, seed, minval, maxval)")
                 .shape(stateless_integer_shape));
  library.kernel(
      cpu_kernel("StatelessRandomUniformInt", check_stateless_integers, compute_stateless_integers));
  library.op(OpDefBuilder("StatelessMultinomial")
                 .input("logits: T")
                 .host_input("num_samples: int32")
                 .host_input("seed: Tseed")
                 .output("output: output_dtype")
                 .attr("T: realnumbertype")
                 .attr("Tseed: {int32, int64} = int64")
                 .attr("output_dtype: {int32, int64} = int64")
                 .constructor("stateless_multinomial(logits, num_samples, seed, output_dtype)")
                 .shape(stateless_multinomial_shape)
                 .not_differentiable());
  library.kernel(
      cpu_kernel("StatelessMultinomial", check_stateless_multinomial, compute_stateless_multinomial)
          .on("T", dtypes(RealTypes{})));
}

}  // namespace troupe
