// Dilation2D and its gradients on GPUs: see dilation.cpp. A point of a window has the number of its pixel in the filter.
#include "kernels/ops/nn/dilation.h"

#include <limits>

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

constexpr uint32_t no_point = UINT32_MAX;

/// The windows along one dimension.
struct WindowAxis {
  int64_t size, window, dilation, pad, output;
  gpu::Divider stride;

  explicit WindowAxis(const WindowDimension& dimension)
      : size(dimension.size), window(dimension.window), dilation(dimension.dilation),
        pad(dimension.pad_before), output(dimension.output), stride(gpu::divider(dimension.stride)) {}
  /// Returns the element of the input on which a point of window i lies, or -1 if it is padding.
  TROUPE_ANY int64_t element(int64_t i, int64_t point) const {
    const int64_t at = i * static_cast<int64_t>(stride.divisor()) - pad + point * dilation;
    return at < 0 || at >= size ? -1 : at;
  }
  /// Returns the window of which this point lies on an element, or -1 if there is none.
  TROUPE_ANY int64_t window_at(int64_t element, int64_t point) const {
    const int64_t first = element + pad - point * dilation;
    if (first < 0) return -1;
    const size_t i = stride.quotient(static_cast<size_t>(first));
    const bool begins = i * stride.divisor() == static_cast<size_t>(first);
    return begins && static_cast<int64_t>(i) < output ? static_cast<int64_t>(i) : -1;
  }
};

/// The coordinates of an element in a batch of images with channels last.
struct Pixel {
  int64_t image, y, x, channel;
};
struct ImageSizes {
  gpu::Divider height, width, depth;

  ImageSizes(int64_t rows, int64_t columns, int64_t channels)
      : height(gpu::divider(rows)), width(gpu::divider(columns)), depth(gpu::divider(channels)) {}
  TROUPE_ANY Pixel pixel(size_t i) const {
    Pixel pixel;
    pixel.channel = static_cast<int64_t>(gpu::split(depth, i));
    pixel.x = static_cast<int64_t>(gpu::split(width, i));
    pixel.y = static_cast<int64_t>(gpu::split(height, i));
    pixel.image = static_cast<int64_t>(i);
    return pixel;
  }
  TROUPE_ANY size_t index(const Pixel& pixel) const {
    const size_t row = static_cast<size_t>(pixel.image) * height.divisor() + static_cast<size_t>(pixel.y);
    return (row * width.divisor() + static_cast<size_t>(pixel.x)) * depth.divisor() +
           static_cast<size_t>(pixel.channel);
  }
};

struct DilationShape {
  WindowAxis rows, columns;
  ImageSizes input, output;

  explicit DilationShape(const DilationArguments& arguments)
      : DilationShape(arguments.windows[0], arguments.windows[1], arguments.input.shape()[3]) {}
  DilationShape(const WindowDimension& y, const WindowDimension& x, int64_t depth)
      : rows(y), columns(x), input(y.size, x.size, depth), output(y.output, x.output, depth) {}
};

/// Finds the greatest sum of an output.
template <class T>
struct FindDilation {
  struct Greatest {
    gpu::Wide<T> sum = -std::numeric_limits<gpu::Wide<T>>::infinity();
    uint32_t point = no_point;
  };
  DilationShape shape;
  const T *input, *filter;

  explicit FindDilation(const DilationArguments& arguments)
      : shape(arguments), input(arguments.input.as<T>().data()), filter(arguments.filter.as<T>().data()) {}

  TROUPE_ANY Greatest operator()(size_t i) const {
    const Pixel place = shape.output.pixel(i);
    Greatest greatest;
    for (int64_t y = 0; y < shape.rows.window; ++y) {
      const int64_t row = shape.rows.element(place.y, y);
      if (row < 0) continue;
      for (int64_t x = 0; x < shape.columns.window; ++x) {
        const int64_t column = shape.columns.element(place.x, x);
        if (column < 0) continue;
        const auto point = static_cast<size_t>(y * shape.columns.window + x);
        const gpu::Wide<T> sum = rounded(
            gpu::load(input[shape.input.index({place.image, row, column, place.channel})]) +
            gpu::load(filter[point * shape.output.depth.divisor() + static_cast<size_t>(place.channel)]));
        if (sum > greatest.sum) greatest = {sum, static_cast<uint32_t>(point)};
      }
    }
    return greatest;
  }

