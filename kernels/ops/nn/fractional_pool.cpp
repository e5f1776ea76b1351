// Pooling of images [batch, rows, columns, channels] whose sizes shrink by a ratio that need not be whole (Graham 2014, "Fractional
// Max-Pooling", arXiv:1412.6071). Float, double, int32 or int64.
//   FractionalMaxPool(value), FractionalAvgPool(value)   output i of floor(size / pooling_ratio) is the greatest element (the mean)
//                         of the rows and columns from sequence[i] up to sequence[i + 1], which is included if `overlapping`
//   FractionalMaxPoolGrad(orig_input, orig_output, out_backprop, sequences), FractionalAvgPoolGrad(orig_input_tensor_shape,
//                         out_backprop, sequences)       the gradients. Each maximum passes its gradient to its first element, each
//                         mean to all of its elements
// The sequences of rows and columns are outputs 1 and 2: they begin at 0, end at the size, and their steps are floor(ratio) or
// ceil(ratio), in random order, or with pseudo_random as in section 2 of the paper. With `deterministic` all steps use the same
// ones. Fails with InvalidArgument for a ratio below 1 or above the size, and for sequences that do not fit the images;
// Unimplemented for ratios of batch or channels other than 1. Numbers: draws of element 0 for rows, 1 for columns (generator.h).
#include <algorithm>
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/ops/nn/pooling.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

using PooledTypes = TypeList<float, double, int32_t, int64_t>;

// ---- Sequences

/// Returns the steps of a sequence: floor(size / count) or one more, in random order.
std::vector<int64_t> random_steps(int64_t size, int64_t count, Draws& draws) {
  std::vector<int64_t> steps(static_cast<size_t>(count), size / count);
  for (size_t i = 0; i < static_cast<size_t>(size % count); ++i) ++steps[i];
  for (size_t i = steps.size(); i > 1; --i)
    std::swap(steps[i - 1], steps[static_cast<size_t>(draws.uniform() * static_cast<double>(i))]);
  return steps;
}

/// Returns the positions ceil(a (i + u)) of the paper, where a is the ratio and u is so small that all steps are floor(a) or one
/// more.
std::vector<int64_t> pseudo_random_steps(int64_t size, int64_t count, Draws& draws) {
  const double ratio = static_cast<double>(size) / static_cast<double>(count);
  const double least = std::floor(ratio);
  const double most = std::min((least + 2) / ratio - 1, (static_cast<double>(size) + 1 - least) / ratio -
                                                            (static_cast<double>(count) - 1));
  const double u = draws.uniform() * most;
  std::vector<int64_t> steps(static_cast<size_t>(count));
  int64_t before = 1;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t at =
        i == count ? size + 1 : static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i) + u)));
    steps[static_cast<size_t>(i - 1)] = at - before;
    before = at;
  }
  return steps;
}

void write_sequence(int64_t size, bool pseudo_random, Draws draws, Tensor& output) {
  const auto sequence = output.write<int64_t>();
  const auto count = static_cast<int64_t>(sequence.size()) - 1;
  const auto steps = pseudo_random && size % count != 0 ? pseudo_random_steps(size, count, draws)
                                                        : random_steps(size, count, draws);
  sequence[0] = 0;
  for (size_t i = 0; i < steps.size(); ++i) sequence[i + 1] = sequence[i] + steps[i];
}

/// The regions of images: output row i covers the input rows in [first(i), last(i)), and so do columns.
class Regions {
 public:
  Regions(std::span<const int64_t> sequence, int64_t size, bool overlapping)
      : sequence_(sequence), size_(size), overlap_(overlapping ? 1 : 0) {}
  size_t count() const { return sequence_.size() - 1; }
  size_t size() const { return static_cast<size_t>(size_); }
  Range operator[](size_t i) const {
    return {static_cast<size_t>(sequence_[i]),
            static_cast<size_t>(std::min(sequence_[i + 1] + overlap_, size_))};
  }

 private:
  std::span<const int64_t> sequence_;
  int64_t size_, overlap_;
};

/// Fails with InvalidArgument unless the sequence of a gradient op increases inside [0, size].
Status check_sequence(const Tensor& sequence, std::string_view name, int64_t size) {
  const auto values = sequence.as<int64_t>();
  int64_t before = -1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] <= before || values[i] > size)
      return invalid_argument(
          std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(values[i]) +
          "; the elements must increase, from at least 0 to at most " + std::to_string(size));
    before = values[i];
  }
  return {};
}

// ---- Pooling

