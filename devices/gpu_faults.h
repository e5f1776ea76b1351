// GpuFaults: the places in which the kernels of one GPU report wrong values. Whatever runs one step at a time borrows a place, so
// that a report makes the step fail whose kernel has made it, and no other one. Kernels outside of steps, and those that change
// variables for steps, report in the common place, and the next copy to the host fails. Owned by the queue of the device; any
// thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

/// What a kernel reports of a wrong value: the node, and a text with {} for the value and the limit. It is never destroyed.
struct GpuFaultSource {
  std::string op, node, text;
};

/// A wrong value that a kernel found on the device, in memory that the host and the device see.
struct GpuFault {
  enum : unsigned { Clear, Written, Complete };
  /// Written: a kernel writes the other members. Complete: the host may read them, and make the report Clear.
  unsigned state = Clear;
  int64_t value = 0, limit = 0;
  const GpuFaultSource* source = nullptr;  ///< in memory of the host
};
/// Returns the failure that the report describes, with its op and node, and clears it; Ok if there is none.
Status take_fault(GpuFault& fault);
/// Returns where kernels report that run on the host, on the calling thread.
GpuFault& host_fault();

/// A step, as StepInfo names it; all 0: none.
struct StepId {
  uint64_t session = 0, ordinal = 0;
  friend bool operator==(const StepId&, const StepId&) = default;
};

class GpuFaults {
 public:
  /// A borrowed place, given back by the destructor. A kernel that still runs then may report in it.
  class Place {
   public:
    explicit Place(GpuFaults& faults) : faults_(faults), number_(faults.borrow()) {}
    ~Place() { faults_.give_back(number_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// What kernels report from now on concerns this step, and so does a report that nobody has taken.
    void begin_step(const StepId& step) { faults_.begin_step(number_, step); }
    GpuFault& fault() const { return faults_.places_[number_]; }

   private:
    GpuFaults& faults_;
    const size_t number_;  ///< 0, the common place, if all others are borrowed
  };

  /// `places` lie in memory that the host and the device see, and outlive this object; there is at least one, the common place.
  explicit GpuFaults(std::span<GpuFault> places);

  GpuFault& common() const { return places_.front(); }
  /// Returns a failure that kernels of the step have reported, or kernels in the common place, and clears it; Ok if there is none.
  Status take(const StepId& step);

 private:
  /// Returns a place that nobody has borrowed; the common one, which is 0, if there is none.
  size_t borrow();
  void give_back(size_t place);
  void begin_step(size_t place, const StepId& step);

  const std::span<GpuFault> places_;
  std::mutex mutex_;           ///< guards the members below, and the places while they are read
  std::vector<StepId> steps_;  ///< by place
  /// Places that nobody has borrowed. The one that was given back first is borrowed first.
  std::deque<size_t> unused_;
};

}  // namespace troupe
