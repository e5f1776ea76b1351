#include <algorithm>
#include <set>
#include <unordered_map>

#include "actors/services/batch/batch.h"
#include "actors/services/batch/batch_rows.h"
#include "actors/services/queue/element_stack.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/batch.capnp.h"

// A request brings the gradient of one part. If it has the batch, it waits for the gradients of all parts:
//
//   arrives --> waits --> all gradients are there --> answered with their rows
//      |          +--> answered Cancelled
//      +--> answered at once, if it has no batch

namespace troupe {
namespace {

struct Gatherer : WaitingRequest {
  int64_t id = 0;
  std::vector<int64_t> wanted;  ///< the ids of the parts, in order
};

AnyMessage gradient_answer(std::vector<Tensor> joined) {
  return Draft<wire::GradientsJoined>().finish(std::move(joined));
}

class BatchGradientRole final : public WaitingRole {
 public:
  BatchGradientRole(ActorNode& node, const BatchSpec& spec, std::shared_ptr<Device> device)
      : WaitingRole(node, "batch gradient '" + spec.name + "'"), device_(std::move(device)) {
    on<wire::JoinGradients>([this](const auto& message, Reply reply) { join(message, std::move(reply)); });
  }

 private:
  void join(const Message<wire::JoinGradients>& message, Reply reply) {
    const auto tensors = message.attachments();
    if (tensors.size() != 4)
      return reply(invalid_argument("a batch, its index, a gradient and an id are needed, but " +
                                    std::to_string(tensors.size()) + " tensors came"));
    const Tensor& gradient = tensors[2];
    const auto id = id_of(tensors[3]);
    const auto parts = parts_of(tensors[1]);
    if (!id || !parts) return reply(id ? parts.status() : id.status());
    if (gradient.shape().is_scalar())
      return reply(invalid_argument("the gradient is a scalar, but must have at least one dimension"));
    const bool has_batch = tensors[0].elements() != 0;
    if (has_batch && parts->empty())
      return reply(invalid_argument("batch_index is empty, but the batch is not"));
    if (!gradients_.emplace(*id, gradient).second)
      return reply(invalid_argument("two gradients have the same id"));
    if (has_batch) {
      gather(waiting<Gatherer>(*message, std::move(reply)), *id, *parts);
    } else if (auto none = without_rows({&gradient, 1})) {
      reply(gradient_answer(std::move(*none)));
    } else {
      reply(none.status());
    }
    line_.advance_each([this](Gatherer& gatherer) { return try_finish(gatherer); }, [](const Gatherer&) {});
  }

  void gather(Gatherer gatherer, int64_t id, const std::vector<BatchPart>& parts) {
    gatherer.id = id;
    std::set<int64_t> seen;
    for (const BatchPart& part : parts) {
      gatherer.wanted.push_back(part.id);
      const bool twice =
          !seen.insert(part.id).second || std::ranges::any_of(line_, [&](const Gatherer& other) {
            return std::ranges::count(other.wanted, part.id) != 0;
          });
      if (!twice) continue;
      gradients_.erase(id);
      return gatherer.reply(
          invalid_argument("two batches have a part with the same id, or one has it twice"));
    }
    line_.push_back(std::move(gatherer));
  }

  Progress try_finish(Gatherer& gatherer) {
    const auto is_here = [this](int64_t id) { return gradients_.contains(id); };
    if (!std::ranges::all_of(gatherer.wanted, is_here)) return Progress::None;
    std::vector<std::vector<Tensor>> tuples;
    for (const int64_t id : gatherer.wanted) tuples.push_back({std::move(gradients_.extract(id).mapped())});
    auto rows = batched_rows(tuples);
    auto none = without_rows(tuples.front());
    if (!rows || !none)
      gatherer.reply(rows ? none.status() : rows.status());
    else if (rows->size() == 0)
      gatherer.reply(gradient_answer(std::move(*none)));
    else
      stack_elements(node_, *device_, std::move(*rows), std::move(gatherer.reply), gradient_answer);
    return Progress::Complete;
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    line_.remove(concerned, [&](Gatherer& gatherer) {
      gradients_.erase(gatherer.id);
      finish(gatherer, reason);
    });
  }

  const std::shared_ptr<Device> device_;
  WaitingLine<Gatherer> line_;
  std::unordered_map<int64_t, Tensor> gradients_;  ///< by id
};

}  // namespace

std::unique_ptr<Role> make_batch_gradient(ActorNode& node, const BatchSpec& spec,
                                          std::shared_ptr<Device> device) {
  return std::make_unique<BatchGradientRole>(node, spec, std::move(device));
}

}  // namespace troupe
