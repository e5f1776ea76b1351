// What updates of whole variables and of rows share on GPUs: the scalars of a rule, which lie in device memory, where every thread
// reads them, and the change of an element. For .cu files.
#pragma once

#include "kernels/core/type_dispatch.h"
#include "kernels/gpu/map.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/update_rules.h"
#include "kernels/loops/trust_ratio.h"
#include "kernels/ops/state/training_kernel.h"

namespace troupe {

using TrainingTypes = TypeList<float, double, Half>;

/// Where the scalar inputs lie; null for those that the op does not have.
template <class T>
struct ScalarInputs {
  using W = gpu::Wide<T>;
  static constexpr size_t count = static_cast<size_t>(TrainingScalar::Steps);

  const T* values[count];
  const int64_t* steps;
  const double* trust_ratio = nullptr;  ///< null: 1
  bool is_lamb, update_slots, linear_by_rate;

  explicit ScalarInputs(const TrainingArguments& arguments)
      : is_lamb(arguments.rule == Rule::Lamb), update_slots(arguments.update_slots),
        linear_by_rate(arguments.linear_by_rate) {
    for (size_t i = 0; i < count; ++i) {
      const Tensor* const scalar = arguments.scalars[static_cast<TrainingScalar>(i)];
      values[i] = scalar ? scalar->as<T>().data() : nullptr;
    }
    const Tensor* const number = arguments.scalars[TrainingScalar::Steps];
    steps = number ? number->as<int64_t>().data() : nullptr;
  }

  TROUPE_ANY const T* at(TrainingScalar scalar) const { return values[static_cast<size_t>(scalar)]; }
  TROUPE_ANY W value(TrainingScalar scalar) const { return at(scalar) ? gpu::load(*at(scalar)) : W(0); }
  /// Returns the scalars of the rule, with the bias correction of Adam and the trust ratio.
  TROUPE_ANY RuleScalars<W> rule_scalars() const {
    using enum TrainingScalar;
    RuleScalars<W> k;
    const W of_squares = at(Beta2Power) ? std::sqrt(1 - value(Beta2Power)) : W(1);
    const W of_first = at(Beta1Power) ? 1 - value(Beta1Power) : W(1);
    k.rate = is_lamb ? value(Rate) : value(Rate) * of_squares / of_first;
    if (trust_ratio) k.rate *= static_cast<W>(*trust_ratio);
    const W taken = steps ? static_cast<W>(*steps) : W(1);
    k.momentum = value(Momentum);
    k.decay = value(Decay);
    k.base = is_lamb ? of_squares / of_first : value(Base);
    k.beta1 = value(Beta1);
    k.beta2 = value(Beta2);
    k.epsilon = value(Epsilon) * (is_lamb ? of_squares : W(1));
    k.l1 = taken * value(L1);
    k.l2 = taken * value(L2);
    k.shrinkage = value(Shrinkage);
    k.power = -value(Power);
    k.update_slots = update_slots;
    k.linear_by_rate = linear_by_rate;
    return k;
  }
};

/// How elements of variables are changed.
template <class T>
struct ElementRule {
  using W = gpu::Wide<T>;
  Rule rule;
  unsigned states;
  ScalarInputs<T> scalars;

  explicit ElementRule(const TrainingArguments& arguments)
      : rule(arguments.rule), states(static_cast<unsigned>(gpu::states_of(arguments.rule))),
        scalars(arguments) {}

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

  /// Returns what element i adds to the sums of a trust ratio.
  TROUPE_ANY SquareSums squares(const RuleScalars<W>& k, const RuleArrays<T>& arrays, size_t i) const {
    const auto at = [&](unsigned v) { return v < states ? gpu::load(arrays.before[v][i]) : W(0); };
    return squares_of(rule, k, at(0), at(1), at(2), gpu::load(arrays.gradient[i]));
  }

  /// Changes pack i of the arrays.
  template <size_t Width>
  TROUPE_ANY void change_pack(const RuleArrays<T>& arrays, size_t i) const {
    using Pack = gpu::Pack<T, Width>;
    const auto k = scalars.rule_scalars();
    Pack state[max_states];
    for (unsigned v = 0; v < max_states; ++v)
      if (v < states) state[v] = gpu::packs<Width>(arrays.before[v])[i];
    const Pack gradient = gpu::packs<Width>(arrays.gradient)[i];
    for (size_t item = 0; item < Width; ++item) {
      const auto at = [&](unsigned v) -> T& { return state[v].items[item]; };
      change(k, at, at, gradient.items[item]);
    }
    for (unsigned v = 0; v < max_states; ++v)
      if (v < states) gpu::packs<Width>(arrays.after[v])[i] = state[v];
  }
};

template <class T>
RuleArrays<T> arrays_of(const TrainingArguments& arguments) {
  RuleArrays<T> arrays;
  for (size_t v = 0; v < arguments.variables; ++v) {
    arrays.before[v] = arguments.values[v].template before<T>().data();
    arrays.after[v] = arguments.values[v].after->template write<T>().data();
  }
  arrays.gradient = arguments.gradient->as<T>().data();
  return arrays;
}

/// How many elements of type T are changed at once.
template <class T>
inline constexpr size_t pack_width = 16 / sizeof(T);

/// Returns whether all elements can be changed in packs.
template <class T>
bool consists_of_packs(const RuleArrays<T>& arrays, size_t count) {
  const auto is_aligned = [](const T* array) { return gpu::is_aligned(array, 16); };  // null is, too
  return count % pack_width<T> == 0 && is_aligned(arrays.gradient) &&
         std::ranges::all_of(arrays.before, is_aligned) && std::ranges::all_of(arrays.after, is_aligned);
}

/// The compute function of the updates of variables and of rows.
Status compute_training_on_gpu(const TrainingArguments& arguments, DeviceContext& device);

}  // namespace troupe
