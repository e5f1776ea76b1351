#include "actors/step/around_waits.h"

#include <utility>

namespace troupe {
namespace {

thread_local AroundWaits* innermost = nullptr;

}  // namespace

AroundWaits::AroundWaits(std::function<void(const Wait&)> around)
    : around_(std::move(around)), outer_(std::exchange(innermost, this)) {}
AroundWaits::~AroundWaits() { innermost = outer_; }

void AroundWaits::call(const Wait& wait) {
  if (innermost)
    innermost->around_(wait);
  else
    wait();
}

}  // namespace troupe
