#include "actors/services/queue/queue.h"

#include <algorithm>
#include <limits>

#include "actors/services/queue/element_stack.h"
#include "actors/services/queue/element_store.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/queue.capnp.h"

// An attempt, in the line of enqueues (closes among them) or in that of dequeues:
//
//   arrives --> waits --> first of its line --> answered
//                 |          |  ^     |
//                 |          +--+     |       when there is room, or elements: it keeps what it has so far
//                 +---------+---------+
//                           +--------------> answered Cancelled or DeadlineExceeded; the elements of a dequeue go back
//
// A queue is open at first. It is closed when a close becomes the first of the line of enqueues, or at once by a close that cancels
// that line.

namespace troupe {
namespace {

struct Attempt : WaitingRequest {
  bool close = false;

  ElementQueue rest;      ///< for an enqueue: the elements that are not in the queue yet
  bool separated = true;  ///< for an enqueue: false while its batch is being cut into `rest`

  ElementQueue taken;  ///< for a dequeue: the elements that it has so far
  int64_t wanted = 0;
  bool stacked = false, up_to = false;

  int64_t missing() const { return wanted - taken.size(); }
};

using Line = WaitingLine<Attempt>;

class QueueRole final : public WaitingRole {
 public:
  QueueRole(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device)
      : WaitingRole(node, "queue '" + spec.name + "'"), spec_(std::move(spec)), device_(std::move(device)),
        elements_(make_store(spec_, node.env.seed)) {
    on<wire::Enqueue>([this](const auto& message, Reply reply) { enqueue(message, std::move(reply)); });
    on<wire::EnqueueMany>(
        [this](const auto& message, Reply reply) { enqueue_many(message, std::move(reply)); });
    on<wire::Dequeue>([this](const auto& message, Reply reply) {
      auto attempt = waiting<Attempt>(*message, std::move(reply));
      attempt.wanted = 1;
      wait(dequeues_, std::move(attempt), message->getTimeout());
    });
    on<wire::DequeueMany>(
        [this](const auto& message, Reply reply) { dequeue_many(message, std::move(reply)); });
    on<wire::CloseQueue>([this](const auto& message, Reply reply) { close(message, std::move(reply)); });
    on<wire::BatchSeparated>([this](const auto& message, Reply) { separated(message); });
    on<wire::GetQueueSize>([this](const auto&, Reply reply) {
      Draft<wire::QueueSize> draft;
      draft->setSize(static_cast<uint64_t>(elements_->size()));
      draft->setClosed(closed_);
      reply(draft.finish());
    });
  }

 private:
  void stopping() override {
    for (Line* line : {&enqueues_, &dequeues_})
      for (const Attempt& attempt : *line) stop_timer(attempt);
  }

  // ---- Requests

  void enqueue(const Message<wire::Enqueue>& message, Reply reply) {
    if (Status status = check(message.attachments(), 0); !status.ok()) return reply(std::move(status));
    auto element = one_element(message.attachments());
    if (!element) return reply(element.status());
    auto attempt = waiting<Attempt>(*message, std::move(reply));
    attempt.rest.push_back(std::move(*element));
    wait(enqueues_, std::move(attempt), message->getTimeout());
  }

  void enqueue_many(const Message<wire::EnqueueMany>& message, Reply reply) {
    if (Status status = check(message.attachments(), 1); !status.ok()) return reply(std::move(status));
    const auto components = message.attachments();
    const int64_t rows = components[0].shape()[0];
    if (rows == 0) return reply(Draft<wire::Enqueued>().finish());
    auto attempt = waiting<Attempt>(*message, std::move(reply));
    ElementRows batch{std::make_shared<std::vector<Tensor>>(components.begin(), components.end()), 0, rows};
    if (spec_.keeps_order() || rows == 1)
      attempt.rest.push_back(std::move(batch));
    else if (Status status = separate(std::move(batch), attempt); !status.ok())
      return attempt.reply(std::move(status));
    wait(enqueues_, std::move(attempt), message->getTimeout());
  }

