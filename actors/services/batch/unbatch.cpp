#include <unordered_map>

#include "actors/services/batch/batch.h"
#include "actors/services/batch/batch_rows.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/batch.capnp.h"

// A request:  arrives --> waits for its part --> answered with the part, Cancelled, or DeadlineExceeded
//               +--> answered at once, if the part came before
//
// A request that has a batch brings the parts of all steps of the batch. A part for which nobody waits is kept for the timeout.

namespace troupe {
namespace {

struct Taker : WaitingRequest {
  int64_t id = 0;
};

/// A part, and the id of the request that it is for.
struct NamedPart {
  int64_t id = 0;
  Tensor part;
};

/// A part that came before its request.
struct KeptPart {
  Tensor part;
  int64_t until = 0;  ///< the time from which it is too old
};

/// Cuts a batch into the parts that its index lists, one behind the other.
Result<std::vector<NamedPart>> cut(const Tensor& batch, const Tensor& index) {
  TROUPE_ASSIGN(const auto listed, parts_of(index));
  if (batch.shape().is_scalar())
    return invalid_argument("the batch is a scalar, but must have at least one dimension");
  std::vector<NamedPart> parts;
  int64_t begin = 0;
  for (const BatchPart& part : listed) {
    if (part.rows > batch.shape()[0] - begin)
      return invalid_argument("batch_index lists more rows than the " + std::to_string(batch.shape()[0]) +
                              " of the batch");
    parts.push_back({part.id, batch.rows(begin, begin + part.rows)});
    begin += part.rows;
  }
  return parts;
}

AnyMessage part_answer(Tensor part) { return Draft<wire::BatchPartTaken>().finish({std::move(part)}); }

class UnbatchRole final : public WaitingRole {
 public:
  UnbatchRole(ActorNode& node, const BatchSpec& spec) : WaitingRole(node, "unbatch '" + spec.name + "'") {
    on<wire::TakeBatchPart>([this](const auto& message, Reply reply) { take(message, std::move(reply)); });
  }

 private:
  void stopping() override {
    for (const Taker& taker : line_) stop_timer(taker);
  }

  void take(const Message<wire::TakeBatchPart>& message, Reply reply) {
    const auto tensors = message.attachments();
    if (tensors.size() != 3)
      return reply(invalid_argument("a batch, its index and an id are needed, but " +
                                    std::to_string(tensors.size()) + " tensors came"));
    const auto id = id_of(tensors[2]);
    auto parts = cut(tensors[0], tensors[1]);
    if (!id || !parts) return reply(id ? parts.status() : id.status());
    const int64_t now = node_.env.clock.now();
    std::erase_if(kept_, [&](const auto& entry) { return entry.second.until < now; });
    if (auto kept = kept_.extract(*id)) return reply(part_answer(std::move(kept.mapped().part)));
    if (std::ranges::find(line_, *id, &Taker::id) != line_.end())
      return reply(already_exists("another request waits for the part with this id"));
    const int64_t timeout = std::clamp<int64_t>(message->getTimeout(), 0, INT64_MAX - now);
    auto taker = waiting<Taker>(*message, std::move(reply));
    taker.id = *id;
    const uint64_t number = taker.number;
    wait_in(line_, std::move(taker), timeout, [&] { hand_out(*parts, now + timeout, number); });
  }

  /// Gives each part to the request that waits for it, or keeps it. If one is there already, the request `number`, which brought
  /// the parts, fails.
  void hand_out(std::vector<NamedPart>& parts, int64_t until, uint64_t number) {
    for (NamedPart& part : parts) {
      bool taken = false;
      line_.remove([&](const Taker& taker) { return taker.id == part.id; },
                   [&](Taker& taker) {
                     taken = true;
                     finish(taker, part_answer(part.part));
                   });
      if (taken || kept_.emplace(part.id, KeptPart{part.part, until}).second) continue;
      const Status twice = already_exists("two parts have the same id");
      return line_.remove([&](const Taker& taker) { return taker.number == number; },
                          [&](Taker& taker) { finish(taker, twice); });
    }
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    line_.remove(concerned, [&](Taker& taker) { finish(taker, reason); });
  }

  WaitingLine<Taker> line_;
  std::unordered_map<int64_t, KeptPart> kept_;  ///< by id
};

}  // namespace

std::unique_ptr<Role> make_unbatch(ActorNode& node, const BatchSpec& spec) {
  return std::make_unique<UnbatchRole>(node, spec);
}

}  // namespace troupe
