// Whatever the bytes of strings are, the ops that parse them end with outputs that fit together or with a Status. The first byte
// chooses the op, the others are strings that end with lines. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include <algorithm>

#include "devices/pool.h"
#include "graph/build/scope.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {
namespace {

using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

/// A node of one op whose input 0, strings, is fed; its other inputs are constants.
class FuzzedOp {
 public:
  FuzzedOp(const std::string& op, PartialShape strings, std::vector<Tensor> constants, Attributes attrs)
      : graph_(op_library()->ops), constants_(std::move(constants)), device_(heap_allocator(), pool_) {
    const Scope scope(graph_);
    std::vector<Output> inputs{
        scope.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", strings}})};
    for (const Tensor& constant : constants_) inputs.push_back(scope.constant(constant));
    id_ = value_or_throw(graph_.add({"node", op, std::move(attrs), inputs, {}, {}, {}}));
    const KernelDef* const def = value_or_throw(op_library()->kernels.find(node(), "CPU"));
    kernel_ = value_or_throw(def->prepare({graph_, node(), device_}));
  }

  /// Returns nothing if the op refuses the strings.
  std::vector<Tensor> run(const Tensor& strings) const {
    std::vector<Slot> slots{Slot::of(strings)};
    for (const Tensor& constant : constants_) slots.push_back(Slot::of(constant));
    std::vector<Tensor> outputs(node().output_types.size());
    const StepInfo step;
    KernelContext context(node(), slots.data(), slots.size(), outputs.data(), device_, step, 0);
    if (!kernel_->run(context).ok()) return {};
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!node().output_shapes[i].compatible_with(outputs[i].shape())) __builtin_trap();
    return outputs;
  }

 private:
  const Node& node() const { return graph_.node(id_); }

  Graph graph_;
  NodeId id_ = 0;
  std::vector<Tensor> constants_;
  InlinePool pool_;
  mutable DeviceContext device_;
  std::unique_ptr<Kernel> kernel_;
};

Tensor words(std::initializer_list<std::string> values) { return Tensor::vector<std::string>(values); }

/// Features a, b, c, ... of all forms and types.
FuzzedOp parse_example(bool batched) {
  return {"ParseExampleV2",
          batched ? PartialShape{unknown_dim} : PartialShape::scalar(),
          {words({}), words({"a", "b", "c"}), words({"d", "e", "f", "g", "h", "i"}), words({"j", "k", "l"}),
           Tensor::vector<float>({1, 2}), Tensor::vector<int64_t>({3}), words({"x"}), Tensor::scalar(1.0f),
           Tensor::scalar<int64_t>(2), words({"y"})},
          {{"num_sparse", int64_t{3}},
           {"sparse_types", Types{f32, i64, DType::String}},
           {"Tdense", Types{f32, i64, DType::String, f32, i64, DType::String}},
           {"dense_shapes", Shapes{{2}, {1}, {1}, {unknown_dim}, {unknown_dim, 2}, {unknown_dim}}},
           {"ragged_value_types", Types{f32, i64, DType::String}},
           {"ragged_split_types", Types{i32, i64, i32}}}};
}

FuzzedOp parse_sequences(bool batched) {
  return {
      "ParseSequenceExampleV2",
      batched ? PartialShape{unknown_dim} : PartialShape::scalar(),
      {words({}), words({"a"}), words({"d"}), words({"j"}), words({"a", "b", "c"}), words({"d", "e", "f"}),
       words({"j", "k", "l"}), Tensor::vector<bool>({true, true, true}), Tensor::vector<float>({1, 2})},
      {{"Ncontext_sparse", int64_t{1}},
       {"context_sparse_types", Types{i64}},
       {"Tcontext_dense", Types{f32}},
       {"context_dense_shapes", Shapes{{2}}},
       {"context_ragged_value_types", Types{DType::String}},
       {"context_ragged_split_types", Types{i32}},
       {"Nfeature_list_sparse", int64_t{3}},
       {"feature_list_sparse_types", Types{f32, i64, DType::String}},
       {"Nfeature_list_dense", int64_t{3}},
       {"feature_list_dense_types", Types{f32, i64, DType::String}},
       {"feature_list_dense_shapes", Shapes{{2}, {}, {0}}},
       {"feature_list_ragged_value_types", Types{f32, i64, DType::String}},
       {"feature_list_ragged_split_types", Types{i32, i64, i32}}}};
}

FuzzedOp decode_csv(bool has_quotes) {
  return {"DecodeCSV",
          PartialShape{unknown_dim},
          {Tensor::vector<float>({1}), Tensor::vector<double>({1}), Tensor::vector<int32_t>({1}),
           Tensor::vector<int64_t>({1}), words({"x"})},
          {{"use_quote_delim", has_quotes}}};
}

/// Checks that the indices of a sparse output are inside of its shape.
void check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  const auto dims = shape.as<int64_t>(), all = indices.as<int64_t>();
  if (all.size() != dims.size() * static_cast<size_t>(values.elements())) __builtin_trap();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] < 0 || all[i] >= dims[i % dims.size()]) __builtin_trap();
}

