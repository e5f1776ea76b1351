// Pooling of images: how windows move over batches of images or volumes, whatever is made of the points of a window. Max and
// average pooling compute with it. Pure functions; any thread.
#pragma once

#include <array>
#include <span>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/window_loops.h"
#include "kernels/ops/nn/windows.h"

namespace troupe {

/// The windows of a pooling op over an input of `batch` times `channels` volumes. An image is a volume of depth 1.
struct Pooling {
  int64_t batch = 0, channels = 0;
  bool channels_last = true;
  std::array<WindowDimension, 3> windows;  ///< of depth, rows, columns
  Dims input, output;                      ///< dimensions of the whole tensors

  size_t inputs() const;   ///< elements of one volume of the input
  size_t outputs() const;  ///< elements of one volume of the output
};

/// From the attributes padding and data_format, and from lists with one element for each dimension. A window over channels
/// (max_pools_channels) is one over the columns of an input with one channel: it is as long as its stride and divides the
/// channels. InvalidArgument for windows over the batch, for other windows over channels, for those over both space and channels,
/// and as window_dimension() says. In `input` a size of -1 is unknown, and then so are sizes in `output`, the only thing of use
/// in the result.
Result<Pooling> pooling_of(const Node& node, std::span<const int64_t> input, std::span<const int64_t> ksize,
                           std::span<const int64_t> strides, bool max_pools_channels = false);

/// The lists ksize and strides: attributes of the node, or from input `first` on, as of the V2 ops.
struct PoolingLists {
  Dims ksize, strides;
};
Result<PoolingLists> pooling_lists(const KernelContext& context, size_t first);
/// In a shape function: nothing when they are inputs whose values are not known.
Result<std::optional<PoolingLists>> pooling_lists(const ShapeContext& context, size_t first);
/// What is known of the output of pooling input 0, whose lists are attributes or inputs 1 and 2.
Status pooling_shape(ShapeContext& context, bool max_pools_channels);

/// InvalidArgument "grad of shape [2] must have the shape [3]" unless it has these dimensions.
Status check_dims(const Tensor& tensor, std::string_view name, std::span<const int64_t> dims);

/// Calls compute(output), or where its dtype is only storage, compute(a tensor of floats) and converts that.
template <class Compute>
Status compute_wide(DeviceContext& device, Tensor& output, const Compute& compute) {
  const DType dtype = compute_dtype(output.dtype());
  if (dtype == output.dtype()) {
    compute(output);
    return {};
  }
  TROUPE_ASSIGN(Tensor wide, Tensor::allocate(dtype, output.shape(), device.memory()));
  compute(wide);
  convert(device.pool(), wide, output);
  return {};
}

/// A range of numbers.
struct Range {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};
/// The input elements that output i covers.
Range covered(const WindowDimension& window, size_t i);
/// The outputs whose windows have no padding.
Range without_padding(const WindowDimension& window);

/// The work of pooling cut into parts that share no memory: in each image some neighbouring channels.
class PoolParts {
 public:
  /// With channels last a part has as many channels as `most`.
  PoolParts(const Pooling& pooling, size_t most);

  struct Part {
    size_t input = 0, output = 0;  ///< its first elements
    size_t width = 1;              ///< neighbouring channels
  };
  size_t count() const { return images_ * blocks_; }
  size_t widest() const { return block_; }  ///< the greatest width of a part
  Part operator[](size_t i) const;

  size_t rows() const { return depth_ * height_; }  ///< of the output, in one part
  size_t columns() const { return columns_; }       ///< of one output row
  /// Between neighbouring columns, in elements.
  size_t pixel() const { return pixel_; }

  /// Calls visit(points, the first input element of point 0, the first output column) for what one row of outputs covers. Each
  /// output meets its input elements in their order.
  template <class Visit>
  void visit_row(const Part& part, size_t row, const Visit& visit) const;
  /// The elements of one output row of a part, columns() times part.width, one after the other.
  template <class T>
  void copy_output_row(const Part& part, size_t row, const T* output, T* to) const;
  /// One past the last input row that output rows up to this one cover, and those before it.
  size_t input_rows_until(size_t row) const;
  size_t input_rows() const;
  size_t input_columns() const { return static_cast<size_t>(pooling_.windows[2].size); }

