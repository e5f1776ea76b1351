// CountUpTo(ref), ResourceCountUpTo(resource): add 1 to a scalar variable and yield its value before. OutOfRange if that is `limit`
// or more; the variable then keeps its value. The kernel is an update rule as in assign.cpp: its output is the new value.
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {
namespace {

using CountTypes = TypeList<int32_t, int64_t>;

struct CountArguments {
  NewValue variable;
  int64_t limit;
};

Status count_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  if (context.attr<DType>("T") == DType::Int32 &&
      context.attr<int64_t>("limit") > std::numeric_limits<int32_t>::max())
    return invalid_argument("limit is " + std::to_string(context.attr<int64_t>("limit")) +
                            ", which is no int32");
  return scalar_shape(context);
}

Result<CountArguments> check_count(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  if (!shape.is_scalar())
    return invalid_argument("the variable has shape " + shape.text() + ", but must be a scalar");
  TROUPE_ASSIGN(NewValue value, new_value(context, 0));
  return CountArguments{std::move(value), context.node().attrs.get<int64_t>("limit")};
}

Status compute_count(const CountArguments& arguments, DeviceContext&) {
  Status status;
  with_type(CountTypes{}, arguments.variable.after->dtype(), [&]<class T>(std::type_identity<T>) {
    const T before = arguments.variable.before<T>()[0];
    if (int64_t{before} >= arguments.limit)
      status = out_of_range("Reached limit of " + std::to_string(arguments.limit));
    else
      arguments.variable.after->write<T>()[0] = before + 1;
  });
  return status;
}

}  // namespace

void add_count_up_to_ops(OpLibrary& library) {
  library.op(write_op("CountUpTo", count_shape)
                 .input("ref: Ref(T)")
                 .output("output: T")
                 .attr("limit: int")
                 .attr("T: {int32, int64}"));
  library.op(write_op("ResourceCountUpTo", count_shape)
                 .input("resource: resource")
                 .output("output: T")
                 .attr("limit: int")
                 .attr("T: {int32, int64}"));
  for (const char* name : {"CountUpTo", "ResourceCountUpTo"})
    library.kernel(cpu_kernel(name, check_count, compute_count).on("T", dtypes(CountTypes{})));
}

}  // namespace troupe
