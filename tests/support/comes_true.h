// comes_true: waits for what other threads or processes bring about. Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace troupe::test {

/// Returns whether the condition becomes true within half a minute, a limit for hangs.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

}  // namespace troupe::test
