// SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits on GPUs: see cross_entropy.cpp. A label that is out of
// range is reported; the loss and the gradient of its row become NaN.
#include "kernels/ops/nn/cross_entropy.h"

#include "kernels/gpu/exponentials.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"

namespace troupe {
namespace {

/// A matrix that may be repeated along an axis.
template <class T>
struct Matrix {
  const T* data;
  size_t row_step, column_step;

  /// Takes a tensor that broadcasts to a matrix.
  static Matrix of(const Tensor& tensor) {
    const auto dims = tensor.shape().dims();
    const auto columns = dims.empty() ? size_t{1} : static_cast<size_t>(dims.back());
    const bool repeats_rows = dims.size() < 2 || dims[0] == 1;
    return {tensor.as<T>().data(), repeats_rows ? 0 : columns, columns == 1 ? size_t{0} : size_t{1}};
  }
  TROUPE_ANY gpu::Wide<T> at(size_t row, size_t column) const {
    return gpu::load(data[row * row_step + column * column_step]);
  }
};

template <class T>
struct CrossEntropyRow {
  using W = gpu::Wide<T>;
  Matrix<T> features, labels;
  T *loss, *backprop;
  size_t classes;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    gpu::Exponentials<W> exponentials;
    for (size_t i = team.rank; i < classes; i += team.size) exponentials.add(features.at(row, i));
    const auto [greatest, sum] = team.combine(exponentials, gpu::JoinExponentials{});
    const W log_sum = std::log(sum);
    W total = 0;
    for (size_t i = team.rank; i < classes; i += team.size) {
      const W shifted = features.at(row, i) - greatest, label = labels.at(row, i);
      total += label * (log_sum - shifted);
      gpu::store(backprop[row * classes + i], std::exp(shifted) / sum - label);
    }
    total = team.sum(total);
    if (team.rank == 0) gpu::store(loss[row], total);
  }
};

template <class T, class Label>
struct SparseCrossEntropyRow {
  using W = gpu::Wide<T>;
  const T* features;
  const Label* labels;
  T *loss, *backprop;
  size_t classes;
  gpu::FaultReport report;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T* const x = features + row * classes;
    const auto label = static_cast<size_t>(labels[row]);  // a negative one becomes large
    const auto [greatest, sum] = gpu::exponentials_of(team, x, classes);
    const bool wrong = label >= classes;
    const W factor = wrong ? std::numeric_limits<W>::quiet_NaN() : 1 / sum;
    for (size_t i = team.rank; i < classes; i += team.size)
      gpu::store(backprop[row * classes + i],
                 std::exp(gpu::load(x[i]) - greatest) * factor - (i == label ? W(1) : W(0)));
    if (team.rank != 0) return;
    if (wrong) report(static_cast<int64_t>(labels[row]), static_cast<int64_t>(classes));
    gpu::store(loss[row], wrong ? factor : std::log(sum) - (gpu::load(x[label]) - greatest));
  }
};

Status compute_dense(const SoftmaxCrossEntropyArguments& arguments, DeviceContext& device) {
  const Shape& matrix = arguments.backprop.shape();
  const auto classes = static_cast<size_t>(matrix[1]);
  return gpu::for_type(gpu::AllFloats{}, arguments.loss.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each_row(
        device, static_cast<size_t>(matrix[0]), classes,
        CrossEntropyRow<T>{Matrix<T>::of(arguments.features), Matrix<T>::of(arguments.labels),
                           arguments.loss.write<T>().data(), arguments.backprop.write<T>().data(), classes});
  });
}

template <class Label>
Status compute_sparse(const SparseSoftmaxCrossEntropyArguments& arguments, DeviceContext& device) {
  const Shape& matrix = arguments.backprop.shape();
  const auto classes = static_cast<size_t>(matrix[1]);
  const gpu::FaultReport report = gpu::fault_report(device, "labels = {} is not in [0, {})");
  TROUPE_RETURN_IF_FAILED(
      gpu::for_type(gpu::AllFloats{}, arguments.loss.dtype(), [&]<class T>(std::type_identity<T>) {
        return gpu::each_row(
            device, static_cast<size_t>(matrix[0]), classes,
            SparseCrossEntropyRow<T, Label>{
                arguments.features.as<T>().data(), arguments.labels.as<Label>().data(),
                arguments.loss.write<T>().data(), arguments.backprop.write<T>().data(), classes, report});
      }));
  return gpu::check_fault(device);
}

}  // namespace

void add_cross_entropy_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("SoftmaxCrossEntropyWithLogits", check_softmax_cross_entropy, compute_dense)
                     .on("T", dtypes(gpu::AllFloats{})));
  const char* const sparse = "SparseSoftmaxCrossEntropyWithLogits";
  library.kernel(gpu_kernel(sparse, check_sparse_softmax_cross_entropy, compute_sparse<int32_t>)
                     .on("T", dtypes(gpu::AllFloats{}))
                     .on("Tlabels", {i32}));
  library.kernel(gpu_kernel(sparse, check_sparse_softmax_cross_entropy, compute_sparse<int64_t>)
                     .on("T", dtypes(gpu::AllFloats{}))
                     .on("Tlabels", {i64}));
}

}  // namespace troupe
