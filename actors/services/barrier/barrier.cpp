#include "actors/services/barrier/barrier.h"

#include <algorithm>

#include "actors/services/barrier/barrier_elements.h"
#include "actors/services/queue/element_stack.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/barrier.capnp.h"

// A take:  arrives --> waits --> first of its line, enough elements --> answered
//             |          +--> answered Cancelled, or OutOfRange when no more elements can come
//             +--> answered OutOfRange
//
// A barrier is open at first. Once it is closed, no new keys come; when the last of its elements is ready or dropped, it is
// finished.

namespace troupe {
namespace {

struct Take : WaitingRequest {
  int64_t count = 0;
  bool small_batch = false;
};

class BarrierRole final : public WaitingRole {
 public:
  BarrierRole(ActorNode& node, const BarrierSpec& spec, std::shared_ptr<Device> device)
      : WaitingRole(node, "barrier '" + spec.name + "'"), device_(std::move(device)), elements_(spec) {
    on<wire::InsertComponents>([this](const auto& message, Reply reply) { reply(insert(message)); });
    on<wire::TakeElements>([this](const auto& message, Reply reply) { take(message, std::move(reply)); });
    on<wire::CloseBarrier>([this](const auto& message, Reply reply) {
      reply(close(message->getCancelPending()));
      advance();
    });
    on<wire::GetBarrierSize>([this](const auto&, Reply reply) {
      Draft<wire::BarrierSize> draft;
      draft->setReady(static_cast<uint64_t>(elements_.ready()));
      draft->setIncomplete(static_cast<uint64_t>(elements_.incomplete()));
      reply(draft.finish());
    });
  }

 private:
  Result<AnyMessage> insert(const Message<wire::InsertComponents>& message) {
    const auto tensors = message.attachments();
    if (tensors.size() != 2)
      return invalid_argument("an insert needs keys and values, but has " + std::to_string(tensors.size()) +
                              " tensors");
    if (cancelled_) return cancelled(what() + " is closed, and its pending inserts are cancelled");
    const size_t component = message->getComponent();
    if (closed_ && tensors[0].elements() != 0 && elements_.incomplete() == 0)
      return cancelled(what() + " is closed and has no incomplete elements");
    TROUPE_RETURN_IF_FAILED(elements_.insert(tensors[0], component, tensors[1], closed_));
    advance();
    return AnyMessage(Draft<wire::ComponentsInserted>().finish());
  }

  Result<AnyMessage> close(bool cancel_pending) {
    if (closed_ && (cancelled_ || !cancel_pending)) return cancelled(what() + " is already closed");
    closed_ = true;
    cancelled_ = cancel_pending;
    if (cancelled_) elements_.drop_incomplete();
    return AnyMessage(Draft<wire::BarrierClosed>().finish());
  }

  /// No more elements will become ready.
  bool finished() const { return closed_ && elements_.incomplete() == 0; }

  void take(const Message<wire::TakeElements>& message, Reply reply) {
    auto take = waiting<Take>(*message, std::move(reply));
    take.count = message->getCount();
    take.small_batch = message->getSmallBatch();
    if (closed_) {
      if (take.small_batch) take.count = std::min(take.count, coming(take));
      if (coming(take) < std::max<int64_t>(take.count, 1)) return take.reply(too_few(take));
    }
    takes_.push_back(std::move(take));
    advance();
  }

  /// How many elements a take that arrives after the close can get.
  int64_t coming(const Take& take) const {
    return elements_.ready() + (take.small_batch ? 0 : elements_.incomplete());
  }

  Status too_few(const Take& take) const {
    return out_of_range(what() + " is closed and has insufficient elements (requested " +
                        std::to_string(take.count) + ", total size " + std::to_string(coming(take)) + ")");
  }

  void advance() {
    takes_.advance([this](Take& take) { return try_take(take); }, [](const Take&) {});
  }

  Progress try_take(Take& take) {
    if (take.count > elements_.ready()) {
      if (!finished()) return Progress::None;
      if (!take.small_batch || elements_.ready() == 0) {
        take.reply(too_few(take));
        return Progress::Complete;
      }
      take.count = elements_.ready();
    }
    hand_over(take);
    return Progress::Complete;
  }

  void hand_over(Take& take) {
    const auto message = [](std::vector<Tensor> tensors) {
      return Draft<wire::ElementsTaken>().finish(std::move(tensors));
    };
    if (take.count == 0) {
      auto none = elements_.none();
      return none ? take.reply(message(std::move(*none))) : take.reply(none.status());
    }
    elements_.put_back(
        stack_elements(node_, *device_, elements_.take(take.count), std::move(take.reply), message));
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    takes_.remove(concerned, [&](Take& take) { finish(take, reason); });
    advance();
  }

  const std::shared_ptr<Device> device_;
  BarrierElements elements_;
  WaitingLine<Take> takes_;
  bool closed_ = false;
  bool cancelled_ = false;  ///< closed with `cancelPending`
};

}  // namespace

std::unique_ptr<Role> make_barrier(ActorNode& node, const BarrierSpec& spec, std::shared_ptr<Device> device) {
  return std::make_unique<BarrierRole>(node, spec, std::move(device));
}

}  // namespace troupe
