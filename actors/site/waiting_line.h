// WaitingLine: requests that wait at an actor, in the order in which they came. An entry is a WaitingRequest with what its
// actor needs to know of it. Owned by a WaitingRole (waiting_role.h), in whose actor all of this runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "actors/engine/role.h"
#include "actors/site/device_site.h"
#include "messages/env/env.h"

namespace troupe {

/// What all requests that wait have.
struct WaitingRequest {
  uint64_t number = 0;  ///< unique at its actor
  StepKey step;
  Reply reply;
  std::optional<TimerId> timer;  ///< if it has a timeout
};

/// How far a request came.
enum class Progress : uint8_t { None, Some, Complete };

/// `Entry` derives from WaitingRequest.
template <class Entry>
class WaitingLine {
 public:
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  void push_back(Entry entry) { entries_.push_back(std::move(entry)); }
  /// Returns the request with this number, or null if it is not in the line.
  Entry* find(uint64_t number) {
    const auto at = std::ranges::find(entries_, number, &Entry::number);
    return at == entries_.end() ? nullptr : &*at;
  }

  /// Calls `attempt(entry)`, which returns a Progress, for the first request, and for the next when that is complete. Calls
  /// `complete(entry)` for each that is. Returns whether any request made progress.
  template <class Attempt, class Completed>
  bool advance(Attempt attempt, Completed completed) {
    bool moved = false;
    while (!entries_.empty()) {
      const Progress progress = attempt(entries_.front());
      moved |= progress != Progress::None;
      if (progress != Progress::Complete) break;
      completed(entries_.front());
      entries_.pop_front();
    }
    return moved;
  }

  /// Calls `attempt(entry)` for each request in order, and `completed(entry)` for each that is complete, which leaves the line.
  /// Returns whether any request made progress.
  template <class Attempt, class Completed>
  bool advance_each(Attempt attempt, Completed completed) {
    bool moved = false;
    std::erase_if(entries_, [&](Entry& entry) {
      const Progress progress = attempt(entry);
      moved |= progress != Progress::None;
      if (progress == Progress::Complete) completed(entry);
      return progress == Progress::Complete;
    });
    return moved;
  }

  /// Removes the requests for which `concerned(entry)` is true and calls `ended(entry)` for each, in order.
  template <class Predicate, class Ended>
  void remove(Predicate concerned, Ended ended) {
    std::deque<Entry> removed;
    std::erase_if(entries_, [&](Entry& entry) {
      if (!concerned(entry)) return false;
      removed.push_back(std::move(entry));
      return true;
    });
    for (Entry& entry : removed) ended(entry);
  }

 private:
  std::deque<Entry> entries_;
};

}  // namespace troupe
