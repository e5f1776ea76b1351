// InTopK and InTopKV2 on GPUs: see in_top_k.cpp.
#include "kernels/ops/nn/in_top_k.h"

#include <cmath>

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"

namespace troupe {
namespace {

template <class Target>
struct InTopKRow {
  const float* predictions;
  const Target* targets;
  bool* precision;
  size_t classes;
  int64_t k;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const float* const values = predictions + row * classes;
    const auto target = static_cast<size_t>(targets[row]);  // a negative one becomes large
    const bool is_class = target < classes;
    const float wanted = is_class ? values[target] : 0;
    long long greater = 0, not_finite = is_class ? 0 : 1;
    for (size_t i = team.rank; i < classes; i += team.size) {
      if (!std::isfinite(values[i])) ++not_finite;
      if (values[i] > wanted) ++greater;
    }
    greater = team.sum(greater);
    not_finite = team.sum(not_finite);
    if (team.rank == 0) precision[row] = not_finite == 0 && greater < k;
  }
};

Status compute_in_top_k(const InTopKArguments& arguments, DeviceContext& device) {
  const Shape& shape = arguments.predictions.shape();
  const auto rows = static_cast<size_t>(shape[0]), classes = static_cast<size_t>(shape[1]);
  return gpu::for_type(
      TypeList<int32_t, int64_t>{}, arguments.targets.dtype(), [&]<class T>(std::type_identity<T>) {
        return gpu::each_row(
            device, rows, classes,
            InTopKRow<T>{arguments.predictions.as<float>().data(), arguments.targets.as<T>().data(),
                         arguments.precision.write<bool>().data(), classes, arguments.k});
      });
}

}  // namespace

void add_in_top_k_on_gpu(OpLibrary& library) {
  for (const char* op : {"InTopK", "InTopKV2"})
    library.kernel(gpu_kernel(op, check_in_top_k, compute_in_top_k));
}

}  // namespace troupe
