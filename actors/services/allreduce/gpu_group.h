// GpuGroup: the GPUs of several sites that exchange tensors directly, as one of these sites knows them. The first site decides with
// which communicator and in which turn an exchange runs, so that it runs in the same turn everywhere; the others do as that site
// says. When an exchange fails at one site, its communicator is used no more at any site. Owned by the allreduce role, in whose
// actor all of this runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "devices/gpu_communicator.h"
#include "devices/gpu_queue.h"

namespace troupe {

/// What the first site knows about the site of a member.
struct GpuMember {
  uint64_t incarnation = 0;  ///< of its process
  uint64_t broken = 0;       ///< the last communicator that has failed there; 0: none
};

/// When an exchange runs.
struct GpuTurn {
  uint64_t communicator = 0;  ///< its number; 0: not decided
  std::string id;             ///< see GpuQueue::make_communicator
  uint64_t place = 0;         ///< among the exchanges of the communicator, counted from 1
};

class GpuGroup {
 public:
  /// Called once, on any thread.
  using Done = std::function<void(Status)>;
  /// Destroys a communicator, which may take a while.
  using Dispose = std::function<void(std::unique_ptr<GpuCommunicator>)>;

  /// This site is the member `rank` of the group.
  GpuGroup(GpuQueue& queue, int rank, int members, Dispose dispose)
      : queue_(queue), rank_(rank), members_(members), dispose_(std::move(dispose)) {}
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;
  ~GpuGroup();

  /// At the first site: returns the next turn. The communicator becomes a new one, with the number `fresh`, which no other one has
  /// had, if the last one has failed at any member or connects other processes. Fails with Unavailable if none can be made.
  Result<GpuTurn> next_turn(std::span<const GpuMember> members, uint64_t fresh);
  /// Runs an exchange when the turns before it have begun. Fails with InvalidArgument if the turn was another's.
  void run(const GpuTurn& turn, GpuExchange exchange, Done done);
  /// Makes all exchanges fail that have not ended.
  void abort(const Status& reason);
  /// Returns the number of the last communicator that has failed here.
  uint64_t broken() const { return broken_; }

 private:
  struct Waiting {
    GpuExchange exchange;
    Done done;
  };

  Status replace(uint64_t number, const std::string& id);
  bool connects(std::span<const GpuMember> members) const;

  GpuQueue& queue_;
  const int rank_, members_;
  const Dispose dispose_;
  std::unique_ptr<GpuCommunicator> communicator_;
  uint64_t number_ = 0, broken_ = 0;
  Status failure_;  ///< why the communicator `broken_` has failed
  std::string id_;
  std::vector<uint64_t> incarnations_;   ///< at the first site: of the processes that are connected
  uint64_t turns_ = 0;                   ///< at the first site: how many have been given out
  uint64_t begun_ = 0;                   ///< how many have begun here
  std::map<uint64_t, Waiting> waiting_;  ///< by turn
};

}  // namespace troupe
