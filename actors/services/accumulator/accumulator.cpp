#include "actors/services/accumulator/accumulator.h"

#include <algorithm>
#include <deque>

#include "actors/services/accumulator/gradient_sum.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/accumulator.capnp.h"

// A gradient:  arrives --> waits for those before it --> is added, here or on the pool --> answered
//                 +--> dropped, answered
// A take:      arrives --> waits in line --> first of its line, enough gradients, none being added --> answered
//                              +--> answered Cancelled

namespace troupe {
namespace {

constexpr size_t max_bytes_in_handler = 64 << 10;  ///< more bytes are added outside the handler

struct Arrival {
  int64_t local_step = 0;
  std::vector<Tensor> gradient;
  Reply reply;

  size_t bytes() const {
    size_t result = 0;
    for (const Tensor& component : gradient) result += component.bytes();
    return result;
  }
};

struct Take : WaitingRequest {
  uint64_t required = 0;
};

AnyMessage applied(bool dropped) {
  Draft<wire::GradientApplied> draft;
  draft->setDropped(dropped);
  return draft.finish();
}

class AccumulatorRole final : public WaitingRole {
 public:
  AccumulatorRole(ActorNode& node, AccumulatorSpec spec, std::shared_ptr<Device> device)
      : WaitingRole(node, "accumulator '" + spec.name + "'"), spec_(std::move(spec)),
        device_(std::move(device)) {
    on<wire::ApplyGradient>([this](const auto& message, Reply reply) { apply(message, std::move(reply)); });
    on<wire::TakeGradient>([this](const auto& message, Reply reply) { take(message, std::move(reply)); });
    on<wire::SetGlobalStep>([this](const auto& message, Reply reply) {
      global_step_ = message->getGlobalStep();
      reply(Draft<wire::GlobalStepSet>().finish());
    });
    on<wire::GradientAdded>([this](const auto&, Reply) { added(); });
    on<wire::GetAccumulated>([this](const auto&, Reply reply) {
      Draft<wire::Accumulated> draft;
      draft->setCount(count_);
      reply(draft.finish());
    });
  }

 private:
  /// A gradient that is being added on the pool.
  struct Adding {
    Arrival arrival;
    Status status;
  };

  /// A sum that leaves.
  struct Taken {
    std::shared_ptr<GradientSum> sum;
    Reply reply;
  };

  void apply(const Message<wire::ApplyGradient>& message, Reply reply) {
    const size_t least = spec_.sparse ? 2 : 1, most = spec_.sparse ? 3 : 1;
    const auto gradient = message.attachments();
    if (gradient.size() < least || gradient.size() > most)
      return reply(invalid_argument("accumulator '" + spec_.name + "' takes " + spec_.text() + ", but got " +
                                    std::to_string(gradient.size()) + " components"));
    arrivals_.push_back({message->getLocalStep(), {gradient.begin(), gradient.end()}, std::move(reply)});
    advance();
  }

  void take(const Message<wire::TakeGradient>& message, Reply reply) {
    if (message->getRequired() <= 0)
      return reply(invalid_argument("num_required is " + std::to_string(message->getRequired()) +
                                    ", but must be positive"));
    auto take = waiting<Take>(*message, std::move(reply));
    take.required = static_cast<uint64_t>(message->getRequired());
    takes_.push_back(std::move(take));
    advance();
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    takes_.remove(concerned, [&](Take& take) { finish(take, reason); });
    advance();
  }

  /// Adds gradients and answers takes until it must wait.
  void advance() {
    while (!adding_) {
      takes_.advance([this](Take& take) { return try_take(take); }, [](const Take&) {});
      if (arrivals_.empty()) return;
      add_first();
    }
  }

  void add_first() {
    Arrival arrival = std::move(arrivals_.front());
    arrivals_.pop_front();
    if (arrival.local_step < global_step_) return arrival.reply(applied(true));
    if (!sum_) sum_ = make_gradient_sum(spec_);
    if (arrival.bytes() <= max_bytes_in_handler)
      return answer(arrival.reply, sum_->add(arrival.gradient, device_->context()));
    adding_ = std::make_shared<Adding>(Adding{std::move(arrival), {}});
    compute_soon(node_.scheduler,
                 make_job([adding = adding_, sum = sum_, device = device_, &node = node_, self = self()] {
                   adding->status = sum->add(adding->arrival.gradient, device->context());
                   node.engine.send(self, Draft<wire::GradientAdded>().finish());
                 }));
  }

  void added() {
    const auto adding = std::move(adding_);
    answer(adding->arrival.reply, std::move(adding->status));
    advance();
  }

  void answer(Reply& reply, Status status) {
    if (!status.ok()) return reply(std::move(status));
    ++count_;
    reply(applied(false));
  }

  Progress try_take(Take& take) {
    if (count_ < take.required) return Progress::None;
    ++global_step_;
    count_ = 0;
    // The next gradients have a sum of their own, so this one may be finished on the pool.
    const auto taken = std::make_shared<Taken>(Taken{std::exchange(sum_, nullptr), std::move(take.reply)});
    const auto hand_over = [taken, device = device_] {
      auto result = taken->sum->finish(device->context());
      if (!result) return taken->reply(result.status());
      taken->reply(Draft<wire::GradientTaken>().finish(std::move(*result)));
    };
    if (taken->sum->bytes() <= max_bytes_in_handler)
      hand_over();
    else
      compute_soon(node_.scheduler, make_job(hand_over));
    return Progress::Complete;
  }

  const AccumulatorSpec spec_;
  const std::shared_ptr<Device> device_;
  int64_t global_step_ = 0;
  uint64_t count_ = 0;  ///< gradients in the sum
  /// Null while there is no gradient; shared with the job that adds to it.
  std::shared_ptr<GradientSum> sum_;
  std::shared_ptr<Adding> adding_;  ///< null if no job adds
  std::deque<Arrival> arrivals_;
  WaitingLine<Take> takes_;
};

}  // namespace

std::unique_ptr<Role> make_accumulator(ActorNode& node, AccumulatorSpec spec,
                                       std::shared_ptr<Device> device) {
  return std::make_unique<AccumulatorRole>(node, std::move(spec), std::move(device));
}

}  // namespace troupe
