// Softmax and LogSoftmax on GPUs: see softmax.cpp.
#include "kernels/ops/nn/softmax.h"

#include "kernels/gpu/exponentials.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"

namespace troupe {
namespace {

template <class T, bool Log>
struct SoftmaxRow {
  const T* logits;
  T* output;  ///< may be the memory of the logits
  size_t classes;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T* const x = logits + row * classes;
    T* const y = output + row * classes;
    const auto [greatest, sum] = gpu::exponentials_of(team, x, classes);
    const auto last = Log ? std::log(sum) : 1 / sum;
    for (size_t i = team.rank; i < classes; i += team.size) {
      const auto shifted = gpu::load(x[i]) - greatest;
      gpu::store(y[i], Log ? shifted - last : std::exp(shifted) * last);
    }
  }
};

template <bool Log>
Status compute_softmax(const SoftmaxArguments& arguments, DeviceContext& device) {
  const auto& [logits, output] = arguments;
  if (output.elements() == 0) return {};
  const auto classes = static_cast<size_t>(output.shape().dims().back());
  const size_t rows = static_cast<size_t>(output.elements()) / classes;
  return gpu::for_type(
      gpu::AllFloats{}, output.dtype(), [&, &from = logits, &to = output]<class T>(std::type_identity<T>) {
        return gpu::each_row(
            device, rows, classes,
            SoftmaxRow<T, Log>{from.template as<T>().data(), to.template write<T>().data(), classes});
      });
}

}  // namespace

void add_softmax_on_gpu(OpLibrary& library) {
  library.kernel(
      gpu_kernel("Softmax", check_softmax, compute_softmax<false>).on("T", dtypes(gpu::AllFloats{})));
  library.kernel(
      gpu_kernel("LogSoftmax", check_softmax, compute_softmax<true>).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
