#include "graph/build/custom_gradient.h"

#include <string>
#include <utility>

#include "graph/build/custom_gradients.h"
#include "graph/build/gradient_attrs.h"

namespace troupe {
namespace {

Error at_node(Status status, const Node& node) {
  return Error(std::move(status).at_node(node.type(), node.name));
}

}  // namespace

ProgramFunctions<RegisteredGradient>& custom_gradients() {
  static auto* const gradients = new ProgramFunctions<RegisteredGradient>("gradient");
  return *gradients;
}

bool has_custom_gradient(const Node& node) {
  const AttrValue* const attr = node.attrs.find(gradient_function_attr);
  return attr && std::holds_alternative<std::string>(*attr);
}

void build_custom_gradient(GradientContext& context) {
  const auto token = context.attr<std::string>(gradient_function_attr);
  const auto entry = custom_gradients().find(token);
  if (!entry)
    throw at_node(unimplemented("the node names the gradient function '" + token +
                                "', which this program does not have, or has dropped"),
                  context.node());
  const size_t ys = entry->call.ys, xs = context.node().inputs.size() - ys;
  std::vector<Output> given;
  for (size_t i = 0; i < ys; ++i) given.push_back(context.gradient(i));
  const std::vector<Gradient> built = entry->call.build(context.scope(), given);
  if (built.size() != xs)
    throw at_node(invalid_argument("the gradient function returned " + std::to_string(built.size()) +
                                   " gradients; it must return " + std::to_string(xs)),
                  context.node());
  for (size_t i = 0; i < xs; ++i) {
    if (const auto* const dense = std::get_if<Output>(&built[i]))
      context.set(ys + i, *dense);
    else if (const auto* const rows = std::get_if<IndexedSlices>(&built[i]))
      context.set(ys + i, *rows);
  }
}

WithGradient with_gradient(const Scope& scope, const std::vector<Output>& ys, const std::vector<Output>& xs,
                           GradientBuilder builder) {
  if (ys.empty()) throw Error(invalid_argument("a gradient was given for no output"));
  const auto entry = custom_gradients().add({ys.size(), std::move(builder)});
  std::vector<Output> inputs = ys;
  inputs.insert(inputs.end(), xs.begin(), xs.end());
  const NodeId node =
      scope.add("IdentityN", std::move(inputs), {{std::string(gradient_function_attr), entry->token}});
  WithGradient result;
  for (uint32_t i = 0; i < ys.size(); ++i) result.outputs.push_back(scope.graph().output(node, i));
  result.gradient = entry;
  return result;
}

}  // namespace troupe
