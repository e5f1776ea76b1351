// Role: the state and handlers of an actor. Its functions run one at a time, on whichever thread; a handler runs no longer than
// 100 us and never blocks: what must wait is a kept Reply or a pending ask. The engine (actors/engine/engine.h) makes a CAF actor of it.
// Handlers are registered in the constructor in the order of the schema, one per message type.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/engine/requests.h"
#include "messages/values/status.h"
#include "messages/wire/message_reader.h"

#pragma GCC visibility push(default)
namespace troupe {

class Engine;
struct Envelope;                                // actors/engine/engine.cpp
class [[gnu::visibility("hidden")]] RoleActor;  // actors/engine/engine.cpp

/// The one answer that a request gets. Move-only; may be kept and answered later, from any thread. Dropped unanswered (its actor
/// ended, or never got the request) it answers Unavailable, so that no asker ever waits in vain. For a message that nobody
/// expects an answer to, answering does nothing.
class Reply {
 public:
  Reply() = default;
  /// Calls `answer` on whichever thread answers: for askers that are no actors.
  explicit Reply(Answer answer) : outside_(std::move(answer)) {}
  /// Sends the answer to the actor that keeps `id` among its asks.
  Reply(Engine& engine, ActorRef asker, uint64_t id) : engine_(&engine), asker_(std::move(asker)), id_(id) {}
  Reply(Reply&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), asker_(std::move(other.asker_)), id_(other.id_),
        outside_(std::exchange(other.outside_, nullptr)) {}
  Reply& operator=(Reply&& other) noexcept;
  ~Reply() {
    if (expected()) abandon();
  }

  void operator()(AnyMessage message) { deliver(std::move(message)); }
  void operator()(Status failure) { deliver(std::move(failure)); }
  void operator()(Result<AnyMessage> answer) { deliver(std::move(answer)); }
  bool expected() const { return engine_ || outside_; }

 private:
  void deliver(Result<AnyMessage> answer);
  void abandon();

  Engine* engine_ = nullptr;
  ActorRef asker_;
  uint64_t id_ = 0;
  Answer outside_;
};

using Handler = std::function<void(const AnyMessage&, Reply)>;
class Role {
 public:
  virtual ~Role() = default;
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

 protected:
  Role() = default;

  /// Registers the handler of messages of type T: `void(const Message<T>&, Reply)`.
  template <class T, class F>
  void on(F handler) {
    handlers_[capnp::typeId<T>()] = [handler = std::move(handler)](const AnyMessage& message, Reply reply) {
      handler(Message<T>(message), std::move(reply));
    };
  }

  /// Called once before the first message.
  virtual void started() {}
  /// Called once when the actor ends; asks still pending are not answered any more.
  virtual void stopping() {}

  Engine& engine() const { return *engine_; }
  ActorRef self() const;
  void tell(const ActorRef& to, AnyMessage message) const;
  /// `then` is called exactly once, in this actor, with the answer or the failure (Unavailable when `to` is gone).
  void ask(const ActorRef& to, AnyMessage message, Answer then);
  /// The Reply of a request that reaches another by a call, not by a message; `then` as for ask().
  Reply expect(Answer then);
  /// Calls `then` in this actor once all requests are answered. `failed` is called before that, as soon as the first of them has failed.
  void ask_all(std::vector<AddressedRequest> requests, AllAnswered then, RequestFailed failed = {});
  /// Passes a request on: whoever answers `reply` answers the original asker.
  void forward(const ActorRef& to, AnyMessage message, Reply reply) const;
  /// Calls `down` in this actor once `other` has ended, with the reason; at once when it already has.
  void watch(const ActorRef& other, std::function<void(Status)> down);
  void stop(const Status& reason = {});

 private:
  friend class Engine;
  friend class RoleActor;
  void handle(Envelope& envelope);
  std::unordered_map<uint64_t, Handler> handlers_;
  std::unordered_map<uint64_t, Answer> asks_;
  uint64_t last_ask_ = 0;
  Engine* engine_ = nullptr;
  void* actor_ = nullptr;  ///< the CAF actor that owns this
};

}  // namespace troupe
#pragma GCC visibility pop
