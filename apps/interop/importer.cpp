#include "apps/interop/importer.h"

#include <algorithm>
#include <charconv>

#include "apps/interop/attr_value.h"
#include "apps/interop/dialect.h"
#include "apps/interop/functions/calls.h"
#include "apps/interop/parse.h"
#include "apps/interop/tensor_proto.h"
#include "graph/build/functions.h"
#include "graph/build/recomputation.h"
#include "graph/build/signature.h"
#include "messages/values/device_name.h"

namespace troupe::interop {
namespace {

constexpr NodeId not_placed = UINT32_MAX;
constexpr std::string_view class_attr = "_class", shapes_attr = "_output_shapes", location = "loc:@";

Result<size_t> read_index(std::string_view digits) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return invalid_argument("'" + std::string(digits) + "' is not the number of an output");
  return index;
}

/// Returns the index, below `count`, of the output `text` ("1"; in functions "argument:1" or "argument"). `first_of` returns the
/// index of the first output of an output argument, or nothing if there is no such argument.
template <class FirstOf>
Result<size_t> output_number(std::string_view text, bool in_function, size_t count, FirstOf first_of) {
  size_t first = 0;
  if (in_function && !text.empty()) {
    const size_t colon = text.find(':');
    const std::optional<size_t> found = first_of(text.substr(0, colon));
    if (!found)
      return invalid_argument("there is no output called '" + std::string(text.substr(0, colon)) + "'");
    first = *found;
    text = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  }
  size_t index = 0;
  if (!text.empty()) {
    TROUPE_ASSIGN(index, read_index(text));
  }
  if (index >= count || first + index >= count)
    return invalid_argument("there is no output " + std::to_string(index) + "; the number of outputs is " +
                            std::to_string(count - first));
  return first + index;
}

/// Returns the index of the first tensor of an output argument. If the op has one output argument, its name does not matter.
std::optional<size_t> first_output(const Node& node, std::string_view argument) {
  const auto& outputs = node.op->outputs;
  if (outputs.size() == 1) return 0;
  const auto number = node.op->find_output(argument);
  if (!number) return std::nullopt;
  size_t first = 0;
  for (size_t i = 0; i < *number; ++i) first += arity(outputs[i], node.attrs);
  return first;
}

std::optional<size_t> first_output(const Outputs& outputs, std::string_view argument) {
  const auto at = outputs.arguments.find(argument);
  return at == outputs.arguments.end() ? std::nullopt : std::optional(at->second);
}

Status unknown_attr(const troupe::OpDef& op, const AttrEntry& entry) {
  const std::string given = "attribute " + entry.key() + " is " + describe(entry.value());
  if (const auto supported = supported_value(op.name, entry.key()); !supported.empty())
    return unimplemented(given + "; only " + std::string(supported) + " is available");
  std::string known;
  for (const AttrDef& attr : op.attrs) known += (known.empty() ? "" : ", ") + attr.name;
  return unimplemented(
      given + ", but this op has no such attribute; its attributes are: " + (known.empty() ? "none" : known));
}

/// Whether an output names a state, such as a queue. TensorFlow gives it the shape of the handle, which is [2] for many ops, or
/// that of the state behind it.
bool is_handle(const EdgeType& type) {
  return type.dtype == DType::Resource || (type.dtype == DType::String && type.is_ref);
}

}  // namespace

bool is_shape_of_handle(DType dtype, const PartialShape& shape) {
  return dtype == DType::Resource && shape == PartialShape::scalar();
}

const AttrValue& Site::resolve(const AttrValue& value) const {
  if (!value.has_placeholder()) return value;
  const auto at = attrs.find(value.placeholder());
  return at == attrs.end() ? value : *at->second;
}

struct Importer::Insertion {
  const Body& body;
  const Site& site;
  Placed placed;
  std::vector<LaterInput> later_inputs;  ///< back edges of loops, whose sources are placed later
};

