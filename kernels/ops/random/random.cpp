// Random tensors, as a pure function of seeds, node and step: equal for any number of threads, and if a step is repeated.
//   RandomUniform(shape)                    [0, 1)
//   RandomStandardNormal(shape)             mean 0, standard deviation 1
//   TruncatedNormal(shape)                  like RandomStandardNormal, without values outside [-2, 2]
//   RandomUniformInt(shape, minval, maxval) [minval, maxval)
//   RandomShuffle(value)                    the rows of value in random order
// The bits are those of Philox 4x32-10 (kernels/loops/philox.h). m is the finalizer of SplitMix64, h the FNV-1a hash.
//   key      For a node with attribute seed or seed2 other than 0: m(m(m(seed) ^ seed2)); nodes with equal seeds draw equal
//            numbers. For any other node: m(m(s) ^ h(node name)), where s is the seed of the session.
//   stream   In a step that trains: m(m(2 t + 1) ^ frame key), where t is its training round. In any other step:
//            m(m(2 t) ^ frame key), where t is the ordinal of the step, or, for a node with seeds of its own, the number of
//            earlier steps of the session that ran the node, so that other steps of the session do not matter.
//   counter  The index of a group of four numbers (two of double or int64). A group of TruncatedNormal that needs more bits
//            continues at index + 2^48, index + 2 * 2^48, ...
#include "kernels/ops/random/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/vector_loops.h"

namespace troupe {
namespace {

uint64_t mixed(uint64_t x) {  // SplitMix64 (Steele, Lea, Flood 2014)
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

uint64_t name_hash(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

uint64_t seed_of(const Node& node, const char* attr) {
  const AttrValue* const seed = node.attrs.find(attr);
  return seed ? static_cast<uint64_t>(std::get<int64_t>(*seed)) : 0;
}

uint64_t key_of(const Node& node, const StepInfo& step) {
  if (has_own_seeds(node)) return mixed(mixed(mixed(seed_of(node, "seed")) ^ seed_of(node, "seed2")));
  return mixed(mixed(step.seed) ^ name_hash(node.name));
}

uint64_t earlier_runs(const Node& node, const StepInfo& step) {
  if (!step.earlier_runs) return 0;
  const auto known = step.earlier_runs->find(node.name);
  return known == step.earlier_runs->end() ? 0 : known->second;
}

uint64_t time_of(const Node& node, const StepInfo& step) {
  if (step.training) return 2 * step.round + 1;
  return 2 * (has_own_seeds(node) ? earlier_runs(node, step) : step.ordinal);
}

Philox generator(const KernelContext& context) {
  const Node& node = context.node();
  const StepInfo& step = context.step();
  return {key_of(node, step), mixed(mixed(time_of(node, step)) ^ context.frame_key())};
}

// ---- From bits to numbers

using Words = std::array<uint32_t, 4>;

uint64_t wide_word(const Words& words, size_t i) { return uint64_t{words[2 * i + 1]} << 32 | words[2 * i]; }

/// The number of values of type T in one group.
template <class T>
constexpr size_t group_size = sizeof(T) == 8 ? 2 : 4;

template <class T>
T uniform(const Words& words, size_t i) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(wide_word(words, i) >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(words[i] >> 8) * 0x1p-24f;
  else
    return T(static_cast<float>(words[i] >> 21) * 0x1p-11f);
}

/// Computes elements 2i and 2i + 1 of a group (Box and Muller 1958).
template <class T>
std::array<T, 2> normal_pair(const Words& words, size_t i) {
  const T radius = std::sqrt(T{-2} * std::log(T{1} - uniform<T>(words, 2 * i)));
  const T angle = T{2} * std::numbers::pi_v<T> * uniform<T>(words, 2 * i + 1);
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

/// Returns the numbers of group `index`, for each distribution.
struct Uniform {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = philox(index);
    for (size_t i = 0; i < out.size(); ++i) out[i] = uniform<T>(words, i);
  }
};

struct Normal {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    const Words words = philox(index);
    for (size_t i = 0; i < out.size() / 2; ++i) {
      const auto pair = normal_pair<T>(words, i);
      out[2 * i] = pair[0];
      out[2 * i + 1] = pair[1];
    }
  }
};

struct Truncated {
  template <class T>
  static void group(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    Normal::group(philox, index, out);
    complete(philox, index, out);
  }

  /// Replaces the values outside [-2, 2] of the normal group of this index; returns false if there are none.
  template <class T>
  static bool complete(const Philox& philox, uint64_t index, std::array<T, group_size<T>>& out) {
    const auto inside = [](T x) { return std::abs(x) <= T{2}; };
    const auto end = std::remove_if(out.begin(), out.end(), std::not_fn(inside));
    if (end == out.end()) return false;
    auto to = end;
    std::array<T, group_size<T>> normals;
    for (uint64_t attempt = 1; to != out.end(); ++attempt) {
      Normal::group(philox, index + (attempt << 48), normals);
      for (auto at = normals.begin(); at != normals.end() && to != out.end(); ++at)
        if (inside(*at)) *to++ = *at;
    }
    return true;
  }
};

/// Half values are drawn as floats, except uniform ones, which must not round up to 1.
template <class Distribution>
void draw(const Philox& philox, uint64_t index, std::array<Half, 4>& out) {
  if constexpr (std::is_same_v<Distribution, Uniform>) {
    Uniform::group(philox, index, out);
  } else {
    std::array<float, 4> wide;
    Distribution::group(philox, index, wide);
    for (size_t i = 0; i < 4; ++i) out[i] = Half(wide[i]);
  }
}
template <class Distribution, class T, size_t n>
void draw(const Philox& philox, uint64_t index, std::array<T, n>& out) {
  Distribution::group(philox, index, out);
}

/// Draws whole groups of floats, many at once.
template <class Distribution>
void draw_groups(const Philox& philox, size_t first, size_t groups, float* out) {
  const RandomLoops& loops = random_loops();
  const auto fill = std::is_same_v<Distribution, Uniform> ? loops.uniform : loops.normal;
  fill(philox.key(), philox.stream(), first, groups, out);
  if constexpr (std::is_same_v<Distribution, Truncated>)
    for (size_t i = 0; i < groups; ++i) {
      std::array<float, 4> group;
      std::copy_n(out + 4 * i, 4, group.begin());
      if (Truncated::complete(philox, first + i, group)) std::ranges::copy(group, out + 4 * i);
    }
}

template <class Distribution>
void write_random(Pool& pool, const Philox& philox, std::span<float> out) {
  const size_t whole = out.size() / 4;
  parallel_items(pool, whole, 64, [&](size_t begin, size_t end) {
    draw_groups<Distribution>(philox, begin, end - begin, out.data() + 4 * begin);
  });
  float last[4];
  draw_groups<Distribution>(philox, whole, 1, last);
  std::copy_n(last, out.size() % 4, out.begin() + static_cast<ptrdiff_t>(4 * whole));
}

template <class Distribution, class T>
void write_random(Pool& pool, const Philox& philox, std::span<T> out) {
  constexpr size_t size = group_size<T>;
  parallel_items(pool, (out.size() + size - 1) / size, 64, [&](size_t begin, size_t end) {
    std::array<T, size> group;
    for (size_t index = begin; index < end; ++index) {
      draw<Distribution>(philox, index, group);
      std::copy_n(group.begin(), std::min(size, out.size() - index * size), out.begin() + index * size);
    }
  });
}

// ---- Kernels

Status random_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 0));
  context.set_output(0, std::move(shape));
  return {};
}

