#include "apps/interop/function_library.h"

#include <set>

#include "apps/interop/dialect.h"

namespace troupe::interop {
namespace {

/// Collects what is missing, function by function.
class OpCheck {
 public:
  OpCheck(const FunctionLibrary& library, const OpTable& table) : library_(library), table_(table) {}

  void add(const Body::Nodes& nodes) {
    for (const NodeDef& node : nodes) {
      if (translate(node.op(), table_).op) continue;
      if (const FunctionDef* function = library_.find(node.op()))
        reach(*function);
      else if (call_kind(node.op()) != CallKind::None)
        reach_attrs(node);
      else if (missing_.insert(node.op()).second && !first_)
        first_ = &node;
    }
  }
  Status result() {
    while (!waiting_.empty()) {
      const FunctionDef& function = *waiting_.back();
      waiting_.pop_back();
      add(function.node_def());
    }
    if (missing_.empty()) return {};
    std::string names;
    for (const std::string_view name : missing_) names += (names.empty() ? "" : ", ") + std::string(name);
    return unimplemented("there are no such ops: " + names).at_node(first_->op(), first_->name());
  }

 private:
  void reach(const FunctionDef& function) {
    if (reached_.insert(&function).second) waiting_.push_back(&function);
  }
  void reach_attrs(const NodeDef& node) {
    for (const AttrEntry& attr : node.attr())
      if (const FunctionDef* function = library_.find(attr.value().func().name())) reach(*function);
  }

  const FunctionLibrary& library_;
  const OpTable& table_;
  std::set<std::string_view> missing_;
  std::set<const FunctionDef*> reached_;
  std::vector<const FunctionDef*> waiting_;
  const NodeDef* first_ = nullptr;
};

}  // namespace

CallKind call_kind(std::string_view op) {
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") return CallKind::Call;
  if (op == "If" || op == "StatelessIf") return CallKind::If;
  if (op == "While" || op == "StatelessWhile") return CallKind::While;
  return CallKind::None;
}

Result<FunctionLibrary> FunctionLibrary::make(const FunctionDefLibrary& library) {
  FunctionLibrary result;
  for (const FunctionDef& function : library.function())
    if (!result.functions_.emplace(function.signature().name(), &function).second)
      return already_exists("function " + function.signature().name() + " is defined twice");
  return result;
}

const FunctionDef* FunctionLibrary::find(std::string_view name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : at->second;
}

Status FunctionLibrary::check_ops(const Body::Nodes& nodes, const OpTable& table) const {
  OpCheck check(*this, table);
  check.add(nodes);
  return check.result();
}

const AttrValue* find_attr(const NodeDef& node, std::string_view name) {
  for (const AttrEntry& attr : node.attr())
    if (attr.key() == name) return &attr.value();
  return nullptr;
}

}  // namespace troupe::interop