 private:
  TROUPE_ANY static gpu::Wide<T> rounded(gpu::Wide<T> sum) {
    T element;
    gpu::store(element, sum);
    return gpu::load(element);
  }
};

template <class T>
struct Dilate {
  FindDilation<T> find;
  T* output;
  TROUPE_ANY void operator()(size_t i) const { gpu::store(output[i], find(i).sum); }
};

/// The first half of a gradient: which point of each window has the greatest sum.
template <class T>
struct NumberPoints {
  FindDilation<T> find;
  uint32_t* points;
  TROUPE_ANY void operator()(size_t i) const { points[i] = find(i).point; }
};

/// Adds the gradients of the outputs that came from an element of the input, in the order of the outputs.
template <class T>
struct SumDilationGradients {
  DilationShape shape;
  const T* gradient;
  const uint32_t* points;
  T* to;

  TROUPE_ANY void operator()(size_t i) const {
    const Pixel place = shape.input.pixel(i);
    gpu::Wide<T> sum = 0;
    for (int64_t y = shape.rows.window; y-- > 0;) {
      const int64_t row = shape.rows.window_at(place.y, y);
      if (row < 0) continue;
      for (int64_t x = shape.columns.window; x-- > 0;) {
        const int64_t column = shape.columns.window_at(place.x, x);
        if (column < 0) continue;
        const size_t from = shape.output.index({place.image, row, column, place.channel});
        if (points[from] == y * shape.columns.window + x) sum += gpu::load(gradient[from]);
      }
    }
    gpu::store(to[i], sum);
  }
};

/// For each point of the filter, in a row of `outputs` elements, the gradients of the outputs that came from it, and zeros.
template <class T>
struct GradientsOfPoints {
  const T* gradient;
  const uint32_t* points;
  gpu::Divider outputs;

  TROUPE_ANY gpu::Wide<T> operator()(size_t i) const {
    const size_t point = outputs.quotient(i), output = i - point * outputs.divisor();
    return points[output] == point ? gpu::load(gradient[output]) : gpu::Wide<T>(0);
  }
};

Status compute_dilation(const DilationArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  if (output.elements() == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, static_cast<size_t>(output.elements()),
                     Dilate<T>{FindDilation<T>(arguments), output.write<T>().data()});
  });
}

template <class T>
Status add_to_input(const DilationArguments& arguments, DeviceContext& device, const uint32_t* points) {
  Tensor& output = arguments.output;
  return gpu::each(device, static_cast<size_t>(output.elements()),
                   SumDilationGradients<T>{DilationShape(arguments), arguments.gradient->as<T>().data(),
                                           points, output.write<T>().data()});
}

template <class T>
Status add_to_filter(const DilationArguments& arguments, DeviceContext& device, const uint32_t* points) {
  using Sum = gpu::Wide<T>;
  const auto outputs = static_cast<size_t>(arguments.gradient->elements()),
             depth = static_cast<size_t>(arguments.input.shape()[3]);
  const gpu::Box box{static_cast<size_t>(arguments.filter.elements()) / depth, outputs / depth, depth};
  return gpu::reduce_box<Sum>(
      device, box, gpu::Plus<Sum>{},
      GradientsOfPoints<T>{arguments.gradient->as<T>().data(), points, gpu::Divider(outputs)},
      gpu::TensorSink<T>{arguments.output.write<T>().data()});
}

template <bool OfInput>
Status compute_gradient(const DilationArguments& arguments, DeviceContext& device) {
  const auto outputs = static_cast<size_t>(arguments.gradient->elements());
  if (outputs == 0) return gpu::fill_with(device, nullptr, arguments.output);
  if (arguments.filter.elements() >= int64_t{no_point})
    return unimplemented("kernels of GPUs compute gradients of dilations by less than 2^32 elements");
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, outputs * sizeof(uint32_t)));
  auto* const points = reinterpret_cast<uint32_t*>(memory->data);
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    TROUPE_RETURN_IF_FAILED(gpu::each(device, outputs, NumberPoints<T>{FindDilation<T>(arguments), points}));
    return OfInput ? add_to_input<T>(arguments, device, points) : add_to_filter<T>(arguments, device, points);
  });
}

}  // namespace

void add_dilation_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check_dilation, compute).on("T", dtypes(gpu::AllFloats{})));
  };
  add("Dilation2D", compute_dilation);
  add("Dilation2DBackpropFilter", compute_gradient<false>);
  add("Dilation2DBackpropInput", compute_gradient<true>);
}

}  // namespace troupe
