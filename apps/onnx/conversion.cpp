#include "apps/onnx/conversion.h"

namespace troupe::onnx {

const std::string& Conversion::input(const Node& node, size_t i) {
  const std::string& name = names_.at(node.inputs[i]);
  if (const auto constant = constants_.extract(node.inputs[i])) add_constant(name, constant.mapped());
  return name;
}

std::vector<std::string> Conversion::inputs(const Node& node) {
  std::vector<std::string> names;
  for (size_t i = 0; i < node.inputs.size(); ++i) names.push_back(input(node, i));
  return names;
}

std::string Conversion::new_name(std::string_view op) {
  return unused_name(std::string(op) + '_' + std::to_string(++counts_[std::string(op)]));
}

std::string Conversion::unused_name(const std::string& name) {
  std::string unused = name;
  for (int i = 1; !taken_.insert(unused).second; ++i) unused = name + '_' + std::to_string(i);
  return unused;
}

std::string Conversion::add(std::string_view op, const std::vector<std::string>& inputs,
                            const NodeAttributes& attributes) {
  return add(op, inputs, 1, attributes).front();
}

std::vector<std::string> Conversion::add(std::string_view op, const std::vector<std::string>& inputs,
                                         size_t outputs, const NodeAttributes& attributes) {
  const std::string name = new_name(op);
  std::vector<std::string> results;
  for (size_t i = 0; i < outputs; ++i)
    results.push_back(outputs == 1 ? name : name + '_' + std::to_string(i));
  model_.add_node(op, inputs, results, attributes);
  return results;
}

std::string Conversion::constant(const Tensor& value) {
  std::string name = new_name("constant");
  add_constant(name, value);
  return name;
}

void Conversion::add_constant(const std::string& name, const Tensor& value) {
  Status status = model_.add_constant(name, value);
  if (status_.ok()) status_ = std::move(status);
}

std::string Conversion::integers(const std::vector<int64_t>& values) {
  return constant(Tensor::vector<int64_t>(values));
}

std::string Conversion::cast(const std::string& value, DType to) {
  return add("Cast", {value}, {{"to", type_number(to)}});
}

std::string Conversion::as_int64(const Node& node, size_t i) {
  if (const auto values = known_integers(node, i)) return integers(*values);
  return dtype(node, i) == DType::Int64 ? input(node, i) : cast(input(node, i), DType::Int64);
}

Result<std::vector<int64_t>> Conversion::known_integers(const Node& node, size_t input) const {
  const Tensor* const value = graph_.constant(node.inputs[input]);
  const bool known = value && (value->dtype() == DType::Int32 || value->dtype() == DType::Int64);
  if (!known)
    return unimplemented("input " + std::to_string(input) +
                         " is computed; it can be exported only if it is the same in every step");
  std::vector<int64_t> values;
  for (int64_t i = 0; i < value->elements(); ++i)
    values.push_back(value->dtype() == DType::Int32 ? value->as<int32_t>()[static_cast<size_t>(i)]
                                                    : value->as<int64_t>()[static_cast<size_t>(i)]);
  return values;
}

Result<int64_t> Conversion::known_integer(const Node& node, size_t input) const {
  TROUPE_ASSIGN(const auto values, known_integers(node, input));
  if (values.size() != 1) return invalid_argument("input " + std::to_string(input) + " must be a scalar");
  return values[0];
}

Result<int64_t> Conversion::rank(const Node& node, size_t input) const {
  const PartialShape& known = shape(node, input);
  if (!known.known_rank())
    return unimplemented("the number of dimensions of input " + std::to_string(input) + " is not known");
  return static_cast<int64_t>(known.rank());
}

}  // namespace troupe::onnx
