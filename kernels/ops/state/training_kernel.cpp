#include "kernels/ops/state/training_kernel.h"

#include <cmath>

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {
namespace {

/// Where the inputs of such an op are; absent ones are 0, which is the first variable.
struct Inputs {
  size_t variables = 0, gradient = 0, indices = 0;
  size_t rate = 0, momentum = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0, beta1_power = 0,
         beta2_power = 0, l1 = 0, l2 = 0, shrinkage = 0, power = 0, steps = 0;

  explicit Inputs(const OpDef& op) {
    const std::pair<std::string_view, size_t*> places[] = {{"grad", &gradient},
                                                           {"delta", &gradient},
                                                           {"indices", &indices},
                                                           {"lr", &rate},
                                                           {"alpha", &rate},
                                                           {"rho", &decay},
                                                           {"beta1", &beta1},
                                                           {"beta2", &beta2},
                                                           {"epsilon", &epsilon},
                                                           {"momentum", &momentum},
                                                           {"beta1_power", &beta1_power},
                                                           {"beta2_power", &beta2_power},
                                                           {"l1", &l1},
                                                           {"l2", &l2},
                                                           {"l2_shrinkage", &shrinkage},
                                                           {"lr_power", &power},
                                                           {"global_step", &steps}};
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const ArgDef& input = op.inputs[i];
      if (input.is_ref || input.type == DType::Resource) ++variables;
      for (const auto& [name, place] : places)
        if (input.name == name) *place = i;
    }
  }
};

/// The value of a bool attribute that some of these ops have.
bool flag(const Node& node, std::string_view name, bool otherwise) {
  const AttrValue* const value = node.attrs.find(name);
  return value ? std::get<bool>(*value) : otherwise;
}

double number(const Tensor& scalar) {
  switch (scalar.dtype()) {
    case DType::Float: return double{scalar.as<float>()[0]};
    case DType::Double: return scalar.as<double>()[0];
    case DType::Int64: return static_cast<double>(scalar.as<int64_t>()[0]);
    default: return double{static_cast<float>(scalar.as<Half>()[0])};
  }
}

/// The rule over elements of float or double.
template <class T>
void apply_to(Rule rule, const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t begin,
              size_t end) {
  apply_rule(rule, scalars, arrays, begin, end);
}

/// Half: in float, a few elements at a time.
void apply_to(Rule rule, const RuleScalars<float>& scalars, const RuleArrays<Half>& arrays, size_t begin,
              size_t end) {
  constexpr size_t some = 128;
  float state[max_states][some], gradient[some];
  RuleArrays<float> wide;
  wide.gradient = gradient;
  for (size_t k = 0; k < max_states; ++k) wide.before[k] = wide.after[k] = state[k];
  for (size_t first = begin; first < end; first += some) {
    const size_t count = std::min(some, end - first);
    for (size_t i = 0; i < count; ++i) {
      gradient[i] = static_cast<float>(arrays.gradient[first + i]);
      for (size_t k = 0; k < max_states; ++k)
        if (arrays.before[k]) state[k][i] = static_cast<float>(arrays.before[k][first + i]);
    }
    apply_rule(rule, scalars, wide, 0, count);
    for (size_t k = 0; k < max_states; ++k)
      for (size_t i = 0; arrays.after[k] && i < count; ++i) arrays.after[k][first + i] = Half(state[k][i]);
  }
}

class TrainingKernel final : public Kernel {
 public:
  TrainingKernel(Rule rule, const Node& node)
      : rule_(rule), in_(*node.op), update_slots_(flag(node, "update_slots", true)),
        linear_by_rate_(flag(node, "multiply_linear_by_lr", false)) {}

  Outcome run(KernelContext& context) const override {
    TROUPE_RETURN_IF_FAILED(check(context));
    Status status;
    with_type(TypeList<float, double, Half>{}, context.input(in_.gradient).dtype(),
              [&]<class T>(std::type_identity<T>) { status = update<T>(context); });
    return status;
  }

 private:
  Status check(const KernelContext& context) const {
    for (size_t i = 1; i < in_.variables; ++i) TROUPE_RETURN_IF_FAILED(require_same_shape(context, 0, i));
    for (size_t i = in_.variables; i < context.inputs(); ++i)
      if (i != in_.gradient && i != in_.indices && !context.input(i).shape().is_scalar())
        return invalid_argument(context.node().op->inputs[i].name + " of shape " +
                                context.input(i).shape().text() + " is not a scalar");
    return in_.indices == 0 ? require_same_shape(context, 0, in_.gradient) : check_rows(context);
  }

  Status check_rows(const KernelContext& context) const {
    const Shape& variable = context.input(0).shape();
    const Shape &gradient = context.input(in_.gradient).shape(),
                &indices = context.input(in_.indices).shape();
    const bool rows_agree = variable.rank() > 0 && gradient.rank() == variable.rank() &&
                            std::ranges::equal(variable.dims().subspan(1), gradient.dims().subspan(1));
    if (!rows_agree || indices.rank() != 1 || indices[0] != gradient[0])
      return invalid_argument("a gradient of shape " + gradient.text() + " at indices of shape " +
                              indices.text() + " for a variable of shape " + variable.text());
    return check_indices(context.input(in_.indices), variable[0]);
  }

  template <class T>
  RuleScalars<T> scalars(const KernelContext& context) const {
    const auto value = [&](size_t input) { return input == 0 ? 0.0 : number(context.input(input)); };
    double rate = value(in_.rate);
    if (in_.beta2_power != 0) rate *= std::sqrt(1 - value(in_.beta2_power));
    if (in_.beta1_power != 0) rate /= 1 - value(in_.beta1_power);
    const double steps = in_.steps == 0 ? 1 : value(in_.steps);
    return {.rate = static_cast<T>(rate),
            .momentum = static_cast<T>(value(in_.momentum)),
            .decay = static_cast<T>(value(in_.decay)),
            .beta1 = static_cast<T>(value(in_.beta1)),
            .beta2 = static_cast<T>(value(in_.beta2)),
            .epsilon = static_cast<T>(value(in_.epsilon)),
            .l1 = static_cast<T>(steps * value(in_.l1)),
            .l2 = static_cast<T>(steps * value(in_.l2)),
            .shrinkage = static_cast<T>(value(in_.shrinkage)),
            .power = static_cast<T>(-value(in_.power)),
            .update_slots = update_slots_,
            .linear_by_rate = linear_by_rate_};
  }

  template <class T>
  Status update(KernelContext& context) const {
    const auto k = scalars<ComputeType<T>>(context);
    Pool& pool = context.device().pool();
    std::array<NewValue, max_states> values;
    RuleArrays<T> arrays;
    for (size_t i = 0; i < in_.variables; ++i) {
      TROUPE_ASSIGN(values[i], new_value(context, i));
      if (in_.indices != 0) values[i].bring_over(pool);
      arrays.after[i] = values[i].after->template write<T>().data();
      arrays.before[i] = in_.indices != 0 ? arrays.after[i] : values[i].before<T>().data();
    }
    const Tensor& gradient = context.input(in_.gradient);
    arrays.gradient = gradient.as<T>().data();
    if (in_.indices != 0) {
      update_rows(pool, k, arrays, context.input(in_.indices), gradient);
      return {};
    }
    parallel_items(pool, gradient.as<T>().size(), cost_of_element(sizeof(T)),
                   [&](size_t begin, size_t end) { apply_to(rule_, k, arrays, begin, end); });
    return {};
  }

  template <class T>
  void update_rows(Pool& pool, const RuleScalars<ComputeType<T>>& k, const RuleArrays<T>& arrays,
                   const Tensor& indices, const Tensor& gradient) const {
    if (gradient.elements() == 0) return;
    const Dims rows = integers(indices);
    const size_t row = gradient.as<T>().size() / rows.size();
    change_rows(pool, rows, row * cost_of_element(sizeof(T)), [&](size_t i) {
      RuleArrays<T> at;
      for (size_t v = 0; v < in_.variables; ++v)
        at.before[v] = at.after[v] = arrays.after[v] + static_cast<size_t>(rows[i]) * row;
      at.gradient = arrays.gradient + i * row;
      apply_to(rule_, k, at, 0, row);
    });
  }

  size_t cost_of_element(size_t size) const { return (2 * in_.variables + 1) * size; }

  Rule rule_;
  Inputs in_;
  bool update_slots_, linear_by_rate_;
};

}  // namespace

Status training_shape(ShapeContext& context) {
  const OpDef& op = *context.node().op;
  const Inputs in(op);
  PartialShape variable = context.input(0);
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    if (i < in.variables || (i == in.gradient && in.indices == 0)) {
      TROUPE_ASSIGN(variable, merge(variable, context.input(i)));
    } else if (i == in.indices) {
      TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
    } else if (i != in.gradient) {
      TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
    }
  }
  if (in.indices != 0 && variable.known_rank() && variable.rank() > 0) {
    const PartialShape rows = concatenate(context.input(in.indices), partial(variable.dims().subspan(1)));
    TROUPE_RETURN_IF_FAILED(merge(context.input(in.gradient), rows).status());
  }
  if (!op.outputs.empty()) context.set_output(0, std::move(variable));
  return {};
}

Result<std::unique_ptr<Kernel>> training_kernel(Rule rule, const PrepareContext& context) {
  return std::unique_ptr<Kernel>(new TrainingKernel(rule, context.node));
}

}  // namespace troupe
