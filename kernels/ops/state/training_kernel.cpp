#include "kernels/ops/state/training_kernel.h"

#include <cmath>
#include <numeric>

#include "graph/build/signature.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/trust_ratio.h"

namespace troupe {
namespace {

/// Returns the value of a bool attribute that some of these ops have.
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

/// Applies the rule to elements of float or double.
template <class T>
void apply_to(Rule rule, const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t begin,
              size_t end) {
  apply_rule(rule, scalars, arrays, begin, end);
}

/// For half: applies the rule in float, to a few elements at a time.
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

template <class T>
RuleScalars<T> scalars_of(const TrainingArguments& arguments) {
  const auto has = [&](TrainingScalar scalar) { return arguments.scalars[scalar] != nullptr; };
  const auto value = [&](TrainingScalar scalar) {
    return has(scalar) ? number(*arguments.scalars[scalar]) : 0.0;
  };
  using enum TrainingScalar;
  const double of_squares = has(Beta2Power) ? std::sqrt(1 - value(Beta2Power)) : 1;
  const double of_first = has(Beta1Power) ? 1 - value(Beta1Power) : 1;
  const bool is_lamb = arguments.rule == Rule::Lamb;
  const double steps = has(Steps) ? value(Steps) : 1;
  return {.rate = static_cast<T>(is_lamb ? value(Rate) : value(Rate) * of_squares / of_first),
          .momentum = static_cast<T>(value(Momentum)),
          .decay = static_cast<T>(value(Decay)),
          .base = static_cast<T>(is_lamb ? of_squares / of_first : value(Base)),
          .beta1 = static_cast<T>(value(Beta1)),
          .beta2 = static_cast<T>(value(Beta2)),
          .epsilon = static_cast<T>(value(Epsilon) * (is_lamb ? of_squares : 1)),
          .l1 = static_cast<T>(steps * value(L1)),
          .l2 = static_cast<T>(steps * value(L2)),
          .shrinkage = static_cast<T>(value(Shrinkage)),
          .power = static_cast<T>(-value(Power)),
          .update_slots = arguments.update_slots,
          .linear_by_rate = arguments.linear_by_rate};
}

/// The cost of an element, in bytes moved.
size_t cost_of_element(const TrainingArguments& arguments, size_t size) {
  return (2 * arguments.variables + 1) * size;
}

/// Returns the trust ratio of a variable. The sums of blocks, which depend on the shape alone, are added in order.
template <class T, class C>
C trust_ratio_of(const TrainingArguments& arguments, const RuleScalars<C>& k, const RuleArrays<T>& arrays,
                 Pool& pool) {
  const auto count = static_cast<size_t>(arguments.gradient->elements());
  const size_t block = items_per_block(cost_of_element(arguments, sizeof(T)));
  std::vector<SquareSums> sums((count + block - 1) / block);
  pool.blocks(count, block, [&](size_t begin, size_t end) {
    const auto at = [&](size_t state, size_t i) {
      return arrays.before[state] ? static_cast<C>(arrays.before[state][i]) : C(0);
    };
    SquareSums& sum = sums[begin / block];
    for (size_t i = begin; i < end; ++i)
      sum = sum +
            squares_of(arguments.rule, k, at(0, i), at(1, i), at(2, i), static_cast<C>(arrays.gradient[i]));
  });
  return trust_ratio(arguments.rule, k, std::accumulate(sums.begin(), sums.end(), SquareSums()));
}

template <class T>
void update_all(const TrainingArguments& arguments, Pool& pool) {
  auto k = scalars_of<ComputeType<T>>(arguments);
  const auto gradient = arguments.gradient->as<T>();
  RuleArrays<T> arrays;
  for (size_t v = 0; v < arguments.variables; ++v) {
    arrays.before[v] = arguments.values[v].template before<T>().data();
    arrays.after[v] = arguments.values[v].after->template write<T>().data();
  }
  arrays.gradient = gradient.data();
  if (has_trust_ratio(arguments.rule)) k.rate *= trust_ratio_of(arguments, k, arrays, pool);
  parallel_items(pool, gradient.size(), cost_of_element(arguments, sizeof(T)),
                 [&](size_t begin, size_t end) { apply_to(arguments.rule, k, arrays, begin, end); });
}

template <class T>
void update_rows(const TrainingArguments& arguments, Pool& pool) {
  const auto gradient = arguments.gradient->as<T>();
  if (gradient.empty()) return;
  const auto k = scalars_of<ComputeType<T>>(arguments);
  const Dims rows = integers(*arguments.indices);
  const size_t row = gradient.size() / rows.size();
  std::array<T*, max_states> values;
  for (size_t v = 0; v < arguments.variables; ++v)
    values[v] = arguments.values[v].after->template write<T>().data();
  change_rows(pool, rows, row * cost_of_element(arguments, sizeof(T)), [&](size_t i) {
    RuleArrays<T> at;
    for (size_t v = 0; v < arguments.variables; ++v)
      at.before[v] = at.after[v] = values[v] + static_cast<size_t>(rows[i]) * row;
    at.gradient = gradient.data() + i * row;
    apply_to(arguments.rule, k, at, 0, row);
  });
}

}  // namespace

void TrainingInputs::place(std::string_view name, size_t position) {
  using enum TrainingScalar;
  const std::pair<std::string_view, size_t*> places[] = {
      {"grad", &gradient},
      {"delta", &gradient},
      {"indices", &indices},
      {"lr", &scalars[Rate]},
      // beside lr, alpha is something else
      {"alpha", &scalars[scalars[Rate] == 0 ? Rate : Base]},
      {"logbase", &scalars[Base]},
      {"trust_coefficient", &scalars[Base]},
      {"rho", &scalars[Decay]},
      {"sign_decay", &scalars[Decay]},
      {"beta", &scalars[Beta1]},
      {"beta1", &scalars[Beta1]},
      {"beta2", &scalars[Beta2]},
      {"epsilon", &scalars[Epsilon]},
      {"momentum", &scalars[Momentum]},
      {"beta1_power", &scalars[Beta1Power]},
      {"beta2_power", &scalars[Beta2Power]},
      {"l1", &scalars[L1]},
      {"l2", &scalars[L2]},
      {"weight_decay", &scalars[L2]},
      {"l2_shrinkage", &scalars[Shrinkage]},
      {"lr_power", &scalars[Power]},
      {"global_step", &scalars[Steps]}};
  for (const auto& [input, at] : places)
    if (input == name) *at = position;
}

TrainingInputs::TrainingInputs(const OpDef& op) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ArgDef& input = op.inputs[i];
    if (input.is_ref || input.type == DType::Resource) ++variables;
    place(input.name, i);
  }
}

