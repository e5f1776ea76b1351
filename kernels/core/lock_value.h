// LockValue: the value of a variant that holds the lock of a mutex (kernels/ops/state/mutexes.cpp). The lock is released when the
// last tensor with this value goes. The actor of the mutex makes it; any thread may use and destroy it.
#pragma once

#include <functional>
#include <utility>

#include "kernels/core/kernel.h"

namespace troupe {

class LockValue final : public VariantValue {
 public:
  /// `release` is called once, on the thread that destroys the value.
  explicit LockValue(std::function<void()> release) : release_(std::move(release)) {}
  ~LockValue() override { release_(); }
  LockValue(const LockValue&) = delete;
  LockValue& operator=(const LockValue&) = delete;

 private:
  const std::function<void()> release_;
};

}  // namespace troupe
