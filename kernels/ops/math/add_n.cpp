// AddN(inputs...), AccumulateNV2(inputs...): the sum of one or more tensors of the same shape and number type, added in the order
// of the inputs. Integers wrap around; half and bfloat16 are summed in float and rounded once. For lists of tensors see
// tensor_list_arithmetic.cpp.
#include "kernels/ops/math/add_n.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/loops/sum.h"

namespace troupe {
namespace {

Status add_n_shape(ShapeContext& context) {
  PartialShape shape = context.input(0);
  for (size_t i = 1; i < context.inputs(); ++i) {
    auto merged = merge(shape, context.input(i));
    if (!merged) return invalid_argument("input " + std::to_string(i) + ": " + merged.status().text());
    shape = std::move(*merged);
  }
  context.set_output(0, std::move(shape));
  return {};
}

struct AddNCompute {
  Sum sum;

  void operator()(const AddNArguments& arguments, DeviceContext& device) const {
    if (arguments.sum) sum.add(device.pool(), arguments.terms, *arguments.sum);
  }
};

Result<std::unique_ptr<Kernel>> prepare_add_n(const PrepareContext& context) {
  return make_kernel(check_add_n, AddNCompute{Sum(context.input_dtype(0))});
}

void add_n_gradient(GradientContext& context) {
  const Output gradient = context.gradient();
  for (size_t i = 0; i < context.node().inputs.size(); ++i) context.set(i, gradient);
}

OpDefBuilder sum_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .input("inputs: N * T")
      .output("sum: T")
      .attr("N: int >= 1")
      .attr(types)
      .shape(add_n_shape)
      .gradient(add_n_gradient);
}

}  // namespace

Result<AddNArguments> check_add_n(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  AddNArguments arguments{{}, nullptr};
  arguments.terms.reserve(context.inputs());
  for (size_t i = 0; i < context.inputs(); ++i) {
    if (!(context.input(i).shape() == shape))
      return invalid_argument("input " + std::to_string(i) + " is " + context.input(i).signature() +
                              ", but all inputs must have the shape of input 0, " + shape.text());
    arguments.terms.push_back(context.input(i).data());
  }
  if (context.inputs() == 1) {
    context.set_output(0, context.input(0));
    return arguments;
  }
  TROUPE_ASSIGN(arguments.sum, context.forward(0, 0, shape));
  return arguments;
}

void add_add_n(OpLibrary& library) {
  library.op(sum_op("AddN",
                    "T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
                    "uint64, complex64, complex128, variant}")
                 .constructor("add_n(inputs)")
                 .aggregate());
  library.op(sum_op("AccumulateNV2", "T: numbertype").attr("shape: shape"));
  for (const char* name : {"AddN", "AccumulateNV2"})
    library.kernel(kernel_on("CPU", name, prepare_add_n).on("T", dtypes(NumberTypes{})).inexpensive());
}

}  // namespace troupe
