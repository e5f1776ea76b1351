// Logic on bool tensors, element by element.
//   LogicalAnd(x, y), LogicalOr(x, y)   shapes broadcast as in NumPy
//   LogicalNot(x)
//   ToBool(x)                           for a scalar, whether it is neither zero nor an empty string; else whether x has elements
// Not differentiable.
#include "kernels/ops/math/logical.h"

#include "graph/build/shape_context.h"
#include "kernels/loops/elementwise.h"

namespace troupe {
namespace {

struct And {
  static bool apply(bool a, bool b) { return a && b; }
};
struct Or {
  static bool apply(bool a, bool b) { return a || b; }
};
struct Not {
  static bool apply(bool x) { return !x; }
};

using ScalarTypes = Joined<PlainTypes, TypeList<std::string>>;

void compute_to_bool(const ToBoolArguments& arguments, DeviceContext&) {
  const Tensor& x = arguments.x;
  bool holds = x.elements() > 0;
  if (x.shape().is_scalar())
    with_type(ScalarTypes{}, x.dtype(), [&]<class T>(std::type_identity<T>) { holds = x.item<T>() != T{}; });
  arguments.holds.write<bool>()[0] = holds;
}

/// Kernels select loops by attribute T, which these ops do not have.
KernelDef for_bool(KernelDef def) {
  def.types.clear();
  return def;
}

}  // namespace

Result<ToBoolArguments> check_to_bool(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const holds, context.output(0, Shape()));
  return ToBoolArguments{context.input(0), *holds};
}

void add_logical_ops(OpLibrary& library) {
  for (const auto& [name, constructor] :
       {std::pair{"LogicalAnd", "logical_and(x, y)"}, std::pair{"LogicalOr", "logical_or(x, y)"}})
    library.op(OpDefBuilder(name)
                   .input("x: bool")
                   .input("y: bool")
                   .output("z: bool")
                   .constructor(constructor)
                   .commutative()
                   .shape(broadcast_shape)
                   .not_differentiable());
  library.kernel(for_bool(binary_kernel("LogicalAnd", scalar_binary_loop_of<And, TypeList<bool>>)));
  library.kernel(for_bool(binary_kernel("LogicalOr", scalar_binary_loop_of<Or, TypeList<bool>>)));
  library.op(OpDefBuilder("LogicalNot")
                 .input("x: bool")
                 .output("y: bool")
                 .constructor("logical_not(x)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(for_bool(unary_kernel("LogicalNot", scalar_unary_loop_of<Not, TypeList<bool>>)));
  library.op(OpDefBuilder("ToBool")
                 .input("input: T")
                 .output("output: bool")
                 .attr("T: type")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.kernel(
      cpu_kernel("ToBool", check_to_bool, compute_to_bool).on("T", dtypes(ScalarTypes{})).inexpensive());
}

}  // namespace troupe
