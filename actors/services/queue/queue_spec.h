// Queue spec: what a queue is made of, as the node that yields its handle says. A plain value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "graph/ops/partial_shape.h"

namespace troupe {

/// Which element leaves the queue next.
enum class QueueKind : uint8_t {
  Fifo,           ///< the oldest
  PaddingFifo,    ///< the oldest; stacked elements are padded to the largest among them
  RandomShuffle,  ///< a random one
  Priority        ///< the one whose component 0 is the smallest, the oldest among equals
};

/// The name of a queue, the components of its elements, and its capacity.
struct QueueSpec {
  std::string name;          ///< the name of its state
  std::vector<DType> types;  ///< the dtypes of the components of an element
  /// The shapes of the components; empty: any shapes, but then elements cannot be stacked. Only those of a PaddingFifo may have
  /// unknown dimensions.
  std::vector<PartialShape> shapes;
  int64_t capacity = -1;  ///< the most elements that it holds; -1: any number
  QueueKind kind = QueueKind::Fifo;
  // Of a RandomShuffle only:
  int64_t min_after_dequeue = 0;  ///< while the queue is open, a dequeue leaves as many elements
  int64_t seed = 0, seed2 = 0;    ///< both 0: the queue is seeded by its name and its node

  /// Returns whether elements leave in the order in which they came.
  bool keeps_order() const { return kind == QueueKind::Fifo || kind == QueueKind::PaddingFifo; }
  /// Returns whether component `i` of an element may have these dimensions.
  bool accepts(size_t i, std::span<const int64_t> dims) const;
  /// Returns the shape of component `i` with 0 for each unknown dimension. The queue must have shapes.
  Shape least_shape(size_t i) const;
  /// Returns "(float[2], int32[]), capacity 8", for example.
  std::string text() const;
  /// Returns whether two nodes may share a queue. Seeds that are not given agree with any.
  friend bool operator==(const QueueSpec& a, const QueueSpec& b);
};

/// Returns what the queue of a FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue, PriorityQueue, or of their V2, holds. Fails with
/// InvalidArgument if its shapes are not one per component, if a dimension is unknown that must be known, or if the queue could
/// never yield an element.
Result<QueueSpec> queue_spec(const Node& handle);

}  // namespace troupe
