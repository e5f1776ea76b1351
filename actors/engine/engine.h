// Engine: the actor system of one node: makes actors of roles, delivers messages, counts them. CAF is behind it and nowhere
// else. Owned by the node; outlives all its actors; spawn, send and call may be used from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/engine/role.h"
#include "actors/engine/scheduler.h"

namespace troupe {

/// What passed through an engine, by message type (the id of its schema).
struct MessageCount {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

class Engine {
 public:
  explicit Engine(Scheduler& scheduler);
  ~Engine();  ///< after end()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ActorRef spawn(std::unique_ptr<Role> role);
  /// An actor without a mailbox: each message is handed to `deliver` on the sender's thread. For links and for callers outside.
  ActorRef spawn_stub(std::function<void(const AnyMessage&, Reply)> deliver);
  /// Ends a stub: whoever watches it is told `reason`.
  void end_stub(const ActorRef& stub, const Status& reason);

  /// Delivers a message; the receiver answers `reply`. Dropped when the receiver has ended.
  void send(const ActorRef& to, AnyMessage message, Reply reply = {});
  /// The same, waiting for the answer while this thread helps; DeadlineExceeded after `deadline` (steady nanoseconds; 0: none).
  Result<AnyMessage> call(const ActorRef& to, AnyMessage message, int64_t deadline = 0);
  /// Sends all requests and waits for all answers, while this thread helps. `failed` is called before the end, as soon as the first of
  /// them has failed, on the thread that answers it.
  Answers call_all(std::vector<AddressedRequest> requests, RequestFailed failed = {});
  /// Calls `down` once the actor has ended, with the reason, on whichever thread ended it; at once when it already has. For
  /// watchers that are no actors.
  void watch(const ActorRef& actor, std::function<void(Status)> down);
  /// Asks an actor to end.
  void stop(const ActorRef& actor, const Status& reason = {});

  Scheduler& scheduler() const { return scheduler_; }
  /// Ends every actor, waiting until they have; the scheduler must still run. What is sent from now on is dropped, and whoever is
  /// spawned ends at once.
  void end();
  /// Actors alive.
  size_t actors() const;
  std::map<uint64_t, MessageCount> counts() const;

 private:
  friend class Reply;
  friend class Role;
  friend class RoleActor;
  struct Impl;
  Scheduler& scheduler_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
