// AroundWaits: what a thread does around its waits while it prepares steps, and while it saves and restores variables. An
// interpreter with a lock (Python's GIL) releases it there, so that functions of the program, which the runtime calls, get it, and
// holds it where the graph is read. Public header: it uses only std.
#pragma once

#include <functional>

#pragma GCC visibility push(default)
namespace troupe {

class AroundWaits {
 public:
  using Wait = std::function<void()>;
  /// While this object lives, waits of the calling thread are calls of `around`, which calls its argument once.
  explicit AroundWaits(std::function<void(const Wait&)> around);
  ~AroundWaits();
  AroundWaits(const AroundWaits&) = delete;
  AroundWaits& operator=(const AroundWaits&) = delete;

  /// Calls `wait` as the innermost object of the calling thread says.
  static void call(const Wait& wait);

 private:
  const std::function<void(const Wait&)> around_;
  AroundWaits* const outer_;
};

}  // namespace troupe
#pragma GCC visibility pop
