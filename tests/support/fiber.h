// Fiber: a function with a stack of its own, which runs a while, stands still, and goes on, all on one thread: switching costs what a
// call does and asks no system. It must not stand still while it handles an exception. Owned by whoever enters it; one thread.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace troupe::test {

class Fiber {
 public:
  /// `body` must not throw, and must have ended when the fiber goes.
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  bool ended() const { return ended_; }
  /// Runs it until it leaves or ends.
  void enter();
  /// From within: back to whoever entered it, until that is done again.
  void leave();

 private:
  static void start(unsigned high, unsigned low);
  void run();

  const std::function<void()> body_;
  const std::unique_ptr<std::byte[]> stack_;
  ucontext_t inside_{}, outside_{};
  bool ended_ = false;
  // For the address sanitizer, which has to know on which stack it is.
  void *fake_inside_ = nullptr, *fake_outside_ = nullptr;
  const void* outer_stack_ = nullptr;
  size_t outer_size_ = 0;
};

}  // namespace troupe::test