Result<const Body*> Importer::body_of(const FunctionDef& function) {
  auto at = functions_.find(&function);
  if (at == functions_.end()) {
    std::vector<std::string_view> arguments;
    for (const auto& argument : function.signature().input_arg()) arguments.push_back(argument.name());
    TROUPE_ASSIGN(Body body, Body::make(function.node_def(), std::move(arguments)));
    at = functions_.emplace(&function, ParsedFunction{std::move(body), function.ByteSizeLong()}).first;
  }
  used_->function_bytes += at->second.bytes;
  if (used_->function_bytes > limits_.function_bytes)
    return limit_exceeded("function_bytes", limits_.function_bytes);
  return &at->second.body;
}

Result<NodeId> Importer::add(NodeSpec spec) {
  if (used_->nodes == limits_.nodes)
    return limit_exceeded("nodes", limits_.nodes).at_node(spec.op, spec.name);
  auto id = graph_.add(std::move(spec));
  if (!id) return id;
  ++used_->nodes;
  const Node& node = graph_.node(*id);
  used_->outputs += node.output_types.size();
  for (const PartialShape& shape : node.output_shapes) used_->outputs += shape.rank();
  if (used_->outputs > limits_.outputs)
    return limit_exceeded("outputs", limits_.outputs).at_node(node.type(), node.name);
  return id;
}

Result<Placed> Importer::place(const Body& body, const Site& site, const std::vector<bool>& absent) {
  Insertion place{body, site, {}, {}};
  place.placed.nodes.assign(body.size(), not_placed);
  for (const uint32_t i : body.order()) {
    if (!absent.empty() && absent[i]) continue;
    if (Status status = place_node(place, i); !status.ok())
      return std::move(status).at_node(body.node(i).op(), site.prefix + body.node(i).name());
  }
  TROUPE_RETURN_IF_FAILED(close(place));
  return std::move(place.placed);
}

Status Importer::place_node(Insertion& place, uint32_t i) {
  const NodeDef& def = place.body.node(i);
  const troupe::OpDef* const op = graph_.ops()->find(def.op());
  NodeSpec spec;
  spec.name = place.site.prefix + def.name();
  TROUPE_RETURN_IF_FAILED(read_edges(place, i, spec));
  TROUPE_RETURN_IF_FAILED(read_device(place, def, spec));
  if (!op || call_kind(def.op()) != CallKind::None) {
    TROUPE_ASSIGN(PlacedCall call, place_call(*this, def, std::move(spec), place.site));
    place.placed.nodes[i] = call.done;
    if (call.has_effects) place.placed.effects.push_back(call.done);
    place.placed.calls.emplace(i, std::move(call.outputs));
    return {};
  }
  spec.op = op->name;
  TROUPE_RETURN_IF_FAILED(read_attrs(place, def, *op, spec));
  forward_reference(spec);
  TROUPE_ASSIGN(const NodeId id, add(std::move(spec)));
  place.placed.nodes[i] = id;
  if (place.site.function && has_effect(*op)) place.placed.effects.push_back(id);
  const AttrValue* shapes = find_attr(def, shapes_attr);
  return shapes ? refine_shapes(id, *shapes) : Status{};
}

/// In TensorFlow an Identity, Switch or constant Enter forwards the memory of a variable, so that its consumers see later updates.
/// Here such a node becomes a RefIdentity, RefSwitch or RefEnter, which forwards the reference (docs/references.md), but only if it
/// runs beside the variable. Otherwise the edge carries the value.
void Importer::forward_reference(NodeSpec& spec) const {
  if (spec.op != "Identity" && spec.op != "Switch" && spec.op != "Enter") return;
  if (spec.inputs.empty() || !graph_.type(spec.inputs[0]).is_ref) return;
  const Node& source = graph_.node(spec.inputs[0].node);
  const bool beside = spec.device == source.device ||
                      std::ranges::find(spec.colocate_with, source.name) != spec.colocate_with.end();
  if (!beside) return;
  const troupe::AttrValue* const invariant = spec.attrs.find("is_constant");
  if (spec.op == "Enter" && (!invariant || !std::get<bool>(*invariant)))
    return;  // later iterations have other values
  if (spec.op == "Identity") spec.attrs.set("_initialized", true);
  spec.op.insert(0, "Ref");
}

