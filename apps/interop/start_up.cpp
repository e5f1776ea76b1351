#include "apps/interop/start_up.h"

#include "apps/interop/collections.h"
#include "messages/protobuf/fields.h"

namespace troupe::interop {
namespace {

Status damaged(const std::string& what, const std::string& collection = "queue_runners") {
  return data_loss("the collection " + collection + " is damaged: " + what);
}

/// Returns the node of an operation, whose name may be that of its first output ("name:0").
Result<Output> target(const Graph& graph, std::string_view name) {
  return graph.find_target(name.substr(0, name.find(':')));
}

Status add_ends(const protobuf::Field& field, std::vector<Code>& ends) {
  const bool complete = protobuf::each_varint(field, [&](uint64_t code) {
    if (code > static_cast<uint64_t>(Code::DataLoss)) return false;
    ends.push_back(static_cast<Code>(code));
    return true;
  });
  return complete ? Status() : damaged("a queue runner has a code of errors that does not exist");
}

Result<QueueRunner> read_runner(const Graph& graph, std::string_view message) {
  QueueRunner runner;
  runner.ends.clear();
  protobuf::FieldReader fields(message);
  while (const auto field = fields.next()) {
    if (field->number == queue_runner_def::enqueue) {
      TROUPE_ASSIGN(runner.enqueue.emplace_back(), target(graph, field->bytes));
    } else if (field->number == queue_runner_def::close) {
      TROUPE_ASSIGN(runner.close, target(graph, field->bytes));
    } else if (field->number == queue_runner_def::cancel) {
      TROUPE_ASSIGN(runner.cancel, target(graph, field->bytes));
    } else if (field->number == queue_runner_def::ends) {
      TROUPE_RETURN_IF_FAILED(add_ends(*field, runner.ends));
    }
  }
  if (fields.damaged()) return damaged("a queue runner is no message");
  if (runner.ends.empty()) runner.ends = QueueRunner().ends;
  return runner;
}

}  // namespace

Result<std::vector<Output>> targets_of(const MetaGraph& meta, const std::string& name) {
  std::vector<Output> targets;
  const auto found = meta.collections.find(name);
  if (found == meta.collections.end()) return targets;
  const auto* const names = std::get_if<std::vector<std::string>>(&found->second);
  if (!names) return data_loss("the collection " + name + " does not consist of names of nodes");
  for (const auto& node : *names) {
    TROUPE_ASSIGN(targets.emplace_back(), target(meta.graph, node));
  }
  return targets;
}

Result<std::vector<Output>> initializers_of(const MetaGraph& meta, const std::string& name) {
  std::vector<Output> targets;
  const auto found = meta.collections.find(name);
  if (found == meta.collections.end()) return targets;
  const auto* const messages = std::get_if<MetaGraph::Bytes>(&found->second);
  if (!messages) return damaged("it does not consist of messages", name);
  for (const auto& message : messages->values) {
    protobuf::FieldReader fields(message);
    while (const auto field = fields.next()) {
      if (field->number != variable_def::initializer) continue;
      TROUPE_ASSIGN(targets.emplace_back(), target(meta.graph, field->bytes));
    }
    if (fields.damaged()) return damaged("a variable is no message", name);
  }
  return targets;
}

Result<std::vector<QueueRunner>> queue_runners_of(const MetaGraph& meta) {
  std::vector<QueueRunner> runners;
  const auto found = meta.collections.find("queue_runners");
  if (found == meta.collections.end()) return runners;
  const auto* const messages = std::get_if<MetaGraph::Bytes>(&found->second);
  if (!messages) return damaged("it does not consist of messages");
  for (const auto& message : messages->values) {
    TROUPE_ASSIGN(runners.emplace_back(), read_runner(meta.graph, message));
  }
  return runners;
}

}  // namespace troupe::interop
