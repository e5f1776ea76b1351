// Writing variables (features.md D2, D4, P5). The kernels are update rules: from the current values of the
// variables they make the new ones, in place when nobody holds the old; the group that owns the cell runs
// them and publishes the result.
//   Assign(ref, value)                    the value; of the variable's shape unless validate_shape is false
//   AssignAdd, AssignSub(ref, value)      += and -=, of equal shapes
//   ScatterUpdate, ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterMin, ScatterMax(ref, indices, updates)
//                                         rows indices[i] of the variable: replaced by updates[i], or combined
//                                         with them, in order, repeats included; or each with a scalar; nothing
//                                         is written when any index is out of range, or an integer would be
//                                         divided by zero
//   AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp, ResourceScatter...: the same on resources
// Only Assign and AssignVariableOp take a variable without a value. use_locking is accepted and means nothing:
// writes never interleave.
#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/arithmetic.h"
#include "kernels/check_integers.h"
#include "kernels/rows.h"
#include "kernels/type_dispatch.h"
#include "kernels/update.h"

namespace troupe {
namespace {

// ---- Assign

class AssignKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> prepare(const PrepareContext& context) {
    const AttrValue* validate = context.node.attrs.find("validate_shape");
    const bool any = validate && !std::get<bool>(*validate);
    return std::unique_ptr<Kernel>(new AssignKernel(any ? PartialShape{} : context.input_shape(0)));
  }
  explicit AssignKernel(PartialShape declared) : declared_(std::move(declared)) {}

  Outcome run(KernelContext& context) const override {
    const Shape& shape = context.input(1).shape();
    if (!declared_.compatible_with(shape))
      return invalid_argument("a value of shape " + shape.text() + " for a variable of shape " +
                              declared_.text());
    context.set_output(0, context.input(1));
    return Status{};
  }

 private:
  PartialShape declared_;
};

Status assign_shape(ShapeContext& context) {
  if (!context.attr<bool>("validate_shape")) {
    context.set_output(0, context.input(1));
    return {};
  }
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

Status same_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  if (!context.node().output_types.empty()) context.set_output(0, std::move(shape));
  return {};
}

// ---- AssignAdd, AssignSub

/// Elements [begin, end) of `after`: Function of those of `before` and `value`.
template <class Function, class T>
void combine(std::span<const T> before, std::span<const T> value, std::span<T> after, size_t begin,
             size_t end) {
  constexpr bool adds = std::is_same_v<Function, Add>, subtracts = std::is_same_v<Function, Sub>;
  if constexpr ((adds || subtracts) && (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
    const RuleArrays<T> arrays{{before.data()}, {after.data()}, value.data()};
    apply_rule(adds ? Rule::Add : Rule::Subtract, {}, arrays, begin, end);
  } else {
    using Computed = ComputeType<T>;
    for (size_t i = begin; i < end; ++i)
      after[i] = T(Function::apply(static_cast<Computed>(before[i]), static_cast<Computed>(value[i])));
  }
}

template <class Function>
Status run_assign_combined(KernelContext& context) {
  const Tensor value = context.input(1);
  TROUPE_RETURN_IF_FAILED(require_same_shape(context, 0, 1));
  TROUPE_ASSIGN(const NewValue variable, new_value(context, 0));
  with_type(NumberTypes{}, value.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_items(
        context.device().pool(), value.as<T>().size(), 3 * sizeof(T), [&](size_t begin, size_t end) {
          combine<Function, T>(variable.before<T>(), value.as<T>(), variable.after->write<T>(), begin, end);
        });
  });
  return {};
}

// ---- Scatter

using MovableTypes = Joined<PlainTypes, TypeList<std::string>>;

/// The function of the scatters that do not combine.
struct Replace {
  template <class T>
  static T apply(const T&, const T& update) {
    return update;
  }
};

/// updates = indices.shape + ref.shape[1:], or a scalar.
Status scatter_shape(ShapeContext& context) {
  const PartialShape &variable = context.input(0), &updates = context.input(2);
  if (variable.known_rank()) {
    if (variable.rank() == 0) return invalid_argument("the variable is a scalar: it has no rows");
    const PartialShape row = partial(variable.dims().subspan(1));
    if (!updates.known_rank() || updates.rank() > 0)
      TROUPE_RETURN_IF_FAILED(merge(updates, concatenate(context.input(1), row)).status());
  }
  if (!context.node().output_types.empty()) context.set_output(0, variable);
  return {};
}

Status check_scatter(const Shape& variable, const Tensor& indices, const Tensor& updates) {
  Dims expected(indices.shape().dims());
  if (variable.rank() == 0) return invalid_argument("the variable is a scalar: it has no rows");
  expected.append(variable.dims().subspan(1));
  if (!updates.shape().is_scalar() && !std::ranges::equal(expected, updates.shape().dims()))
    return invalid_argument("updates of shape " + updates.shape().text() + " for indices of shape " +
                            indices.shape().text() + " and a variable of shape " + variable.text());
  return check_indices(indices, variable[0]);
}

/// The rows to scatter: row i begins at i * step. Of a scalar there is one, which fills it.
struct Updates {
  Tensor rows;
  size_t step = 0;
};

Result<Updates> updates_of(KernelContext& context, size_t row) {
  const Tensor& updates = context.input(2);
  if (!updates.shape().is_scalar() || row == 1)
    return Updates{updates, updates.shape().is_scalar() ? 0 : row};
  TROUPE_ASSIGN(Tensor filled, context.scratch(updates.dtype(), Shape::vector(static_cast<int64_t>(row))));
  with_type(MovableTypes{}, updates.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::fill(filled.write<T>(), updates.as<T>()[0]);
  });
  return Updates{std::move(filled), 0};
}

