// Integers as rows of bits, element by element; the shapes of two inputs broadcast as in NumPy.
//   BitwiseAnd, BitwiseOr, BitwiseXor(x, y), Invert(x)
//   LeftShift(x, y), RightShift(x, y)   by y bits. RightShift of a negative x brings in ones. A y below 0 counts as 0, and one
//                                       above the highest bit as the number of the highest bit.
//   PopulationCount(x)                  the number of ones, as uint8
// Not differentiable.
#include "kernels/ops/math/bitwise.h"

#include "graph/build/shape_context.h"
#include "kernels/loops/elementwise.h"

namespace troupe {
namespace {

constexpr const char* integers = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}";

template <class Function>
void add_binary(OpLibrary& library, const char* name, const char* constructor, bool commutes) {
  OpDefBuilder op(name);
  op.input("x: T").input("y: T").output("z: T").attr(integers).constructor(std::string(constructor) +
                                                                           "(x, y)");
  if (commutes) op.commutative();
  library.op(op.shape(broadcast_shape).not_differentiable());
  library.kernel(binary_kernel(name, scalar_binary_loop_of<Function, IntegerTypes>));
}

template <class Function>
void add_unary(OpLibrary& library, const char* name, const char* constructor, const char* output) {
  library.op(OpDefBuilder(name)
                 .input("x: T")
                 .output(output)
                 .attr(integers)
                 .constructor(std::string(constructor) + "(x)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(unary_kernel(name, scalar_unary_loop_of<Function, IntegerTypes>));
}

}  // namespace

void add_bitwise_ops(OpLibrary& library) {
  add_binary<BitwiseAnd>(library, "BitwiseAnd", "bitwise_and", true);
  add_binary<BitwiseOr>(library, "BitwiseOr", "bitwise_or", true);
  add_binary<BitwiseXor>(library, "BitwiseXor", "bitwise_xor", true);
  add_binary<LeftShift>(library, "LeftShift", "left_shift", false);
  add_binary<RightShift>(library, "RightShift", "right_shift", false);
  add_unary<Invert>(library, "Invert", "invert", "y: T");
  add_unary<PopulationCount>(library, "PopulationCount", "population_count", "y: uint8");
}

}  // namespace troupe
