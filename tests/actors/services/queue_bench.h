// Queue bench: a queue role in a simulation, its requests, and their answers as text. Used by the tests of queues.
#pragma once

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "actors/services/queue/queue.h"
#include "devices/cpu_device.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::test {

template <class T>
void set_step(Draft<T>& draft, uint64_t ordinal) {
  draft->initStep().setOrdinal(ordinal);
}

inline Tensor ints(std::vector<int32_t> values) {
  return Tensor::vector<int32_t>(std::span<const int32_t>(values));
}

inline AnyMessage enqueue(uint64_t step, std::vector<Tensor> components, int64_t timeout = -1) {
  Draft<wire::Enqueue> draft;
  set_step(draft, step);
  draft->setTimeout(timeout);
  return draft.finish(std::move(components));
}
inline AnyMessage enqueue_many(uint64_t step, std::vector<Tensor> components, int64_t timeout = -1) {
  Draft<wire::EnqueueMany> draft;
  set_step(draft, step);
  draft->setTimeout(timeout);
  return draft.finish(std::move(components));
}
inline AnyMessage dequeue(uint64_t step, int64_t timeout = -1) {
  Draft<wire::Dequeue> draft;
  set_step(draft, step);
  draft->setTimeout(timeout);
  return draft.finish();
}
inline AnyMessage dequeue_many(uint64_t step, uint64_t count, bool up_to = false, int64_t timeout = -1) {
  Draft<wire::DequeueMany> draft;
  set_step(draft, step);
  draft->setCount(count);
  draft->setUpTo(up_to);
  draft->setTimeout(timeout);
  return draft.finish();
}
inline AnyMessage close(uint64_t step, bool cancel_pending) {
  Draft<wire::CloseQueue> draft;
  set_step(draft, step);
  draft->setCancelPending(cancel_pending);
  return draft.finish();
}
inline AnyMessage cancel(uint64_t step) {
  Draft<wire::CancelRequests> draft;
  set_step(draft, step);
  return draft.finish();
}
inline AnyMessage get_size() { return Draft<wire::GetQueueSize>().finish(); }

using Answered = std::optional<Result<AnyMessage>>;

/// Returns "-" while the request waits, the code of a failure, "1" for an element, "[1,2]" for a stack, a size, otherwise "ok".
inline std::string text(const Answered& answered) {
  if (!answered) return "-";
  if (!answered->ok()) return std::string(name(answered->status().code()));
  const AnyMessage& answer = **answered;
  if (answer.schema_id() == schema_id_of<wire::QueueSize>)
    return std::to_string(Message<wire::QueueSize>(answer)->getSize());
  if (answer.schema_id() != schema_id_of<wire::Dequeued>) return "ok";
  const Tensor& tensor = answer.attachments().back();
  std::string result;
  for (const int32_t value : tensor.as<int32_t>())
    result += (result.empty() ? "" : ",") + std::to_string(value);
  return tensor.shape().is_scalar() ? result : '[' + result + ']';
}

/// A queue, and its answers.
struct QueueBench {
  explicit QueueBench(QueueSpec spec, uint64_t seed = 0)
      : simulation(seed), queue(node.actors.engine.spawn(make_queue(node.actors, std::move(spec), device))) {}
  explicit QueueBench(int64_t capacity, uint64_t seed = 0)
      : QueueBench(QueueSpec{"q", {DType::Int32}, {Shape{}}, capacity}, seed) {}

  /// Sends a request, runs the simulation until it is idle, and returns the index of the answer.
  size_t ask(AnyMessage message) {
    answers.push_back(node.ask(queue, std::move(message)));
    simulation.run_ready();
    return answers.size() - 1;
  }
  void tell(AnyMessage message) {
    node.actors.engine.send(queue, std::move(message));
    simulation.run_ready();
  }
  Status status(AnyMessage message) {
    const Answered& answer = *answers[ask(std::move(message))];
    return answer ? answer->status() : unavailable("still waiting");
  }

  Simulation simulation;
  SimulatedDisk disk{0};
  SimulatedNode node{simulation, disk};
  std::shared_ptr<Device> device =
      std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, node.pool);
  ActorRef queue;
  std::vector<std::shared_ptr<const Answered>> answers;
};

/// Returns a spec of a queue of int32 scalars. In a priority queue the priority of 7 is 7 % 4.
inline QueueSpec spec_of(QueueKind kind, int64_t capacity) {
  QueueSpec spec{"q", {DType::Int32}, {PartialShape::scalar()}, capacity, kind};
  if (kind == QueueKind::RandomShuffle) spec.seed = 3, spec.seed2 = 4;
  if (kind != QueueKind::Priority) return spec;
  spec.types = {DType::Int64, DType::Int32};
  spec.shapes = {PartialShape::scalar(), PartialShape::scalar()};
  return spec;
}

inline int64_t priority_of(int32_t value) { return value % 4; }

/// Returns the components of one element or, for `many`, of a batch.
inline std::vector<Tensor> components_of(QueueKind kind, const std::vector<int32_t>& values, bool many) {
  Tensor data = ints(values);
  std::vector<int64_t> priorities;
  for (const int32_t value : values) priorities.push_back(priority_of(value));
  Tensor ranks = Tensor::vector<int64_t>(std::span<const int64_t>(priorities));
  if (!many) data = data.reshaped(Shape()), ranks = ranks.reshaped(Shape());
  if (kind == QueueKind::Priority) return {ranks, data};
  return {data};
}

/// A script of words. Each word is the request of one step (the first word is step 1):
///   e7       enqueue 7                  c    close                      x2   cancel step 2
///   E7,8     enqueue a batch            C    close, cancel pending      t5   let 5 ns pass
///   d        dequeue                    s    size                       e7@5, d@5, ...: with a timeout of 5 ns
///   D3, U3   dequeue 3, up to 3
struct Word {
  char kind = 0;
  std::vector<int32_t> numbers;
  int64_t timeout = -1;

  explicit Word(const std::string& word) : kind(word[0]) {
    std::string rest = word.substr(1);
    if (const size_t at = rest.find('@'); at != std::string::npos) {
      timeout = std::stoll(rest.substr(at + 1));
      rest.resize(at);
    }
    std::istringstream in(rest);
    for (std::string number; std::getline(in, number, ',');) numbers.push_back(std::stoi(number));
  }
};

/// Returns the request of a word; nothing for x and t.
inline std::optional<AnyMessage> request(const Word& word, uint64_t step, QueueKind kind = QueueKind::Fifo) {
  switch (word.kind) {
    case 'e': return enqueue(step, components_of(kind, word.numbers, false), word.timeout);
    case 'E': return enqueue_many(step, components_of(kind, word.numbers, true), word.timeout);
    case 'd': return dequeue(step, word.timeout);
    case 'D': return dequeue_many(step, static_cast<uint64_t>(word.numbers[0]), false, word.timeout);
    case 'U': return dequeue_many(step, static_cast<uint64_t>(word.numbers[0]), true, word.timeout);
    case 'c': return close(step, false);
    case 'C': return close(step, true);
    case 's': return get_size();
    default: return std::nullopt;
  }
}

}  // namespace troupe::test
