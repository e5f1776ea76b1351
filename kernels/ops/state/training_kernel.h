// The ops of training_ops.cpp and fused_updates.cpp: the check on the host, and the arguments that it returns to the compute
// function of each type of device (kernels/core/checked_kernel.h). Any thread may call the check. They apply a rule of
// update_rules.h to whole variables or to some of their rows. The names of the inputs tell the check which are variables, the
// gradient, row indices, or scalars. The check is prepared once for a node; concurrent steps run it.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/update_rules.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {

/// What the update ops of an optimizer have in common.
struct TrainingMethod {
  std::string_view name;  ///< "Adam" of ApplyAdam, ResourceApplyAdam, ...
  Rule rule;
  /// The variables come first; the gradient is named "grad" or "delta".
  std::vector<std::string_view> inputs;
  size_t variables;
  bool on_refs = true;   ///< if true, there is an op on references, not only on resources
  Rule nesterov = rule;  ///< the rule with use_nesterov, if that is another
  bool on_rows = true;   ///< if true, there are ops on rows
};
std::span<const TrainingMethod> training_methods();
bool is_gradient(std::string_view input);

/// The scalar inputs of training ops; each op has some of them.
enum class TrainingScalar : uint8_t {
  Rate,
  Momentum,
  Decay,
  Base,
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

/// One value of type T for each scalar input.
template <class T>
class TrainingScalars {
 public:
  T& operator[](TrainingScalar scalar) { return values_[static_cast<size_t>(scalar)]; }
  const T& operator[](TrainingScalar scalar) const { return values_[static_cast<size_t>(scalar)]; }
  const auto& all() const { return values_; }
  /// Returns f of each value.
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

/// values = the rule applied to the old values and the gradient: to all elements, or, with `indices`, to those rows in order,
/// repeats included. If an index is out of range, nothing is written.
struct TrainingArguments {
  Rule rule;
  bool update_slots, linear_by_rate;  ///< attributes of the op, see RuleScalars
  size_t variables = 0;               ///< the number of `values`
  /// All of one shape; float, double or half, like the gradient.
  std::array<NewValue, max_states> values = {};
  const Tensor* gradient = nullptr;  ///< has the shape of the values, or one row for each index
  /// A vector of int32 or int64 that is not checked yet; null if the rule applies to all elements.
  const Tensor* indices = nullptr;
  /// Null for a scalar that the op does not have; Steps is int64.
  TrainingScalars<const Tensor*> scalars = {};
};

/// The positions of the inputs of one update. An input that the update does not have has position 0, that of a variable.
struct TrainingInputs {
  size_t first_variable = 0, variables = 0, gradient = 0, indices = 0;
  TrainingScalars<size_t> scalars;

  TrainingInputs() = default;
  explicit TrainingInputs(const OpDef& op);
  /// Notes where the input of this name is. Variables are not noted.
  void place(std::string_view name, size_t position);
};

/// Fails with InvalidArgument unless the shapes of the inputs are as training_shape() requires.
class TrainingCheck {
 public:
  TrainingCheck(const TrainingMethod& method, const TrainingInputs& inputs, const Node& node);
  Result<TrainingArguments> operator()(KernelContext& context) const;

 private:
  Status check_shapes(const KernelContext& context) const;
  Status check_rows(const KernelContext& context) const;

  Rule rule_;
  TrainingInputs in_;
  bool update_slots_, linear_by_rate_;
};

/// The shape function: all variables have one shape. The gradient has that shape, or, with indices, one row for each index. All
/// other inputs are scalars.
Status training_shape(ShapeContext& context);

/// The compute function on CPUs.
Status compute_training(const TrainingArguments& arguments, DeviceContext& device);
/// Adds the kernels of all training ops for a type of device.
void add_training_kernels(OpLibrary& library, const std::string& device_type,
                          Status (*compute)(const TrainingArguments&, DeviceContext&));

}  // namespace troupe
