// AddN on GPUs: see add_n.cpp.
#include "kernels/ops/math/add_n.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

constexpr size_t terms_at_once = 8;

/// sum = the terms, added in their order; the first may be the sum itself.
template <class T>
struct AddTerms {
  const T* terms[terms_at_once];
  unsigned count;
  T* sum;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> total = gpu::load(terms[0][i]);
    for (unsigned k = 1; k < count; ++k) total += gpu::load(terms[k][i]);
    gpu::store(sum[i], total);
  }
};

template <class T>
Status add_terms(const AddNArguments& arguments, DeviceContext& device) {
  const auto sum = arguments.sum->write<T>();
  AddTerms<T> add{{reinterpret_cast<const T*>(arguments.terms[0])}, 1, sum.data()};
  for (size_t i = 1; i < arguments.terms.size(); ++i) {
    add.terms[add.count++] = reinterpret_cast<const T*>(arguments.terms[i]);
    if (add.count < terms_at_once && i + 1 < arguments.terms.size()) continue;
    TROUPE_RETURN_IF_FAILED(gpu::each(device, sum.size(), add));
    add.terms[0] = sum.data();
    add.count = 1;
  }
  return {};
}

Status compute_add_n(const AddNArguments& arguments, DeviceContext& device) {
  if (!arguments.sum) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.sum->dtype(),
                       [&]<class T>(std::type_identity<T>) { return add_terms<T>(arguments, device); });
}

}  // namespace

void add_add_n_on_gpu(OpLibrary& library) {
  for (const char* op : {"AddN", "AccumulateNV2"})
    library.kernel(gpu_kernel(op, check_add_n, compute_add_n).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
