// AllreduceRole: the state and the handlers of the allreduce role (allreduce.h). Its functions run one at a time, in its actor.
// allreduce.cpp has what concerns the ranks of this site, allreduce_sites.cpp what concerns the others, and allreduce_gpus.cpp
// exchanges between GPUs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "actors/services/allreduce/lane.h"
#include "actors/site/numbered.h"

namespace troupe {

namespace wire {
struct BlockReady;
struct Compare;
struct RunCollective;
struct Withdraw;
}  // namespace wire

class AllreduceRole final : public Role {
 public:
  AllreduceRole(std::shared_ptr<DeviceSite> site, const Numbered<Collective>& collectives, Address self);

 private:
  // ---- Ranks of this site

  void run(const Message<wire::RunCollective>& message, Reply reply);
  /// Returns the answer to the only member.
  static Result<AnyMessage> alone(const Collective& what, const Message<wire::RunCollective>& message);
  Status begin(Lane& lane, const std::shared_ptr<const Collective>& what,
               const Message<wire::RunCollective>& message);

  static Status check_joins(Instance& instance, const Collective& what,
                            const Message<wire::RunCollective>& message);
  void join(Lane& lane, const Collective& what, const Message<wire::RunCollective>& message, Reply reply);
  /// Adds the parts of a rank to the blocks of this site, and prepares the questions for the others.
  void join_reduction(Lane& lane, Instance& instance, uint32_t rank);
  void join_gather(Instance& instance, uint32_t rank);
  static void give(Instance& instance, uint32_t rank, Reply reply);
  /// Sends the next questions, and ends the instance if nothing is missing any more.
  void advance(Lane& lane);
  void ask_site(Instance& instance, uint32_t site, Instance::Line& line);
  void answered(Lane& lane, uint32_t site, const Instance::Question& question,
                const Result<AnyMessage>& answer);
  /// Another site is past the instance. The next one is that which comes next there, if instances are counted.
  void fail_past(Lane& lane, uint64_t over);
  Status take_answer(Lane& lane, const Instance::Question& question, const AnyMessage& answer);

  // ---- Blocks of this site

  void reduce(Lane& lane, uint32_t block);
  void compute(const Instance& instance, uint32_t block, BlockWork work, bool received);
  void ready(const Message<wire::BlockReady>& message);
  static void reduced(Instance& instance, uint32_t block);

  // ---- Exchanges between GPUs

  /// Returns the group of the GPUs of a collective.
  GpuGroup& group_of(const Collective& collective);
  /// Decides at the first site when an instance, for which all ranks are there, is carried out.
  Status give_turn(Instance& instance);
  void exchange(Lane& lane);
  static Status take_turn(Instance& instance, const AnyMessage& answer);
  void abort_groups_of(const std::string& device, const Status& reason);

  // ---- The end of an instance

  void complete(Lane& lane);
  void finish(Lane& lane);
  void cancel(const StepKey& step);
  /// Ends the instance of a lane with a failure, and tells the other sites. Only the ranks of the step `ended`, if there is one,
  /// get the failure as it is.
  void fail(Lane& lane, const Status& status, std::optional<StepKey> ended = {});
  std::unique_ptr<Instance> end_running(Lane& lane, const Status& status, std::optional<StepKey> ended);
  void tell_until_known(const ActorRef& site, const AnyMessage& message);

  // ---- Other sites

  void contribute(const Contribution& message, Reply reply);
  void keep(Lane& lane, const Contribution& message, Reply reply);
  void take_kept(Lane& lane);
  /// Takes a contribution to the running instance.
  void accept(Lane& lane, const Contribution& message, Reply reply);
  void accept_part(Lane& lane, const Contribution& message, Reply reply);
  void accept_question(Lane& lane, const Contribution& message, Reply reply);
  void withdraw(const Message<wire::Withdraw>& message);
  /// Returns the allreduce role of another device, of the process that its task is now.
  Result<ActorRef> find_site(const std::string& device);
  void watch_site(const ActorRef& actor);
  void site_ended(const ActorRef& actor, const Status& reason);

  // ---- Members that wait for long

  int64_t patience() const;
  void start_timer();
  void compare_overdue();
  void ask_to_compare(const std::string& name, const Instance& instance, const ActorRef& site);
  void compare(const Message<wire::Compare>& message, Reply reply);

  // ---- Lanes

  Lane& lane_of(const std::string& name);
  /// Drops the half of the lanes that has not been used for longest, as far as nothing waits in them.
  void forget_idle_lanes();
  /// Returns the lane of this instance if it still runs.
  Lane* running(const std::string& name, uint64_t serial);

  std::shared_ptr<DeviceSite> site_;
  const Numbered<Collective>& collectives_;
  const Address self_;
  std::unordered_map<std::string, Lane> lanes_;  ///< by lane_name()
  uint64_t last_serial_ = 0, uses_ = 0;
  std::unordered_map<std::string, ActorRef> peers_;  ///< by device
  std::set<ActorRef> watched_;
  std::map<std::vector<std::string>, std::unique_ptr<GpuGroup>> groups_;  ///< by the names of the sites
  bool timer_runs_ = false;  ///< whether CompareOverdue will come
};

}  // namespace troupe
