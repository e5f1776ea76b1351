// Role: the state and the handlers of an actor. The engine (actors/engine/engine.h) makes a CAF actor of it. Its functions run one
// at a time, but on changing threads. A handler runs for at most 100 us and never blocks: an actor that must wait keeps a Reply, or
// sends a request with ask(). The constructor registers one handler per message type, in the order of the schema.
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

/// Answers one request, once. Move-only. May be kept and used later, on any thread. A Reply that is destroyed without an answer
/// (its actor ended, or never got the request) answers Unavailable, so that every request is answered. The Reply of a message that
/// is not a request does nothing.
class Reply {
 public:
  Reply() = default;
  /// Calls `answer` on the thread that answers. For requests that do not come from an actor.
  explicit Reply(Answer answer) : callback_(std::move(answer)) {}
  /// Sends the answer to the actor that sent the request under the number `id`.
  Reply(Engine& engine, ActorRef requester, uint64_t id)
      : engine_(&engine), requester_(std::move(requester)), id_(id) {}
  Reply(Reply&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), requester_(std::move(other.requester_)),
        id_(other.id_), callback_(std::exchange(other.callback_, nullptr)) {}
  Reply& operator=(Reply&& other) noexcept;
  ~Reply() {
    if (expected()) abandon();
  }

  void operator()(AnyMessage message) { deliver(std::move(message)); }
  void operator()(Status failure) { deliver(std::move(failure)); }
  void operator()(Result<AnyMessage> answer) { deliver(std::move(answer)); }
  /// Whether an answer is expected and has not been given.
  bool expected() const { return engine_ || callback_; }

 private:
  void deliver(Result<AnyMessage> answer);
  void abandon();

  Engine* engine_ = nullptr;
  ActorRef requester_;
  uint64_t id_ = 0;
  Answer callback_;
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

  /// Called once, before the first message.
  virtual void started() {}
  /// Called once, when the actor ends. Answers to pending requests do not arrive any more.
  virtual void stopping() {}

  Engine& engine() const { return *engine_; }
  ActorRef self() const;
  /// Sends a message that is not a request.
  void tell(const ActorRef& to, AnyMessage message) const;
  /// Sends a request. `then` is called exactly once, in this actor, with the answer or the failure (Unavailable if `to` has ended).
  void ask(const ActorRef& to, AnyMessage message, Answer then);
  /// Returns a Reply for a request that is made by a function call instead of a message. `then` is called as for ask().
  Reply expect(Answer then);
  /// Sends all requests and calls `then` in this actor when all are answered. `failed` is called earlier, as soon as the first
  /// request fails.
  void ask_all(std::vector<AddressedRequest> requests, AllAnswered then, RequestFailed failed = {});
  /// Forwards a request: the answer of `to` goes to the original sender of the request.
  void forward(const ActorRef& to, AnyMessage message, Reply reply) const;
  /// Calls `down` in this actor with the reason when `other` ends, or soon if it has ended already.
  void watch(const ActorRef& other, std::function<void(Status)> down);
  /// Ends this actor with this reason.
  void stop(const Status& reason = {});

 private:
  friend class Engine;
  friend class RoleActor;
  void handle(Envelope& envelope);
  std::unordered_map<uint64_t, Handler> handlers_;  ///< by schema id
  std::unordered_map<uint64_t, Answer> asks_;       ///< the requests without an answer, by number
  uint64_t last_ask_ = 0;
  Engine* engine_ = nullptr;
  void* actor_ = nullptr;  ///< the CAF actor that owns this role
};

}  // namespace troupe
#pragma GCC visibility pop
