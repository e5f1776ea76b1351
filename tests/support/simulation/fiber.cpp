#include "tests/support/simulation/fiber.h"

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace troupe::test {
namespace {

constexpr size_t stack_bytes = 512 << 10;

#if defined(__SANITIZE_ADDRESS__)
void before_switch(void** fake, const void* stack, size_t size) {
  __sanitizer_start_switch_fiber(fake, stack, size);
}
void after_switch(void* fake, const void** stack, size_t* size) {
  __sanitizer_finish_switch_fiber(fake, stack, size);
}
#else
void before_switch(void**, const void*, size_t) {}
void after_switch(void*, const void**, size_t*) {}
#endif

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(new std::byte[stack_bytes]) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);  // makecontext passes arguments of type int only
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::start), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
}

void Fiber::enter() {
  before_switch(&fake_outside_, stack_.get(), stack_bytes);
  swapcontext(&outside_, &inside_);
  after_switch(fake_outside_, nullptr, nullptr);
}

void Fiber::leave() {
  before_switch(ended_ ? nullptr : &fake_inside_, outer_stack_, outer_size_);
  swapcontext(&inside_, &outside_);
  after_switch(fake_inside_, &outer_stack_, &outer_size_);
}

void Fiber::start(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(uintptr_t{high} << 32 | low)->run();
}

void Fiber::run() {
  after_switch(nullptr, &outer_stack_, &outer_size_);
  body_();
  ended_ = true;
  leave();
}

}  // namespace troupe::test
