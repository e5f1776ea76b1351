#include "graph/ops/op_def.h"

#include <algorithm>

#include "graph/ops/op_def_parser.h"

namespace troupe {
namespace {

template <class T>
std::optional<size_t> index_of(const std::vector<T>& defs, std::string_view name) {
  for (size_t i = 0; i < defs.size(); ++i)
    if (defs[i].name == name) return i;
  return std::nullopt;
}

}  // namespace

const AttrDef* OpDef::find_attr(std::string_view wanted) const {
  const auto index = index_of(attrs, wanted);
  return index ? &attrs[*index] : nullptr;
}
std::optional<size_t> OpDef::find_input(std::string_view wanted) const { return index_of(inputs, wanted); }
std::optional<size_t> OpDef::find_output(std::string_view wanted) const { return index_of(outputs, wanted); }

OpDefBuilder::OpDefBuilder(std::string name) { def_.name = std::move(name); }
OpDefBuilder& OpDefBuilder::input(std::string_view spec) {
  input_specs_.push_back({std::string(spec), false});
  return *this;
}
OpDefBuilder& OpDefBuilder::output(std::string_view spec) {
  output_specs_.push_back({std::string(spec), false});
  return *this;
}
OpDefBuilder& OpDefBuilder::host_input(std::string_view spec) {
  input_specs_.push_back({std::string(spec), true});
  return *this;
}
OpDefBuilder& OpDefBuilder::host_output(std::string_view spec) {
  output_specs_.push_back({std::string(spec), true});
  return *this;
}
OpDefBuilder& OpDefBuilder::attr(std::string_view spec) {
  attr_specs_.emplace_back(spec);
  return *this;
}
OpDefBuilder& OpDefBuilder::constructor(std::string_view spec) {
  constructor_specs_.emplace_back(spec);
  return *this;
}
OpDefBuilder& OpDefBuilder::former_name(std::string_view name) {
  def_.former_names.emplace_back(name);
  return *this;
}
OpDefBuilder& OpDefBuilder::served_by_step() {
  def_.served_by = ServedBy::Step;
  return *this;
}
OpDefBuilder& OpDefBuilder::served_by(std::string_view service, DeviceTypeFunction served_on) {
  def_.served_by = ServedBy::Service;
  def_.service = service;
  def_.served_on = served_on;
  return *this;
}
OpDefBuilder& OpDefBuilder::effect(Effect effect) {
  def_.effect = effect;
  return *this;
}
OpDefBuilder& OpDefBuilder::commutative() {
  def_.commutative = true;
  return *this;
}
OpDefBuilder& OpDefBuilder::aggregate() {
  def_.aggregate = true;
  return *this;
}
OpDefBuilder& OpDefBuilder::allows_uninitialized_input() {
  def_.allows_uninitialized_input = true;
  return *this;
}
OpDefBuilder& OpDefBuilder::shape(ShapeFunction function) {
  def_.shape = function;
  return *this;
}
OpDefBuilder& OpDefBuilder::gradient(GradientFunction function) {
  def_.gradient = function;
  return *this;
}
OpDefBuilder& OpDefBuilder::not_differentiable() {
  def_.not_differentiable = true;
  return *this;
}

Result<OpDef> OpDefBuilder::build() const {
  OpDef def = def_;
  std::string mistakes;
  const auto note = [&](const std::string& spec, const Status& status) {
    if (!status.ok()) mistakes += "\n  \"" + spec + "\": " + status.text();
  };
  for (const auto& spec : attr_specs_) note(spec, parse_attr(spec, def));
  const auto parse_all = [&](const std::vector<ArgSpec>& specs, std::vector<ArgDef>& arguments) {
    for (const ArgSpec& spec : specs) {
      const Status status = parse_argument(spec.text, def, arguments);
      note(spec.text, status);
      if (status.ok()) arguments.back().on_host = spec.on_host;
    }
  };
  parse_all(input_specs_, def.inputs);
  parse_all(output_specs_, def.outputs);
  for (const auto& spec : constructor_specs_) note(spec, parse_constructor(spec, def));
  if (!def.shape) mistakes += "\n  no shape function";
  if (!mistakes.empty()) return invalid_argument("definition of op " + def.name + ":" + mistakes);
  return def;
}

}  // namespace troupe
