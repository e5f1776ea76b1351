// The update rules of optimizers on GPUs: see training_ops.cpp.
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/ops/state/training_on_gpu.h"

namespace troupe {
namespace {

/// Changes all elements, in packs.
template <class T, size_t Width>
struct UpdatePacks {
  ElementRule<T> rule;
  RuleArrays<T> arrays;

  TROUPE_ANY void operator()(size_t i) const { rule.template change_pack<Width>(arrays, i); }
};

/// Row i is that of index i; the first of equal indices applies all of them, in their order. If an index is out of range, nothing
/// is written.
template <class T, class Index>
struct UpdateRows {
  ElementRule<T> rule;
  RuleArrays<T> arrays;
  const Index* indices;
  size_t count, row, rows;
  gpu::FaultReport report;

  TROUPE_ANY bool is_wrong(Index index) const { return index < 0 || static_cast<size_t>(index) >= rows; }

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t i) const {
    const Index index = indices[i];
    int skips = 0;
    for (size_t j = team.rank; j < count; j += team.size)
      if (is_wrong(indices[j]) || (j < i && indices[j] == index)) skips = 1;
    if (team.rank == 0 && is_wrong(index)) report(static_cast<int64_t>(index), static_cast<int64_t>(rows));
    if (team.max(skips) != 0) return;
    const auto k = rule.scalars.rule_scalars();
    const size_t first = static_cast<size_t>(index) * row;
    for (size_t j = i; j < count; ++j) {
      if (indices[j] != index) continue;
      for (size_t e = team.rank; e < row; e += team.size) {
        const auto at = [&](unsigned v) -> T& { return arrays.after[v][first + e]; };
        rule.change(k, at, at, arrays.gradient[j * row + e]);
      }
    }
  }
};

template <class T>
Status update_rows(const TrainingArguments& arguments, DeviceContext& device) {
  for (size_t v = 0; v < arguments.variables; ++v) {
    const NewValue& value = arguments.values[v];
    TROUPE_RETURN_IF_FAILED(gpu::copy(device, value.old, value.after->mutable_data(), value.after->bytes()));
  }
  const auto count = static_cast<size_t>(arguments.indices->elements());
  if (count == 0) return {};
  const size_t row = static_cast<size_t>(arguments.gradient->elements()) / count;
  const auto rows = static_cast<size_t>(arguments.values[0].after->shape()[0]);
  const gpu::FaultReport report = gpu::fault_report(device, "indices = {} is not in [0, {})");
  TROUPE_RETURN_IF_FAILED(gpu::for_type(
      TypeList<int32_t, int64_t>{}, arguments.indices->dtype(), [&]<class Index>(std::type_identity<Index>) {
        return gpu::each_row(
            device, count, row,
            UpdateRows<T, Index>{ElementRule<T>(arguments), arrays_of<T>(arguments),
                                 arguments.indices->as<Index>().data(), count, row, rows, report});
      }));
  return gpu::check_fault(device);
}

constexpr size_t elements_of_sum = 8192;  ///< for each of which a team sums squares

/// A team sums the squares of some elements.
template <class T>
struct SumSquares {
  ElementRule<T> rule;
  RuleArrays<T> arrays;
  size_t count;
  SquareSums* sums;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t i) const {
    const auto k = rule.scalars.rule_scalars();
    const size_t first = i * elements_of_sum,
                 end = count - first < elements_of_sum ? count : first + elements_of_sum;
    SquareSums sum;
    for (size_t e = first + team.rank; e < end; e += team.size) sum = sum + rule.squares(k, arrays, e);
    sum = team.sum(sum);
    if (team.rank == 0) sums[i] = sum;
  }
};

/// A team adds the sums in a fixed order, and writes the trust ratio.
template <class T>
struct FindTrustRatio {
  ElementRule<T> rule;
  const SquareSums* sums;
  size_t count;
  double* ratio;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t) const {
    SquareSums sum;
    for (size_t i = team.rank; i < count; i += team.size) sum = sum + sums[i];
    sum = team.sum(sum);
    if (team.rank == 0)
      *ratio = static_cast<double>(trust_ratio(rule.rule, rule.scalars.rule_scalars(), sum));
  }
};

/// Returns memory that holds the trust ratio, once the work issued here is done.
template <class T>
Result<BufferRef> issue_trust_ratio(const ElementRule<T>& rule, const RuleArrays<T>& arrays, size_t count,
                                    DeviceContext& device) {
  const size_t parts = (count + elements_of_sum - 1) / elements_of_sum;
  TROUPE_ASSIGN(const BufferRef sums, gpu::scratch(device, parts * sizeof(SquareSums)));
  TROUPE_ASSIGN(BufferRef ratio, gpu::scratch(device, sizeof(double)));
  auto* const partial = reinterpret_cast<SquareSums*>(sums->data);
  TROUPE_RETURN_IF_FAILED(
      gpu::each_row(device, parts, elements_of_sum, SumSquares<T>{rule, arrays, count, partial}));
  TROUPE_RETURN_IF_FAILED(gpu::each_row(
      device, 1, parts, FindTrustRatio<T>{rule, partial, parts, reinterpret_cast<double*>(ratio->data)}));
  return ratio;
}

template <class T>
Status update_all(const TrainingArguments& arguments, DeviceContext& device) {
  constexpr size_t width = pack_width<T>;
  ElementRule<T> rule(arguments);
  const RuleArrays<T> arrays = arrays_of<T>(arguments);
  const auto count = static_cast<size_t>(arguments.gradient->elements());
  BufferRef ratio;
  if (has_trust_ratio(arguments.rule) && count != 0) {
    TROUPE_ASSIGN(ratio, issue_trust_ratio(rule, arrays, count, device));
    rule.scalars.trust_ratio = reinterpret_cast<const double*>(ratio->data);
  }
  return consists_of_packs(arrays, count)
             ? gpu::each(device, count / width, UpdatePacks<T, width>{rule, arrays})
             : gpu::each(device, count, UpdatePacks<T, 1>{rule, arrays});
}

}  // namespace

Status compute_training_on_gpu(const TrainingArguments& arguments, DeviceContext& device) {
  return gpu::for_type(TrainingTypes{}, arguments.gradient->dtype(), [&]<class T>(std::type_identity<T>) {
    return arguments.indices ? update_rows<T>(arguments, device) : update_all<T>(arguments, device);
  });
}

void add_training_ops_on_gpu(OpLibrary& library) {
  add_training_kernels(library, "GPU", compute_training_on_gpu);
}

}  // namespace troupe
