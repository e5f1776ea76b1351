// For gradients of filters the rows are multiplied in parts, each of which yields a sum of its own, so that a small filter
// occupies a whole GPU. Patches are made for some of the rows at a time, which fit into the cache of a GPU.
#include "kernels/gpu/patch_products.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/images.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

int64_t columns_of(const ConvolutionSizes& sizes) { return sizes.filter_elements() / sizes.out_channels; }
int64_t rows_of(const ConvolutionSizes& sizes) {
  return sizes.batch * sizes.output_elements() / sizes.out_channels;
}

/// How windows move along an axis.
struct WindowAxis {
  int dilation, pad;
  Divider stride, window;

  /// Returns the input position of an element of the window of an output.
  TROUPE_ANY int input(int output, int element) const {
    return output * static_cast<int>(stride.divisor()) - pad + element * dilation;
  }
  /// Sets the output of whose window this is the element; false if there is none. The result may lie behind the last output.
  TROUPE_ANY bool find_output(int input, int element, int& output) const {
    const int begin = input + pad - element * dilation;
    if (begin < 0) return false;
    output = static_cast<int>(stride.quotient(static_cast<size_t>(begin)));
    return output * static_cast<int>(stride.divisor()) == begin;
  }
};

/// The patches of images with channels last: the columns of a row are the elements of a window, and the channels of each.
struct PatchShape {
  WindowAxis axes[3];
  ImageShape in, out;
  Divider channels;

  /// An element of the images is a pack of `width` channels.
  explicit PatchShape(ConvolutionSizes sizes, int64_t width = 1) {
    sizes.in_channels /= width;
    in = input_shape(sizes, true);
    out = output_shape(sizes, true);
    channels = Divider(static_cast<size_t>(sizes.in_channels));
    const auto of_sizes = three_axes(sizes);
    for (size_t i = 0; i < of_sizes.size(); ++i)
      axes[i] = {static_cast<int>(of_sizes[i].dilation), static_cast<int>(of_sizes[i].pad_before),
                 Divider(static_cast<size_t>(of_sizes[i].stride)),
                 Divider(static_cast<size_t>(of_sizes[i].window))};
  }
};

/// Writes the elements of patches, row by row.
template <class T>
struct TakePatches {
  PatchShape shape;
  Divider width;          ///< elements of a row, with the zeros
  size_t first, columns;  ///< first: the number of the first row
  const T* images;
  T* patches;

  TROUPE_ANY void operator()(size_t i) const {
    size_t row = i, column = split(width, row);
    if (column >= columns) {
      patches[i] = T{};
      return;
    }
    const size_t channel = split(shape.channels, column);
    size_t image = row + first;
    int at[3];
    shape.out.position(image, at);
    for (int axis = 2; axis >= 0; --axis)
      at[axis] = shape.axes[axis].input(at[axis], static_cast<int>(split(shape.axes[axis].window, column)));
    patches[i] = shape.in.has(at) ? images[shape.in.index(image, channel, at)] : T{};
  }
};

/// Each pack of the images becomes the sum of the packs of the patches that were taken from it.
template <class T, size_t Width>
struct SumPatches {
  PatchShape shape;  ///< `out` with one channel
  const Pack<T, Width>* patches;
  Pack<T, Width>* images;

  TROUPE_ANY void operator()(size_t i) const {
    const Place place = shape.in.place(i);
    const int windows[] = {size(0), size(1), size(2)};
    const size_t columns = static_cast<size_t>(windows[0]) * static_cast<size_t>(windows[1]) *
                           static_cast<size_t>(windows[2]) * shape.channels.divisor();
    Wide<T> sums[Width] = {};
    size_t column = place.channel;
    int element[3], at[3];
    for (element[0] = 0; element[0] < windows[0]; ++element[0])
      for (element[1] = 0; element[1] < windows[1]; ++element[1])
        for (element[2] = 0; element[2] < windows[2]; ++element[2], column += shape.channels.divisor())
          if (find_output(place.at, element, at)) {
            const Pack<T, Width> values = patches[shape.out.index(place.image, 0, at) * columns + column];
            for (size_t k = 0; k < Width; ++k) sums[k] += load(values.items[k]);
          }
    images[i] = packed<T>(sums);
  }

