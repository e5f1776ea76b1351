#include "graph/build/queue_parts.h"

#include <limits>

#include "graph/build/control_flow.h"
#include "graph/build/loop_writer.h"

namespace troupe::queue_parts {
namespace {

Output number(const Scope& scope, float value) { return scope.constant(Tensor::scalar<float>(value)); }

/// Returns the outputs of a node that dequeues, whose components have these shapes behind `leading`.
std::vector<Output> components_of(const Scope& scope, NodeId node, const Queue& queue,
                                  const PartialShape& leading) {
  std::vector<Output> components;
  for (uint32_t i = 0; i < queue.types.size(); ++i) {
    components.push_back(scope.graph().output(node, i));
    throw_if_failed(scope.graph().refine_shape(components.back(), concatenate(leading, queue.shapes[i])));
  }
  return components;
}

/// Returns the shape of the elements of two lists. Fails with InvalidArgument if there is none.
Result<PartialShape> shape_of_both(const PartialShape& a, const PartialShape& b, bool padded) {
  if (padded && a.known_rank() && b.known_rank() && a.rank() == b.rank()) return common(a, b);
  return merge(a, b);
}

}  // namespace

Input::Input(const Scope& scope, std::string_view function, const std::string& name)
    : outer_(scope), function_(function),
      name_(scope.graph()
                .unique_name(scope.prefix() + (name.empty() ? function_ : name))
                .substr(scope.prefix().size())),
      scope_(scope.with_name("").with_prefix(name_)) {}

void Input::fail(const std::string& text) const {
  throw Error(invalid_argument(text).at_node(function_, outer_.prefix() + name_));
}

void Input::require_positive(const char* option, int64_t value) const {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (value < 1 || value > most)
    fail(std::string(option) + " is " + std::to_string(value) + ", but must be from 1 to " +
         std::to_string(most));
}

void Input::require_threads(int64_t num_threads) const {
  constexpr int64_t most = 1024;
  if (num_threads < 1 || num_threads > most)
    fail("num_threads is " + std::to_string(num_threads) + ", but must be from 1 to " + std::to_string(most));
}

std::string Input::described(Output tensor) const {
  return "'" + scope_.graph().name_of(tensor) + "', which has shape " + scope_.shape(tensor).text();
}

Queue add_queue(const Scope& scope, std::string_view op, Attributes attrs, std::vector<DType> types,
                std::vector<PartialShape> shapes) {
  attrs.set("component_types", types);
  attrs.set("shapes", shapes);
  return {scope.without_control().add_one(op, {}, std::move(attrs)), std::move(types), std::move(shapes)};
}

Output enqueue(const Scope& scope, const Queue& queue, const std::vector<Output>& components, bool many) {
  std::vector<Output> inputs = {queue.handle};
  inputs.insert(inputs.end(), components.begin(), components.end());
  return scope.graph().output(scope.add(many ? "QueueEnqueueManyV2" : "QueueEnqueueV2", std::move(inputs)),
                              Output::control);
}

std::vector<Output> dequeue(const Scope& scope, const Queue& queue) {
  const NodeId node = scope.add("QueueDequeueV2", {queue.handle}, {{"component_types", queue.types}});
  return components_of(scope, node, queue, PartialShape::scalar());
}

std::vector<Output> dequeue_many(const Scope& scope, const Queue& queue, int64_t count, bool up_to) {
  const Output n = integer(scope.with_name("n"), static_cast<int32_t>(count));
  const NodeId node = scope.add(up_to ? "QueueDequeueUpToV2" : "QueueDequeueManyV2", {queue.handle, n},
                                {{"component_types", queue.types}});
  return components_of(scope, node, queue, PartialShape::vector(up_to ? unknown_dim : count));
}

Output close(const Scope& scope, const std::vector<Queue>& queues, bool cancel) {
  const Scope g = scope.without_control().with_name(cancel ? "cancel" : "close");
  std::vector<Output> targets;
  for (const Queue& queue : queues)
    targets.push_back(g.graph().output(
        g.add("QueueCloseV2", {queue.handle}, {{"cancel_pending_enqueues", cancel}}), Output::control));
  return targets.size() == 1 ? targets[0] : g.group(targets);
}

void run_queues(const Scope& scope, std::vector<Output> enqueues, const std::vector<Queue>& closed) {
  add_queue_runner(scope, {.enqueue = std::move(enqueues),
                           .close = close(scope, closed, false),
                           .cancel = close(scope, closed, true)});
}

void add_summary(const Scope& scope, const Queue& queue, int64_t capacity, int64_t least) {
  const Scope g = scope.without_control();
  const int64_t room = capacity - least;
  const std::string name =
      least == 0 ? "fraction_of_" + std::to_string(room) + "_full"
                 : "fraction_over_" + std::to_string(least) + "_of_" + std::to_string(room) + "_full";
  const Output size = g.add_one("Cast", {g.add_one("QueueSizeV2", {queue.handle})}, {{"DstT", DType::Float}});
  const Output used =
      least == 0 ? size
                 : g.add_one("Maximum",
                             {g.add_one("Sub", {size, number(g, static_cast<float>(least))}), number(g, 0)});
  const Output fraction = g.add_one("Div", {used, number(g, static_cast<float>(room))});
  const Output tag = g.constant(Tensor::scalar<std::string>(g.prefix() + name));
  g.with_name(name).add("ScalarSummary", {tag, fraction});
}

Output only_if(const Scope& scope, Output keep, const std::function<Output(const Scope&)>& target) {
  const Branch then = [&](const Scope& inside) { return std::vector{target(inside)}; };
  const Branch otherwise = [](const Scope& inside) { return std::vector{inside.group({})}; };
  return scope.graph().output(cond(scope, keep, then, otherwise)[0].node, Output::control);
}

std::vector<DType> element_types(const Input& input, const std::vector<std::vector<Output>>& lists) {
  if (lists.empty() || lists[0].empty()) input.fail("there are no tensors whose values could be enqueued");
  std::vector<DType> types;
  for (const Output& tensor : lists[0]) types.push_back(input.scope().dtype(tensor));
  for (size_t list = 1; list < lists.size(); ++list) {
    if (lists[list].size() != types.size())
      input.fail("list " + std::to_string(list) + " has " + std::to_string(lists[list].size()) +
                 " tensors, but list 0 has " + std::to_string(types.size()));
    for (size_t i = 0; i < types.size(); ++i)
      if (const DType dtype = input.scope().dtype(lists[list][i]); dtype != types[i])
        input.fail("tensor " + std::to_string(i) + " of list " + std::to_string(list) + " has dtype " +
                   std::string(name(dtype)) + ", but that of list 0 has " + std::string(name(types[i])));
  }
  return types;
}

PartialShape row_shape(const Input& input, Output tensor) {
  const PartialShape& shape = input.scope().shape(tensor);
  if (!shape.known_rank()) return {};
  if (shape.rank() == 0) input.fail(input.described(tensor) + ", has no rows: its rank must be at least 1");
  return PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

int64_t rows_of(const Input& input, const std::vector<Output>& tensors) {
  int64_t rows = unknown_dim;
  for (const Output& tensor : tensors) {
    row_shape(input, tensor);
    const PartialShape& shape = input.scope().shape(tensor);
    if (!shape.known_rank() || shape[0] == unknown_dim) continue;
    if (rows != unknown_dim && rows != shape[0])
      input.fail(input.described(tensor) +
                 ", has another number of rows than a tensor before it, which has " + std::to_string(rows));
    rows = shape[0];
  }
  return rows;
}

std::vector<PartialShape> element_shapes(const Input& input, const std::vector<std::vector<Output>>& lists,
                                         bool many, const std::vector<PartialShape>& given, bool padded) {
  const size_t components = lists[0].size();
  if (!given.empty() && given.size() != components)
    input.fail("there are " + std::to_string(given.size()) + " shapes for " + std::to_string(components) +
               " tensors");
  std::vector<PartialShape> shapes;
  for (size_t i = 0; i < components; ++i) {
    const auto refuse = [&](Output tensor, const PartialShape& expected) {
      input.fail("the elements of component " + std::to_string(i) + " have shape " + expected.text() +
                 ", which those of " + input.described(tensor) + ", do not fit");
    };
    PartialShape shape;
    for (const auto& list : lists) {
      const PartialShape one = many ? row_shape(input, list[i]) : input.scope().shape(list[i]);
      const auto both = shape_of_both(shape, one, padded);
      if (!both) refuse(list[i], shape);
      shape = *both;
    }
    if (!given.empty()) {
      const auto both = merge(given[i], shape);
      if (!both) refuse(lists[0][i], given[i]);
      shape = padded ? given[i] : *both;
    }
    if (padded ? !shape.known_rank() : !shape.fully_known())
      input.fail("the elements of component " + std::to_string(i) + " have shape " + shape.text() +
                 ", whose " + (padded ? "rank" : "dimensions") + " must be known: say what shapes they have");
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace troupe::queue_parts
