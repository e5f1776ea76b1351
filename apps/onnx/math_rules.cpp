// Rules for arithmetic, comparisons, activations, products and reductions.
#include <algorithm>
#include <numeric>

#include "apps/onnx/conversion.h"

namespace troupe::onnx {
namespace {

/// The ops that ONNX has under another name, or the same: with the same inputs, and one output.
constexpr std::pair<const char*, const char*> renamed[] = {
    {"Abs", "Abs"},
    {"Acos", "Acos"},
    {"Acosh", "Acosh"},
    {"Add", "Add"},
    {"AddN", "Sum"},
    {"AddV2", "Add"},
    {"Asin", "Asin"},
    {"Asinh", "Asinh"},
    {"Atan", "Atan"},
    {"Atanh", "Atanh"},
    {"Ceil", "Ceil"},
    {"Cos", "Cos"},
    {"Cosh", "Cosh"},
    {"Div", "Div"},
    {"Elu", "Elu"},
    {"Erf", "Erf"},
    {"Exp", "Exp"},
    {"Floor", "Floor"},
    {"Greater", "Greater"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"Inv", "Reciprocal"},
    {"IsNan", "IsNaN"},
    {"Less", "Less"},
    {"LessEqual", "LessOrEqual"},
    {"Log", "Log"},
    {"LogicalAnd", "And"},
    {"LogicalNot", "Not"},
    {"LogicalOr", "Or"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Mul", "Mul"},
    {"Neg", "Neg"},
    {"Pow", "Pow"},
    {"RealDiv", "Div"},
    {"Reciprocal", "Reciprocal"},
    {"Relu", "Relu"},
    {"Rint", "Round"},
    {"Round", "Round"},
    {"Select", "Where"},
    {"SelectV2", "Where"},
    {"Sigmoid", "Sigmoid"},
    {"Sign", "Sign"},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"Sqrt", "Sqrt"},
    {"Sub", "Sub"},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
};

Status renamed_op(Conversion& to, const Node& node) {
  for (const auto& [ours, theirs] : renamed)
    if (node.type() == ours) to.set(node, 0, to.add(theirs, to.inputs(node)));
  return {};
}

/// Returns the number 0 in the dtype of the first input.
Result<std::string> zero(Conversion& to, const Node& node) {
  if (to.dtype(node, 0) == DType::String) return unimplemented("ONNX has no number 0 for strings");
  TROUPE_ASSIGN(Tensor value, Tensor::allocate(to.dtype(node, 0), Shape()));
  std::fill_n(value.mutable_data(), value.bytes(), std::byte{0});
  return to.constant(value);
}

/// Returns the rest of a division that is rounded down: it has the sign of the divisor. For floats ONNX has that of a division that
/// is rounded towards 0, which differs by the divisor if the signs do.
Result<std::string> rest(Conversion& to, const Node& node) {
  const std::string &dividend = to.input(node, 0), &divisor = to.input(node, 1);
  if (!is_floating(to.dtype(node, 0))) return to.add("Mod", {dividend, divisor}, {{"fmod", int64_t{0}}});
  TROUPE_ASSIGN(const std::string none, zero(to, node));
  const std::string truncated = to.add("Mod", {dividend, divisor}, {{"fmod", int64_t{1}}});
  const std::string differs =
      to.add("Xor", {to.add("Less", {truncated, none}), to.add("Less", {divisor, none})});
  const std::string is_between =
      to.add("And", {differs, to.add("Not", {to.add("Equal", {truncated, none})})});
  return to.add("Where", {is_between, to.add("Add", {truncated, divisor}), truncated});
}

Status floor_mod(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const std::string result, rest(to, node));
  to.set(node, 0, result);
  return {};
}

Status floor_div(Conversion& to, const Node& node) {
  if (is_floating(to.dtype(node, 0))) {
    to.set(node, 0, to.add("Floor", {to.add("Div", to.inputs(node))}));
    return {};
  }
  TROUPE_ASSIGN(const std::string left, rest(to, node));
  to.set(node, 0, to.add("Div", {to.add("Sub", {to.input(node, 0), left}), to.input(node, 1)}));
  return {};
}

Status zeros_like(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const std::string none, zero(to, node));
  to.set(node, 0, to.add("Expand", {none, to.add("Shape", {to.input(node, 0)})}));
  return {};
}

