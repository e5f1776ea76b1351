#include "tests/support/ops/op_coverage.h"

#include <algorithm>
#include <set>

#include "graph/build/signature.h"

namespace troupe::test {
namespace {

std::vector<DType> every_type() {
  std::vector<DType> result;
  for (int number = 1; dtype_from_number(number).ok(); ++number)
    if (const auto dtype = static_cast<DType>(number); !is_local(dtype)) result.push_back(dtype);
  return result;
}

std::vector<DType> allowed_types(const AttrDef& attr) {
  if (attr.allowed.empty()) return every_type();
  std::vector<DType> result;
  for (const AttrValue& value : attr.allowed)
    if (!is_local(std::get<DType>(value))) result.push_back(std::get<DType>(value));
  return result;
}

bool serves(const KernelDef& kernel, const std::string& attr, DType dtype) {
  const auto types = kernel.types.find(attr);
  return types == kernel.types.end() || std::ranges::find(types->second, dtype) != types->second.end();
}

/// What the samples of an op cover.
struct Shown {
  std::set<std::pair<std::string, std::string>> values;  ///< the values of attributes, as text
  bool data = false, empty = false, scalar = false, odd = false;

  void add(const Shape& shape) {
    data = true;
    empty |= shape.elements() == 0;
    scalar |= shape.is_scalar();
    odd |= shape.elements() > 4 && shape.elements() % 4 != 0;
  }
};

/// Returns the shapes of the tensors in device memory, because tensors on the host are sizes
/// and axes: those of the inputs, or those of the outputs if all such inputs are scalars.
std::vector<Shape> data_shapes(const OpCase& sample, const SingleOp& op) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < sample.inputs.size(); ++i)
    if (!in_host_memory(op.node(), i, true)) shapes.push_back(sample.inputs[i].shape());
  if (!std::ranges::all_of(shapes, &Shape::is_scalar)) return shapes;
  const auto outputs = value_or_throw(run_op(sample.op, sample.inputs, sample.attrs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!in_host_memory(op.node(), i, false)) shapes.push_back(outputs[i].shape());
  return shapes;
}

Shown shown_by(const OpDef& op, const OpCases& cases) {
  Shown shown;
  for (const OpCase& sample : cases.good(op.name)) {
    const auto single = value_or_throw(SingleOp::make(sample.op, sample.inputs, sample.attrs, Known::Values));
    for (const auto& [name, value] : single.node().attrs) shown.values.emplace(name, text(value));
    for (const Shape& shape : data_shapes(sample, single)) shown.add(shape);
  }
  for (const BadCase& bad : cases.bad(op.name))
    for (const Tensor& input : bad.sample.inputs) {
      shown.scalar |= input.shape().is_scalar();
      shown.empty |= input.elements() == 0;
    }
  return shown;
}

}  // namespace

std::map<std::string, std::vector<DType>> served_types(const OpDef& op) {
  std::map<std::string, std::vector<DType>> result;
  for (const AttrDef& attr : op.attrs) {
    if (attr.kind != AttrKind::Type) continue;
    for (const DType dtype : allowed_types(attr))
      if (std::ranges::any_of(op_library()->kernels.of(op.name),
                              [&](const KernelDef& kernel) { return serves(kernel, attr.name, dtype); }))
        result[attr.name].push_back(dtype);
  }
  return result;
}

bool deals_in_lists(const OpDef& op) {
  const auto is_list = [](const ArgDef& argument) { return argument.type == DType::Variant; };
  return std::ranges::any_of(op.inputs, is_list) || std::ranges::any_of(op.outputs, is_list);
}

std::vector<std::string> left_out(const OpDef& op, const OpCases& cases) {
  const Shown shown = shown_by(op, cases);
  std::vector<std::string> missing;
  const auto require = [&](const std::string& attr, const AttrValue& value) {
    if (!shown.values.contains({attr, text(value)})) missing.push_back(attr + " = " + text(value));
  };
  for (const auto& [attr, dtypes] : served_types(op))
    for (const DType dtype : dtypes) require(attr, dtype);
  for (const AttrDef& attr : op.attrs)
    if (attr.kind == AttrKind::Bool && attr.name != "use_locking")  // which has no effect
      for (const bool value : {false, true}) require(attr.name, value);
  if (op.inputs.empty() || !shown.data) return missing;
  if (!shown.empty) missing.push_back("a tensor without elements");
  if (!shown.scalar) missing.push_back("a scalar");
  const bool has_given_size =
      op.name == "CompareAndBitpack" || op.name == "ExtractJpegShape" || op.name.ends_with("CountUpTo");
  if (!shown.odd && !has_given_size) missing.push_back("an odd size");
  return missing;
}

}  // namespace troupe::test
