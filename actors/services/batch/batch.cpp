#include "actors/services/batch/batch.h"

#include <map>
#include <optional>

#include "actors/services/batch/batch_rows.h"
#include "actors/services/queue/element_stack.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/batch.capnp.h"
#include "messages/values/text_hash.h"
#include "messages/wire/wire.h"

// A request:  arrives --> waits in the open batch of its queue --> answered when the batch is full, due, or followed by another
// one
//             |                +--> answered Cancelled
//             +--> answered InvalidArgument, or Unavailable

namespace troupe {
namespace {

struct Member : WaitingRequest {
  int64_t id = 0;
  std::vector<Tensor> tensors;

  int64_t rows() const { return tensors[0].shape()[0]; }
};

struct OpenBatch {
  uint64_t number = 0;
  WaitingLine<Member> members;
  int64_t rows = 0;
  std::optional<TimerId> timer;
};

/// Returns one row for each member: its id, and where its rows begin and end.
Tensor index_of(const std::vector<Member>& members) {
  std::vector<int64_t> index;
  int64_t begin = 0;
  for (const Member& member : members) {
    index.insert(index.end(), {member.id, begin, begin + member.rows()});
    begin += member.rows();
  }
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(members.size()), 3}, std::span<const int64_t>(index));
}

AnyMessage batch_answer(std::vector<Tensor> tensors, Tensor index, int64_t id) {
  tensors.push_back(std::move(index));
  tensors.push_back(Tensor::scalar(id));
  return Draft<wire::BatchJoined>().finish(std::move(tensors));
}

class BatchRole final : public WaitingRole {
 public:
  BatchRole(ActorNode& node, BatchSpec spec, std::shared_ptr<Device> device)
      : WaitingRole(node, "batch '" + spec.name + "'"), spec_(std::move(spec)), device_(std::move(device)) {
    on<wire::JoinBatch>([this](const auto& message, Reply reply) { join(message, std::move(reply)); });
    on<wire::BatchDue>([this](const auto& message, Reply) {
      const auto at = open_.find(std::string(view(message->getQueue())));
      if (at != open_.end() && at->second.number == message->getBatch()) give_away(at->first);
    });
  }

 private:
  void stopping() override {
    for (const auto& [queue, batch] : open_) drop_timer(batch);
  }
  void drop_timer(const OpenBatch& batch) const {
    if (batch.timer) node_.env.clock.cancel(*batch.timer);
  }

  void join(const Message<wire::JoinBatch>& message, Reply reply) {
    if (Status status = check(message.attachments()); !status.ok()) return reply(std::move(status));
    const std::string queue(view(message->getQueue()));
    const int64_t rows = message.attachments()[0].shape()[0];
    if (const auto at = open_.find(queue); at != open_.end() && at->second.rows + rows > spec_.max_rows) {
      if (spec_.max_batches <= 1)
        return reply(unavailable(what() + " has no room for " + std::to_string(rows) +
                                 " more rows, and max_enqueued_batches is " +
                                 std::to_string(spec_.max_batches)));
      give_away(queue);
    }
    auto member = waiting<Member>(*message, std::move(reply));
    member.id = static_cast<int64_t>(
        text_hash(spec_.name + '/' + std::to_string(node_.env.seed) + '/' + std::to_string(member.number)));
    member.tensors.assign(message.attachments().begin(), message.attachments().end());
    const auto [at, is_new] = open_.try_emplace(queue);
    if (is_new) begin(queue, at->second);
    at->second.rows += rows;
    at->second.members.push_back(std::move(member));
    if (at->second.rows >= spec_.max_rows || spec_.timeout == 0) give_away(queue);
  }

