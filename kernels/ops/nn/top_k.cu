// TopK and TopKV2 on GPUs: see top_k.cpp. For a small k a team searches its row k times; for a greater one, each element counts how
// many of its row come before it.
#include "kernels/ops/nn/top_k.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

constexpr size_t small_k = 32;

template <class W>
struct Candidate {
  W value = 0;
  int index = -1;  ///< -1: none
  int padding = 0;
};

/// Returns whether a comes before b. Of equals the lower index comes first, and NaN comes after all numbers.
template <class W>
TROUPE_ANY bool comes_before(const Candidate<W>& a, const Candidate<W>& b) {
  if (a.value > b.value) return true;
  if (a.value < b.value) return false;
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return b_is_nan;
  return a.index < b.index;
}

struct FirstOf {
  template <class W>
  TROUPE_ANY Candidate<W> operator()(const Candidate<W>& a, const Candidate<W>& b) const {
    if (a.index < 0) return b;
    return b.index < 0 || comes_before(a, b) ? a : b;
  }
};

template <class T, class Index>
struct SearchRow {
  using W = gpu::Wide<T>;
  const T* input;
  T* values;
  Index* indices;
  size_t columns, k;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const T* const from = input + row * columns;
    Candidate<W> last;
    for (size_t found = 0; found < k; ++found) {
      Candidate<W> best;
      for (size_t i = team.rank; i < columns; i += team.size) {
        const Candidate<W> candidate{gpu::load(from[i]), static_cast<int>(i)};
        if (last.index < 0 || comes_before(last, candidate)) best = FirstOf()(best, candidate);
      }
      last = team.combine(best, FirstOf());
      if (team.rank != 0) continue;
      values[row * k + found] = from[last.index];
      indices[row * k + found] = static_cast<Index>(last.index);
    }
  }
};

template <class T, class Index>
struct CountBefore {
  using W = gpu::Wide<T>;
  const T* input;
  T* values;
  Index* indices;
  gpu::Divider columns;
  size_t k;

  TROUPE_ANY void operator()(size_t i) const {
    size_t row = i;
    const size_t column = gpu::split(columns, row);
    const T* const from = input + row * columns.divisor();
    const Candidate<W> own{gpu::load(from[column]), static_cast<int>(column)};
    size_t before = 0;
    for (size_t j = 0; j < columns.divisor(); ++j)
      before += comes_before(Candidate<W>{gpu::load(from[j]), static_cast<int>(j)}, own);
    if (before >= k) return;
    values[row * k + before] = from[column];
    indices[row * k + before] = static_cast<Index>(column);
  }
};

template <class T, class Index>
Status top_k(const TopKArguments& arguments, DeviceContext& device) {
  const T* const input = arguments.input.as<T>().data();
  T* const values = arguments.values.write<T>().data();
  Index* const indices = arguments.indices.write<Index>().data();
  const size_t columns = arguments.columns, k = arguments.k;
  if (k <= small_k)
    return gpu::each_row(device, arguments.rows, columns,
                         SearchRow<T, Index>{input, values, indices, columns, k});
  return gpu::each(device, arguments.rows * columns,
                   CountBefore<T, Index>{input, values, indices, gpu::Divider(columns), k});
}

Status compute_top_k(const TopKArguments& arguments, DeviceContext& device) {
  if (arguments.values.elements() == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    if (arguments.indices.dtype() == DType::Int32) return top_k<T, int32_t>(arguments, device);
    return top_k<T, int64_t>(arguments, device);
  });
}

}  // namespace

void add_top_k_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("TopK", check_top_k, compute_top_k).on("T", dtypes(gpu::AllFloats{})));
  library.kernel(gpu_kernel("TopKV2", check_top_k, compute_top_k)
                     .on("T", dtypes(gpu::AllFloats{}))
                     .on("index_type", {i32, i64}));
}

}  // namespace troupe
