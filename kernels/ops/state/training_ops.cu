// The update rules of optimizers on GPUs: see training_ops.cpp. The scalars lie in device memory, where every thread reads them.
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/map.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/update_rules.h"
#include "kernels/ops/state/training_kernel.h"

namespace troupe {
namespace {

using TrainingTypes = TypeList<float, double, Half>;

/// Where the scalar inputs lie; null for those that the op does not have.
template <class T>
struct ScalarInputs {
  using W = gpu::Wide<T>;
  static constexpr size_t count = static_cast<size_t>(TrainingScalar::Steps);

  const T* values[count];
  const int64_t* steps;
  bool update_slots, linear_by_rate;

  explicit ScalarInputs(const TrainingArguments& arguments)
      : update_slots(arguments.update_slots), linear_by_rate(arguments.linear_by_rate) {
    for (size_t i = 0; i < count; ++i) {
      const Tensor* const scalar = arguments.scalars[static_cast<TrainingScalar>(i)];
      values[i] = scalar ? scalar->as<T>().data() : nullptr;
    }
    const Tensor* const number = arguments.scalars[TrainingScalar::Steps];
    steps = number ? number->as<int64_t>().data() : nullptr;
  }

  TROUPE_ANY const T* at(TrainingScalar scalar) const { return values[static_cast<size_t>(scalar)]; }
  TROUPE_ANY W value(TrainingScalar scalar) const { return at(scalar) ? gpu::load(*at(scalar)) : W(0); }
  /// Returns the scalars of the rule, with the bias correction of Adam.
  TROUPE_ANY RuleScalars<W> rule_scalars() const {
    using enum TrainingScalar;
    RuleScalars<W> k;
    k.rate = value(Rate);
    if (at(Beta2Power)) k.rate *= std::sqrt(1 - value(Beta2Power));
    if (at(Beta1Power)) k.rate /= 1 - value(Beta1Power);
    const W taken = steps ? static_cast<W>(*steps) : W(1);
    k.momentum = value(Momentum);
    k.decay = value(Decay);
    k.beta1 = value(Beta1);
    k.beta2 = value(Beta2);
    k.epsilon = value(Epsilon);
    k.l1 = taken * value(L1);
    k.l2 = taken * value(L2);
    k.shrinkage = value(Shrinkage);
    k.power = -value(Power);
    k.update_slots = update_slots;
    k.linear_by_rate = linear_by_rate;
    return k;
  }
};

/// The arrays of a rule and how an element of them is changed.
template <class T>
struct UpdateElements {
  using W = gpu::Wide<T>;
  Rule rule;
  unsigned states;
  ScalarInputs<T> scalars;
  RuleArrays<T> arrays;

  explicit UpdateElements(const TrainingArguments& arguments)
      : rule(arguments.rule), states(static_cast<unsigned>(gpu::states_of(arguments.rule))),
        scalars(arguments) {
    for (size_t v = 0; v < arguments.variables; ++v) {
      arrays.before[v] = arguments.values[v].template before<T>().data();
      arrays.after[v] = arguments.values[v].after->template write<T>().data();
    }
    arrays.gradient = arguments.gradient->as<T>().data();
  }

  /// Changes an element of the state by one of the gradient. before(v) and after(v) return the element in array v.
  template <class Before, class After>
  TROUPE_ANY void change(const RuleScalars<W>& k, const Before& before, const After& after,
                         const T& gradient) const {
    gpu::RuleState<W> state{gpu::load(before(0)), 0, 0, 0};
    if (states > 1) state.a = gpu::load(before(1));
    if (states > 2) state.b = gpu::load(before(2));
    if (states > 3) state.c = gpu::load(before(3));
    gpu::apply_rule(rule, k, state, gpu::load(gradient));
    gpu::store(after(0), state.v);
    if (states > 1) gpu::store(after(1), state.a);
    if (states > 2) gpu::store(after(2), state.b);
    if (states > 3) gpu::store(after(3), state.c);
  }
};

/// Changes all elements, in packs.
template <class T, size_t Width>
struct UpdatePacks {
  using Pack = gpu::Pack<T, Width>;
  UpdateElements<T> elements;

  TROUPE_ANY void operator()(size_t i) const {
    const RuleArrays<T>& arrays = elements.arrays;
    const auto k = elements.scalars.rule_scalars();
    Pack state[max_states];
    for (unsigned v = 0; v < max_states; ++v)
      if (v < elements.states) state[v] = gpu::packs<Width>(arrays.before[v])[i];
    const Pack gradient = gpu::packs<Width>(arrays.gradient)[i];
    for (size_t item = 0; item < Width; ++item) {
      const auto at = [&](unsigned v) -> T& { return state[v].items[item]; };
      elements.change(k, at, at, gradient.items[item]);
    }
    for (unsigned v = 0; v < max_states; ++v)
      if (v < elements.states) gpu::packs<Width>(arrays.after[v])[i] = state[v];
  }
};

/// Row i is that of index i; the first of equal indices applies all of them, in their order. If an index is out of range, nothing
/// is written.
template <class T, class Index>
struct UpdateRows {
  UpdateElements<T> elements;
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
    const auto k = elements.scalars.rule_scalars();
    const size_t first = static_cast<size_t>(index) * row;
    for (size_t j = i; j < count; ++j) {
      if (indices[j] != index) continue;
      for (size_t e = team.rank; e < row; e += team.size) {
        const auto at = [&](unsigned v) -> T& { return elements.arrays.after[v][first + e]; };
        elements.change(k, at, at, elements.arrays.gradient[j * row + e]);
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
            UpdateRows<T, Index>{UpdateElements<T>(arguments), arguments.indices->as<Index>().data(), count,
                                 row, rows, report});
      }));
  return gpu::check_fault(device);
}

template <class T, size_t Width>
Status update_packs(const UpdateElements<T>& elements, size_t count, DeviceContext& device) {
  return gpu::each(device, count / Width, UpdatePacks<T, Width>{elements});
}

template <class T>
Status update_all(const TrainingArguments& arguments, DeviceContext& device) {
  constexpr size_t width = 16 / sizeof(T);
  const UpdateElements<T> elements(arguments);
  const auto& [before, after, gradient] = elements.arrays;
  const auto count = static_cast<size_t>(arguments.gradient->elements());
  const auto is_aligned = [](const T* array) { return gpu::is_aligned(array, 16); };  // null is, too
  const bool packed = count % width == 0 && is_aligned(gradient) && std::ranges::all_of(before, is_aligned) &&
                      std::ranges::all_of(after, is_aligned);
  return packed ? update_packs<T, width>(elements, count, device)
                : update_packs<T, 1>(elements, count, device);
}

Status compute_training_on_gpu(const TrainingArguments& arguments, DeviceContext& device) {
  return gpu::for_type(TrainingTypes{}, arguments.gradient->dtype(), [&]<class T>(std::type_identity<T>) {
    return arguments.indices ? update_rows<T>(arguments, device) : update_all<T>(arguments, device);
  });
}

}  // namespace

void add_training_ops_on_gpu(OpLibrary& library) {
  add_training_kernels(library, "GPU", compute_training_on_gpu);
}

}  // namespace troupe
