// LayerNorm and LayerNormGrad on GPUs: see layer_norm.cpp. A team computes a row; one pass over all rows sums the gradients by
// scale and offset.
#include "kernels/ops/nn/layer_norm.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/gpu_kernel.h"

namespace troupe {
namespace {

/// How many elements are loaded and stored at once.
template <class T>
constexpr size_t pack_width = 16 / sizeof(T);
template <class T>
using PackOf = gpu::Pack<T, pack_width<T>>;

/// Calls use(i, x[i]) for the elements of a row that belong to a thread of the team.
template <class T, class Team, class Use>
TROUPE_ANY void for_elements(const Team& team, const T* x, size_t n, bool packed, const Use& use) {
  if (!packed) {
    for (size_t i = team.rank; i < n; i += team.size) use(i, gpu::load(x[i]));
    return;
  }
  for (size_t i = team.rank * pack_width<T>; i < n; i += team.size * pack_width<T>) {
    const auto pack = *reinterpret_cast<const PackOf<T>*>(x + i);
    for (size_t k = 0; k < pack_width<T>; ++k) use(i + k, gpu::load(pack.items[k]));
  }
}

/// Writes y[i] = make(i, x[i]), where y may be x.
template <class T, class Team, class Make>
TROUPE_ANY void write_elements(const Team& team, const T* x, T* y, size_t n, bool packed, const Make& make) {
  if (!packed) {
    for (size_t i = team.rank; i < n; i += team.size) gpu::store(y[i], make(i, gpu::load(x[i])));
    return;
  }
  for (size_t i = team.rank * pack_width<T>; i < n; i += team.size * pack_width<T>) {
    auto pack = *reinterpret_cast<const PackOf<T>*>(x + i);
    for (size_t k = 0; k < pack_width<T>; ++k)
      gpu::store(pack.items[k], make(i + k, gpu::load(pack.items[k])));
    *reinterpret_cast<PackOf<T>*>(y + i) = pack;
  }
}

/// Returns whether rows of n elements of these tensors may be read in packs.
template <class... T>
bool are_packed(size_t n, const T*... tensors) {
  return ((n % pack_width<T> == 0 && gpu::is_aligned(tensors, 16)) && ...);
}

// ---- Forward

template <class T>
struct NormalizeRow {
  using Number = gpu::Wide<T>;
  const T* x;
  const Number *scale, *offset;
  T* y;
  Number *mean, *inverse;
  size_t n;
  Number epsilon;
  bool packed;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T* const from = x + row * n;
    const auto count = static_cast<Number>(n);
    Number sum = 0;
    for_elements(team, from, n, packed, [&](size_t, Number element) { sum += element; });
    const Number average = team.sum(sum) / count;
    Number squares = 0;
    for_elements(team, from, n, packed,
                 [&](size_t, Number element) { squares += (element - average) * (element - average); });
    const Number factor = 1 / std::sqrt(team.sum(squares) / count + epsilon);
    write_elements(team, from, y + row * n, n, packed, [&](size_t i, Number element) {
      return (element - average) * (factor * scale[i]) + offset[i];
    });
    if (team.rank == 0) {
      mean[row] = average;
      inverse[row] = factor;
    }
  }
};

template <class T>
Status layer_norm(const LayerNormArguments& arguments, DeviceContext& device) {
  using Number = gpu::Wide<T>;
  const auto [rows, n] = arguments.rows;
  const T* const x = arguments.x.as<T>().data();
  T* const y = arguments.y.write<T>().data();
  return gpu::each_row(
      device, rows, n,
      NormalizeRow<T>{x, arguments.scale.as<Number>().data(), arguments.offset.as<Number>().data(), y,
                      arguments.mean.write<Number>().data(), arguments.inverse.write<Number>().data(), n,
                      static_cast<Number>(arguments.epsilon), are_packed(n, x, static_cast<const T*>(y))});
}

Status compute_layer_norm(const LayerNormArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.x.dtype(),
                       [&]<class T>(std::type_identity<T>) { return layer_norm<T>(arguments, device); });
}

// ---- Gradient

