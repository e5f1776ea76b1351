// Comparisons, element by element; shapes broadcast as in NumPy; the output is bool.
//   Equal, NotEqual                              numbers, bool, string
//   Less, LessEqual, Greater, GreaterEqual       real numbers
// NaN is unequal to everything, itself included. Not differentiable.
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/elementwise.h"

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

/// The same with the inputs exchanged.
template <class Function>
struct Swapped {
  template <class T>
  static bool apply(T a, T b) {
    return Function::apply(b, a);
  }
};

using EqualityTypes = Joined<WideNumberTypes, TypeList<bool, std::string>>;

template <class Function, class List>
void add_comparison(OpLibrary& library, const char* name, const char* types, const char* constructor,
                    bool commutative) {
  OpDefBuilder op(name);
  op.input("x: T")
      .input("y: T")
      .output("z: bool")
      .attr(types)
      .constructor(std::string(constructor) + "(x, y)")
      .shape(broadcast_shape)
      .not_differentiable();
  if (commutative) op.commutative();
  library.op(op);
  library.kernel(binary_kernel(name, scalar_binary_loop_of<Function, List>));
}

}  // namespace

void add_comparison_ops(OpLibrary& library) {
  constexpr const char* equality_types =
      "T: {half, bfloat16, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, "
      "string, bool}";
  constexpr const char* ordered_types = "T: realnumbertype";
  add_comparison<Equal, EqualityTypes>(library, "Equal", equality_types, "equal", true);
  add_comparison<NotEqual, EqualityTypes>(library, "NotEqual", equality_types, "not_equal", true);
  add_comparison<Less, WideRealTypes>(library, "Less", ordered_types, "less", false);
  add_comparison<LessEqual, WideRealTypes>(library, "LessEqual", ordered_types, "less_equal", false);
  add_comparison<Swapped<Less>, WideRealTypes>(library, "Greater", ordered_types, "greater", false);
  add_comparison<Swapped<LessEqual>, WideRealTypes>(library, "GreaterEqual", ordered_types, "greater_equal",
                                                    false);
}

}  // namespace troupe
