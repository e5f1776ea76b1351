// Roll on GPUs: see roll.cpp.
#include "kernels/ops/array/roll.h"

#include <algorithm>

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

constexpr size_t max_rolled = 8;

/// Moves unit i of the output. Only axes with a shift are listed.
template <class T>
struct RollUnits {
  struct Axis {
    gpu::ElementAxis walk;
    int64_t shift;
  };
  const T* from;
  T* to;
  unsigned rank = 0;
  Axis axes[max_rolled] = {};

  TROUPE_ANY void operator()(size_t i) const {
    auto source = static_cast<int64_t>(i);
    for (unsigned k = 0; k < rank; ++k) {
      const auto& [walk, shift] = axes[k];
      const int64_t wrapped =
          static_cast<int64_t>(walk.index_of(i)) < shift ? static_cast<int64_t>(walk.size.divisor()) : 0;
      source += (wrapped - shift) * static_cast<int64_t>(walk.step.divisor());
    }
    to[i] = from[source];
  }
};

/// Returns the number of dimensions up to the last one that is shifted.
size_t shifted_rank(const Dims& shifts) {
  size_t rank = shifts.size();
  while (rank > 0 && shifts[rank - 1] == 0) --rank;
  return rank;
}

Status compute_roll(const RollArguments& arguments, DeviceContext& device) {
  const Tensor& input = arguments.input;
  Tensor& output = arguments.output;
  if (output.elements() == 0) return {};
  const Dims& shifts = arguments.shifts;
  const auto dims = input.shape().dims();
  if (std::ranges::count_if(shifts, [](int64_t shift) { return shift != 0; }) > std::ptrdiff_t{max_rolled})
    return unimplemented("a GPU rolls at most " + std::to_string(max_rolled) + " dimensions");
  const size_t rank = shifted_rank(shifts), element = size_of(input.dtype());
  const size_t row = count_of(dims.subspan(rank));
  const size_t unit = gpu::unit_of_rows(element, row, input.data(), output.data());
  return gpu::with_unit(unit, [&]<class T>(std::type_identity<T>) {
    RollUnits<T> roll{gpu::stored<T>(input), gpu::stored<T>(output)};
    size_t step = row * element / unit;
    for (size_t k = rank; k-- > 0; step *= static_cast<size_t>(dims[k]))
      if (shifts[k] != 0)
        roll.axes[roll.rank++] = {gpu::ElementAxis(step, static_cast<size_t>(dims[k])), shifts[k]};
    return gpu::each(device, output.bytes() / unit, roll);
  });
}

}  // namespace

void add_roll_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("Roll", check_roll, compute_roll).on("T", dtypes(gpu::MovedTypesAndIntegers{})));
}

}  // namespace troupe