 private:
  TROUPE_ANY int size(int axis) const { return static_cast<int>(shape.axes[axis].window.divisor()); }
  TROUPE_ANY bool find_output(const int (&input)[3], const int (&element)[3], int (&output)[3]) const {
    for (int axis = 0; axis < 3; ++axis)
      if (!shape.axes[axis].find_output(input[axis], element[axis], output[axis])) return false;
    return shape.out.has(output);
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
    return for_type(AllFloats{}, work_.dtype, [&]<class T>(std::type_identity<T>) {
      switch (work_.pass) {
        case ConvolutionPass::Forward: return convolve_rows();
        case ConvolutionPass::ImageGradient: return image_gradient<T>();
        default: return filter_gradient<T>();
      }
    });
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

  Status convolve_rows() {
    TROUPE_ASSIGN(const BufferRef patches, memory_of_patches(std::min(rows_, at_once_)));
    for (int64_t first = 0; first < rows_; first += at_once_) {
      const int64_t count = std::min(at_once_, rows_ - first);
      TROUPE_RETURN_IF_FAILED(take(first, count, patches->data));
      Product product{.dtype = work_.dtype, .rows = count, .columns = outputs_, .inner = columns_};
      product.a = patches->data;
      product.row_a = width_;
      product.b = work_.b;
      product.c = work_.out + first * outputs_ * element_;
      TROUPE_RETURN_IF_FAILED(multiply(device_, product));
    }
    return {};
  }

  /// Computes the gradients of the elements of all patches, and adds up those of each element of the images.
  template <class T>
  Status image_gradient() {
    TROUPE_ASSIGN(const BufferRef patches,
                  scratch(device_, static_cast<size_t>(rows_ * columns_ * element_)));
    Product product{.dtype = work_.dtype, .rows = rows_, .columns = columns_, .inner = outputs_};
    product.a = work_.a;
    product.b = work_.b;
    product.transpose_b = true;
    product.c = patches->data;
    TROUPE_RETURN_IF_FAILED(multiply(device_, product));
    constexpr size_t width = 16 / sizeof(T);
    if (work_.sizes.in_channels % static_cast<int64_t>(width) == 0 && is_aligned(work_.out, 16))
      return sum_patches<T, width>(patches->data);
    return sum_patches<T, 1>(patches->data);
  }
  template <class T, size_t Width>
  Status sum_patches(const std::byte* patches) {
    ConvolutionSizes sizes = work_.sizes;
    sizes.out_channels = 1;
    const PatchShape shape(sizes, static_cast<int64_t>(Width));
    return each(device_, shape.in.elements(),
                SumPatches<T, Width>{shape, packs<Width>(reinterpret_cast<const T*>(patches)),
                                     packs<Width>(reinterpret_cast<T*>(work_.out))});
  }

  /// Multiplies the parts, and then the rows that are left over at the end, and adds up the sums.
  template <class T>
  Status filter_gradient() {
    using Sum = Wide<T>;
    const int64_t left_over = rows_ % parts_, sums = parts_ + (left_over != 0 ? 1 : 0);
    const auto size = static_cast<size_t>(columns_ * outputs_);
    TROUPE_ASSIGN(const BufferRef patches, memory_of_patches(std::min(rows_, at_once_)));
    const bool in_place = sums == 1 && std::is_same_v<Sum, T>;
    TROUPE_ASSIGN(const BufferRef memory,
                  scratch(device_, in_place ? 0 : static_cast<size_t>(sums) * size * sizeof(Sum)));
    std::byte* const target = in_place ? work_.out : memory->data;
    Sum* const partial = reinterpret_cast<Sum*>(target);
    for (int64_t first = 0; first < rows_; first += at_once_) {
      const int64_t count = std::min(at_once_, rows_ - first);
      TROUPE_RETURN_IF_FAILED(take(first, count, patches->data));
      Product product = product_of(patches->data, first, target);
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
    if (in_place) return {};
    return reduce_box<Sum>(device_, Box{1, static_cast<size_t>(sums), size}, Plus<Sum>{},
                           PartialSource<Sum>{partial}, TensorSink<T>{reinterpret_cast<T*>(work_.out)});
  }

  Result<BufferRef> memory_of_patches(int64_t rows) {
    return scratch(device_, static_cast<size_t>(rows * width_ * element_));
  }
  /// Writes the patches of `count` rows.
  Status take(int64_t first, int64_t count, std::byte* patches) {
    const size_t unit = unit_of_patches(patches);
    const auto channels = static_cast<int64_t>(unit) / element_;  // in a unit
    return with_unit(unit, [&]<class T>(std::type_identity<T>) {
      const auto units = [&](int64_t elements) { return static_cast<size_t>(elements / channels); };
      return each(device_, units(count * width_),
                  TakePatches<T>{PatchShape(work_.sizes, channels), Divider(units(width_)),
                                 static_cast<size_t>(first), units(columns_),
                                 reinterpret_cast<const T*>(work_.a), reinterpret_cast<T*>(patches)});
    });
  }
  /// Returns the size of the units in which the channels of a position are moved.
  size_t unit_of_patches(std::byte* patches) const {
    return unit_of_rows(static_cast<size_t>(element_), static_cast<size_t>(work_.sizes.in_channels), work_.a,
                        patches);
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
  constexpr int64_t most_channels = 4, most_columns = 512, least_rows = 2048;
  const ConvolutionSizes& sizes = work.sizes;
  return work.pass == ConvolutionPass::FilterGradient && sizes.groups == 1 &&
         sizes.in_channels <= most_channels && columns_of(sizes) <= most_columns &&
         rows_of(sizes) >= least_rows;
}

bool is_product_of_few_patches(const ConvolutionWork& work) {
  constexpr int64_t most_images = 3, least_channels = 16, most_elements = 1 << 26;
  const ConvolutionSizes& sizes = work.sizes;
  return work.channels_last && sizes.groups == 1 && sizes.batch <= most_images &&
         std::min(sizes.in_channels, sizes.out_channels) >= least_channels &&
         columns_of(sizes) > sizes.in_channels && rows_of(sizes) * columns_of(sizes) <= most_elements;
}

Status multiply_patches(DeviceContext& device, const ConvolutionWork& work) {
  return PatchProduct(device, work).run();
}

}  // namespace troupe::gpu
