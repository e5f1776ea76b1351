// Greyscale dilation of images [batch, height, width, channels] by a filter [rows, columns, channels]:
//   Dilation2D(input, filter)                              the greatest input + filter of each window
//   Dilation2DBackpropInput(input, filter, out_backprop)   each element of out_backprop goes to the input element that its window's
//   Dilation2DBackpropFilter(..)                           greatest sum came from, or to that element of the filter; of equal sums
//                                                          the first counts
// strides and rates have one element for each dimension, 1 for batch and channels. Elements of the filter are `rates` apart on the
// input. Padding takes no part; an output whose window has only padding is the least value, and its gradient goes nowhere. Real
// types; integers wrap around, half and bfloat16 are computed in float. Windows follow window_dimension()
// (kernels/ops/nn/windows.h).
#include "kernels/ops/nn/dilation.h"

#include <algorithm>
#include <limits>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

// ---- Shapes

/// The windows of height and width.
Result<ImageWindows> windows_of(const Node& node, std::span<const int64_t> input,
                                std::span<const int64_t> filter) {
  TROUPE_ASSIGN(const ImageAxes axes, image_axes("NHWC"));
  const auto list = [&](const char* attr) {
    return only_spatial_part(node.attrs.get<std::vector<int64_t>>(attr), axes, attr);
  };
  TROUPE_ASSIGN(const Dims strides, list("strides"));
  TROUPE_ASSIGN(const Dims rates, list("rates"));
  TROUPE_ASSIGN(const Padding padding, padding_of(node, axes));
  if (input[3] != unknown_dim && filter[2] != unknown_dim && input[3] != filter[2])
    return invalid_argument("input has " + std::to_string(input[3]) + " channels and filter has " +
                            std::to_string(filter[2]));
  return window_dimensions(input, axes, Dims(filter.first(2)), strides, rates, padding);
}

Dims output_dims(const ImageWindows& windows, std::span<const int64_t> input) {
  return {input[0], windows[0].output, windows[1].output, input[3]};
}

/// Output 0 is the result of the dilation, or the gradient of input `From`.
template <int From>
Status dilation_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape input, context.with_rank(0, 4));
  TROUPE_ASSIGN(PartialShape filter, context.with_rank(1, 3));
  TROUPE_ASSIGN(const ImageWindows windows, windows_of(context.node(), input.dims(), filter.dims()));
  if (From < 0) {
    std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
    if (dims[3] == unknown_dim) dims[3] = filter[2];
    context.set_output(0, partial(output_dims(windows, dims)));
    return {};
  }
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 4).status());
  context.set_output(0, From == 0 ? std::move(input) : std::move(filter));
  return {};
}

// ---- Points of windows

/// An element of a window on one dimension: its number in the filter and in the input.
struct Tap {
  int64_t of_filter, of_input;
};
/// Calls visit(tap) for the elements of window i that lie in the input.
template <class Visit>
void for_each_tap(const WindowDimension& window, int64_t i, const Visit& visit) {
  const int64_t first = window.first(i);
  const int64_t begin = first >= 0 ? 0 : (-first - 1) / window.dilation + 1;
  for (int64_t tap = begin; tap < window.window; ++tap) {
    const int64_t at = first + tap * window.dilation;
    if (at >= window.size) return;
    visit(Tap{tap, at});
  }
}

/// The elements of an image and of the filter at the points of a window.
template <class T>
class Points {
 public:
  explicit Points(const DilationArguments& arguments)
      : input_(arguments.input.as<T>().data()), filter_(arguments.filter.as<T>().data()),
        windows_(arguments.windows), depth_(arguments.input.shape()[3]) {}

