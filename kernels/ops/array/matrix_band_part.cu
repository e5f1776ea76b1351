// MatrixBandPart on GPUs: see matrix_band_part.cpp.
#include "kernels/ops/array/matrix_band_part.h"

#include "kernels/gpu/divider.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

template <class T>
struct KeepBand {
  const T* from;  ///< may be `to`
  T* to;
  gpu::Divider columns, rows;
  int64_t lower, upper;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t line = columns.quotient(i);
    const auto column = static_cast<int64_t>(i - line * columns.divisor());
    const auto row = static_cast<int64_t>(line - rows.quotient(line) * rows.divisor());
    to[i] = row - column <= lower && column - row <= upper ? from[i] : T{};
  }
};

Status compute_band(const BandArguments& arguments, DeviceContext& device) {
  const auto& [input, output, lower, upper] = arguments;
  if (!output || output->elements() == 0) return {};
  const auto dims = output->shape().dims();
  const gpu::Divider columns(static_cast<size_t>(dims[dims.size() - 1])),
      rows(static_cast<size_t>(dims[dims.size() - 2]));
  return gpu::with_stored(output->dtype(), [&]<class T>(std::type_identity<T>) {
    T* const to = gpu::stored<T>(*arguments.output);
    return gpu::each(device, static_cast<size_t>(arguments.output->elements()),
                     KeepBand<T>{arguments.input ? gpu::stored<T>(*arguments.input) : to, to, columns, rows,
                                 arguments.lower, arguments.upper});
  });
}

}  // namespace

void add_matrix_band_part_on_gpu(OpLibrary& library) {
  library.kernel(
      gpu_kernel("MatrixBandPart", check_band, compute_band).on("T", dtypes(gpu::MovedTypesAndIntegers{})));
}

}  // namespace troupe
