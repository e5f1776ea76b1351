#include "kernels/loops/column_convolution.h"

#include <algorithm>
#include <array>

#include "kernels/core/parallel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/panel_gemm.h"
#include "kernels/loops/scratch.h"

namespace troupe {
namespace {

constexpr int64_t column_bytes = 4 << 20;  ///< of the matrix at once

/// A position in up to three dimensions, by its row-major number.
std::array<int64_t, 3> position(const ConvolutionSizes& sizes, int64_t number,
                                int64_t ConvolutionAxis::*extent) {
  std::array<int64_t, 3> at{};
  for (size_t i = sizes.axes.size(); i-- > 0; number /= sizes.axes[i].*extent)
    at[i] = number % (sizes.axes[i].*extent);
  return at;
}

/// The products of one group of channels, a block of output positions at a time.
template <class T>
class ColumnProducts {
 public:
  ColumnProducts(DeviceContext& device, const ConvolutionSizes& sizes)
      : device_(device), sizes_(sizes), group_in_(sizes.in_channels / sizes.groups),
        group_out_(sizes.out_channels / sizes.groups), window_(sizes.filter_elements() / sizes.out_channels),
        positions_(sizes.output_elements() / sizes.out_channels),
        block_(std::clamp<int64_t>(column_bytes / static_cast<int64_t>(sizeof(T)) / window_, 1, positions_)) {
  }

  Status run(ConvolutionPass pass, const T* a, const T* b, T* out) {
    TROUPE_ASSIGN(columns_, scratch_vector<T>(device_, block_ * window_));
    TROUPE_ASSIGN(products_, scratch_vector<T>(device_, std::max(block_, window_) * group_out_));
    if (pass == ConvolutionPass::ImageGradient) std::fill_n(out, sizes_.batch * sizes_.image_elements(), T{});
    if (pass == ConvolutionPass::FilterGradient) std::fill_n(out, sizes_.filter_elements(), T{});
    for (int64_t image = 0; image < sizes_.batch; ++image)
      for (int64_t group = 0; group < sizes_.groups; ++group)
        for (int64_t first = 0; first < positions_; first += block_) {
          at_ = {image, group, first, std::min(block_, positions_ - first)};
          TROUPE_RETURN_IF_FAILED(pass == ConvolutionPass::Forward         ? forward(a, b, out)
                                  : pass == ConvolutionPass::ImageGradient ? image_gradient(a, b, out)
                                                                           : filter_gradient(a, b, out));
        }
    return {};
  }

  /// The matrix of all positions of all images, for one group.
  Result<Tensor> all_columns(const T* images) {
    const int64_t size = positions_ * window_;
    TROUPE_ASSIGN(Tensor result, scratch_vector<T>(device_, sizes_.batch * size));
    T* to = result.template write<T>().data();
    for (int64_t image = 0; image < sizes_.batch; ++image, to += size) {
      at_ = {image, 0, 0, positions_};
      gather(images, to);
    }
    return result;
  }

 private:
  struct Block {
    int64_t image = 0, group = 0, first = 0, count = 0;
  };

  T* columns() { return columns_.template write<T>().data(); }
  T* products() { return products_.template write<T>().data(); }
  /// The outputs, or their gradients, of the block: rows of group_out_ elements.
  int64_t output_offset() const {
    return at_.image * sizes_.output_elements() + at_.first * sizes_.out_channels + at_.group * group_out_;
  }
  MatrixView<T> outputs(const T* from) const {
    return {from + output_offset(), at_.count, group_out_, sizes_.out_channels, 1};
  }
  MatrixView<T> column_view(bool transposed) {
    return MatrixView<T>::of(columns(), at_.count, window_, transposed);
  }

  Status forward(const T* images, const T* filter, T* out) {
    gather(images, columns());
    const MatrixView<T> right{filter + at_.group * group_out_, window_, group_out_, sizes_.out_channels, 1};
    if (sizes_.groups == 1) return gemm<T>(device_, 1, column_view(false), right, out + output_offset());
    TROUPE_RETURN_IF_FAILED(gemm<T>(device_, 1, column_view(false), right, products()));
    for (int64_t i = 0; i < at_.count; ++i)
      std::copy_n(products() + i * group_out_, group_out_, out + output_offset() + i * sizes_.out_channels);
    return {};
  }

  Status image_gradient(const T* gradients, const T* filter, T* out) {
    const MatrixView<T> right{filter + at_.group * group_out_, group_out_, window_, 1, sizes_.out_channels};
    TROUPE_RETURN_IF_FAILED(gemm<T>(device_, 1, outputs(gradients), right, columns()));
    T* const image = out + at_.image * sizes_.image_elements() + at_.group * group_in_;
    for (int64_t i = 0; i < at_.count; ++i)
      each_window(at_.first + i, [&](int64_t column, int64_t offset) {
        if (offset < 0) return;
        const T* const from = columns() + i * window_ + column;
        for (int64_t c = 0; c < group_in_; ++c) image[offset + c] = Add::apply(image[offset + c], from[c]);
      });
    return {};
  }