Result<Dims> pooled_dims(const Node& node, std::span<const int64_t> input) {
  const auto& ratios = node.attrs.get<std::vector<float>>("pooling_ratio");
  if (ratios.size() != 4 || input.size() != 4)
    return invalid_argument("pooling_ratio has " + std::to_string(ratios.size()) +
                            " elements and value has rank " + std::to_string(input.size()) +
                            "; both must be 4");
  Dims dims;
  for (size_t i = 0; i < 4; ++i) {
    const bool pooled = i == 1 || i == 2;
    if (!(ratios[i] >= 1))
      return invalid_argument("pooling_ratio[" + std::to_string(i) + "] is " + std::to_string(ratios[i]) +
                              "; it must be at least 1");
    if (!pooled && ratios[i] != 1)
      return Status(Code::Unimplemented, "pooling_ratio[" + std::to_string(i) + "] is " +
                                             std::to_string(ratios[i]) +
                                             "; batch and channels are not pooled, so it must be 1");
    if (pooled && input[i] != unknown_dim && static_cast<double>(input[i]) < static_cast<double>(ratios[i]))
      return invalid_argument("pooling_ratio[" + std::to_string(i) + "] is " + std::to_string(ratios[i]) +
                              ", but value has shape " + text_of(input) + "; it must be at most the size");
    // A size of more than 2^24 may be rounded up, but there are not more regions than elements.
    dims.push_back(
        input[i] == unknown_dim
            ? unknown_dim
            : std::min(input[i], static_cast<int64_t>(std::floor(static_cast<float>(input[i]) / ratios[i]))));
  }
  return dims;
}

Status fractional_pool_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto value, context.with_rank(0, 4));
  TROUPE_ASSIGN(const Dims dims, pooled_dims(context.node(), value.dims()));
  context.set_output(0, partial(dims));
  for (const size_t i : {1, 2})
    context.set_output(i, PartialShape{dims[i] == unknown_dim ? unknown_dim : dims[i] + 1});
  return {};
}

struct FractionalPoolArguments {
  const Tensor& value;
  Tensor &output, &rows, &columns;
  Philox philox;
  bool pseudo_random, overlapping;
};

