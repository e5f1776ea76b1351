// Images of another size, each pixel of which is that of the original where it lies: the one below its position, with
// align_corners the nearest.
//   ResizeNearestNeighbor(images, size)
//   ResizeNearestNeighborGrad(grads, size)   the gradient by an image of this size: each pixel is the sum of those that it became
#include <algorithm>
#include <array>
#include <cstring>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/ops/images/resize.h"

namespace troupe {
namespace {

using SummedTypes = TypeList<float, double, Half, BFloat16, int32_t, int8_t, uint8_t>;

/// For each resized pixel that of the original, times `scale`.
std::vector<int64_t> sources(const Sampling& sampling, int64_t scale) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < sampling.resized; ++i) result.push_back(sampling.nearest(i) * scale);
  return result;
}

/// Copies pixels of a size that the compiler knows, so that it needs no call for each.
template <size_t bytes>
void copy_known(const std::byte* row, const std::vector<int64_t>& columns, size_t, std::byte* to) {
  for (size_t x = 0; x < columns.size(); ++x) std::memcpy(to + x * bytes, row + columns[x], bytes);
}

void copy_pixels(const std::byte* row, const std::vector<int64_t>& columns, size_t bytes, std::byte* to) {
  for (size_t x = 0; x < columns.size(); ++x) std::memcpy(to + x * bytes, row + columns[x], bytes);
}

using CopyRow = void (*)(const std::byte* row, const std::vector<int64_t>& columns, size_t bytes,
                         std::byte* to);

CopyRow copy_for(size_t bytes) {
  switch (bytes) {
    case 1: return copy_known<1>;
    case 2: return copy_known<2>;
    case 3: return copy_known<3>;
    case 4: return copy_known<4>;
    case 6: return copy_known<6>;
    case 8: return copy_known<8>;
    case 12: return copy_known<12>;
    case 16: return copy_known<16>;
    default: return copy_pixels;
  }
}

void compute_nearest(const ResizeArguments& arguments, DeviceContext& device) {
  const Tensor& images = arguments.images;
  const Sampling &rows = arguments.rows, &columns = arguments.columns;
  if (arguments.output.elements() == 0) return;
  const auto pixel = static_cast<size_t>(images.shape()[3]) * size_of(images.dtype());
  const size_t from_row = static_cast<size_t>(columns.original) * pixel,
               to_row = static_cast<size_t>(columns.resized) * pixel;
  const auto down = sources(rows, static_cast<int64_t>(from_row)),
             across = sources(columns, static_cast<int64_t>(pixel));
  const CopyRow copy = copy_for(pixel);
  const auto height = static_cast<size_t>(rows.resized);
  std::byte* const to = arguments.output.mutable_data();
  parallel_rows(device.pool(), static_cast<size_t>(images.shape()[0]) * height, 2 * to_row,
                [&](size_t begin, size_t end) {
                  for (size_t r = begin; r < end; ++r) {
                    const size_t y = r % height, image = r / height;
                    const bool again = r != begin && y != 0 && down[y] == down[y - 1];
                    if (again)
                      std::memcpy(to + r * to_row, to + (r - 1) * to_row, to_row);
                    else
                      copy(images.data() + image * static_cast<size_t>(rows.original) * from_row + down[y],
                           across, pixel, to + r * to_row);
                  }
                });
}

/// The resized pixels that come from one of the original: begins[i] to begins[i + 1].
std::vector<int64_t> runs(const Sampling& sampling) {
  std::vector<int64_t> begins;
  int64_t at = 0;
  for (int64_t i = 0; i <= sampling.original; ++i) {
    while (at < sampling.resized && sampling.nearest(at) < i) ++at;
    begins.push_back(at);
  }
  return begins;
}

/// Adds the elements of a row of pixels to the sums of the pixels that they come from.
template <int known_channels, class T, class Sum>
void add_row(const T* from, const std::vector<int64_t>& across, int64_t channels, Sum* sums) {
  if constexpr (known_channels != 0) channels = known_channels;
  for (size_t x = 0; x < across.size(); ++x, from += channels)
    for (int64_t c = 0; c < channels; ++c)
      sums[across[x] + c] = Add::apply(sums[across[x] + c], static_cast<Sum>(from[c]));
}

template <class T>
void sum_gradients(const ResizeArguments& arguments, Pool& pool) {
  using Sum = ComputeType<T>;
  const Tensor& grads = arguments.images;
  const Sampling &rows = arguments.rows, &columns = arguments.columns;
  const int64_t channels = grads.shape()[3], from_row = columns.resized * channels,
                to_row = columns.original * channels;
  const T* const from = reinterpret_cast<const T*>(grads.data());
  T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  const std::vector<int64_t> begins = runs(rows), across = sources(columns, channels);
  parallel_rows(pool, static_cast<size_t>(grads.shape()[0] * rows.original),
                static_cast<size_t>(to_row + 2 * from_row) * sizeof(T), [&](size_t begin, size_t end) {
                  std::vector<Sum> sums(std::is_same_v<Sum, T> ? 0 : static_cast<size_t>(to_row));
                  for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
                    Sum* row = sums.data();
                    if constexpr (std::is_same_v<Sum, T>) row = to + r * to_row;
                    std::fill_n(row, to_row, Sum{0});
                    const int64_t image = r / rows.original * rows.resized, y = r % rows.original;
                    for (int64_t k = begins[y]; k < begins[y + 1]; ++k) {
                      const auto add = channels == 3 ? add_row<3, T, Sum> : add_row<0, T, Sum>;
                      add(from + (image + k) * from_row, across, channels, row);
                    }
                    if constexpr (!std::is_same_v<Sum, T>)
                      std::transform(row, row + to_row, to + r * to_row, [](Sum sum) { return T(sum); });
                  }
                });
}

void compute_nearest_gradient(const ResizeArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  with_type(SummedTypes{}, arguments.output.dtype(),
            [&]<class T>(std::type_identity<T>) { sum_gradients<T>(arguments, device.pool()); });
}

void nearest_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const auto at = [&](int64_t i) { return integer_constants(scope, std::array{i}); };
  const Output size = slice(scope, shape_of(scope, context.input(0)), at(1), at(2));
  context.set(
      0, scope.add_one("ResizeNearestNeighborGrad", {context.gradient(), size}, sampling_attrs(context)));
}

void second_nearest_gradient(GradientContext& context) {
  set_second_gradient(context, "ResizeNearestNeighbor");
}

}  // namespace

void add_resize_nearest_ops(OpLibrary& library) {
  library.op(resize_op("ResizeNearestNeighbor", "T")
                 .constructor("resize_nearest_neighbor(images, size, align_corners, half_pixel_centers)")
                 .gradient(nearest_gradient));
  library.op(OpDefBuilder("ResizeNearestNeighborGrad")
                 .input("grads: T")
                 .host_input("size: int32")
                 .output("output: T")
                 .attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
                 .attr("align_corners: bool = false")
                 .attr("half_pixel_centers: bool = false")
                 .shape(resize_shape)
                 .gradient(second_nearest_gradient));
  library.kernel(cpu_kernel("ResizeNearestNeighbor", check_resize, compute_nearest));
  library.kernel(
      cpu_kernel("ResizeNearestNeighborGrad", check_resize_gradient_to_size, compute_nearest_gradient));
}

}  // namespace troupe
