// Compares single ops with the values that TensorFlow computes for them: tests/golden/op_values/, written by
// tests/golden/make_op_values.py.
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <set>

#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_coverage.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::golden_test {
namespace {

struct GoldenCase {
  std::string where;  ///< the file, and the line where the case begins
  std::string op;
  Tolerance close;
  Attributes attrs;
  std::vector<Tensor> inputs, outputs;
  bool fails = false;
};

template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <class T>
std::vector<T> numbers(std::string_view text) {
  std::vector<T> values;
  for (const auto part : parts_of(text, ',')) values.push_back(number<T>(part));
  return values;
}

/// "[?,3]".
PartialShape shape(std::string_view text) {
  std::vector<int64_t> dims;
  for (const auto part : parts_of(text.substr(1, text.size() - 2), ','))
    dims.push_back(part == "?" ? unknown_dim : number<int64_t>(part));
  return PartialShape(std::move(dims));
}

/// The elements of a list of attributes, each read by `one`. A list of strings is percent-encoded.
template <class T, class One>
std::vector<T> list(std::string_view text, char separator, const One& one) {
  std::vector<T> values;
  if (text.empty()) return values;
  for (const auto part : parts_of(text, separator)) values.push_back(one(part));
  return values;
}

AttrValue attribute(const std::string& op, std::string_view name, std::string_view text) {
  const AttrDef* const def = value_or_throw(op_library()->ops->require(op))->find_attr(name);
  if (!def) throw Error(not_found(op + " has no attribute " + std::string(name)));
  switch (def->kind) {
    case AttrKind::Int: return number<int64_t>(text);
    case AttrKind::Float: return number<float>(text);
    case AttrKind::Bool: return text == "1";
    case AttrKind::String: return string_from_text(text);
    case AttrKind::Type: return value_or_throw(dtype_from_name(text));
    case AttrKind::Shape: return shape(text);
    case AttrKind::Ints: return numbers<int64_t>(text);
    case AttrKind::Floats: return numbers<float>(text);
    case AttrKind::Strings: return list<std::string>(text, ',', string_from_text);
    case AttrKind::Types:
      return list<DType>(text, ',',
                         [](std::string_view one) { return value_or_throw(dtype_from_name(one)); });
    case AttrKind::Shapes: return list<PartialShape>(text, ';', shape);
    default: throw Error(unimplemented("attributes like " + op + "'s " + std::string(name)));
  }
}

void read_cases(const std::string& path, std::vector<GoldenCase>& cases) {
  const std::string text = project_file(path);
  size_t line = 0;
  for (const std::string_view whole : parts_of(text, '\n')) {
    ++line;
    const size_t space = whole.find(' ');
    const auto kind = whole.substr(0, space);
    const auto rest = space == std::string_view::npos ? std::string_view{} : whole.substr(space + 1);
    const auto words = parts_of(rest, ' ');
    if (kind == "case") {
      GoldenCase& one = cases.emplace_back();
      one.where = path + ":" + std::to_string(line);
      one.op = words[0];
      if (words.size() == 4) one.close = {number<double>(words[2]), number<double>(words[3])};
    } else if (kind == "attr") {
      cases.back().attrs.set(
          words[0], attribute(cases.back().op, words[0], words.size() > 1 ? words[1] : std::string_view()));
    } else if (kind == "in") {
      cases.back().inputs.push_back(tensor_from_text(rest));
    } else if (kind == "out") {
      cases.back().outputs.push_back(tensor_from_text(rest));
    } else if (kind == "fails") {
      cases.back().fails = true;
    }
  }
}

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = [] {
    std::vector<GoldenCase> result;
    for (const std::string& path : project_files("tests/golden/op_values")) read_cases(path, result);
    return result;
  }();
  return cases;
}

void check(const GoldenCase& golden, Known known) {
  const std::string where = golden.where + ": " + golden.op + ": ";
  const auto outputs = run_op(golden.op, golden.inputs, golden.attrs, known);
  if (golden.fails) {
    BOOST_TEST((!outputs.ok() && outputs.status().code() == Code::InvalidArgument),
               where << "it does not refuse: " << outputs.status().message());
    return;
  }
  BOOST_TEST(outputs.ok(), where << outputs.status().message());
  if (!outputs.ok()) return;
  BOOST_TEST_REQUIRE(outputs->size() == golden.outputs.size(), where);
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const std::string what = difference((*outputs)[i], golden.outputs[i], golden.close);
    BOOST_TEST(what.empty(), where << "output " << i << ": " << what);
  }
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(ops_compute_what_tensorflow_does) {
  for (const GoldenCase& one : golden_cases())
    for (const Known known : {Known::Values, Known::Nothing}) check(one, known);
}

// Every op with a kernel, except those that compute nothing, those with other results in every run, those without a CPU kernel in
// the TensorFlow that made the cases, functions of the program, updates of rows that TensorFlow does not have, what it refuses in
// new graphs, counters, which yield the value before the update, fused ops, which fuse_test.cpp compares with the ops that they
// replace, and what TensorFlow does not have: the gradient of projective transforms, and layer norms, which layers_test.cpp
// compares with Keras.
BOOST_AUTO_TEST_CASE(every_op_with_a_kernel_has_a_case) {
  std::set<std::string> seen = {"Const",
                                "CountUpTo",
                                "ImageProjectiveTransformGrad",
                                "ResourceCountUpTo",
                                "MaxPoolGradGradWithArgmax",
                                "LayerNorm",
                                "LayerNormGrad",
                                "NoOp",
                                "Placeholder",
                                "PlaceholderV2",
                                "PlaceholderWithDefault",
                                "PyFunc",
                                "PyFuncStateless",
                                "TopK",
                                "SparseApplyGradientDescent",
                                "SparseApplyAdam",
                                "SparseApplyAdaMax",
                                "ApplyAdamWithAmsgrad",
                                "SparseApplyAdamWithAmsgrad",
                                "ApplyLamb",
                                "ApplyLars",
                                "ApplyLion",
                                "SparseApplyLion",
                                "SparseApplyAddSign",
                                "SparseApplyPowerSign",
                                "ApplyMovingAverage",
                                "BatchNormWithGlobalNormalization",
                                "QuantizeAndDequantize",
                                "QuantizedReluX",
                                "BatchNormWithGlobalNormalizationGrad",
                                "_CheckFinite",
                                "_FusedConv2D",
                                "_FusedElementwise",
                                "_FusedMatMul"};
  for (const GoldenCase& one : golden_cases()) seen.insert(one.op);
  for (const auto& [name, op] : op_library()->ops->ops()) {
    if (deals_in_lists(*op) || op->effect == Effect::Step) continue;
    const bool computes =
        op->effect != Effect::Random && !op->outputs.empty() && !op_library()->kernels.of(name).empty();
    BOOST_TEST((!computes || seen.contains(name)), "tests/golden/op_values/ has no case of " << name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::golden_test