Result<FractionalPoolArguments> check_fractional_pool(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& value = context.input(0);
  TROUPE_ASSIGN(const Dims dims, pooled_dims(node, value.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, value.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  TROUPE_ASSIGN(Tensor* const rows, context.output(1, Shape::vector(dims[1] + 1)));
  TROUPE_ASSIGN(Tensor* const columns, context.output(2, Shape::vector(dims[2] + 1)));
  return FractionalPoolArguments{
      value,
      *output,
      *rows,
      *columns,
      node.attrs.get<bool>("deterministic") ? steady_generator_of(context) : generator_of(context),
      node.attrs.get<bool>("pseudo_random"),
      node.attrs.get<bool>("overlapping")};
}

/// Calls point(elements of a pixel) for each pixel of a region of an image, row by row.
template <class Point>
void for_each_pixel(Range rows, Range columns, size_t width, size_t channels, const Point& point) {
  for (size_t r = rows.begin; r < rows.end; ++r)
    for (size_t c = columns.begin; c < columns.end; ++c) point((r * width + c) * channels);
}

struct Greatest {
  template <class T>
  static void add(const T* x, T* y, size_t channels, bool first) {
    for (size_t i = 0; i < channels; ++i) y[i] = first || y[i] < x[i] ? x[i] : y[i];
  }
  template <class T>
  static void finish(T*, size_t, size_t) {}
};

struct Mean {
  template <class T>
  static void add(const T* x, T* y, size_t channels, bool first) {
    for (size_t i = 0; i < channels; ++i) y[i] = first ? x[i] : Add::apply(y[i], x[i]);
  }
  template <class T>
  static void finish(T* y, size_t channels, size_t count) {
    for (size_t i = 0; i < channels; ++i) y[i] /= static_cast<T>(count);
  }
};

/// The part of the work that begins with an output row: calls region(its output pixel, the ranges of rows and columns it covers).
template <class Region>
void for_each_region(const Regions& rows, const Regions& columns, size_t row, const Region& region) {
  for (size_t c = 0; c < columns.count(); ++c)
    region(row * columns.count() + c, rows[row % rows.count()], columns[c]);
}

template <class Join, class T>
void pool_images(Pool& pool, const FractionalPoolArguments& arguments) {
  const Shape &input = arguments.value.shape(), &output = arguments.output.shape();
  const Regions rows(arguments.rows.as<int64_t>(), input[1], arguments.overlapping),
      columns(arguments.columns.as<int64_t>(), input[2], arguments.overlapping);
  const auto channels = static_cast<size_t>(input[3]);
  const size_t image = rows.size() * columns.size() * channels;
  const T* const x = arguments.value.as<T>().data();
  T* const y = arguments.output.write<T>().data();
  const size_t count = static_cast<size_t>(output[0]) * rows.count();
  const size_t cost = arguments.value.bytes() / std::max<size_t>(count, 1);
  parallel_rows(pool, count, cost, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      for_each_region(rows, columns, row, [&](size_t pixel, Range r, Range c) {
        const T* const from = x + row / rows.count() * image;
        T* const to = y + pixel * channels;
        bool first = true;
        for_each_pixel(r, c, columns.size(), channels,
                       [&](size_t at) { Join::add(from + at, to, channels, std::exchange(first, false)); });
        Join::finish(to, channels, r.size() * c.size());
      });
  });
}

template <class Join>
void compute_fractional_pool(const FractionalPoolArguments& arguments, DeviceContext& device) {
  const Shape& input = arguments.value.shape();
  write_sequence(input[1], arguments.pseudo_random, Draws(arguments.philox, 0), arguments.rows);
  write_sequence(input[2], arguments.pseudo_random, Draws(arguments.philox, 1), arguments.columns);
  if (arguments.value.elements() == 0) return;
  with_type(PooledTypes{}, arguments.value.dtype(),
            [&]<class T>(std::type_identity<T>) { pool_images<Join, T>(device.pool(), arguments); });
}

// ---- Gradients

struct FractionalPoolGradArguments {
  const Tensor* value;  ///< null for averages, which do not need it
  const Tensor &gradient, &rows, &columns;
  Tensor& output;
  bool overlapping;
};

/// Inputs `first`, first + 1 and first + 2 are the gradient and the sequences.
Result<FractionalPoolGradArguments> check_grad(KernelContext& context, const Tensor* value,
                                               const Shape& shape, size_t first) {
  const Tensor& gradient = context.input(first);
  const Shape& pooled = gradient.shape();
  if (shape.rank() != 4 || pooled.rank() != 4 || shape[0] != pooled[0] || shape[3] != pooled[3])
    return invalid_argument("out_backprop has shape " + pooled.text() + " and the input has shape " +
                            shape.text() + "; both must have rank 4, and the same batch and channels");
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(first + 1), "row_pooling_sequence", Dims{pooled[1] + 1}));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(first + 2), "col_pooling_sequence", Dims{pooled[2] + 1}));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return FractionalPoolGradArguments{value,
                                     gradient,
                                     context.input(first + 1),
                                     context.input(first + 2),
                                     *output,
                                     context.node().attrs.get<bool>("overlapping")};
}

Result<FractionalPoolGradArguments> check_max_grad(KernelContext& context) {
  const Tensor &value = context.input(0), &pooled = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_dims(pooled, "orig_output", context.input(2).shape().dims()));
  return check_grad(context, &value, value.shape(), 2);
}

Result<FractionalPoolGradArguments> check_avg_grad(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "orig_input_tensor_shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.input(1).dtype()));
  return check_grad(context, nullptr, shape, 1);
}

/// Adds the gradient of a region to the first greatest element of each channel.
template <class T>
struct SpreadToGreatest {
  const T* image;

  void operator()(const T* gradient, double* sums, Range rows, Range columns, size_t width,
                  size_t channels) const {
    for (size_t i = 0; i < channels; ++i) {
      size_t found = SIZE_MAX;
      for_each_pixel(rows, columns, width, channels, [&](size_t at) {
        if (found == SIZE_MAX || image[found] < image[at + i]) found = at + i;
      });
      sums[found] += static_cast<double>(gradient[i]);
    }
  }
};

/// Shares the gradient of a region among its elements.
template <class T>
struct SpreadEvenly {
  const T* image;

  void operator()(const T* gradient, double* sums, Range rows, Range columns, size_t width,
                  size_t channels) const {
    const auto count = static_cast<double>(rows.size() * columns.size());
    for_each_pixel(rows, columns, width, channels, [&](size_t at) {
      for (size_t i = 0; i < channels; ++i) sums[at + i] += static_cast<double>(gradient[i]) / count;
    });
  }
};

