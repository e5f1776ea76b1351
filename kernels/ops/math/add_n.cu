// AddN on GPUs: see add_n.cpp.
#include "kernels/ops/math/add_n.h"

#include <string>

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/map.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

constexpr size_t terms_at_once = 8;

/// sum = the terms, added in their order, in packs; the first may be the sum itself.
template <class T, size_t Width>
struct AddTerms {
  using Pack = gpu::Pack<T, Width>;
  const Pack* terms[terms_at_once];
  unsigned count;
  Pack* sum;

  TROUPE_ANY void operator()(size_t i) const {
    Pack values[terms_at_once];
    for (unsigned k = 0; k < terms_at_once; ++k)
      if (k < count) values[k] = terms[k][i];
    gpu::Wide<T> totals[Width];
    for (size_t item = 0; item < Width; ++item) totals[item] = gpu::load(values[0].items[item]);
    for (unsigned k = 1; k < terms_at_once; ++k)
      if (k < count)
        for (size_t item = 0; item < Width; ++item) totals[item] += gpu::load(values[k].items[item]);
    sum[i] = gpu::packed<T>(totals);
  }
};

template <class T, size_t Width>
Status add_packs(const AddNArguments& arguments, DeviceContext& device) {
  const auto term = [&](size_t i) {
    return gpu::packs<Width>(reinterpret_cast<const T*>(arguments.terms[i]));
  };
  const auto sum = arguments.sum->write<T>();
  AddTerms<T, Width> add{{term(0)}, 1, gpu::packs<Width>(sum.data())};
  for (size_t i = 1; i < arguments.terms.size(); ++i) {
    add.terms[add.count++] = term(i);
    if (add.count < terms_at_once && i + 1 < arguments.terms.size()) continue;
    TROUPE_RETURN_IF_FAILED(gpu::each(device, sum.size() / Width, add));
    add.terms[0] = add.sum;
    add.count = 1;
  }
  return {};
}

template <class T>
Status add_terms(const AddNArguments& arguments, DeviceContext& device) {
  constexpr size_t width = 16 / sizeof(T);
  const bool packed =
      static_cast<size_t>(arguments.sum->elements()) % width == 0 &&
      gpu::is_aligned(arguments.sum->data(), 16) &&
      std::ranges::all_of(arguments.terms, [](const std::byte* term) { return gpu::is_aligned(term, 16); });
  return packed ? add_packs<T, width>(arguments, device) : add_packs<T, 1>(arguments, device);
}

}  // namespace

Status add_n_on_gpu(const AddNArguments& arguments, DeviceContext& device) {
  if (!arguments.sum) return {};
  Status status = unimplemented("GPUs add no tensors of " + std::string(name(arguments.sum->dtype())));
  with_type(gpu::AllFloats{}, arguments.sum->dtype(),
            [&]<class T>(std::type_identity<T>) { status = add_terms<T>(arguments, device); });
  return status;
}

void add_add_n_on_gpu(OpLibrary& library) {
  for (const char* op : {"AddN", "AccumulateNV2"})
    library.kernel(gpu_kernel(op, check_add_n, add_n_on_gpu).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