 private:
  const Pooling& pooling_;
  size_t images_, blocks_, block_, channels_, pixel_, depth_, height_, columns_;
  /// With channels apart: the columns whose windows lie in the input as a whole, and are visited together.
  Range whole_;
};

/// Calls row(part, row) for every output row, and shares them out over the pool.
template <class Row>
void for_pooled_rows(Pool& pool, const PoolParts& parts, size_t bytes, const Row& row) {
  const size_t rows = parts.count() * parts.rows();
  parallel_rows(pool, rows, bytes / std::max<size_t>(rows, 1), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) row(parts[i / parts.rows()], i % parts.rows());
  });
}

/// Every output becomes `initial` joined by the points of its window through the loop; then finish(row, the outputs of a row).
template <class T, class Finish>
void combine_windows(Pool& pool, const Pooling& pooling, const Tensor& input, Tensor& output, T initial,
                     void (*loop)(const WindowPoints&, const void*, void*), const Finish& finish) {
  const PoolParts parts(pooling, SIZE_MAX);
  const size_t length = parts.columns() * parts.pixel();
  const T* const x = input.as<T>().data();
  T* const y = output.write<T>().data();
  for_pooled_rows(pool, parts, input.bytes() + output.bytes(), [&](const PoolParts::Part& part, size_t row) {
    T* const to = y + part.output + row * length;
    std::fill_n(to, length, initial);
    parts.visit_row(part, row, [&](const WindowPoints& points, size_t from, size_t column) {
      loop(points, x + from, to + column * parts.pixel());
    });
    finish(row, to);
  });
}

/// Makes input rows of a part zero as they are needed, so that they are near when the gradient is added to them.
template <class T>
class ZeroedRows {
 public:
  ZeroedRows(const PoolParts& parts, const PoolParts::Part& part, T* input)
      : parts_(parts), part_(part), first_(input + part.input) {}
  void until(size_t end) {
    const size_t columns = parts_.input_columns(), pixel = parts_.pixel();
    for (; zeroed_ < end; ++zeroed_) {
      T* const row = first_ + zeroed_ * columns * pixel;
      if (part_.width == pixel)
        std::fill_n(row, columns * pixel, T{});
      else
        for (size_t i = 0; i < columns; ++i) std::fill_n(row + i * pixel, part_.width, T{});
    }
  }

 private:
  const PoolParts& parts_;
  const PoolParts::Part& part_;
  T* first_;
  size_t zeroed_ = 0;
};

/// Of few images, parts of some channels, so that there are more parts than images.
inline size_t channels_of_a_part(const Pooling& pooling) { return pooling.batch < 8 ? 64 : SIZE_MAX; }

template <class Visit>
void PoolParts::visit_row(const Part& part, size_t row, const Visit& visit) const {
  const auto& windows = pooling_.windows;
  const Range depths = covered(windows[0], row / height_), rows = covered(windows[1], row % height_);
  const size_t line = input_columns() * pixel_;
  for (size_t d = depths.begin; d < depths.end; ++d) {
    const size_t start = part.input + (d * static_cast<size_t>(windows[1].size) + rows.begin) * line;
    const auto visit_one = [&](size_t i) {
      const Range at = covered(windows[2], i);
      visit(WindowPoints{rows.size(), line, at.size(), pixel_, 1, part.width}, start + at.begin * pixel_, i);
    };
    for (size_t i = 0; i < whole_.begin; ++i) visit_one(i);
    if (whole_.size() != 0)
      visit(WindowPoints{rows.size(), line, static_cast<size_t>(windows[2].window), 1,
                         static_cast<size_t>(windows[2].stride), whole_.size()},
            start + covered(windows[2], whole_.begin).begin, whole_.begin);
    for (size_t i = whole_.end; i < columns_; ++i) visit_one(i);
  }
}

template <class T>
void PoolParts::copy_output_row(const Part& part, size_t row, const T* output, T* to) const {
  const T* const from = output + part.output + row * columns_ * pixel_;
  if (part.width == pixel_) {
    std::copy_n(from, columns_ * pixel_, to);
    return;
  }
  for (size_t i = 0; i < columns_; ++i) std::copy_n(from + i * pixel_, part.width, to + i * part.width);
}

}  // namespace troupe