Tensor lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return Tensor::vector<std::string>(std::span<const std::string>(lines));
}

struct FuzzedOps {
  const FuzzedOp examples = parse_example(true), example = parse_example(false);
  const FuzzedOp sequences = parse_sequences(true), sequence = parse_sequences(false);
  const FuzzedOp csv = decode_csv(true), plain_csv = decode_csv(false);
  const FuzzedOp json{"DecodeJSONExample", PartialShape{unknown_dim}, {}, {}};
  const FuzzedOp zlib{
      "DecodeCompressed", PartialShape{unknown_dim}, {}, {{"compression_type", std::string("ZLIB")}}};
  const FuzzedOp gzip{
      "DecodeCompressed", PartialShape{unknown_dim}, {}, {{"compression_type", std::string("GZIP")}}};
  const FuzzedOp tensor{"ParseTensor", PartialShape::scalar(), {}, {{"out_type", f32}}};
  const FuzzedOp texts{"ParseTensor", PartialShape::scalar(), {}, {{"out_type", DType::String}}};
  const FuzzedOp merge{"MergeSummary", PartialShape{unknown_dim}, {}, {{"N", int64_t{1}}}};
};

/// What DecodeJSONExample yields is an Example.
void check_json(const FuzzedOps& ops, const Tensor& lines) {
  const auto decoded = ops.json.run(lines);
  if (!decoded.empty()) ops.examples.run(decoded[0]);
}

void check(const FuzzedOps& ops, uint8_t choice, std::string_view bytes) {
  const Tensor lines = lines_of(bytes), whole = Tensor::scalar(std::string(bytes));
  switch (choice % 12) {
    case 0:
    case 1:
      if (const auto outputs = choice % 12 == 0 ? ops.examples.run(lines) : ops.example.run(whole);
          !outputs.empty())
        for (size_t i = 0; i < 3; ++i) check_sparse(outputs[i], outputs[3 + i], outputs[6 + i]);
      return;
    case 2:
    case 3:
      if (const auto outputs = choice % 12 == 2 ? ops.sequences.run(lines) : ops.sequence.run(whole);
          !outputs.empty())
        for (size_t i = 0; i < 3; ++i) check_sparse(outputs[6 + i], outputs[9 + i], outputs[12 + i]);
      return;
    case 4: ops.csv.run(lines); return;
    case 5: ops.plain_csv.run(lines); return;
    case 6: check_json(ops, lines); return;
    case 7: ops.zlib.run(lines); return;
    case 8: ops.gzip.run(lines); return;
    case 9: ops.tensor.run(whole); return;
    case 10: ops.texts.run(whole); return;
    default: ops.merge.run(lines);
  }
}

}  // namespace
}  // namespace troupe::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  static const troupe::test::FuzzedOps ops;
  if (size != 0) troupe::test::check(ops, data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
