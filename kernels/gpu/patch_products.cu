// The rows are multiplied in parts, each of which yields a sum of its own, so that a small filter occupies a whole GPU. Patches are
// made for some of the rows at a time, which fit into the cache of a GPU.
#include "kernels/gpu/patch_products.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/images.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

constexpr int64_t most_channels = 4, most_columns = 512, least_rows = 2048;

int64_t columns_of(const ConvolutionSizes& sizes) { return sizes.filter_elements() / sizes.out_channels; }
int64_t rows_of(const ConvolutionSizes& sizes) {
  return sizes.batch * sizes.output_elements() / sizes.out_channels;
}

/// Writes the elements of patches, row by row. Behind the columns, a row has zeros.
template <class T>
struct TakePatches {
  struct Axis {
    int stride, dilation, pad;
    Divider window;
  };
  Axis axes[3];
  ImageShape in, out;
  Divider width, channels;  ///< width: elements of a row, with the zeros
  size_t first, columns;    ///< first: the number of the first row
  const T* images;
  T* patches;

  TROUPE_ANY void operator()(size_t i) const {
    size_t row = i, column = split(width, row);
    if (column >= columns) {
      patches[i] = T{};
      return;
    }
    const size_t channel = split(channels, column);
    size_t image = row + first;
    int at[3];
    out.position(image, at);
    for (int axis = 2; axis >= 0; --axis) {
      const Axis& a = axes[axis];
      at[axis] = at[axis] * a.stride - a.pad + static_cast<int>(split(a.window, column)) * a.dilation;
    }
    patches[i] = in.has(at) ? images[in.index(image, channel, at)] : T{};
  }
};

class PatchProduct {
 public:
  PatchProduct(DeviceContext& device, const ConvolutionWork& work)
      : device_(device), work_(work), element_(static_cast<int64_t>(size_of(work.dtype))),
        columns_(columns_of(work.sizes)), outputs_(work.sizes.out_channels), rows_(rows_of(work.sizes)),
        width_(aligned_width()), parts_(parts()) {
    constexpr int64_t cached = 32 << 20;  // bytes
    at_once_ = parts_ * std::max<int64_t>(cached / (width_ * element_) / parts_, 1);
  }

  Status run() {
    return for_type(AllFloats{}, work_.dtype, [&]<class T>(std::type_identity<T>) { return sum_as<T>(); });
  }

 private:
  /// Returns the elements of a row of the patches, with zeros behind the columns so that all rows are aligned to sixteen bytes.
  int64_t aligned_width() const {
    const int64_t step = 16 / element_;
    return (columns_ + step - 1) / step * step;
  }
  /// Returns in how many parts the rows are multiplied.
  int64_t parts() const {
    constexpr int64_t tile = 64, tiles_of_gpu = 512, least_rows_of_part = 64;
    const int64_t tiles = ((columns_ + tile - 1) / tile) * ((outputs_ + tile - 1) / tile);
    return std::max<int64_t>(std::min(tiles_of_gpu / tiles, rows_ / least_rows_of_part), 1);
  }

  /// Multiplies the parts, and then the rows that are left over at the end, and adds up the sums.
  template <class T>
  Status sum_as() {
    using Sum = Wide<T>;
    const int64_t left_over = rows_ % parts_, sums = parts_ + (left_over != 0 ? 1 : 0);
    const auto size = static_cast<size_t>(columns_ * outputs_);
    TROUPE_ASSIGN(const BufferRef patches,
                  scratch(device_, static_cast<size_t>(std::min(rows_, at_once_) * width_ * element_)));
    TROUPE_ASSIGN(const BufferRef memory, scratch(device_, static_cast<size_t>(sums) * size * sizeof(Sum)));
    Sum* const partial = reinterpret_cast<Sum*>(memory->data);
    for (int64_t first = 0; first < rows_; first += at_once_) {
      const int64_t count = std::min(at_once_, rows_ - first);
      TROUPE_RETURN_IF_FAILED(take(first, count, patches->data));
      Product product = product_of(patches->data, first, memory->data);
      product.batch = parts_;
      product.inner = count / parts_;
      product.step_a = product.inner * width_;
      product.step_b = product.inner * outputs_;
      product.step_c = columns_ * outputs_;
      product.adds = first != 0;
      TROUPE_RETURN_IF_FAILED(multiply(device_, product));
    }
    if (left_over != 0) {
      const int64_t first = rows_ - left_over, first_taken = (rows_ - 1) / at_once_ * at_once_;
      Product product =
          product_of(patches->data + (first - first_taken) * width_ * element_, first,
                     reinterpret_cast<std::byte*>(partial + static_cast<size_t>(parts_) * size));
      product.inner = left_over;
      TROUPE_RETURN_IF_FAILED(multiply(device_, product));
    }
    return reduce_box<Sum>(device_, Box{1, static_cast<size_t>(sums), size}, Plus<Sum>{},
                           PartialSource<Sum>{partial}, TensorSink<T>{reinterpret_cast<T*>(work_.out)});
  }

  /// Writes the patches of `count` rows.
  Status take(int64_t first, int64_t count, std::byte* patches) {
    const auto axes = three_axes(work_.sizes);
    return with_unit(static_cast<size_t>(element_), [&]<class T>(std::type_identity<T>) {
      TakePatches<T> body{{},
                          input_shape(work_.sizes, true),
                          output_shape(work_.sizes, true),
                          Divider(static_cast<size_t>(width_)),
                          Divider(static_cast<size_t>(work_.sizes.in_channels)),
                          static_cast<size_t>(first),
                          static_cast<size_t>(columns_),
                          reinterpret_cast<const T*>(work_.a),
                          reinterpret_cast<T*>(patches)};
      for (size_t i = 0; i < axes.size(); ++i)
        body.axes[i] = {static_cast<int>(axes[i].stride), static_cast<int>(axes[i].dilation),
                        static_cast<int>(axes[i].pad_before), Divider(static_cast<size_t>(axes[i].window))};
      return each(device_, static_cast<size_t>(count * width_), body);
    });
  }

  /// Returns the product of patches and the gradients of the rows from `first` on, without the number of rows.
  Product product_of(const std::byte* patches, int64_t first, std::byte* sum) const {
    Product product{.dtype = work_.dtype, .rows = columns_, .columns = outputs_};
    product.a = patches;
    product.b = work_.b + first * outputs_ * element_;
    product.c = sum;
    product.transpose_a = true;
    product.row_a = width_;
    product.wide = true;
    return product;
  }

  DeviceContext& device_;
  const ConvolutionWork& work_;
  const int64_t element_;  ///< in bytes
  const int64_t columns_, outputs_, rows_;
  const int64_t width_;  ///< in elements
  const int64_t parts_;
  int64_t at_once_;  ///< rows; a multiple of the parts
};

}  // namespace

bool is_product_of_patches(const ConvolutionWork& work) {
  const ConvolutionSizes& sizes = work.sizes;
  return work.pass == ConvolutionPass::FilterGradient && sizes.groups == 1 &&
         sizes.in_channels <= most_channels && columns_of(sizes) <= most_columns &&
         rows_of(sizes) >= least_rows;
}

Status multiply_patches(DeviceContext& device, const ConvolutionWork& work) {
  return PatchProduct(device, work).run();
}

}  // namespace troupe::gpu