TrainingCheck::TrainingCheck(const TrainingMethod& method, const TrainingInputs& inputs, const Node& node)
    : rule_(flag(node, "use_nesterov", false) ? method.nesterov : method.rule), in_(inputs),
      update_slots_(flag(node, "update_slots", true)),
      linear_by_rate_(flag(node, "multiply_linear_by_lr", false)) {}

Status TrainingCheck::check_shapes(const KernelContext& context) const {
  const size_t first = in_.first_variable;
  for (size_t i = 1; i < in_.variables; ++i)
    TROUPE_RETURN_IF_FAILED(require_same_shape(context, first, first + i));
  for (const size_t i : in_.scalars.all())
    if (i != 0 && !context.input(i).shape().is_scalar())
      return invalid_argument(argument_name(context.node(), i) + " of shape " +
                              context.input(i).shape().text() + " is not a scalar");
  return in_.indices == 0 ? require_same_shape(context, first, in_.gradient) : check_rows(context);
}

Status TrainingCheck::check_rows(const KernelContext& context) const {
  const Shape& variable = context.input(0).shape();
  const Shape &gradient = context.input(in_.gradient).shape(), &indices = context.input(in_.indices).shape();
  const bool rows_agree = variable.rank() > 0 && gradient.rank() == variable.rank() &&
                          std::ranges::equal(variable.dims().subspan(1), gradient.dims().subspan(1));
  if (rows_agree && indices.rank() == 1 && indices[0] == gradient[0]) return {};
  return invalid_argument(
      "the gradient has shape " + gradient.text() + ", indices has shape " + indices.text() +
      " and the variable has shape " + variable.text() +
      "; the gradient must have one row for each index, with the shape of a row of the variable");
}

Result<TrainingArguments> TrainingCheck::operator()(KernelContext& context) const {
  TROUPE_RETURN_IF_FAILED(check_shapes(context));
  TrainingArguments arguments{rule_, update_slots_, linear_by_rate_, in_.variables};
  const auto input = [&](size_t i) { return i == 0 ? nullptr : &context.input(i); };
  arguments.gradient = input(in_.gradient);
  arguments.indices = input(in_.indices);
  arguments.scalars = in_.scalars.map(input);
  for (size_t i = 0; i < in_.variables; ++i) {
    TROUPE_ASSIGN(arguments.values[i], new_value(context, in_.first_variable + i));
  }
  return arguments;
}

Status training_shape(ShapeContext& context) {
  const OpDef& op = *context.node().op;
  const TrainingInputs in(op);
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

Status compute_training(const TrainingArguments& arguments, DeviceContext& device) {
  if (arguments.indices) {
    TROUPE_RETURN_IF_FAILED(check_indices(*arguments.indices, arguments.values[0].after->shape()[0]));
    for (size_t v = 0; v < arguments.variables; ++v) arguments.values[v].bring_over(device.pool());
  }
  with_type(TypeList<float, double, Half>{}, arguments.gradient->dtype(),
            [&]<class T>(std::type_identity<T>) {
              arguments.indices ? update_rows<T>(arguments, device.pool())
                                : update_all<T>(arguments, device.pool());
            });
  return {};
}

}  // namespace troupe
