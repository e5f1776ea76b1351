// ReplicaGroup: the round of one group of variables that is being gathered or applied: the gradients that have been pushed, and the
// steps that wait for the round. Owned by the replicas role.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/engine/role.h"
#include "actors/services/variable/prepared_rule.h"
#include "kernels/loops/weighted_rows.h"

namespace troupe::wire {
struct PushGradient;
}

namespace troupe {

/// The identity of a step in messages (session, ordinal).
struct PushingStep {
  uint64_t session = 0, ordinal = 0;
  bool operator==(const PushingStep&) const = default;
};

class ReplicaGroup {
 public:
  using Push = Message<wire::PushGradient>;

  /// `name` is the name of the variable that counts the rounds. Round, training and rule are those of the first push.
  ReplicaGroup(std::string name, const Push& push, std::shared_ptr<const UpdateRule> update_rule);

  const std::string& name() const { return name_; }
  uint64_t round() const { return round_; }
  uint64_t training() const { return training_; }
  const std::shared_ptr<const UpdateRule>& rule() const { return rule_; }
  /// The push of the first shard, whose values the rule gets. There must be one.
  const Push& first() const { return pushes_.begin()->second; }
  bool empty() const { return pushes_.empty(); }
  bool has_all() const;

  /// Fails with InvalidArgument if a push is not consistent in itself.
  static Status check(const Push& push);
  /// Fails with InvalidArgument, naming both sides, if a push does not agree with the earlier ones.
  Status check_against_first(const Push& push, const UpdateRule& rule) const;

  /// Keeps the gradient, unless this shard has pushed already. Returns whether it is new.
  bool keep(const Push& push);
  /// The step of the push waits until the round is applied.
  void wait(const Push& push, Reply reply);
  /// Answers the waiting pushes of a step that has ended with Cancelled. Unless the pushes belong to a training, those that no
  /// other step waits for are dropped.
  void cancel(const PushingStep& step);
  /// Drops all shards but these. Fails with Internal if one of these is missing.
  Status keep_only(std::span<const uint32_t> shards);
  /// Answers all waiting pushes.
  void answer(const Result<AnyMessage>& outcome);

  /// The gradients of all shards in order, dense or as rows, and their samples.
  bool has_gradient() const;
  bool has_rows() const;
  std::vector<Tensor> gradients() const;
  std::vector<TensorRows> rows() const;
  std::vector<int64_t> samples() const;
  /// The values for the rule: those of the first shard, with this gradient in place of its own and, if it is rows, their numbers.
  std::vector<Tensor> rule_values(std::vector<Tensor> gradient) const;

  bool complete = false;    ///< the set of shards is final
  bool committing = false;  ///< the rule is being applied
  /// The rule's number while it is being applied. The numbers in the pushes may become invalid with their partitions.
  uint64_t rule_number = 0;

 private:
  struct Waiting {
    uint32_t shard = 0;
    PushingStep step;
    Reply reply;
  };
  const std::string name_;
  const uint64_t round_, training_;
  const std::shared_ptr<const UpdateRule> rule_;
  std::map<uint32_t, Push> pushes_;  ///< by shard
  std::vector<Waiting> waiting_;
};

}  // namespace troupe