Status clip(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Min", {to.add("Max", {to.input(node, 0), to.input(node, 1)}), to.input(node, 2)}));
  return {};
}

Status cumulative_sum(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const int64_t axis, to.known_integer(node, 1));
  to.set(node, 0,
         to.add("CumSum", {to.input(node, 0), to.constant(Tensor::scalar(axis))},
                {{"exclusive", int64_t{node.attrs.get<bool>("exclusive")}},
                 {"reverse", int64_t{node.attrs.get<bool>("reverse")}}}));
  return {};
}

/// ONNX has no Einsum of bfloat16; Troupe computes it in float, too.
Status einsum(Conversion& to, const Node& node) {
  const bool is_narrow = to.dtype(node, 0) == DType::BFloat16;
  std::vector<std::string> inputs = to.inputs(node);
  if (is_narrow)
    for (std::string& input : inputs) input = to.cast(input, DType::Float);
  const std::string product =
      to.add("Einsum", inputs, {{"equation", node.attrs.get<std::string>("equation")}});
  to.set(node, 0, is_narrow ? to.cast(product, DType::BFloat16) : product);
  return {};
}

/// Returns the comparison of strings with constant ones. ONNX compares no strings, but an encoder can number them.
Result<std::string> equal_strings(Conversion& to, const Node& node) {
  const size_t fixed = to.graph().constant(node.inputs[0]) ? 0 : 1;
  const Tensor* const texts = to.graph().constant(node.inputs[fixed]);
  if (!texts) return unimplemented("ONNX compares strings only with constant ones");
  std::vector<std::string> keys;
  std::vector<int64_t> numbers, number_of;
  for (const std::string& text : texts->as<std::string>()) {
    const auto known = std::ranges::find(keys, text);
    number_of.push_back(known - keys.begin());
    if (known != keys.end()) continue;
    numbers.push_back(static_cast<int64_t>(keys.size()));
    keys.push_back(text);
  }
  const std::string found =
      to.add(std::string(ml_domain) + "/LabelEncoder", {to.input(node, 1 - fixed)},
             {{"keys_strings", keys}, {"values_int64s", numbers}, {"default_int64", int64_t{-1}}});
  TROUPE_ASSIGN(Tensor wanted, Tensor::allocate(DType::Int64, texts->shape()));
  std::ranges::copy(number_of, wanted.write<int64_t>().begin());
  return to.add("Equal", {found, to.constant(wanted)});
}

Status equal(Conversion& to, const Node& node) {
  std::string result;
  if (to.dtype(node, 0) == DType::String) {
    TROUPE_ASSIGN(result, equal_strings(to, node));
  } else {
    result = to.add("Equal", to.inputs(node));
  }
  to.set(node, 0, node.type() == "Equal" ? result : to.add("Not", {result}));
  return {};
}

Status square(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Mul", {to.input(node, 0), to.input(node, 0)}));
  return {};
}

Status squared_difference(Conversion& to, const Node& node) {
  const std::string difference = to.add("Sub", to.inputs(node));
  to.set(node, 0, to.add("Mul", {difference, difference}));
  return {};
}

Status rsqrt(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Reciprocal", {to.add("Sqrt", to.inputs(node))}));
  return {};
}

/// Returns the number 1 in the dtype of the first input.
Result<std::string> one(Conversion& to, const Node& node) {
  if (to.dtype(node, 0) == DType::Float) return to.constant(Tensor::scalar(1.0f));
  if (to.dtype(node, 0) == DType::Double) return to.constant(Tensor::scalar(1.0));
  return unimplemented("it can be exported for float and double only");
}

Status ones_like(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const std::string unit, one(to, node));
  to.set(node, 0, to.add("Expand", {unit, to.add("Shape", {to.input(node, 0)})}));
  return {};
}

Status log1p(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const std::string unit, one(to, node));
  to.set(node, 0, to.add("Log", {to.add("Add", {to.input(node, 0), unit})}));
  return {};
}

Status expm1(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const std::string unit, one(to, node));
  to.set(node, 0, to.add("Sub", {to.add("Exp", to.inputs(node)), unit}));
  return {};
}

Status relu6(Conversion& to, const Node& node) {
  if (to.dtype(node, 0) != DType::Float) return unimplemented("it can be exported for float only");
  to.set(node, 0,
         to.add("Clip",
                {to.input(node, 0), to.constant(Tensor::scalar(0.0f)), to.constant(Tensor::scalar(6.0f))}));
  return {};
}

