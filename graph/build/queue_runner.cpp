#include "graph/build/queue_runner.h"

#include "graph/build/noted_attrs.h"

namespace troupe {
namespace {

std::string name_of_target(const Scope& scope, Output target) {
  const Graph& graph = scope.graph();
  if (const Status status = graph.check(target); !status.ok())
    throw Error(invalid_argument("a target of a queue runner " + status.text()));
  return graph.node(target.node).name;
}

template <class T>
const T* find(const Node& note, std::string_view attr) {
  const AttrValue* const value = note.attrs.find(attr);
  if (!value) return nullptr;
  if (const T* const found = std::get_if<T>(value)) return found;
  throw Error(invalid_argument("attribute " + std::string(attr) + " is a " +
                               std::string(name(kind_of(*value))) +
                               ", which is not what a queue runner is noted with")
                  .at_node(note.type(), note.name));
}

std::optional<Output> find_target(const Graph& graph, const Node& note, std::string_view attr) {
  const auto* const target = find<std::string>(note, attr);
  return target ? std::optional(value_or_throw(graph.find_target(*target))) : std::nullopt;
}

std::vector<Code> codes_of(const Node& note) {
  const auto* const numbers = find<std::vector<int64_t>>(note, queue_ends_attr);
  if (!numbers) return QueueRunner().ends;
  std::vector<Code> codes;
  for (const int64_t number : *numbers) {
    if (number < 0 || number > static_cast<int64_t>(Code::DataLoss))
      throw Error(invalid_argument("a queue runner ends with code " + std::to_string(number) +
                                   ", which does not exist")
                      .at_node(note.type(), note.name));
    codes.push_back(static_cast<Code>(number));
  }
  return codes;
}

}  // namespace

void add_queue_runner(const Scope& scope, const QueueRunner& runner) {
  std::vector<std::string> enqueue;
  for (const Output& target : runner.enqueue) enqueue.push_back(name_of_target(scope, target));
  std::vector<int64_t> ends;
  for (const Code code : runner.ends) ends.push_back(static_cast<int64_t>(code));
  Attributes attrs{{std::string(queue_enqueue_attr), std::move(enqueue)},
                   {std::string(queue_ends_attr), std::move(ends)}};
  if (runner.close) attrs.set(queue_close_attr, name_of_target(scope, *runner.close));
  if (runner.cancel) attrs.set(queue_cancel_attr, name_of_target(scope, *runner.cancel));
  scope.without_control().with_name("queue_runner").add("NoOp", {}, std::move(attrs));
}

std::vector<QueueRunner> queue_runners(const Graph& graph) {
  std::vector<QueueRunner> runners;
  for (const Node& note : graph.nodes()) {
    const auto* const enqueue = find<std::vector<std::string>>(note, queue_enqueue_attr);
    if (!enqueue) continue;
    QueueRunner& runner = runners.emplace_back();
    for (const std::string& target : *enqueue)
      runner.enqueue.push_back(value_or_throw(graph.find_target(target)));
    runner.close = find_target(graph, note, queue_close_attr);
    runner.cancel = find_target(graph, note, queue_cancel_attr);
    runner.ends = codes_of(note);
  }
  return runners;
}

}  // namespace troupe