Status Importer::read_edges(Insertion& place, uint32_t i, NodeSpec& spec) {
  const auto inputs = place.body.inputs(i);
  const auto id = static_cast<NodeId>(graph_.size());
  spec.inputs.reserve(inputs.size());
  std::optional<Output> stand_in;  // replaces a back edge, whose type it has, until its source is placed
  for (const auto& input : inputs) {
    if (input.source < place.body.size() && place.placed.nodes[input.source] == not_placed) {
      place.later_inputs.push_back({id, spec.inputs.size(), input});
      spec.inputs.emplace_back();
      continue;
    }
    TROUPE_ASSIGN(const Output output, find(place.body, input, place.site, place.placed));
    spec.inputs.push_back(output);
    if (!stand_in) stand_in = output;
  }
  if (!stand_in && !inputs.empty()) return invalid_argument("all inputs come from a NextIteration");
  for (auto later = place.later_inputs.rbegin(); later != place.later_inputs.rend() && later->node == id;
       ++later)
    spec.inputs[later->input] = *stand_in;
  for (const uint32_t source : place.body.controls(i)) {
    if (source < place.body.size())
      spec.control_inputs.push_back(place.placed.nodes[source]);
    else if (place.site.start)  // it runs after all arguments are available
      spec.control_inputs.push_back(*place.site.start);
  }
  if (place.site.start && is_first(place, i)) spec.control_inputs.push_back(*place.site.start);
  return {};
}

/// Returns whether no node of the body precedes the node, so that the start of the call must precede it. A node inside a loop is
/// never first, since its frame begins with an Enter.
bool Importer::is_first(const Insertion& place, uint32_t i) {
  const auto inputs = place.body.inputs(i);
  const auto controls = place.body.controls(i);
  const auto outside = [&](uint32_t source) { return source >= place.body.size(); };
  if (!inputs.empty() && !place.site.start_before_all) return false;
  return std::ranges::all_of(inputs, [&](const Body::Input& input) { return outside(input.source); }) &&
         std::ranges::all_of(controls, outside);
}

Result<Output> Importer::find(const Body& body, Body::Input reference, const Site& site,
                              const Placed& placed) const {
  if (reference.source >= body.size()) {
    const auto& values = site.arguments[reference.source - body.size()];
    TROUPE_ASSIGN(const size_t number,
                  output_number(reference.output, false, values.size(),
                                [](std::string_view) { return std::optional<size_t>(); }));
    return values[number];
  }
  const auto wrong = [&](const Status& status) {
    return invalid_argument("input from " + body.node(reference.source).name() + ": " + status.text());
  };
  const bool in_function = site.function != nullptr;
  if (const auto call = placed.calls.find(reference.source); call != placed.calls.end()) {
    const auto number =
        output_number(reference.output, in_function, call->second.values.size(),
                      [&](std::string_view name) { return first_output(call->second, name); });
    if (!number) return wrong(number.status());
    return call->second.values[*number];
  }
  const Node& node = graph_.node(placed.nodes[reference.source]);
  const auto number = output_number(reference.output, in_function, node.output_types.size(),
                                    [&](std::string_view name) { return first_output(node, name); });
  if (!number) return wrong(number.status());
  return Output{node.id, static_cast<uint32_t>(*number)};
}

Status Importer::read_device(const Insertion& place, const NodeDef& node, NodeSpec& spec) {
  spec.device = node.device().empty() ? place.site.device : node.device();
  if (spec.device.empty() || spec.device == last_device_) return {};
  TROUPE_RETURN_IF_FAILED(DeviceName::parse(spec.device).status());
  last_device_ = spec.device;
  return {};
}

