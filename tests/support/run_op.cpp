#include "tests/support/run_op.h"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <sstream>

#include "devices/pool.h"
#include "graph/scope.h"
#include "kernels/type_dispatch.h"

namespace troupe::test {
namespace {

const ArgDef& argument_of(const OpDef& op, size_t input) {
  static const ArgDef none;
  if (op.inputs.empty()) return none;
  // Ops that take references have one tensor for each argument.
  return op.inputs[std::min(input, op.inputs.size() - 1)];
}

Output source(const Scope& scope, const ArgDef& argument, const Tensor& value, Known known) {
  const PartialShape shape = known == Known::Nothing ? PartialShape{} : PartialShape(value.shape());
  if (argument.is_ref) return scope.add_one("VariableV2", {}, {{"shape", shape}, {"dtype", value.dtype()}});
  if (argument.type == DType::Resource)
    return scope.add_one("VarHandleOp", {}, {{"shape", shape}, {"dtype", value.dtype()}});
  if (known == Known::Values) return scope.constant(value);
  return scope.add_one("Placeholder", {}, {{"dtype", value.dtype()}, {"shape", shape}});
}

size_t output_count(const Node& node) {
  size_t variables = 0;
  for (const ArgDef& argument : node.op->inputs)
    if (argument.is_ref || argument.type == DType::Resource) ++variables;
  return std::max(node.output_types.size(), variables);
}

Result<std::vector<Tensor>> run_kernel(const Graph& graph, const Node& node,
                                       const std::vector<Tensor>& inputs, const StepInfo& step,
                                       size_t threads) {
  TROUPE_ASSIGN(const auto pool, ThreadPool::make(threads));
  DeviceContext device(heap_allocator(), *pool);
  TROUPE_ASSIGN(const KernelDef* const def, op_library()->kernels.find(node, "CPU"));
  TROUPE_ASSIGN(const auto kernel, def->prepare({graph, node, device}));
  std::vector<Slot> slots;
  for (const Tensor& input : inputs) slots.push_back(Slot::of(input));
  std::vector<Tensor> outputs(output_count(node));
  KernelContext context(node, slots.data(), slots.size(), outputs.data(), device, step, 0);
  const Outcome outcome = kernel->run(context);
  TROUPE_RETURN_IF_FAILED(std::get<Status>(outcome));
  return outputs;
}

void check_shapes(const Node& node, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < node.output_shapes.size(); ++i)
    BOOST_TEST(
        node.output_shapes[i].compatible_with(outputs[i].shape()),
        node.type() << ": inferred " << node.output_shapes[i].text() << ", got " << outputs[i].signature());
}

}  // namespace

std::shared_ptr<const OpLibrary> op_library() {
  static const auto library = make_op_library();
  return library;
}

Result<std::vector<Tensor>> run_op(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs,
                                   Known known, const StepInfo& step, size_t threads) {
  Graph graph(op_library()->ops);
  const Scope scope(graph);
  TROUPE_ASSIGN(const OpDef* const def, graph.ops()->require(op));
  NodeSpec spec{"node", op, std::move(attrs), {}, {}, {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i)
    spec.inputs.push_back(source(scope, argument_of(*def, i), inputs[i], known));
  TROUPE_ASSIGN(const NodeId id, graph.add(std::move(spec)));
  const Node& node = graph.node(id);
  auto outputs = run_kernel(graph, node, inputs, step, threads);
  if (!outputs) return outputs.status().at_node(node.type(), node.name);
  check_shapes(node, *outputs);
  return outputs;
}

void check_op(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
              const std::vector<Tensor>& expected) {
  for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
    const auto outputs = run_op(op, inputs, attrs, known);
    BOOST_TEST_REQUIRE(outputs.ok(), op << ": " << outputs.status().message());
    BOOST_TEST_REQUIRE(outputs->size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(identical((*outputs)[i], expected[i]), op << ": output " << i << " is "
                                                           << text_of((*outputs)[i]) << ", expected "
                                                           << text_of(expected[i]));
  }
}

void check_refused(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
                   const std::string& text) {
  for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
    const auto outputs = run_op(op, inputs, attrs, known);
    BOOST_TEST_REQUIRE(!outputs.ok(), op << " did not fail: " << text);
    BOOST_TEST((outputs.status().code() == Code::InvalidArgument), outputs.status().message());
    BOOST_TEST(outputs.status().text().find(text) != std::string::npos,
               op << ": \"" << outputs.status().text() << "\" does not say \"" << text << '"');
  }
}

std::string text_of(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor.signature();
  with_type(TypeList<float, double, int32_t, int64_t, bool, std::string>{}, tensor.dtype(),
            [&]<class T>(std::type_identity<T>) {
              for (size_t i = 0; i < tensor.as<T>().size() && i < 32; ++i) out << ' ' << tensor.as<T>()[i];
            });
  return out.str();
}

Tensor floats(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of<float>(shape, values);
}
Tensor ints(std::initializer_list<int32_t> values) { return Tensor::vector<int32_t>(values); }
Tensor ints(const Shape& shape, std::initializer_list<int32_t> values) {
  return Tensor::of<int32_t>(shape, values);
}
Tensor int_scalar(int32_t value) { return Tensor::scalar(value); }
Tensor strings(std::initializer_list<std::string> values) { return Tensor::vector<std::string>(values); }

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::of<float>(shape, std::span<const float>(values));
}

}  // namespace troupe::test