Result<Tensor*> random_output(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  return context.output(0, shape);
}

template <class Distribution>
void compute_random(const RandomArguments& arguments, DeviceContext& device) {
  const auto& [output, philox] = arguments;
  Pool& pool = device.pool();
  switch (output.dtype()) {
    case DType::Float: return write_random<Distribution>(pool, philox, output.write<float>());
    case DType::Double: return write_random<Distribution>(pool, philox, output.write<double>());
    default: return write_random<Distribution>(pool, philox, output.write<Half>());
  }
}

/// Returns a number in [0, limit): the upper half of the product (Lemire 2019, without rejection).
uint64_t scaled(uint32_t word, uint32_t limit) { return uint64_t{word} * limit >> 32; }
uint64_t scaled(uint64_t word, uint64_t limit) {
  __extension__ using Product = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Product>(word) * limit >> 64);
}

template <class T>
void write_uniform_integers(const RandomUniformIntArguments& arguments, Pool& pool) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto least = static_cast<Unsigned>(arguments.least), range = static_cast<Unsigned>(arguments.range);
  const Philox philox = arguments.philox;
  const auto out = arguments.output.write<T>();
  constexpr size_t size = group_size<T>;
  parallel_items(pool, (out.size() + size - 1) / size, 64, [&](size_t begin, size_t end) {
    for (size_t index = begin; index < end; ++index) {
      const Words words = philox(index);
      for (size_t i = 0; i < size && index * size + i < out.size(); ++i) {
        const auto word = static_cast<Unsigned>(sizeof(T) == 8 ? wide_word(words, i) : words[i]);
        out[index * size + i] = static_cast<T>(least + static_cast<Unsigned>(scaled(word, range)));
      }
    }
  });
}

