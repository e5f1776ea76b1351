// What every op of training_ops.cpp computes after the check on the host: a rule of update_rules.h, applied to whole variables or
// to some of their rows. The check reads off the op's definition which inputs are variables, the gradient, its rows, or scalars.
// Prepared once for a node; concurrent steps run it.
#pragma once

#include <array>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/update_rules.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// The scalar inputs that training ops have; each op has some of them.
enum class TrainingScalar : uint8_t {
  Rate,
  Momentum,
  Decay,
  Beta1,
  Beta2,
  Epsilon,
  Beta1Power,
  Beta2Power,
  L1,
  L2,
  Shrinkage,
  Power,
  Steps,
};

/// One T for each scalar input.
template <class T>
class TrainingScalars {
 public:
  T& operator[](TrainingScalar scalar) { return values_[static_cast<size_t>(scalar)]; }
  const T& operator[](TrainingScalar scalar) const { return values_[static_cast<size_t>(scalar)]; }
  /// f of each.
  template <class F>
  auto map(const F& f) const {
    TrainingScalars<std::invoke_result_t<F, T>> result;
    for (size_t i = 0; i < count; ++i) result[static_cast<TrainingScalar>(i)] = f(values_[i]);
    return result;
  }

 private:
  static constexpr size_t count = static_cast<size_t>(TrainingScalar::Steps) + 1;
  std::array<T, count> values_{};
};

/// values = the rule applied to them and the gradient: to all elements, or with `indices` to those rows in order, repeats included.
/// Nothing is written when an index is out of range.
struct TrainingArguments {
  Rule rule;
  bool update_slots, linear_by_rate;             ///< attributes: see RuleScalars
  size_t variables = 0;                          ///< how many of `values` there are
  std::array<NewValue, max_states> values = {};  ///< of one shape; float, double or half, as the gradient
  const Tensor* gradient = nullptr;              ///< of that shape, or one row for each index
  const Tensor* indices = nullptr;  ///< a vector of int32 or int64, not checked yet; null: all elements
  TrainingScalars<const Tensor*> scalars = {};  ///< null where the op has none; Steps is int64
};

/// Where the inputs of a training op are; those that are absent have position 0, which is that of the first variable.
struct TrainingInputs {
  size_t variables = 0, gradient = 0, indices = 0;
  TrainingScalars<size_t> scalars;

  explicit TrainingInputs(const OpDef& op);
};

/// InvalidArgument when the shapes of the inputs are not as training_shape() demands.
class TrainingCheck {
 public:
  TrainingCheck(Rule rule, const Node& node);
  Result<TrainingArguments> operator()(KernelContext& context) const;

 private:
  Status check_shapes(const KernelContext& context) const;
  Status check_rows(const KernelContext& context) const;

  Rule rule_;
  TrainingInputs in_;
  bool update_slots_, linear_by_rate_;
};

/// All variables have one shape. So has the gradient, or it has one row of them for each index; the rest are scalars.
Status training_shape(ShapeContext& context);

/// On the CPU.
Status compute_training(const TrainingArguments& arguments, DeviceContext& device);

}  // namespace troupe