  Status check(std::span<const Tensor> tensors) const {
    if (tensors.empty()) return invalid_argument("a batch needs at least one tensor");
    for (const Tensor& tensor : tensors) {
      if (tensor.shape().is_scalar())
        return invalid_argument("a tensor to batch is a scalar, but must have at least one dimension");
      if (tensor.shape()[0] != tensors[0].shape()[0])
        return invalid_argument(
            "tensors of one request to a batch must have equal 0th-dimension size, but are " +
            tensors[0].signature() + " and " + tensor.signature());
    }
    if (tensors[0].shape()[0] <= spec_.max_rows) return {};
    return invalid_argument("a tensor has " + std::to_string(tensors[0].shape()[0]) +
                            " rows, but max_batch_size is " + std::to_string(spec_.max_rows));
  }

  void begin(const std::string& queue, OpenBatch& batch) {
    batch.number = ++last_batch_;
    if (spec_.timeout == 0) return;
    batch.timer = node_.env.clock.call_at(node_.env.clock.now() + spec_.timeout,
                                          [&engine = engine(), self = self(), queue, number = batch.number] {
                                            Draft<wire::BatchDue> due;
                                            due->setQueue(as_text(queue));
                                            due->setBatch(number);
                                            engine.send(self, due.finish());
                                          });
  }

  /// Answers all members of the open batch: the last one gets the rows of all.
  void give_away(const std::string& queue) {
    OpenBatch batch = std::move(open_.extract(queue).mapped());
    drop_timer(batch);
    std::vector<Member> members(std::move_iterator(batch.members.begin()),
                                std::move_iterator(batch.members.end()));
    auto rows = padded_rows(members, batch.rows);
    const auto empty = without_rows(members.back().tensors);
    if (!rows || !empty) {
      for (Member& member : members) member.reply(rows ? empty.status() : rows.status());
      return;
    }
    Tensor index = index_of(members);
    const Tensor no_index = Tensor::of<int64_t>(Shape{0, 3}, std::span<const int64_t>());
    for (Member& member : std::span(members).first(members.size() - 1))
      member.reply(batch_answer(*empty, no_index, member.id));
    Member& last = members.back();
    if (rows->size() == 0) return last.reply(batch_answer(*empty, std::move(index), last.id));
    stack_elements(node_, *device_, std::move(*rows), std::move(last.reply),
                   [index = std::move(index), id = last.id](std::vector<Tensor> stack) {
                     return batch_answer(std::move(stack), index, id);
                   });
  }

  /// Returns the rows of all members, and the first row as often again as the allowed sizes ask for.
  Result<ElementQueue> padded_rows(const std::vector<Member>& members, int64_t count) const {
    std::vector<std::vector<Tensor>> tuples;
    for (const Member& member : members) tuples.push_back(member.tensors);
    TROUPE_ASSIGN(ElementQueue rows, batched_rows(tuples));
    const int64_t padding = spec_.padded(count) - count;
    if (padding != 0 && members.front().rows() == 0)
      return invalid_argument(
          "the batch must be padded with the first row of its first tensor, which has none");
    const auto first = std::make_shared<std::vector<Tensor>>(std::move(tuples.front()));
    for (int64_t i = 0; i < padding; ++i) rows.push_back({first, 0, 1});
    return rows;
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    for (auto at = open_.begin(); at != open_.end();) {
      OpenBatch& batch = at->second;
      batch.members.remove(concerned, [&](Member& member) {
        batch.rows -= member.rows();
        finish(member, reason);
      });
      const bool is_empty = batch.members.begin() == batch.members.end();
      if (is_empty) drop_timer(batch);
      at = is_empty ? open_.erase(at) : std::next(at);
    }
  }

  const BatchSpec spec_;
  const std::shared_ptr<Device> device_;
  std::map<std::string, OpenBatch> open_;  ///< by queue; each has a member
  uint64_t last_batch_ = 0;
};

}  // namespace

std::unique_ptr<Role> make_batch(ActorNode& node, const BatchSpec& spec, std::shared_ptr<Device> device) {
  return std::make_unique<BatchRole>(node, spec, std::move(device));
}

}  // namespace troupe