  /// Calls visit(first input element, first filter element), in the pixels of both that meet, for each point of window (y, x).
  template <class Visit>
  void visit(int64_t image, int64_t y, int64_t x, const Visit& visit) const {
    for_each_tap(windows_[0], y, [&](Tap row) {
      for_each_tap(windows_[1], x, [&](Tap column) {
        visit(((image * windows_[0].size + row.of_input) * windows_[1].size + column.of_input) * depth_,
              (row.of_filter * windows_[1].window + column.of_filter) * depth_);
      });
    });
  }
  /// The sum as a T, in the type in which it is compared.
  ComputeType<T> sum(int64_t input, int64_t filter) const {
    using C = ComputeType<T>;
    return static_cast<C>(T(Add::apply(static_cast<C>(input_[input]), static_cast<C>(filter_[filter]))));
  }

 private:
  const T *input_, *filter_;
  const ImageWindows& windows_;
  int64_t depth_;
};

template <class C>
constexpr C least = std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity()
                                                         : std::numeric_limits<C>::lowest();

// ---- Computation

template <class T>
void dilate_row(const Points<T>& points, const DilationArguments& arguments, int64_t row, T* output) {
  using C = ComputeType<T>;
  const int64_t height = arguments.windows[0].output, width = arguments.windows[1].output;
  const int64_t depth = arguments.input.shape()[3];
  std::vector<C> best(static_cast<size_t>(depth));
  for (int64_t x = 0; x < width; ++x) {
    std::ranges::fill(best, least<C>);
    points.visit(row / height, row % height, x, [&](int64_t input, int64_t filter) {
#pragma GCC ivdep
      for (int64_t c = 0; c < depth; ++c) {
        const C sum = points.sum(input + c, filter + c), before = best[static_cast<size_t>(c)];
        best[static_cast<size_t>(c)] = sum > before ? sum : before;
      }
    });
    std::ranges::transform(best, output + (row * width + x) * depth, [](C value) { return T(value); });
  }
}

void compute_dilation(const DilationArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  const ImageWindows& windows = arguments.windows;
  const auto rows = static_cast<size_t>(arguments.input.shape()[0] * windows[0].output);
  const auto sums = static_cast<size_t>(arguments.output.elements()) / rows *
                    static_cast<size_t>(windows[0].window) * static_cast<size_t>(windows[1].window);
  with_type(RealTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    const Points<T> points(arguments);
    T* const output = arguments.output.write<T>().data();
    parallel_rows(device.pool(), rows, 2 * sums * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row)
        dilate_row(points, arguments, static_cast<int64_t>(row), output);
    });
  });
}

/// Some neighbouring channels of some images.
struct Part {
  int64_t first_image, images, first_channel, channels;
};

/// Adds each gradient of a part to the input element (OfInput) or the filter element that its output came from.
template <class T, bool OfInput>
void add_gradients(const Points<T>& points, const DilationArguments& arguments, const Part& part,
                   ComputeType<T>* to) {
  using C = ComputeType<T>;
  const int64_t height = arguments.windows[0].output, width = arguments.windows[1].output;
  const int64_t depth = arguments.input.shape()[3];
  const T* const gradient = arguments.gradient->as<T>().data();
  std::vector<C> best(static_cast<size_t>(part.channels));
  std::vector<int64_t> at(best.size());
  for (int64_t i = part.first_image * height * width; i < (part.first_image + part.images) * height * width;
       ++i) {
    std::ranges::fill(best, least<C>);
    std::ranges::fill(at, -1);
    points.visit(i / width / height, i / width % height, i % width, [&](int64_t input, int64_t filter) {
      for (size_t c = 0; c < best.size(); ++c) {
        const int64_t channel = part.first_channel + static_cast<int64_t>(c);
        const C sum = points.sum(input + channel, filter + channel);
        if (!(sum > best[c])) continue;
        best[c] = sum;
        at[c] = (OfInput ? input : filter) + channel;
      }
    });
    for (size_t c = 0; c < at.size(); ++c)
      if (at[c] >= 0)
        to[at[c]] = Add::apply(
            to[at[c]], static_cast<C>(gradient[i * depth + part.first_channel + static_cast<int64_t>(c)]));
  }
}

