#include "apps/interop/functions/recursion.h"

#include <algorithm>

#include "graph/build/functions.h"

namespace troupe::interop {
namespace {

/// Returns the functions that a node calls.
std::vector<const FunctionDef*> callees(const NodeDef& node, const FunctionLibrary& library) {
  std::vector<const FunctionDef*> found;
  const auto add = [&](const FunctionDef* function) {
    if (function) found.push_back(function);
  };
  add(library.find(node.op()));
  if (call_kind(node.op()) == CallKind::None) return found;
  for (const AttrEntry& attr : node.attr())
    for (const std::string_view name : function_names(attr.value())) {
      add(library.find(name));
      if (call_kind(node.op()) == CallKind::Gradient) add(library.find_gradient(name));
    }
  return found;
}

std::vector<const FunctionDef*> callees(const Body::Nodes& nodes, const FunctionLibrary& library) {
  std::vector<const FunctionDef*> found;
  for (const NodeDef& node : nodes)
    for (const FunctionDef* function : callees(node, library)) found.push_back(function);
  return found;
}

/// Searches the calls depth first, without recursion of its own, and collects the functions that are called from inside themselves.
class Search {
 public:
  explicit Search(const FunctionLibrary& library) : library_(library) {}

  void visit(const FunctionDef* root) {
    enter(root);
    while (!path_.empty()) {
      Visit& top = path_.back();
      if (top.next == top.callees.size()) {
        states_[top.function] = State::Done;
        path_.pop_back();
        continue;
      }
      const FunctionDef* const callee = top.callees[top.next++];
      if (states_[callee] == State::OnPath)
        recursive_.insert(callee);
      else
        enter(callee);
    }
  }
  std::unordered_set<const FunctionDef*> take() && { return std::move(recursive_); }

 private:
  enum class State : uint8_t { New, OnPath, Done };
  struct Visit {
    const FunctionDef* function;
    std::vector<const FunctionDef*> callees;
    size_t next = 0;
  };

  void enter(const FunctionDef* function) {
    State& state = states_[function];
    if (state != State::New) return;
    state = State::OnPath;
    path_.push_back({function, callees(function->node_def(), library_)});
  }

  const FunctionLibrary& library_;
  std::map<const FunctionDef*, State> states_;
  std::vector<Visit> path_;
  std::unordered_set<const FunctionDef*> recursive_;
};

bool is_stateful(const NodeDef& node, const OpTable& ops) {
  const troupe::OpDef* const op = ops.find(node.op());
  if (!op || call_kind(node.op()) != CallKind::None) return false;  // what the functions do counts
  return op->effect == Effect::Random || op->effect == Effect::Guard || has_effect(*op);
}

}  // namespace

std::unordered_set<const FunctionDef*> find_recursive(const Body::Nodes& nodes,
                                                      const FunctionDefLibrary& functions,
                                                      const FunctionLibrary& library) {
  Search search(library);
  for (const FunctionDef* function : callees(nodes, library)) search.visit(function);
  for (const FunctionDef& function : functions.function()) search.visit(&function);
  return std::move(search).take();
}

const std::string& CalledFunctions::name_of(const FunctionDef& function, const Attrs& attrs) {
  std::string key;
  for (const auto& [name, value] : attrs) {
    const std::string bytes = value->SerializeAsString();
    key += std::string(name) + ' ' + std::to_string(bytes.size()) + ' ' + bytes;
  }
  const auto [at, is_new] = names_.try_emplace({&function, std::move(key)});
  if (!is_new) return at->second;
  const std::string& base = function.signature().name();
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = base + '_' + std::to_string(i);
  at->second = name;
  waiting_.push_back({&function, attrs, name});
  return at->second;
}

bool CalledFunctions::next(Instance& instance) {
  if (waiting_.empty()) return false;
  instance = std::move(waiting_.back());
  waiting_.pop_back();
  return true;
}

bool CalledFunctions::is_stateful(const FunctionDef& function, const FunctionLibrary& library,
                                  const OpTable& ops) {
  const auto [at, is_new] = stateful_.try_emplace(&function, false);
  if (!is_new) return at->second;
  std::unordered_set<const FunctionDef*> seen;
  std::vector<const FunctionDef*> waiting = {&function};
  while (!waiting.empty() && !at->second) {
    const FunctionDef* const next = waiting.back();
    waiting.pop_back();
    if (!seen.insert(next).second) continue;
    at->second = std::ranges::any_of(next->node_def(),
                                     [&](const NodeDef& node) { return interop::is_stateful(node, ops); });
    for (const FunctionDef* callee : callees(next->node_def(), library)) waiting.push_back(callee);
  }
  return at->second;
}

}  // namespace troupe::interop
