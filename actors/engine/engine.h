// Engine: the actor system of one node. It makes actors of roles, delivers messages to them, and counts the messages. Only its
// implementation uses CAF. Owned by the node; outlives all its actors. All functions but end() may be called from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/engine/role.h"
#include "actors/engine/scheduler.h"

namespace troupe {

/// How many messages of one type an engine has delivered, and their bytes.
struct MessageCount {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

class Engine {
 public:
  explicit Engine(Scheduler& scheduler);
  /// Calls end().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ActorRef spawn(std::unique_ptr<Role> role);
  /// Makes an actor without a mailbox: each message to it is handed to `deliver` on the sender's thread. Links use stubs to
  /// represent actors of other nodes.
  ActorRef spawn_stub(std::function<void(const AnyMessage&, Reply)> deliver);
  /// Ends a stub. Its watchers receive `reason`.
  void end_stub(const ActorRef& stub, const Status& reason);

  /// Delivers a message. The receiver answers through `reply`. If the receiver has ended, the message is dropped and `reply`
  /// answers Unavailable.
  void send(const ActorRef& to, AnyMessage message, Reply reply = {});
  /// Sends a request and waits for the answer; meanwhile the calling thread runs jobs. Fails with DeadlineExceeded after `deadline`
  /// (nanoseconds of the steady clock; 0: none).
  Result<AnyMessage> call(const ActorRef& to, AnyMessage message, int64_t deadline = 0);
  /// Sends all requests and waits for all answers; meanwhile the calling thread runs jobs. `failed` is called as soon as the first
  /// request fails, on the thread that answers it.
  Answers call_all(std::vector<AddressedRequest> requests, RequestFailed failed = {});
  /// Calls `down` with the reason when the actor ends, on the thread that ends it, or at once if it has ended already. For watchers
  /// that are not actors; actors use Role::watch.
  void watch(const ActorRef& actor, std::function<void(Status)> down);
  /// Asks an actor to end with this reason.
  void stop(const ActorRef& actor, const Status& reason = {});

  Scheduler& scheduler() const { return scheduler_; }
  /// Ends every actor and waits until all have ended; the scheduler must still run. Messages sent from now on are dropped, and
  /// actors spawned from now on end at once.
  void end();
  /// The number of actors that have not ended.
  size_t actors() const;
  /// The messages delivered so far, by message type (the id of its schema).
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
