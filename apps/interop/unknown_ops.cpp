#include "apps/interop/unknown_ops.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace troupe::interop {
namespace {

using Names = std::set<std::string_view>;

/// Finds the unknown ops of nodes and of the functions that they call.
class UnknownOps {
 public:
  UnknownOps(const FunctionLibrary& library, const OpTable& table) : library_(library), table_(table) {}

  Names of(const NodeDef& node) {
    Names names;
    std::vector<const FunctionDef*> called;
    inspect(node, names, called);
    for (const FunctionDef* function : called) names.merge(Names(of(*function)));
    return names;
  }

 private:
  /// Adds the op of a node to `names` if it is unknown, and the functions that the node calls to `called`.
  void inspect(const NodeDef& node, Names& names, std::vector<const FunctionDef*>& called) const {
    if (table_.find(node.op()) && call_kind(node.op()) == CallKind::None) return;
    if (const FunctionDef* function = library_.find(node.op()))
      called.push_back(function);
    else if (call_kind(node.op()) == CallKind::None)
      names.insert(node.op());
    else
      for (const AttrEntry& attr : node.attr())
        for (const std::string_view name : function_names(attr.value()))
          for (const FunctionDef* callee : {library_.find(name), library_.find_gradient(name)})
            if (callee) called.push_back(callee);
  }

  /// Returns the unknown ops of a function and of all functions that it calls, directly or indirectly. Recursion is allowed.
  const Names& of(const FunctionDef& function) {
    const auto [at, is_new] = functions_.try_emplace(&function);
    if (!is_new) return at->second;
    Names names;
    std::unordered_set<const FunctionDef*> seen;
    std::vector<const FunctionDef*> waiting = {&function};
    while (!waiting.empty()) {
      const FunctionDef* next = waiting.back();
      waiting.pop_back();
      if (!seen.insert(next).second) continue;
      for (const NodeDef& node : next->node_def()) inspect(node, names, waiting);
    }
    return functions_[&function] = std::move(names);
  }

  const FunctionLibrary& library_;
  const OpTable& table_;
  std::unordered_map<const FunctionDef*, Names> functions_;
};

/// The sources of a node's inputs and control inputs that are nodes of the body.
std::vector<uint32_t> sources_of(const Body& body, uint32_t i) {
  std::vector<uint32_t> sources;
  for (const Body::Input& input : body.inputs(i)) sources.push_back(input.source);
  const auto controls = body.controls(i);
  sources.insert(sources.end(), controls.begin(), controls.end());
  std::erase_if(sources, [&](uint32_t source) { return source >= body.size(); });
  return sources;
}

/// Marks all nodes that need a marked node, also through the back edges of loops.
void spread(const Body& body, std::vector<bool>& marked) {
  std::vector<std::vector<uint32_t>> consumers(body.size());
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < body.size(); ++i) {
    for (const uint32_t source : sources_of(body, i)) consumers[source].push_back(i);
    if (marked[i]) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const uint32_t i = waiting.back();
    waiting.pop_back();
    for (const uint32_t consumer : consumers[i]) {
      if (marked[consumer]) continue;
      marked[consumer] = true;
      waiting.push_back(consumer);
    }
  }
}

}  // namespace

std::vector<bool> find_absent(const Body& body, const FunctionLibrary& library, Graph& graph) {
  UnknownOps unknown(library, *graph.ops());
  std::vector<bool> absent(body.size());
  std::unordered_map<uint32_t, Names> lacks;
  for (uint32_t i = 0; i < body.size(); ++i)
    if (Names names = unknown.of(body.node(i)); !names.empty()) {
      absent[i] = true;
      lacks.emplace(i, std::move(names));
    }
  if (lacks.empty()) return absent;
  spread(body, absent);
  for (uint32_t i = 0; i < body.size(); ++i) {
    if (!absent[i]) continue;
    const NodeDef& def = body.node(i);
    const Names& names = lacks[i];
    AbsentNodes::Node node{def.op(), {names.begin(), names.end()}, {}};
    for (const uint32_t source : sources_of(body, i))
      if (absent[source]) node.needs.push_back(body.node(source).name());
    graph.note_absent(def.name(), std::move(node));
  }
  return absent;
}

}  // namespace troupe::interop
