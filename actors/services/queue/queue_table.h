// QueueTable: the queues on a device, by the cell of their handle. Part of the DeviceSite. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "actors/services/queue/queue.h"
#include "actors/site/device_site.h"
#include "kernels/core/state.h"

namespace troupe {

struct Queue {
  Queue(QueueSpec its_spec, Address its_address)
      : spec(std::move(its_spec)), address(std::move(its_address)) {}

  const QueueSpec spec;
  const Address address;
  ActorPlace actor;
};

/// Of a FIFOQueue or FIFOQueueV2. InvalidArgument when its shapes are not fully known or not one per component.
Result<QueueSpec> queue_spec(const Node& handle);

class QueueTable {
 public:
  /// Spawns the queue that a handle stands for, unless there is one. InvalidArgument when there is one with another spec;
  /// Unimplemented on a device whose memory is not the host's.
  Status open(DeviceSite& site, std::shared_ptr<const StateCell> cell, const QueueSpec& spec);
  /// Ends the queue of this handle, if it is one of the device's; what it holds goes with it.
  void end(const DeviceSite& site, const StateCell& cell);
  /// Null when nobody has opened it.
  std::shared_ptr<const Queue> find(const StateCell& cell) const;

 private:
  struct Entry {
    std::shared_ptr<const StateCell> cell;  ///< kept, so that no other cell can take its place in memory
    std::shared_ptr<Queue> queue;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const StateCell*, Entry> queues_;
};

}  // namespace troupe
