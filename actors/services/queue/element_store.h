// Element stores: where a queue keeps its elements, and which element leaves next: the oldest, a random one, or the one of the
// highest priority. Owned by the queue role, which decides when elements come and go.
#pragma once

#include <memory>

#include "actors/services/queue/queue_elements.h"
#include "actors/services/queue/queue_spec.h"

namespace troupe {

class ElementStore {
 public:
  virtual ~ElementStore() = default;
  virtual int64_t size() const = 0;
  /// Adds elements. A store that does not keep the order keeps the whole tensors as long as one of their rows.
  virtual void add(ElementRows rows) = 0;
  /// Removes and returns between 1 and `max` adjacent elements. The store must not be empty.
  virtual ElementRows take(int64_t max) = 0;
  /// Takes elements back that were taken last, in this order.
  virtual void put_back(ElementQueue&& elements) = 0;
};

/// Returns an empty store for the queue. `node_seed` seeds a random store that has no seeds of its own.
std::unique_ptr<ElementStore> make_store(const QueueSpec& spec, uint64_t node_seed);

}  // namespace troupe
