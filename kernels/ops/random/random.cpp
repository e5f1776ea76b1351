// Random tensors, as a pure function of seeds, node and step: equal for any number of threads, and if a step is repeated.
//   RandomUniform(shape)                    [0, 1)
//   RandomStandardNormal(shape)             mean 0, standard deviation 1
//   TruncatedNormal(shape)                  like RandomStandardNormal, without values outside [-2, 2]
//   RandomUniformInt(shape, minval, maxval) [minval, maxval)
//   RandomShuffle(value)                    the rows of value in random order
// The counter of the generator (generator.h) is the index of a group of four numbers (two of double or int64). A group of
// TruncatedNormal that needs more bits continues at index + 2^48, index + 2 * 2^48, ... A node of the first three ops that is a
// part (graph/build/row_slice.h) draws the numbers that a node for the whole would draw for these rows.
#include "kernels/ops/random/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "graph/build/row_slice.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/vector_loops.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

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

/// Draws whole groups.
template <class Distribution, class T>
void draw_groups(const Philox& philox, uint64_t first, size_t groups, T* out) {
  std::array<T, group_size<T>> group;
  for (uint64_t index = first; index < first + groups; ++index) {
    draw<Distribution>(philox, index, group);
    out = std::ranges::copy(group, out).out;
  }
}
/// Draws floats, many groups at once.
template <class Distribution>
void draw_groups(const Philox& philox, uint64_t first, size_t groups, float* out) {
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

/// Draws the numbers from `position` on, which may begin and end inside a group.
template <class Distribution, class T>
void draw_run(const Philox& philox, uint64_t position, std::span<T> out) {
  constexpr size_t size = group_size<T>;
  const auto draw_inside = [&](std::span<T> part) {
    T group[size];
    draw_groups<Distribution>(philox, position / size, 1, group);
    std::copy_n(group + position % size, part.size(), part.begin());
    position += part.size();
  };
  const size_t head = std::min<size_t>((size - position % size) % size, out.size());
  if (head > 0) draw_inside(out.first(head));
  const size_t groups = (out.size() - head) / size, tail = head + groups * size;
  if (groups > 0) draw_groups<Distribution>(philox, position / size, groups, out.data() + head);
  position += groups * size;
  if (tail < out.size()) draw_inside(out.subspan(tail));
}

template <class Distribution, class T>
void write_random(Pool& pool, const RandomArguments& arguments, std::span<T> out) {
  constexpr size_t size = group_size<T>;
  const DrawnRows& rows = arguments.rows;
  parallel_items(pool, (out.size() + size - 1) / size, 64, [&](size_t begin, size_t end) {
    const size_t last = std::min(end * size, out.size());
    for (size_t at = begin * size, next; at < last; at = next) {
      next = rows.stride == 1 ? last : std::min<size_t>(last, at - at % rows.row + rows.row);
      draw_run<Distribution>(arguments.philox, rows.position(at), out.subspan(at, next - at));
    }
  });
}

// ---- Kernels

template <class Distribution>
void compute_random(const RandomArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  Pool& pool = device.pool();
  switch (output.dtype()) {
    case DType::Float: return write_random<Distribution>(pool, arguments, output.write<float>());
    case DType::Double: return write_random<Distribution>(pool, arguments, output.write<double>());
    default: return write_random<Distribution>(pool, arguments, output.write<Half>());
  }
}

/// Returns the rows that the node draws of those of the node whose numbers it draws once more.
DrawnRows drawn_rows(const Node& node, const Shape& shape) {
  DrawnRows rows;
  const AttrValue* const attr = node.attrs.find(slice_attr);
  const auto* const numbers = attr ? std::get_if<std::vector<int64_t>>(attr) : nullptr;
  if (!numbers || numbers->size() != 4 || shape.rank() == 0 || shape.elements() == 0) return rows;
  rows.first = static_cast<uint64_t>((*numbers)[1]);
  rows.stride = static_cast<uint64_t>((*numbers)[2]);
  rows.row = static_cast<uint64_t>(shape.elements() / shape[0]);
  return rows;
}

template <class T>
void write_uniform_integers(const RandomUniformIntArguments& arguments, Pool& pool) {
  const auto out = arguments.output.write<T>();
  constexpr size_t size = group_size<T>;
  parallel_items(pool, (out.size() + size - 1) / size, 64, [&](size_t begin, size_t end) {
    for (size_t index = begin; index < end; ++index) {
      const Words words = arguments.philox(index);
      for (size_t i = 0; i < size && index * size + i < out.size(); ++i)
        out[index * size + i] = uniform_integer<T>(words, i, arguments.least, arguments.range);
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

void compute_shuffle(const RandomShuffleArguments& arguments, DeviceContext& device) {
  take_rows(device.pool(), arguments.value, shuffled_order(arguments), arguments.output, arguments.row);
}

template <class Distribution>
void add_float_op(OpLibrary& library, const std::string& name, const std::string& constructor) {
  library.op(random_op(name)
                 .host_input("shape: T")
                 .output("output: dtype")
                 .attr("dtype: {half, float, double}")
                 .attr("T: {int32, int64}")
                 .constructor(constructor + "(shape, dtype = float, seed, seed2)")
                 .shape(random_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel(name, check_random, compute_random<Distribution>));
}

}  // namespace

Result<RandomArguments> check_random(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  return RandomArguments{*output, generator_of(context), drawn_rows(context.node(), output->shape())};
}

Result<RandomUniformIntArguments> check_random_uniform_int(KernelContext& context) {
  TROUPE_ASSIGN(const IntegerRange range, integer_range(context, 1));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  TROUPE_RETURN_IF_FAILED(range.check(*output));
  return RandomUniformIntArguments{*output, generator_of(context), range.least, range.size()};
}

Result<RandomShuffleArguments> check_random_shuffle(KernelContext& context) {
  const Tensor& value = context.input(0);
  const Shape& shape = value.shape();
  const size_t rows = shape.is_scalar() ? 1 : static_cast<size_t>(shape[0]);
  const size_t row = rows == 0 ? 0 : static_cast<size_t>(shape.elements()) / rows;
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return RandomShuffleArguments{value, *output, generator_of(context), rows, row};
}

// Fisher and Yates: position i is exchanged with one of the positions i .. n-1.
std::vector<int64_t> shuffled_order(const RandomShuffleArguments& arguments) {
  const size_t rows = arguments.rows;
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = 0; i + 1 < rows; ++i)
    std::swap(order[i], order[i + scaled(wide_word(arguments.philox(i), 0), uint64_t{rows - i})]);
  return order;
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
                 .shape(uniform_int_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("RandomUniformInt", check_random_uniform_int, compute_uniform_int));
  library.op(random_op("RandomShuffle")
                 .input("value: T")
                 .output("output: T")
                 .attr("T: type")
                 .constructor("random_shuffle(value, seed, seed2)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("RandomShuffle", check_random_shuffle, compute_shuffle));
}

}  // namespace troupe
