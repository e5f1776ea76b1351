#include "apps/train/folder/former_names.h"

#include <filesystem>

#include "graph/build/scope.h"

namespace troupe::train {
namespace {

constexpr const char* former_prefix = "train";

/// Adds variables with the former names of the missing ones to a temporary graph.
std::map<std::string, Output> former_variables(const Graph& graph, Graph& former,
                                               const std::vector<std::string>& missing) {
  const Scope scope = Scope(former).with_prefix(former_prefix);
  std::map<std::string, Output> variables;
  for (const auto& name : missing)
    if (const Node* const now = graph.find(name))
      variables[name] = scope.with_name(name).add_one(
          "VariableV2", {}, {{"dtype", graph.dtype({now->id, 0})}, {"shape", graph.shape({now->id, 0})}});
  return variables;
}

}  // namespace

std::set<std::string> restore_former_names(Runtime& runtime, Session& session, Graph& graph,
                                           const RestoredCheckpoint& checkpoint) try {
  Graph former(runtime.ops());
  auto variables = former_variables(graph, former, checkpoint.missing);
  if (variables.empty()) return {};
  Session reader = runtime.session(former, {.share_state = false});
  const std::filesystem::path path = checkpoint.folder;
  for (const auto& missing : reader.restore(path.parent_path(), path.filename()).missing)
    variables.erase(missing.substr(std::string_view(former_prefix).size() + 1));

  const Scope scope(graph);
  std::set<std::string> names;
  std::vector<Output> values, assigns;
  std::vector<std::pair<Output, Tensor>> feeds;
  for (const auto& [name, variable] : variables) values.push_back(variable);
  const std::vector<Tensor> tensors = reader.run(values);
  for (const auto& [name, was] : variables) {
    const Output variable = value_or_throw(graph.find_output(name));
    const Output value = scope.add_one("Placeholder", {}, {{"dtype", graph.dtype(variable)}});
    feeds.emplace_back(value, tensors[names.size()]);
    assigns.push_back(scope.colocated_with(variable).add_one("Assign", {variable, value}));
    names.insert(name);
  }
  session.run(feeds, {scope.group(assigns)});
  reader.close();
  return names;
} catch (const Error& error) {
  if (error.status().code() == Code::NotFound) return {};  // the checkpoint has no variables of former names
  throw;
}

}  // namespace troupe::train
