// The contrast of images [..., height, width, channels]: (x - mean) * factor + mean, where the mean is that of a channel over the
// pixels of its image.
//   AdjustContrastv2(images, contrast_factor)
//   AdjustContrast(images, contrast_factor, min_value, max_value)   floats, limited to [min_value, max_value]
// Means are summed in float along each row and in double over the rows.
#include "kernels/ops/images/adjust_contrast.h"

#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

using ContrastTypes = TypeList<float, Half, uint8_t, int8_t, int16_t, int32_t, int64_t, double>;

Status contrast_shape(ShapeContext& context) {
  for (size_t i = 1; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const PartialShape& images = context.input(0);
  if (images.known_rank() && images.rank() < 3)
    return invalid_argument("images of shape " + images.text() + " must have rank 3 or more");
  context.set_output(0, images);
  return {};
}

/// Sums a row of pixels by channel. `lanes` has room for several pixels, which are summed side by side.
template <class T>
void sum_row(const T* row, size_t elements, size_t channels, std::vector<float>& lanes, double* sums) {
  std::ranges::fill(lanes, 0.0F);
  const size_t width = lanes.size(), whole = elements / width * width;
  for (size_t i = 0; i < whole; i += width)
    for (size_t k = 0; k < width; ++k) lanes[k] += static_cast<float>(row[i + k]);
  for (size_t i = whole; i < elements; ++i) lanes[i - whole] += static_cast<float>(row[i]);
  std::fill_n(sums, channels, 0.0);
  for (size_t k = 0; k < width; k += channels)
    for (size_t c = 0; c < channels; ++c) sums[c] += double{lanes[k + c]};
}

/// Returns the means of all channels of all images.
template <class T>
std::vector<float> means(const ContrastArguments& arguments, Pool& pool) {
  const size_t height = arguments.dim(3), width = arguments.dim(2), channels = arguments.dim(1);
  const size_t row = width * channels,
               images = static_cast<size_t>(arguments.images.elements()) / (height * row);
  const T* const from = reinterpret_cast<const T*>(arguments.images.data());
  std::vector<double> rows(images * height * channels);
  parallel_rows(pool, images * height, row * sizeof(T), [&](size_t begin, size_t end) {
    std::vector<float> lanes(channels * std::clamp<size_t>(48 / channels, 1, 16));
    for (size_t r = begin; r < end; ++r) sum_row(from + r * row, row, channels, lanes, &rows[r * channels]);
  });
  std::vector<float> result(images * channels);
  for (size_t i = 0; i < images; ++i)
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (size_t y = 0; y < height; ++y) sum += rows[(i * height + y) * channels + c];
      result[i * channels + c] = static_cast<float>(sum / static_cast<double>(height * width));
    }
  return result;
}

template <class From, class To>
void adjust(const ContrastArguments& arguments, Pool& pool) {
  const size_t height = arguments.dim(3), channels = arguments.dim(1), row = arguments.dim(2) * channels;
  const std::vector<float> mean = means<From>(arguments, pool);
  const From* const from = reinterpret_cast<const From*>(arguments.images.data());
  To* const to = reinterpret_cast<To*>(arguments.output.mutable_data());
  const size_t rows = static_cast<size_t>(arguments.images.elements()) / row;
  const float factor = arguments.factor, least = arguments.least, most = arguments.most;
  parallel_rows(pool, rows, row * (sizeof(From) + sizeof(To)), [&](size_t begin, size_t end) {
    std::vector<float> centers(row);  // those of the channels, pixel by pixel
    for (size_t r = begin; r < end; ++r) {
      if (r == begin || r % height == 0)
        for (size_t i = 0; i < row; i += channels)
          std::copy_n(&mean[r / height * channels], channels, &centers[i]);
      for (size_t i = 0; i < row; ++i) {
        const float changed = (static_cast<float>(from[r * row + i]) - centers[i]) * factor + centers[i];
        to[r * row + i] = static_cast<To>(std::max(std::min(changed, most), least));
      }
    }
  });
}

void compute_contrast(const ContrastArguments& arguments, DeviceContext& device) {
  if (arguments.images.elements() == 0) return;
  if (arguments.output.dtype() == DType::Half) return adjust<Half, Half>(arguments, device.pool());
  with_type(ContrastTypes{}, arguments.images.dtype(),
            [&]<class T>(std::type_identity<T>) { adjust<T, float>(arguments, device.pool()); });
}

}  // namespace

Result<ContrastArguments> check_contrast(KernelContext& context) {
  const Tensor& images = context.input(0);
  if (images.shape().rank() < 3)
    return invalid_argument("images of shape " + images.shape().text() + " must have rank 3 or more");
  for (size_t i = 1; i < context.inputs(); ++i)
    if (!context.input(i).shape().is_scalar())
      return invalid_argument(context.node().op->inputs[i].name + " of shape " +
                              context.input(i).shape().text() + " must be a scalar");
  const auto number = [&](size_t i) { return context.input(i).as<float>()[0]; };
  TROUPE_ASSIGN(Tensor* const output, context.output(0, images.shape()));
  if (context.inputs() == 2) return ContrastArguments{images, *output, number(1)};
  return ContrastArguments{images, *output, number(1), number(2), number(3)};
}

void add_adjust_contrast_ops(OpLibrary& library) {
  library.op(OpDefBuilder("AdjustContrastv2")
                 .input("images: T")
                 .host_input("contrast_factor: float")
                 .output("output: T")
                 .attr("T: {half, float} = float")
                 .constructor("adjust_contrast(images, contrast_factor)")
                 .shape(contrast_shape));
  library.op(OpDefBuilder("AdjustContrast")
                 .input("images: T")
                 .host_input("contrast_factor: float")
                 .host_input("min_value: float")
                 .host_input("max_value: float")
                 .output("output: float")
                 .attr("T: {uint8, int8, int16, int32, int64, float, double}")
                 .shape(contrast_shape));
  for (const char* op : {"AdjustContrastv2", "AdjustContrast"})
    library.kernel(cpu_kernel(op, check_contrast, compute_contrast));
}

}  // namespace troupe