  /// Copies the elements of a batch, because a store that does not keep their order would keep the whole batch as long as one of
  /// them. Another thread copies a large batch; until then the attempt makes no progress.
  Status separate(ElementRows batch, Attempt& attempt) {
    TROUPE_ASSIGN(auto elements, allocate_elements(batch, device_->context()));
    if (batch.bytes() <= max_bytes_in_handler) {
      fill_elements(batch, elements, node_.pool);
      for (const auto& element : elements) attempt.rest.push_back(element_of(element));
      return {};
    }
    attempt.separated = false;
    auto copying = std::make_shared<std::vector<std::vector<Tensor>>>(std::move(elements));
    compute_soon(node_.scheduler, make_job([batch = std::move(batch), copying, number = attempt.number,
                                            &node = node_, self = self()] {
                   fill_elements(batch, *copying, node.pool);
                   std::vector<Tensor> components;
                   for (auto& element : *copying)
                     for (Tensor& component : element) components.push_back(std::move(component));
                   Draft<wire::BatchSeparated> separated;
                   separated->setAttempt(number);
                   node.engine.send(self, separated.finish(std::move(components)));
                 }));
    return {};
  }

  void separated(const Message<wire::BatchSeparated>& message) {
    Attempt* const attempt = enqueues_.find(message->getAttempt());
    if (!attempt) return;  // it ended early
    attempt->separated = true;
    const auto components = message.attachments();
    for (size_t i = 0; i < components.size(); i += spec_.types.size())
      attempt->rest.push_back(element_of(components.subspan(i, spec_.types.size())));
    advance();
  }

  void dequeue_many(const Message<wire::DequeueMany>& message, Reply reply) {
    if (spec_.shapes.empty())
      return reply(invalid_argument("queue '" + spec_.name +
                                    "' has no component shapes, so its elements cannot be stacked"));
    const auto count =
        static_cast<int64_t>(std::min<uint64_t>(message->getCount(), std::numeric_limits<int64_t>::max()));
    for (size_t i = 0; i < spec_.types.size(); ++i)
      if (auto shape = stacked_shape(count, spec_.least_shape(i), spec_.types[i]); !shape)
        return reply(shape.status());
    if (count == 0) return reply_none(std::move(reply));
    auto attempt = waiting<Attempt>(*message, std::move(reply));
    attempt.wanted = count;
    attempt.stacked = true;
    attempt.up_to = message->getUpTo();
    wait(dequeues_, std::move(attempt), message->getTimeout());
  }

  void reply_none(Reply reply) {
    std::vector<Tensor> none;
    for (size_t i = 0; i < spec_.types.size(); ++i) {
      auto tensor = Tensor::allocate(spec_.types[i], *stacked_shape(0, spec_.least_shape(i), spec_.types[i]));
      if (!tensor) return reply(tensor.status());
      none.push_back(std::move(*tensor));
    }
    reply(Draft<wire::Dequeued>().finish(std::move(none)));
  }

  void close(const Message<wire::CloseQueue>& message, Reply reply) {
    if (message->getCancelPending()) {
      closed_ = true;
      end(
          enqueues_, [](const WaitingRequest&) { return true; },
          cancelled(what() + " was closed while the enqueue waited"));
      reply(Draft<wire::QueueClosed>().finish());
      return advance();
    }
    auto attempt = waiting<Attempt>(*message, std::move(reply));
    attempt.close = true;
    wait(enqueues_, std::move(attempt), -1);
  }

  /// Fails with InvalidArgument unless these are the components of one element or, if `leading` is 1, of a batch of elements.
  Status check(std::span<const Tensor> components, size_t leading) const {
    const auto refuse = [&](size_t i) {
      return invalid_argument("component " + std::to_string(i) + " is " + components[i].signature() +
                              ", queue '" + spec_.name + "' takes " + (leading != 0 ? "batches of " : "") +
                              spec_.text());
    };
    if (components.size() != spec_.types.size())
      return invalid_argument("queue '" + spec_.name + "' takes " + spec_.text() + ", but got " +
                              std::to_string(components.size()) + " components");
    for (size_t i = 0; i < components.size(); ++i) {
      const auto dims = components[i].shape().dims();
      if (components[i].dtype() != spec_.types[i] || dims.size() < leading) return refuse(i);
      if (!spec_.accepts(i, dims.subspan(leading))) return refuse(i);
      if (leading != 0 && dims[0] != components[0].shape()[0])
        return invalid_argument("component 0 has " + std::to_string(components[0].shape()[0]) +
                                " elements for queue '" + spec_.name + "', component " + std::to_string(i) +
                                " has " + std::to_string(dims[0]));
    }
    return {};
  }

