// Servers: the tasks that own the variables of a training, and their mirrors (messages/schemas/mirror.capnp): with
// train.fault.mirror each task has a mirror on another one, which takes over its variables when the task is lost. One thread, that
// of the trainer.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "messages/wire/message.h"

namespace troupe::train {

/// Begins an attempt of a training: has all linked tasks drop the variables that earlier attempts have left in places where this
/// one does not look. Returns the number of the attempt. Must be called before the session is opened that initializes or restores
/// the variables. Waits until the tasks that own variables are linked. Throws DeadlineExceeded if they are not within
/// train.fault.start_timeout, and Unavailable if one is lost.
uint64_t claim_variables(Runtime& runtime, const config::RunConfig& config);
/// Returns the number of the attempt that is under way.
uint64_t latest_attempt(Runtime& runtime, const config::RunConfig& config);

class Servers {
 public:
  /// Has a function called later, on the trainer's thread. May be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  /// Changes config.cluster.owners, which must be set if there are servers, when variables move. Both must outlive this
  /// object. `attempt` is that which claim_variables() has returned.
  Servers(Runtime& runtime, config::RunConfig& config, uint64_t attempt, Post post)
      : runtime_(runtime), config_(config), attempt_(attempt), post_(std::move(post)) {}
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  /// Returns the addresses of the actors with this role beside the variables, each once. Throws Error.
  std::vector<Address> roles(const std::string& role);
  bool mirrored() const { return config_.train.fault.mirror; }
  /// Keeps variables and mirrors away from a task, or allows them again. Variables that it owns stay there until they are moved.
  void set_drained(const std::string& task, bool drained);
  bool is_drained(const std::string& task) const { return drained_.contains(task); }
  /// Has the variables of an owner copied to another task, so that adopt_mirrors() can move them. Returns at once. Fails with
  /// FailedPrecondition if no other task is linked that may own them.
  Status copy(const std::string& owner);
  bool is_copying(const std::string& owner) const;
  bool is_copied(const std::string& owner) const;
  /// With train.fault.mirror, begins a mirror for each owner that has none, if another task is linked that can have it, and for
  /// each whose mirror is on a worker, if a parameter server is linked. Without it, begins one for each worker that owns variables
  /// though a parameter server is linked. Returns at once.
  void begin_mirrors();
  /// Returns whether begin_mirrors() may have something to do.
  bool needs_mirrors() const { return needs_mirrors_; }

  /// Ends all mirrors, so that no change waits for one any more. begin_mirrors() begins new ones.
  void end_mirrors();

  /// Returns the owners that are not linked, or whose processes are not those that had the variables.
  std::vector<std::string> lost() const;
  /// Returns the owners that are workers, though there are parameter servers, and whose mirrors on parameter servers are complete.
  std::vector<std::string> strays() const;
  /// Makes the mirrors of these owners, which may be lost, the owners of their variables, and ends the mirrors that were on them.
  /// Returns text about where the variables are now. Fails with Unavailable if one of them has no mirror that is complete and
  /// linked.
  Result<std::string> adopt_mirrors(const std::vector<std::string>& owners);

 private:
  struct Mirror {
    uint64_t number = 0;
    std::string target;     ///< the task that has the copies
    bool complete = false;  ///< it has all variables
    bool awaited = false;   ///< its owner has been asked to say when it ends
    /// The owner may go on without it, so it must not be adopted. Shared with the threads that answer.
    std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
  };

  Result<Address> address(const std::string& role, const std::string& task) const;
  Result<ActorRef> actor(const std::string& role, const std::string& task) const;
  std::vector<std::string> candidates(const std::string& owner) const;
  bool has_server(const std::string& owner) const;
  void begin_mirror(const std::string& owner);
  bool is_alive(const std::string& owner) const;
  void begun(const std::string& owner, uint64_t number, const Status& status);
  void await_end(const std::string& owner);
  void ended(const std::string& owner, uint64_t number, bool gone);
  void end_mirror(const std::string& owner, uint64_t number, bool adopted = false) const;
  void end_mirrors_on(const std::vector<std::string>& targets);

  Runtime& runtime_;
  config::RunConfig& config_;
  const uint64_t attempt_;
  const Post post_;
  std::map<std::string, Mirror> mirrors_;         ///< by the task that owns the variables
  std::map<std::string, uint64_t> incarnations_;  ///< of the processes that own the variables, by task
  bool needs_mirrors_ = false;
  /// The mirrors that have been adopted, by their former owners, which may be alive and still have them.
  std::map<std::string, uint64_t> superseded_;
  std::set<std::string> drained_;  ///< tasks that must not have variables
};

}  // namespace troupe::train
