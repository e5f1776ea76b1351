// A few ops with their usual names, for tests of run files and expressions that do not need kernels.
#pragma once

#include <memory>

#include "graph/build/shape_context.h"
#include "graph/ops/op_table.h"

namespace troupe::test {

inline Status matmul_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto a, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto b, context.with_rank(1, 2));
  if (a[1] >= 0 && b[0] >= 0 && a[1] != b[0])
    return invalid_argument("a " + a.text() + " x b " + b.text() + ": inner dimensions differ");
  context.set_output(0, PartialShape{a[0], b[1]});
  return {};
}

inline Status declared_shape(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

inline OpDefBuilder binary(const std::string& op, const std::string& constructor,
                           const std::string& result = "T") {
  return OpDefBuilder(op)
      .input("x: T")
      .input("y: T")
      .output("z: " + result)
      .attr("T: numbertype")
      .constructor(constructor + "(x, y)")
      .shape(broadcast_shape);
}

inline OpDefBuilder unary(const std::string& op, const std::string& constructor, ShapeFunction shape) {
  return OpDefBuilder(op)
      .input("x: T")
      .output("y: T")
      .attr("T: numbertype")
      .constructor(constructor)
      .shape(shape);
}

inline std::shared_ptr<const OpTable> small_ops() {
  auto table = std::make_shared<OpTable>();
  const auto add = [&](const OpDefBuilder& op) { throw_if_failed(table->add(op)); };
  add(OpDefBuilder("Const")
          .output("output: dtype")
          .attr("value: tensor")
          .attr("dtype: type")
          .shape([](ShapeContext& context) {
            context.set_output(0, context.attr<Tensor>("value").shape());
            return Status{};
          }));
  add(OpDefBuilder("Placeholder")
          .output("output: dtype")
          .attr("dtype: type")
          .attr("shape: shape")
          .shape(declared_shape));
  add(OpDefBuilder("VariableV2")
          .output("ref: Ref(dtype)")
          .attr("shape: shape")
          .attr("dtype: type")
          .shape(declared_shape));
  add(OpDefBuilder("NoOp").constructor("no_op()").shape(no_output_shape));
  add(binary("Add", "add"));
  add(binary("Sub", "sub"));
  add(binary("Mul", "mul"));
  add(binary("Div", "div"));
  add(binary("Less", "less", "bool"));
  add(binary("Equal", "equal", "bool"));
  add(unary("Neg", "neg(x)", unchanged_shape));
  add(unary("Relu", "relu(x)", unchanged_shape));
  add(unary("Mean", "mean(x)", scalar_shape));
  add(OpDefBuilder("AddN")
          .input("inputs: N * T")
          .output("sum: T")
          .attr("N: int >= 1")
          .attr("T: numbertype")
          .constructor("add_n(inputs)")
          .shape(unchanged_shape));
  add(OpDefBuilder("MatMul")
          .input("a: T")
          .input("b: T")
          .output("product: T")
          .attr("transpose_a: bool = false")
          .attr("transpose_b: bool = false")
          .attr("T: {float, double}")
          .constructor("matmul(a, b, transpose_a, transpose_b)")
          .shape(matmul_shape));
  add(OpDefBuilder("Cast")
          .input("x: SrcT")
          .output("y: DstT")
          .attr("SrcT: type")
          .attr("DstT: type")
          .constructor("cast(x, dtype: DstT)")
          .shape(unchanged_shape));
  return table;
}

}  // namespace troupe::test