template <class Function, class T>
void scatter_rows(Pool& pool, const Dims& rows, size_t row, const Updates& updates, Tensor& variable) {
  const auto from = updates.rows.as<T>();
  const auto to = variable.write<T>();
  change_rows(pool, rows, 3 * row * sizeof(T), [&](size_t i) {
    const auto source = from.subspan(i * updates.step, row);
    const auto target = to.subspan(static_cast<size_t>(rows[i]) * row, row);
    if constexpr (std::is_same_v<Function, Replace>)
      std::ranges::copy(source, target.begin());
    else
      combine<Function, T>(target, source, target, 0, row);
  });
}

template <class Function, class List>
Status run_scatter(KernelContext& context) {
  const Tensor &indices = context.input(1), &updates = context.input(2);
  const Shape shape = context.input(0).shape();
  TROUPE_RETURN_IF_FAILED(check_scatter(shape, indices, updates));
  const bool changes = indices.elements() > 0 && shape.elements() > 0;
  if (std::is_same_v<Function, Div> && changes) TROUPE_RETURN_IF_FAILED(check_divisors(updates, "updates"));
  TROUPE_ASSIGN(NewValue variable, new_value(context, 0));
  variable.bring_over(context.device().pool());
  if (!changes) return {};
  const auto row = static_cast<size_t>(shape.elements() / shape[0]);
  TROUPE_ASSIGN(const Updates rows, updates_of(context, row));
  with_type(List{}, updates.dtype(), [&]<class T>(std::type_identity<T>) {
    scatter_rows<Function, T>(context.device().pool(), integers(indices), row, rows, *variable.after);
  });
  return {};
}

// ---- Definitions

OpDefBuilder write_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .served_by(ServedBy::Variable)
      .effect(Effect::State)
      .shape(shape)
      .not_differentiable();
}

OpDefBuilder resource_write_op(std::string name) {
  return write_op(std::move(name), same_shape)
      .input("resource: resource")
      .input("value: dtype")
      .attr("dtype: type");
}

void add_assigns(OpLibrary& library) {
  library.op(write_op("Assign", assign_shape)
                 .input("ref: Ref(T)")
                 .input("value: T")
                 .output("output_ref: Ref(T)")
                 .attr("T: type")
                 .attr("validate_shape: bool = true")
                 .attr("use_locking: bool = true")
                 .constructor("assign(ref, value, validate_shape, use_locking)")
                 .allows_uninitialized_input());
  library.op(resource_write_op("AssignVariableOp").allows_uninitialized_input());
  for (const char* name : {"AssignAdd", "AssignSub"}) {
    library.op(
        write_op(name, same_shape)
            .input("ref: Ref(T)")
            .input("value: T")
            .output("output_ref: Ref(T)")
            .attr("T: numbertype")
            .attr("use_locking: bool = false")
            .constructor(std::string(name == std::string_view("AssignAdd") ? "assign_add" : "assign_sub") +
                         "(ref, value, use_locking)"));
    library.op(resource_write_op(std::string(name) + "VariableOp"));
  }
  for (const char* name : {"Assign", "AssignVariableOp"})
    library.kernel(cpu_kernel<AssignKernel>(name).inexpensive());
  const auto numbers = dtypes(NumberTypes{});
  library.kernel(cpu_kernel("AssignAdd", run_assign_combined<Add>).on("T", numbers));
  library.kernel(cpu_kernel("AssignSub", run_assign_combined<Sub>).on("T", numbers));
  library.kernel(cpu_kernel("AssignAddVariableOp", run_assign_combined<Add>).on("dtype", numbers));
  library.kernel(cpu_kernel("AssignSubVariableOp", run_assign_combined<Sub>).on("dtype", numbers));
}

/// ScatterAdd on references, `verb` Add, and on resources.
template <class Function, class List>
void add_scatter(OpLibrary& library, const std::string& verb, const std::string& constructor,
                 const std::string& types, bool locks = false) {
  const std::string name = "Scatter" + verb, resource_name = "Resource" + name;
  library.op(write_op(name, scatter_shape)
                 .input("ref: Ref(T)")
                 .input("indices: Tindices")
                 .input("updates: T")
                 .output("output_ref: Ref(T)")
                 .attr("T: " + types)
                 .attr("Tindices: {int32, int64}")
                 .attr(std::string("use_locking: bool = ") + (locks ? "true" : "false"))
                 .constructor(constructor + "(ref, indices, updates, use_locking)"));
  library.op(write_op(resource_name, scatter_shape)
                 .input("resource: resource")
                 .input("indices: Tindices")
                 .input("updates: dtype")
                 .attr("dtype: " + types)
                 .attr("Tindices: {int32, int64}"));
  constexpr auto run = run_scatter<Function, List>;
  library.kernel(cpu_kernel(name, run).on("T", dtypes(List{})).host({"indices"}));
  library.kernel(cpu_kernel(resource_name, run).on("dtype", dtypes(List{})).host({"indices"}));
}

}  // namespace

void add_assign_ops(OpLibrary& library) {
  add_assigns(library);
  add_scatter<Replace, MovableTypes>(library, "Update", "scatter_update", "type", true);
  add_scatter<Add, NumberTypes>(library, "Add", "scatter_add", "numbertype");
  add_scatter<Sub, NumberTypes>(library, "Sub", "scatter_sub", "numbertype");
  add_scatter<Mul, NumberTypes>(library, "Mul", "scatter_mul", "numbertype");
  add_scatter<Div, NumberTypes>(library, "Div", "scatter_div", "numbertype");
  add_scatter<Minimum, RealTypes>(library, "Min", "scatter_min", "realnumbertype");
  add_scatter<Maximum, RealTypes>(library, "Max", "scatter_max", "realnumbertype");
}

}  // namespace troupe
