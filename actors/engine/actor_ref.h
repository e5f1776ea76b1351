// ActorRef: a counted handle of an actor of this process, or of the stub of a remote one. Opaque, so that only actors/engine/engine.cpp
// knows CAF. Cheap to copy, comparable, usable from any thread.
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

  /// For the engine: takes over one reference of a caf::actor_control_block.
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
