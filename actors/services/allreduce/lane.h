// Lane: what a site knows about the instances of one collective (group, key, and whether they are training rounds): the one
// that runs, how far they have come, and the contributions to those that do not run here yet. Owned by the allreduce role, in
// whose actor all of this runs.
#pragma once

#include <memory>
#include <vector>

#include "actors/services/allreduce/instance.h"

namespace troupe {

namespace wire {
struct Contribute;
}  // namespace wire

/// No site ever makes so many attempts.
inline constexpr uint64_t max_attempt = uint64_t{1} << 62;

using Contribution = Message<wire::Contribute>;

struct Lane {
  /// A contribution to an instance that does not run here.
  struct Kept {
    Contribution message;
    ActorRef sender;
    Reply reply;
  };

  std::unique_ptr<Instance> running;
  uint64_t over = 0;  ///< the number of the last instance that has ended well
  /// Those of its ranks (Instance::sessions), and of the rank that has begun another since.
  std::vector<uint64_t> sessions;
  /// The last attempt that has failed, here or elsewhere.
  uint64_t failed_number = 0, failed_attempt = 0;
  std::vector<Kept> kept;
  uint64_t used = 0;  ///< when it was used last, on the clock of the role

  /// Returns whether this contribution, while nothing runs, is to an instance that is over: not if it is from another session.
  bool is_past(const Contribution& message) const;
  /// Returns the number of the instance that a rank begins now. `round` is the training round, or 0. The instances of a new session
  /// are counted anew.
  uint64_t number_of(uint64_t round, uint32_t rank, uint64_t session);
  /// Returns the attempt with which this instance begins here: later than any that is known to have failed.
  uint64_t attempt_of(uint64_t number) const;
  /// Records that an attempt has failed. Returns false if that was known.
  bool record_failure(uint64_t number, uint64_t attempt);
  /// Keeps a contribution. What the same rank has sent for an earlier instance or attempt is refused.
  void keep(Kept contribution);
  /// Returns the contributions to this instance and drops those to earlier ones, which are answered.
  std::vector<Kept> take(uint64_t number, uint64_t attempt);
};

/// Returns the name of the lane of a collective.
std::string lane_name(std::string_view group, std::string_view key, bool training);

/// Answers a contribution to an instance that the receiver is past: `over` is its last one.
AnyMessage past_answer(uint64_t over);
/// Answers a contribution to an attempt that has failed: `attempt` is the last one that has.
AnyMessage failed_answer(uint64_t attempt);

}  // namespace troupe