Status uniform_int_shape(ShapeContext& context) {
  for (size_t i = 1; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return random_shape(context);
}

void compute_uniform_int(const RandomUniformIntArguments& arguments, DeviceContext& device) {
  if (arguments.output.dtype() == DType::Int64)
    return write_uniform_integers<int64_t>(arguments, device.pool());
  write_uniform_integers<int32_t>(arguments, device.pool());
}

/// Fisher and Yates: position i is exchanged with one of the positions i .. n-1.
void compute_shuffle(const RandomShuffleArguments& arguments, DeviceContext& device) {
  const auto& [value, output, philox, rows, row] = arguments;
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = 0; i + 1 < rows; ++i)
    std::swap(order[i], order[i + scaled(wide_word(philox(i), 0), uint64_t{rows - i})]);
  take_rows(device.pool(), value, order, output, row);
}

OpDefBuilder random_op(std::string name) {
  return OpDefBuilder(std::move(name))
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .effect(Effect::Random)
      .not_differentiable();
}

template <class Distribution>
void add_float_op(OpLibrary& library, const std::string& name, const std::string& constructor) {
  library.op(random_op(name)
                 .host_input("shape: T")
                 .output("output: dtype")
                 .attr("dtype: {half, float, double}")
                 .attr("T: {int32, int64}")
                 .constructor(constructor + "(shape, dtype = float, seed, seed2)")
                 .shape(random_shape));
  library.kernel(cpu_kernel(name, check_random, compute_random<Distribution>));
}

}  // namespace

bool has_own_seeds(const Node& node) {
  return node.op->effect == Effect::Random && (seed_of(node, "seed") != 0 || seed_of(node, "seed2") != 0);
}

Result<RandomArguments> check_random(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  return RandomArguments{*output, generator(context)};
}

Result<RandomUniformIntArguments> check_random_uniform_int(KernelContext& context) {
  for (size_t i = 1; i < 3; ++i)
    if (!context.input(i).shape().is_scalar())
      return invalid_argument(context.node().op->inputs[i].name + " has shape " +
                              context.input(i).shape().text() + "; it must be a scalar");
  TROUPE_ASSIGN(const int64_t least, integer_scalar(context.input(1), "minval"));
  TROUPE_ASSIGN(const int64_t limit, integer_scalar(context.input(2), "maxval"));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  if (least >= limit && output->elements() > 0)
    return invalid_argument("minval " + std::to_string(least) + " is not below maxval " +
                            std::to_string(limit));
  return RandomUniformIntArguments{*output, generator(context), least,
                                   static_cast<uint64_t>(limit) - static_cast<uint64_t>(least)};
}

Result<RandomShuffleArguments> check_random_shuffle(KernelContext& context) {
  const Tensor& value = context.input(0);
  const Shape& shape = value.shape();
  const size_t rows = shape.is_scalar() ? 1 : static_cast<size_t>(shape[0]);
  const size_t row = rows == 0 ? 0 : static_cast<size_t>(shape.elements()) / rows;
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return RandomShuffleArguments{value, *output, generator(context), rows, row};
}

void add_random_ops(OpLibrary& library) {
  add_float_op<Uniform>(library, "RandomUniform", "random_uniform");
  add_float_op<Normal>(library, "RandomStandardNormal", "random_normal");
  add_float_op<Truncated>(library, "TruncatedNormal", "truncated_normal");
  library.op(random_op("RandomUniformInt")
                 .host_input("shape: T")
                 .host_input("minval: Tout")
                 .host_input("maxval: Tout")
                 .output("output: Tout")
                 .attr("Tout: {int32, int64}")
                 .attr("T: {int32, int64}")
                 .constructor("random_uniform_int(shape, minval, maxval, seed, seed2)")
                 .shape(uniform_int_shape));
  library.kernel(cpu_kernel("RandomUniformInt", check_random_uniform_int, compute_uniform_int));
  library.op(random_op("RandomShuffle")
                 .input("value: T")
                 .output("output: T")
                 .attr("T: type")
                 .constructor("random_shuffle(value, seed, seed2)")
                 .shape(unchanged_shape));
  library.kernel(cpu_kernel("RandomShuffle", check_random_shuffle, compute_shuffle));
}

}  // namespace troupe
