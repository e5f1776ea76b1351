// SimulatedProcessors: the cores of the machines of a simulation. If a simulation has them, what its hosts do takes virtual time:
// the time that it takes the processor here, times a factor, and given costs of each frame. A host has a control thread and a
// compute thread, which also runs its client. A message is handled at once if its thread is free, even where all cores are busy,
// and delays what runs there next; a computation waits for a core. Such runs are not equal for equal seeds. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::test {

struct Costs {
  double work = 1;        ///< virtual time for a nanosecond of processor time here
  int64_t frame = 0;      ///< nanoseconds that a frame takes a core at each of its two ends
  double byte = 0;        ///< nanoseconds for each of its bytes, at each end
  double wire = 0;        ///< nanoseconds for each byte at the network of a host, in each direction
  size_t cores = 1;       ///< of a machine
  bool together = false;  ///< whether all hosts share one machine
};

class SimulatedProcessors {
 public:
  enum class Thread : uint8_t { Control, Compute };

  explicit SimulatedProcessors(const Costs& costs) : costs_(costs) {}
  const Costs& costs() const { return costs_; }

  /// Returns whether a job of this thread of a host (a number from 1) can begin now.
  bool can_begin(uint32_t host, Thread thread, int64_t now);
  /// The thread takes a core for that long, or delays what runs there. Returns when that core is free.
  int64_t occupy(uint32_t host, Thread thread, int64_t now, int64_t nanoseconds);
  /// A host sends or receives a frame of so many bytes, which is there at that time at the earliest. Returns when the network of
  /// the host is through with it.
  int64_t pass(uint32_t host, bool outward, int64_t time, size_t bytes);

 private:
  struct Host {
    int64_t control_until = 0, compute_until = 0;
    int64_t sent_until = 0, received_until = 0;
  };
  Host& host(uint32_t number);
  int64_t& first_free_core(uint32_t host);

  const Costs costs_;
  std::vector<Host> hosts_;
  std::vector<int64_t> cores_;  ///< by machine: when each of its cores is free
};

}  // namespace troupe::test
