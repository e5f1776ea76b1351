#include "tests/support/ops/run_op.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "devices/pool.h"
#include "graph/build/scope.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::test {
namespace {

const ArgDef& argument_of(const OpDef& op, size_t input, const Attributes& attrs) {
  static const ArgDef none;
  for (const ArgDef& argument : op.inputs) {
    const AttrValue *const number = attrs.find(argument.number_attr), *const types =
                                                                          attrs.find(argument.type_list_attr);
    size_t count = 1;
    if (number)
      count = static_cast<size_t>(std::get<int64_t>(*number));
    else if (types)
      count = std::get<std::vector<DType>>(*types).size();
    else if (!argument.number_attr.empty() || !argument.type_list_attr.empty())
      return argument;  // nothing says how many, and no argument behind it takes references
    if (input < count) return argument;
    input -= count;
  }
  return op.inputs.empty() ? none : op.inputs.back();
}

Output source(const Scope& scope, const ArgDef& argument, const Tensor& value, Known known) {
  const PartialShape shape = known == Known::Nothing ? PartialShape{} : PartialShape(value.shape());
  if (argument.is_ref) return scope.add_one("VariableV2", {}, {{"shape", shape}, {"dtype", value.dtype()}});
  if (argument.type == DType::Resource)
    return scope.add_one("VarHandleOp", {}, {{"shape", shape}, {"dtype", value.dtype()}});
  if (known == Known::Values && !is_local(value.dtype())) return scope.constant(value);
  return scope.add_one("Placeholder", {}, {{"dtype", value.dtype()}, {"shape", shape}});
}

Result<std::vector<Tensor>> run_kernel(const SingleOp& op, const std::vector<Tensor>& inputs,
                                       const StepInfo& step, size_t threads) {
  TROUPE_ASSIGN(const auto pool, ThreadPool::make(threads));
  DeviceContext device(heap_allocator(), *pool);
  TROUPE_ASSIGN(const KernelDef* const def, op_library()->kernels.find(op.node(), "CPU"));
  TROUPE_ASSIGN(const auto kernel, def->prepare({op.graph, op.node(), device}));
  std::vector<Slot> slots;
  for (const Tensor& input : inputs) slots.push_back(Slot::of(input));
  std::vector<Tensor> outputs(op.results());
  KernelContext context(op.node(), slots.data(), slots.size(), outputs.data(), device, step, 0);
  TROUPE_RETURN_IF_FAILED(kernel->run(context));
  return outputs;
}

/// Returns whether the shapes of outputs depend on elements that the shape function does not read: how many entries a sparse
/// tensor has, how many values an example, how many boxes are kept, what the size of an image in a file is.
bool has_counted_entries(const std::string& op) {
  static const std::set<std::string_view> ops = {"CTCBeamSearchDecoder",
                                                 "CTCGreedyDecoder",
                                                 "ComputeAccidentalHits",
                                                 "DecodeAndCropJpeg",
                                                 "DecodeBmp",
                                                 "DecodeGif",
                                                 "DecodeImage",
                                                 "DecodeJpeg",
                                                 "DecodePng",
                                                 "DecodeWav",
                                                 "DenseCountSparseOutput",
                                                 "DenseToDenseSetOperation",
                                                 "DenseToSparseSetOperation",
                                                 "DeserializeManySparse",
                                                 "DeserializeSparse",
                                                 "NonMaxSuppression",
                                                 "NonMaxSuppressionV2",
                                                 "NonMaxSuppressionV3",
                                                 "NonMaxSuppressionV4",
                                                 "NonMaxSuppressionV5",
                                                 "NonMaxSuppressionWithOverlaps",
                                                 "ParseExample",
                                                 "ParseExampleV2",
                                                 "ParseSequenceExample",
                                                 "ParseSequenceExampleV2",
                                                 "ParseSingleExample",
                                                 "ParseSingleSequenceExample",
                                                 "PyFunc",
                                                 "PyFuncStateless",
                                                 "RaggedCountSparseOutput",
                                                 "RaggedGather",
                                                 "RaggedRange",
                                                 "RaggedTensorToTensor",
                                                 "SparseAdd",
                                                 "SparseCountSparseOutput",
                                                 "SparseCross",
                                                 "SparseCrossV2",
                                                 "SparseFillEmptyRows",
                                                 "SparseReduceMaxSparse",
                                                 "SparseReduceSumSparse",
                                                 "SparseSegmentMeanGradV2",
                                                 "SparseSegmentSqrtNGradV2",
                                                 "SparseSegmentSumGradV2",
                                                 "SparseSlice",
                                                 "SparseSparseMaximum",
                                                 "SparseSparseMinimum",
                                                 "SparseSplit",
                                                 "SparseToSparseSetOperation",
                                                 "UnicodeDecode",
                                                 "UnicodeDecodeWithOffsets",
                                                 "StringNGrams",
                                                 "StringSplit",
                                                 "StringSplitV2"};
  return ops.contains(op);
}

void check_shapes(const Node& node, const std::vector<Tensor>& outputs, Known known) {
  for (size_t i = 0; i < node.output_shapes.size(); ++i) {
    const PartialShape& inferred = node.output_shapes[i];
    BOOST_TEST(inferred.compatible_with(outputs[i].shape()),
               node.type() << ": inferred " << inferred.text() << ", got " << outputs[i].signature());
    const bool open = known != Known::Values || node.type() == "PlaceholderWithDefault" ||
                      node.type() == "BroadcastGradientArgs" || has_counted_entries(node.type());
    BOOST_TEST((open || inferred.fully_known()),
               node.type() << ": of inputs all known only " << inferred.text() << " was inferred");
  }
}

}  // namespace

Result<SingleOp> SingleOp::make(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs,
                                Known known) {
  SingleOp single{Graph(op_library()->ops), 0, {}};
  const Scope scope(single.graph);
  TROUPE_ASSIGN(const OpDef* const def, single.graph.ops()->require(op));
  for (size_t i = 0; i < inputs.size(); ++i)
    single.sources.push_back(source(scope, argument_of(*def, i, attrs), inputs[i], known));
  TROUPE_ASSIGN(single.id, single.graph.add({"node", op, std::move(attrs), single.sources, {}, {}, {}}));
  return single;
}

size_t SingleOp::results() const {
  size_t variables = 0;
  for (size_t i = 0; i < node().inputs.size(); ++i) {
    const EdgeType type = graph.type(node().inputs[i]);
    if (node().expects_ref[i] || type.dtype == DType::Resource) ++variables;
  }
  return std::max(node().output_types.size(), variables);
}

Result<std::vector<Tensor>> run_op(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs,
                                   Known known, const StepInfo& step, size_t threads) {
  TROUPE_ASSIGN(const SingleOp single, SingleOp::make(op, inputs, std::move(attrs), known));
  const Node& node = single.node();
  auto outputs = run_kernel(single, inputs, step, threads);
  if (!outputs) return outputs.status().at_node(node.type(), node.name);
  check_shapes(node, *outputs, known);
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
