// ActorRef: a counted reference to an actor of this process, or to the stub of a remote actor. It is opaque, so that only
// actors/engine/engine.cpp needs CAF. It is cheap to copy, comparable, and may be used from any thread.
#pragma once

#include <cstddef>
#include <utility>

#pragma GCC visibility push(default)
namespace troupe {

class ActorRef {
 public:
  ActorRef() = default;
  ActorRef(const ActorRef& other);
  ActorRef(ActorRef&& other) noexcept : control_(std::exchange(other.control_, nullptr)) {}
  ActorRef& operator=(ActorRef other) noexcept {
    std::swap(control_, other.control_);
    return *this;
  }
  ~ActorRef();

  explicit operator bool() const { return control_ != nullptr; }
  friend bool operator==(const ActorRef&, const ActorRef&) = default;
  friend auto operator<=>(const ActorRef&, const ActorRef&) = default;

  /// For the engine only: takes ownership of one reference to a caf::actor_control_block.
  static ActorRef adopt(void* control) {
    ActorRef ref;
    ref.control_ = control;
    return ref;
  }
  void* control() const { return control_; }

 private:
  void* control_ = nullptr;
};

}  // namespace troupe
#pragma GCC visibility pop