/// With g = dy scale and z = (x - mean) inverse: dx = inverse (g - mean of g - z (mean of g z)).
template <class T>
struct GradientRow {
  using Number = gpu::Wide<T>;
  const T *dy, *x;
  const Number *scale, *mean, *inverse;
  T* dx;
  size_t n;
  bool packed;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T *const gradient = dy + row * n, *const from = x + row * n;
    const Number average = mean[row], factor = inverse[row];
    const auto count = static_cast<Number>(n);
    const auto normal = [=](size_t i) { return (gpu::load(from[i]) - average) * factor; };
    gpu::TwoSums<Number> sums;
    for_elements(team, gradient, n, packed, [&](size_t i, Number element) {
      const Number scaled = element * scale[i];
      sums = sums + gpu::TwoSums<Number>{scaled, scaled * normal(i)};
    });
    sums = team.sum(sums);
    const Number shift = sums.first / count, along = sums.second / count;
    write_elements(team, gradient, dx + row * n, n, packed, [&](size_t i, Number element) {
      return factor * (element * scale[i] - shift - normal(i) * along);
    });
  }
};

/// What an element contributes to the gradients by scale and offset.
template <class T>
struct VectorGradients {
  using Number = gpu::Wide<T>;
  using Sums = gpu::TwoSums<Number>;
  const T *dy, *x;
  const Number *mean, *inverse;
  gpu::Divider n;

  TROUPE_ANY Sums of(T gradient, T element, size_t row) const {
    const Number dy_element = gpu::load(gradient);
    return {dy_element * ((gpu::load(element) - mean[row]) * inverse[row]), dy_element};
  }
  TROUPE_ANY Sums operator()(size_t i) const { return of(dy[i], x[i], n.quotient(i)); }

  static constexpr size_t width = pack_width<T>;
  bool aligned() const { return are_packed(n.divisor(), dy, x); }
  TROUPE_ANY void read(size_t i, Sums* sums) const {
    const auto gradients = *reinterpret_cast<const PackOf<T>*>(dy + i);
    const auto elements = *reinterpret_cast<const PackOf<T>*>(x + i);
    const size_t row = n.quotient(i);
    for (size_t k = 0; k < width; ++k) sums[k] = of(gradients.items[k], elements.items[k], row);
  }
};

template <class Number>
struct WriteVectors {
  Number *scale, *offset;
  TROUPE_ANY void operator()(size_t column, const gpu::TwoSums<Number>& sums) const {
    scale[column] = sums.first;
    offset[column] = sums.second;
  }
};

template <class T>
Status layer_norm_grad(const LayerNormGradArguments& arguments, DeviceContext& device) {
  using Number = gpu::Wide<T>;
  using Sums = gpu::TwoSums<Number>;
  const auto [rows, n] = arguments.rows;
  const T *const dy = arguments.gradient.as<T>().data(), *const x = arguments.x.as<T>().data();
  T* const dx = arguments.x_gradient.write<T>().data();
  const Number *const mean = arguments.mean.as<Number>().data(), *const inverse =
                                                                     arguments.inverse.as<Number>().data();
  TROUPE_RETURN_IF_FAILED(
      gpu::reduce_box<Sums>(device, gpu::Box{1, rows, n}, gpu::Plus<Sums>{},
                            VectorGradients<T>{dy, x, mean, inverse, gpu::Divider(n)},
                            WriteVectors<Number>{arguments.scale_gradient.write<Number>().data(),
                                                 arguments.offset_gradient.write<Number>().data()}));
  return gpu::each_row(device, rows, n,
                       GradientRow<T>{dy, x, arguments.scale.as<Number>().data(), mean, inverse, dx, n,
                                      are_packed(n, dy, x, static_cast<const T*>(dx))});
}

Status compute_layer_norm_grad(const LayerNormGradArguments& arguments, DeviceContext& device) {
  if (arguments.rows.length == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.x.dtype(),
                       [&]<class T>(std::type_identity<T>) { return layer_norm_grad<T>(arguments, device); });
}

}  // namespace

void add_layer_norm_on_gpu(OpLibrary& library) {
  library.kernel(
      gpu_kernel("LayerNorm", check_layer_norm, compute_layer_norm).on("T", dtypes(gpu::AllFloats{})));
  library.kernel(gpu_kernel("LayerNormGrad", check_layer_norm_grad, compute_layer_norm_grad)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