Status leaky_relu(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("LeakyRelu", to.inputs(node), {{"alpha", node.attrs.get<float>("alpha")}}));
  return {};
}

Status selu(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Selu", to.inputs(node)));
  return {};
}

Status softmax(Conversion& to, const Node& node) {
  to.set(node, 0, to.add(node.type(), to.inputs(node), {{"axis", int64_t{-1}}}));
  return {};
}

Status arg_extremum(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const int64_t axis, to.known_integer(node, 1));
  const std::string at = to.add(node.type(), {to.input(node, 0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  const DType wanted = node.output_types[0].dtype;
  to.set(node, 0, wanted == DType::Int64 ? at : to.cast(at, wanted));
  return {};
}

/// Returns an input with its last two dimensions exchanged.
Result<std::string> transposed(Conversion& to, const Node& node, size_t input) {
  TROUPE_ASSIGN(const int64_t rank, to.rank(node, input));
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return to.add("Transpose", {to.input(node, input)}, {{"perm", order}});
}

Status matrix_product(Conversion& to, const Node& node) {
  const bool is_batch = node.type() != "MatMul";
  std::vector<std::string> factors = to.inputs(node);
  const char* const names[] = {is_batch ? "adj_x" : "transpose_a", is_batch ? "adj_y" : "transpose_b"};
  for (size_t i = 0; i < 2; ++i) {
    if (!node.attrs.get<bool>(names[i])) continue;
    TROUPE_ASSIGN(factors[i], transposed(to, node, i));
  }
  to.set(node, 0, to.add("MatMul", factors));
  return {};
}

Status reduction(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto axes, to.known_integers(node, 1));
  const std::string op = "Reduce" + node.type();
  const int64_t keeps = node.attrs.get<bool>("keep_dims") ? 1 : 0;
  if (axes.empty())
    to.set(node, 0, to.add("Identity", {to.input(node, 0)}));
  else
    to.set(node, 0, to.add(op, {to.input(node, 0), to.integers(axes)}, {{"keepdims", keeps}}));
  return {};
}

/// ONNX reduces no truth values: of numbers 0 and 1, the least says whether all are true, the greatest whether one is.
Status logical_reduction(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto axes, to.known_integers(node, 1));
  if (axes.empty()) {
    to.set(node, 0, to.add("Identity", {to.input(node, 0)}));
    return {};
  }
  const std::string numbers = to.cast(to.input(node, 0), DType::Int32);
  const int64_t keeps = node.attrs.get<bool>("keep_dims") ? 1 : 0;
  const std::string reduced = to.add(node.type() == "All" ? "ReduceMin" : "ReduceMax",
                                     {numbers, to.integers(axes)}, {{"keepdims", keeps}});
  to.set(node, 0, to.cast(reduced, DType::Bool));
  return {};
}

}  // namespace

void add_math_rules(Rules& rules) {
  for (const auto& [ours, theirs] : renamed) rules[ours] = renamed_op;
  rules["FloorDiv"] = floor_div;
  rules["FloorMod"] = floor_mod;
  rules["ZerosLike"] = zeros_like;
  rules["OnesLike"] = ones_like;
  rules["ClipByValue"] = clip;
  rules["Cumsum"] = cumulative_sum;
  rules["Einsum"] = einsum;
  for (const char* const op : {"All", "Any"}) rules[op] = logical_reduction;
  for (const char* const op : {"Equal", "NotEqual"}) rules[op] = equal;
  rules["Square"] = square;
  rules["SquaredDifference"] = squared_difference;
  rules["Rsqrt"] = rsqrt;
  rules["Log1p"] = log1p;
  rules["Expm1"] = expm1;
  rules["Relu6"] = relu6;
  rules["LeakyRelu"] = leaky_relu;
  rules["Selu"] = selu;
  for (const char* const op : {"Softmax", "LogSoftmax"}) rules[op] = softmax;
  for (const char* const op : {"ArgMax", "ArgMin"}) rules[op] = arg_extremum;
  for (const char* const op : {"MatMul", "BatchMatMul", "BatchMatMulV2"}) rules[op] = matrix_product;
  for (const char* const op : {"Sum", "Mean", "Max", "Min", "Prod"}) rules[op] = reduction;
}

}  // namespace troupe::onnx