  // ---- Lines

  void wait(Line& line, Attempt attempt, int64_t timeout) {
    wait_in(line, std::move(attempt), timeout, [this] { advance(); });
  }

  /// Runs both lines until the first of each must wait.
  void advance() {
    bool moved = true;
    while (moved) {
      moved = advance(enqueues_, &QueueRole::try_enqueue);
      moved |= advance(dequeues_, &QueueRole::try_dequeue);
    }
  }

  bool advance(Line& line, Progress (QueueRole::*try_first)(Attempt&)) {
    return line.advance([&](Attempt& attempt) { return (this->*try_first)(attempt); },
                        [this](const Attempt& attempt) { stop_timer(attempt); });
  }

  Progress try_enqueue(Attempt& attempt) {
    if (closed_) {
      attempt.reply(cancelled("queue '" + spec_.name + "' is closed" + (attempt.close ? " already" : "")));
      return Progress::Complete;
    }
    if (attempt.close) {
      closed_ = true;
      attempt.reply(Draft<wire::QueueClosed>().finish());
      return Progress::Complete;
    }
    if (!attempt.separated) return Progress::None;
    Progress progress = Progress::None;
    while (attempt.rest.size() != 0) {
      const int64_t room = spec_.capacity < 0 ? attempt.rest.size() : spec_.capacity - elements_->size();
      if (room <= 0) return progress;  // negative if elements have been put back into a full queue
      elements_->add(attempt.rest.take(room));
      progress = Progress::Some;
    }
    attempt.reply(Draft<wire::Enqueued>().finish());
    return Progress::Complete;
  }

  /// The number of elements that dequeues may take now.
  int64_t available() const { return elements_->size() - (closed_ ? 0 : spec_.min_after_dequeue); }

  Progress try_dequeue(Attempt& attempt) {
    if (closed_ && elements_->size() < attempt.missing()) {
      const int64_t remainder = attempt.taken.size() + elements_->size();
      if (!attempt.up_to || remainder == 0) {
        const int64_t wanted = attempt.wanted;
        elements_->put_back(std::move(attempt.taken));
        attempt.reply(out_of_range("queue '" + spec_.name + "' is closed and has " +
                                   std::to_string(elements_->size()) + " elements, but " +
                                   std::to_string(wanted) + " were requested"));
        return Progress::Complete;
      }
      attempt.wanted = remainder;
    }
    if (spec_.kind == QueueKind::Priority && attempt.missing() <= available())
      elements_->put_back(
          std::move(attempt.taken));  // the smallest of all leave, not of those that came last
    Progress progress = Progress::None;
    while (attempt.missing() != 0 && available() > 0) {
      attempt.taken.push_back(elements_->take(std::min(attempt.missing(), available())));
      progress = Progress::Some;
    }
    if (attempt.missing() != 0) return progress;
    hand_over(attempt);
    return Progress::Complete;
  }

  void hand_over(Attempt& attempt) {
    const auto& pieces = attempt.taken.pieces();
    if (!attempt.stacked) return attempt.reply(Draft<wire::Dequeued>().finish(components_of(pieces.front())));
    elements_->put_back(stack_elements(
        node_, *device_, std::move(attempt.taken), std::move(attempt.reply),
        [](std::vector<Tensor> stack) { return Draft<wire::Dequeued>().finish(std::move(stack)); }));
  }

  // ---- Attempts that end early

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    end(enqueues_, concerned, reason);
    end(dequeues_, concerned, reason);
    advance();
  }

  /// Ends attempts of a line. Only the first dequeue can have elements, so these go back in order.
  void end(Line& line, const Concerned& concerned, const Status& reason) {
    line.remove(concerned, [&](Attempt& attempt) {
      elements_->put_back(std::move(attempt.taken));
      finish(attempt, reason);
    });
  }

  const QueueSpec spec_;
  const std::shared_ptr<Device> device_;
  const std::unique_ptr<ElementStore> elements_;
  Line enqueues_, dequeues_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<Role> make_queue(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device) {
  return std::make_unique<QueueRole>(node, std::move(spec), std::move(device));
}

}  // namespace troupe
