// Writes to variables (features.md D2, D4, P5). The kernels are update rules: they compute the new values of variables from the
// current ones, in place if nobody else holds the old values. The group that owns the cells runs them and publishes the results.
//   Assign(ref, value)                    the value; it must have the shape of the variable unless validate_shape is false
//   AssignAdd, AssignSub(ref, value)      += and -=; both have the same shape
//   AssignVariableOp(resource, value)     the value, of any shape; with validate_shape it must have the shape of the present value
//   AssignAddVariableOp, AssignSubVariableOp   like AssignAdd and AssignSub
// Only Assign and AssignVariableOp accept a variable without a value. use_locking is accepted and has no effect: writes never
// interleave.
#include "kernels/ops/state/assign.h"

#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/combine.h"

namespace troupe {
namespace {

// ---- Assign

/// Makes the value the new value of the variable, if it has a shape that the variable may have.
class ReplaceValue {
 public:
  explicit ReplaceValue(const PrepareContext& context) {
    if (!context.attr<bool>("validate_shape")) return;
    keeps_ = context.node.type() == "AssignVariableOp";
    if (!keeps_) declared_ = context.input_shape(0);
  }

  Status operator()(KernelContext& context) const {
    const Tensor& old = context.input(0);
    const PartialShape expected = keeps_ && old.valid() ? PartialShape(old.shape()) : declared_;
    const Shape& shape = context.input(1).shape();
    if (!expected.compatible_with(shape))
      return invalid_argument("the value has shape " + shape.text() + ", but the variable has shape " +
                              expected.text());
    context.set_output(0, context.input(1));
    return {};
  }

 private:
  PartialShape declared_;
  bool keeps_ = false;  ///< if true, a variable that has a value keeps its shape
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

template <class Function>
void compute_assign_add(const AssignAddArguments& arguments, DeviceContext& device) {
  const NewValue& variable = arguments.variable;
  const Tensor& value = arguments.value;
  with_type(NumberTypes{}, value.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_items(device.pool(), value.as<T>().size(), 3 * sizeof(T), [&](size_t begin, size_t end) {
      combine<Function, T>(variable.before<T>(), value.as<T>(), variable.after->write<T>(), begin, end);
    });
  });
}

// ---- Definitions

OpDefBuilder resource_write_op(std::string name) {
  return write_op(std::move(name), same_shape)
      .input("resource: resource")
      .input("value: dtype")
      .attr("dtype: type");
}

template <class Function>
void add_assign_add_kernels(OpLibrary& library, const std::string& op) {
  const auto numbers = dtypes(NumberTypes{});
  library.kernel(cpu_kernel(op, check_assign_add, compute_assign_add<Function>).on("T", numbers));
  library.kernel(
      cpu_kernel(op + "VariableOp", check_assign_add, compute_assign_add<Function>).on("dtype", numbers));
}

}  // namespace

Result<AssignAddArguments> check_assign_add(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(require_same_shape(context, 0, 1));
  TROUPE_ASSIGN(NewValue variable, new_value(context, 0));
  return AssignAddArguments{std::move(variable), context.input(1)};
}

void add_assign_ops(OpLibrary& library) {
  library.op(write_op("Assign", assign_shape)
                 .input("ref: Ref(T)")
                 .input("value: T")
                 .output("output_ref: Ref(T)")
                 .attr("T: type")
                 .attr("validate_shape: bool = true")
                 .attr("use_locking: bool = true")
                 .constructor("assign(ref, value, validate_shape, use_locking)")
                 .allows_uninitialized_input());
  library.op(resource_write_op("AssignVariableOp")
                 .attr("validate_shape: bool = false")
                 .allows_uninitialized_input());
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
    library.kernel(host_kernel<ReplaceValue>(name).inexpensive());
  add_assign_add_kernels<Add>(library, "AssignAdd");
  add_assign_add_kernels<Sub>(library, "AssignSub");
}

}  // namespace troupe