  Status filter_gradient(const T* images, const T* gradients, T* out) {
    gather(images, columns());
    TROUPE_RETURN_IF_FAILED(gemm<T>(device_, 1, column_view(true), outputs(gradients), products()));
    for (int64_t row = 0; row < window_; ++row) {
      T* const to = out + row * sizes_.out_channels + at_.group * group_out_;
      const T* const from = products() + row * group_out_;
      for (int64_t c = 0; c < group_out_; ++c) to[c] = Add::apply(to[c], from[c]);
    }
    return {};
  }

  /// Fills the rows of the matrix for the block.
  void gather(const T* images, T* to) {
    const T* const image = images + at_.image * sizes_.image_elements() + at_.group * group_in_;
    parallel_rows(device_.pool(), static_cast<size_t>(at_.count), static_cast<size_t>(window_) * sizeof(T),
                  [&](size_t begin, size_t end) {
                    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
                      each_window(at_.first + i, [&](int64_t column, int64_t offset) {
                        T* const cell = to + i * window_ + column;
                        if (offset < 0)
                          std::fill_n(cell, group_in_, T{});
                        else
                          std::copy_n(image + offset, group_in_, cell);
                      });
                  });
  }

  /// Calls visit(column, offset) for the elements that the window of an output position covers: where they stand in a row of the
  /// matrix, and in the image; -1 in the padding.
  template <class Visit>
  void each_window(int64_t number, const Visit& visit) const {
    const auto output = position(sizes_, number, &ConvolutionAxis::output);
    for (int64_t w = 0; w < window_ / group_in_; ++w) {
      const auto in_window = position(sizes_, w, &ConvolutionAxis::window);
      int64_t offset = 0;
      bool inside = true;
      for (size_t i = 0; i < sizes_.axes.size() && inside; ++i) {
        const ConvolutionAxis& axis = sizes_.axes[i];
        const int64_t at = output[i] * axis.stride - axis.pad_before + in_window[i] * axis.dilation;
        inside = at >= 0 && at < axis.input;
        offset = offset * axis.input + (inside ? at : 0);
      }
      visit(w * group_in_, inside ? offset * sizes_.in_channels : -1);
    }
  }

  DeviceContext& device_;
  const ConvolutionSizes& sizes_;
  const int64_t group_in_, group_out_, window_, positions_, block_;
  Tensor columns_, products_;
  Block at_;
};

/// The rows and columns of the filter as a matrix.
MatrixView<float> filter_matrix(const ConvolutionSizes& sizes, const float* filter) {
  return MatrixView<float>::of(filter, sizes.filter_elements() / sizes.out_channels, sizes.out_channels,
                               false);
}

MatrixView<float> column_matrix(const ConvolutionSizes& sizes, const float* columns) {
  return MatrixView<float>::of(columns, sizes.batch * sizes.output_elements() / sizes.out_channels,
                               sizes.filter_elements() / sizes.out_channels, false);
}

/// Returns whether the images themselves are the matrix.
bool is_product(const ConvolutionSizes& sizes) {
  return std::ranges::all_of(sizes.axes, [](const ConvolutionAxis& axis) {
    return axis.window == 1 && axis.stride == 1 && axis.output == axis.input;
  });
}

}  // namespace

bool panel_convolution_pays(const ConvolutionSizes& sizes) {
  // Windows must be gathered into the rows of a matrix first.
  const PanelGemmLimits limits{.max_rows = is_product(sizes) ? 4096 : 1024, .min_elements = 1 << 12};
  return sizes.groups == 1 &&
         panel_gemm_pays(column_matrix(sizes, nullptr), filter_matrix(sizes, nullptr), limits);
}

Status panel_convolution(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& images,
                         const Tensor& filter, KeptFilter& kept, const PostOps& post, float* out) {
  Tensor columns = images;
  if (!is_product(sizes)) {
    TROUPE_ASSIGN(columns, ColumnProducts<float>(device, sizes).all_columns(images.as<float>().data()));
  }
  return panel_gemm(device, column_matrix(sizes, columns.as<float>().data()),
                    filter_matrix(sizes, filter.as<float>().data()), filter, kept, post, out);
}

template <class T>
Status column_convolution(DeviceContext& device, ConvolutionPass pass, const ConvolutionSizes& sizes,
                          const T* a, const T* b, T* out) {
  return ColumnProducts<T>(device, sizes).run(pass, a, b, out);
}

template Status column_convolution(DeviceContext&, ConvolutionPass, const ConvolutionSizes&, const float*,
                                   const float*, float*);
template Status column_convolution(DeviceContext&, ConvolutionPass, const ConvolutionSizes&, const double*,
                                   const double*, double*);
template Status column_convolution(DeviceContext&, ConvolutionPass, const ConvolutionSizes&, const int32_t*,
                                   const int32_t*, int32_t*);

}  // namespace troupe
