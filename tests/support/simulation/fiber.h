// Fiber: a function with a stack of its own, which can be suspended and resumed, on one thread. Switching costs as much as a
// call, and makes no system call. A fiber must not be suspended while it handles an exception. Owned by its user; one thread.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace troupe::test {

class Fiber {
 public:
  /// `body` must not throw. It must have ended when the fiber is destroyed.
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  bool ended() const { return ended_; }
  /// Runs the body until it calls leave() or ends.
  void enter();
  /// Call from within the body: suspends it and returns to the caller of enter(), until enter() is called again.
  void leave();

 private:
  static void start(unsigned high, unsigned low);
  void run();

  const std::function<void()> body_;
  const std::unique_ptr<std::byte[]> stack_;
  ucontext_t inside_{}, outside_{};
  bool ended_ = false;
  // For the address sanitizer, which must know the current stack.
  void *fake_inside_ = nullptr, *fake_outside_ = nullptr;
  const void* outer_stack_ = nullptr;
  size_t outer_size_ = 0;
};

}  // namespace troupe::test