/// The parts are independent: images apart for the gradient of the input, and 16 channels at a time.
template <bool OfInput>
Status compute_gradient(const DilationArguments& arguments, DeviceContext& device) {
  return compute_wide(device, arguments.output, [&](Tensor& output) {
    fill(device.pool(), output);
    if (output.elements() == 0 || arguments.gradient->elements() == 0) return;
    constexpr int64_t width = 16;
    const int64_t images = arguments.input.shape()[0], depth = arguments.input.shape()[3];
    const int64_t strips = (depth - 1) / width + 1;
    const auto parts = static_cast<size_t>(OfInput ? images * strips : strips);
    const ImageWindows& windows = arguments.windows;
    const size_t cost = arguments.gradient->bytes() / parts * static_cast<size_t>(windows[0].window) *
                        static_cast<size_t>(windows[1].window);
    with_type(RealTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
      const Points<T> points(arguments);
      auto* const to = output.write<ComputeType<T>>().data();
      parallel_rows(device.pool(), parts, cost, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t channel = i % strips * width;
          const Part part{OfInput ? i / strips : 0, OfInput ? 1 : images, channel,
                          std::min(width, depth - channel)};
          add_gradients<T, OfInput>(points, arguments, part, to);
        }
      });
    });
  });
}

// ---- Definitions

void dilation_gradient(GradientContext& context) {
  Attributes attrs;
  for (const char* attr : {"strides", "rates", "padding"}) attrs.set(attr, *context.node().attrs.find(attr));
  const std::vector<Output> inputs{context.input(0), context.input(1), context.gradient()};
  context.set(0, context.scope().add_one("Dilation2DBackpropInput", inputs, attrs));
  context.set(1, context.scope().add_one("Dilation2DBackpropFilter", inputs, attrs));
}

OpDefBuilder with_attributes(OpDefBuilder op) {
  return op.attr("T: realnumbertype")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}");
}

OpDefBuilder gradient_op(const char* name, const char* output) {
  return with_attributes(
      OpDefBuilder(name).input("input: T").input("filter: T").input("out_backprop: T").output(output));
}

}  // namespace

Result<DilationArguments> check_dilation(KernelContext& context) {
  const Tensor &input = context.input(0), &filter = context.input(1);
  if (input.shape().rank() != 4 || filter.shape().rank() != 3)
    return invalid_argument("input has shape " + input.shape().text() + " and filter has shape " +
                            filter.shape().text() + "; they must have ranks 4 and 3");
  TROUPE_ASSIGN(ImageWindows windows,
                windows_of(context.node(), input.shape().dims(), filter.shape().dims()));
  const Dims dims = output_dims(windows, input.shape().dims());
  const std::string& op = context.node().type();
  if (op == "Dilation2D") {
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
    TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
    return DilationArguments{input, filter, nullptr, *output, std::move(windows)};
  }
  const Tensor& gradient = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_dims(gradient, "out_backprop", dims));
  const Tensor& like = op == "Dilation2DBackpropInput" ? input : filter;
  TROUPE_ASSIGN(Tensor* const output, context.output(0, like.shape()));
  return DilationArguments{input, filter, &gradient, *output, std::move(windows)};
}

void add_dilation_ops(OpLibrary& library) {
  library.op(
      with_attributes(OpDefBuilder("Dilation2D").input("input: T").input("filter: T").output("output: T"))
          .constructor("dilation2d(input, filter, strides, rates, padding)")
          .shape(dilation_shape<-1>)
          .gradient(dilation_gradient));
  library.op(gradient_op("Dilation2DBackpropInput", "in_backprop: T").shape(dilation_shape<0>));
  library.op(gradient_op("Dilation2DBackpropFilter", "filter_backprop: T").shape(dilation_shape<1>));
  const auto add = [&](const char* name, auto compute) {
    library.kernel(cpu_kernel(name, check_dilation, compute).on("T", dtypes(RealTypes{})));
  };
  add("Dilation2D", compute_dilation);
  add("Dilation2DBackpropInput", compute_gradient<true>);
  add("Dilation2DBackpropFilter", compute_gradient<false>);
}

}  // namespace troupe
