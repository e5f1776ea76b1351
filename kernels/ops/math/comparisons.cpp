// Comparisons, element by element. Shapes broadcast as in NumPy; the output is bool.
//   Equal, NotEqual                         numbers, bool, string. Shapes that do not broadcast are an error, or, without
//                                           incompatible_shape_error, make the inputs unequal: the output is a scalar
//   Less, LessEqual, Greater, GreaterEqual  real numbers
// NaN is unequal to everything, itself included. Not differentiable.
#include "kernels/ops/math/comparisons.h"

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

struct Equal {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};

/// The same comparison with exchanged inputs.
template <class Function>
struct Swapped {
  template <class T>
  static bool apply(T a, T b) {
    return Function::apply(b, a);
  }
};

using EqualityTypes = Joined<WideNumberTypes, TypeList<bool, std::string>>;

bool refuses_shapes(const Node& node) { return node.attrs.get<bool>("incompatible_shape_error"); }

/// Without incompatible_shape_error, the output is a scalar if the shapes do not broadcast.
Status equality_shape(ShapeContext& context) {
  const PartialShape &x = context.input(0), &y = context.input(1);
  auto shape = broadcast(x, y);
  if (refuses_shapes(context.node())) {
    if (shape) context.set_output(0, std::move(*shape));
    return shape.status();
  }
  if (!shape) context.set_output(0, PartialShape::scalar());
  if (shape && x.fully_known() && y.fully_known()) context.set_output(0, std::move(*shape));
  return {};
}

struct EqualityCompute {
  BinaryCompute elements;
  bool unequal;  ///< the result for tensors whose shapes do not broadcast

  void operator()(const EqualityArguments& arguments, DeviceContext& device) const {
    if (arguments.broadcasts) return elements(arguments.elements, device);
    *reinterpret_cast<bool*>(arguments.elements.out) = unequal;
  }
};

template <class Function>
void add_equality(OpLibrary& library, const char* name, const char* constructor) {
  library.op(
      OpDefBuilder(name)
          .input("x: T")
          .input("y: T")
          .output("z: bool")
          .attr(
              "T: {half, bfloat16, float, double, uint8, int8, uint16, int16, uint32, int32, uint64, int64, "
              "complex64, complex128, string, bool}")
          .attr("incompatible_shape_error: bool = true")
          .constructor(std::string(constructor) + "(x, y)")
          .shape(equality_shape)
          .not_differentiable()
          .commutative());
  constexpr BinaryLoopOf loop_of = scalar_binary_loop_of<Function, EqualityTypes>;
  KernelDef kernel = binary_kernel(name, loop_of);
  kernel.prepare = [elementwise = std::move(kernel.prepare)](
                       const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
    if (refuses_shapes(context.node)) return elementwise(context);
    constexpr bool unequal = std::is_same_v<Function, NotEqual>;
    return make_kernel(check_equality, EqualityCompute{{context, loop_of}, unequal});
  };
  library.kernel(std::move(kernel));
}

template <class Function>
void add_order(OpLibrary& library, const char* name, const char* constructor) {
  library.op(OpDefBuilder(name)
                 .input("x: T")
                 .input("y: T")
                 .output("z: bool")
                 .attr("T: realnumbertype")
                 .constructor(std::string(constructor) + "(x, y)")
                 .shape(broadcast_shape)
                 .not_differentiable());
  library.kernel(binary_kernel(name, scalar_binary_loop_of<Function, WideRealTypes>));
}

}  // namespace

Result<EqualityArguments> check_equality(KernelContext& context) {
  if (broadcast(context.input(0).shape(), context.input(1).shape()).ok()) {
    TROUPE_ASSIGN(auto elements, BinaryCheck{}(context));
    return EqualityArguments{std::move(elements), true};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape()));
  EqualityArguments arguments{};
  arguments.elements.out = output->mutable_data();
  return arguments;
}

void add_comparison_ops(OpLibrary& library) {
  add_equality<Equal>(library, "Equal", "equal");
  add_equality<NotEqual>(library, "NotEqual", "not_equal");
  add_order<Less>(library, "Less", "less");
  add_order<LessEqual>(library, "LessEqual", "less_equal");
  add_order<Swapped<Less>>(library, "Greater", "greater");
  add_order<Swapped<LessEqual>>(library, "GreaterEqual", "greater_equal");
}

}  // namespace troupe