Status Importer::read_attrs(const Insertion& place, const NodeDef& node, const troupe::OpDef& op,
                            NodeSpec& spec) {
  for (const AttrEntry& entry : node.attr()) {
    const std::string& name = entry.key();
    const AttrValue& value = place.site.resolve(entry.value());
    const AttrDef* def = op.find_attr(name);
    const std::optional<AttrKind> kind = def ? def->kind : internal_attr(name);
    if (!kind) {
      if (name == class_attr) TROUPE_RETURN_IF_FAILED(read_colocation(place, value, spec));
      if (name.starts_with('_') || can_ignore(node.op(), name, value)) continue;
      return unknown_attr(op, entry);
    }
    if (spec.attrs.find(name)) return invalid_argument("attribute " + name + " is given twice");
    auto read = read_attr(value, *kind, used_->constant_bytes);
    if (!read) return {read.status().code(), "attribute " + name + ": " + read.status().text()};
    spec.attrs.set(name, std::move(*read));
  }
  // A function that is called several times must not have the same frame in all calls. Copies draw what the node of their call
  // draws.
  if (const AttrValue* frame = find_attr(node, "frame_name");
      frame && place.site.function && op.find_attr("frame_name"))
    spec.attrs.set("frame_name", place.site.prefix + frame->s());
  if (const AttrValue* original = find_attr(node, original_attr))
    spec.attrs.set(original_attr, place.site.prefix + original->s());
  return {};
}

Status Importer::read_colocation(const Insertion& place, const AttrValue& value, NodeSpec& spec) const {
  for (const std::string_view name : value.list().s()) {
    if (!name.starts_with(location)) continue;
    if (graph_.absent().contains(name.substr(location.size()))) continue;
    const auto other = place.body.find(name.substr(location.size()));
    if (!other && place.site.function) continue;  // the name is that of a node outside the function
    if (!other || !other->output.empty())
      return invalid_argument("attribute _class: there is no node '" +
                              std::string(name.substr(location.size())) + "'");
    if (other->source < place.body.size()) {
      spec.colocate_with.push_back(place.site.prefix + place.body.node(other->source).name());
      continue;
    }
    const auto& argument = place.site.arguments[other->source - place.body.size()];
    if (!argument.empty()) spec.colocate_with.push_back(graph_.node(argument[0].node).name);
  }
  return {};
}

Status Importer::refine_shapes(NodeId node, const AttrValue& shapes) {
  const auto& list = shapes.list().shape();
  if (static_cast<size_t>(list.size()) != graph_.node(node).output_types.size())
    return invalid_argument("attribute _output_shapes has " + std::to_string(list.size()) + " shapes for " +
                            std::to_string(graph_.node(node).output_types.size()) + " outputs");
  for (int i = 0; i < list.size(); ++i) {
    TROUPE_ASSIGN(const PartialShape shape, read_shape(list[i]));
    const Output output{node, static_cast<uint32_t>(i)};
    if (is_handle(graph_.type(output))) continue;
    TROUPE_RETURN_IF_FAILED(graph_.refine_shape(output, shape));
  }
  return {};
}

Status Importer::close_loop(NodeId merge, size_t input, Output next) {
  const PartialShape &first = graph_.shape({merge, 0}), &then = graph_.shape(next);
  if (!first.compatible_with(then))
    return invalid_argument("the loop variable has shape " + first.text() +
                            " in the first iteration, but shape " + then.text() + " in the next")
        .at_node(graph_.node(merge).type(), graph_.node(merge).name);
  return graph_.replace_input(merge, input, next);
}

Status Importer::close(const Insertion& place) {
  for (const auto& [node, input, source] : place.later_inputs) {
    const auto next = find(place.body, source, place.site, place.placed);
    if (!next) return next.status().at_node(graph_.node(node).type(), graph_.node(node).name);
    TROUPE_RETURN_IF_FAILED(close_loop(node, input, *next));
  }
  return {};
}

}  // namespace troupe::interop