template <class Spread, class T>
void spread_image(const FractionalPoolGradArguments& arguments, const Regions& rows, const Regions& columns,
                  size_t number, std::vector<double>& sums) {
  const auto channels = static_cast<size_t>(arguments.output.shape()[3]);
  const size_t image = rows.size() * columns.size() * channels;
  sums.assign(image, 0);
  const Spread spread{arguments.value ? arguments.value->as<T>().data() + number * image : nullptr};
  const T* const gradient = arguments.gradient.as<T>().data();
  for (size_t row = number * rows.count(); row < (number + 1) * rows.count(); ++row)
    for_each_region(rows, columns, row, [&](size_t pixel, Range r, Range c) {
      spread(gradient + pixel * channels, sums.data(), r, c, columns.size(), channels);
    });
  std::ranges::transform(sums, arguments.output.write<T>().begin() + static_cast<ptrdiff_t>(number * image),
                         [](double sum) { return static_cast<T>(sum); });
}

template <template <class> class Spread>
Status compute_grad(const FractionalPoolGradArguments& arguments, DeviceContext& device) {
  const Shape& shape = arguments.output.shape();
  TROUPE_RETURN_IF_FAILED(check_sequence(arguments.rows, "row_pooling_sequence", shape[1]));
  TROUPE_RETURN_IF_FAILED(check_sequence(arguments.columns, "col_pooling_sequence", shape[2]));
  if (arguments.output.elements() == 0) return {};
  const Regions rows(arguments.rows.as<int64_t>(), shape[1], arguments.overlapping),
      columns(arguments.columns.as<int64_t>(), shape[2], arguments.overlapping);
  const auto images = static_cast<size_t>(shape[0]);
  with_type(PooledTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_rows(device.pool(), images, 4 * arguments.output.bytes() / std::max<size_t>(images, 1),
                  [&](size_t begin, size_t end) {
                    std::vector<double> sums;
                    for (size_t i = begin; i < end; ++i)
                      spread_image<Spread<T>, T>(arguments, rows, columns, i, sums);
                  });
  });
  return {};
}

Status max_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 4));
  context.set_output(0, std::move(shape));
  return {};
}

Status avg_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto shape, shape_from_input(context, 0));
  TROUPE_ASSIGN(PartialShape output, merge(shape, PartialShape::of_rank(4)));
  context.set_output(0, std::move(output));
  return {};
}

// ---- Definitions

void max_pool_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("FractionalMaxPoolGrad",
                                         {context.input(0), context.output(0), context.gradient(),
                                          context.output(1), context.output(2)},
                                         {{"overlapping", context.attr<bool>("overlapping")}}));
}

void avg_pool_gradient(GradientContext& context) {
  const Output shape = shape_of(context.scope(), context.input(0), DType::Int64);
  context.set(0, context.scope().add_one("FractionalAvgPoolGrad",
                                         {shape, context.gradient(), context.output(1), context.output(2)},
                                         {{"overlapping", context.attr<bool>("overlapping")}}));
}

OpDefBuilder pool_op(const char* name, const char* constructor) {
  return random_op(name)
      .input("value: T")
      .output("output: T")
      .output("row_pooling_sequence: int64")
      .output("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float) >= 4")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("T: {float, double, int32, int64}")
      .constructor(std::string(constructor) +
                   "(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2)")
      .shape(fractional_pool_shape);
}

OpDefBuilder grad_op(const char* name) {
  return OpDefBuilder(name)
      .attr("overlapping: bool = false")
      .attr("T: {float, double, int32, int64}")
      .output("output: T");
}

OpDefBuilder& add_sequences(OpDefBuilder& op) {
  return op.input("out_backprop: T")
      .input("row_pooling_sequence: int64")
      .input("col_pooling_sequence: int64");
}

}  // namespace

void add_fractional_pool_ops(OpLibrary& library) {
  library.op(pool_op("FractionalMaxPool", "fractional_max_pool").gradient(max_pool_gradient));
  library.kernel(cpu_kernel("FractionalMaxPool", check_fractional_pool, compute_fractional_pool<Greatest>));
  library.op(pool_op("FractionalAvgPool", "fractional_avg_pool").gradient(avg_pool_gradient));
  library.kernel(cpu_kernel("FractionalAvgPool", check_fractional_pool, compute_fractional_pool<Mean>));
  OpDefBuilder max = grad_op("FractionalMaxPoolGrad"), avg = grad_op("FractionalAvgPoolGrad");
  max.input("orig_input: T").input("orig_output: T").shape(max_grad_shape);
  library.op(add_sequences(max));
  library.kernel(cpu_kernel("FractionalMaxPoolGrad", check_max_grad, compute_grad<SpreadToGreatest>));
  avg.host_input("orig_input_tensor_shape: int64").shape(avg_grad_shape);
  library.op(add_sequences(avg));
  library.kernel(cpu_kernel("FractionalAvgPoolGrad", check_avg_grad, compute_grad<SpreadEvenly>));
}

}  // namespace troupe
