// Crossings: what must be added so that a placed graph can run as one graph per device (features.md I2-I7):
// transfers, copies of Enter and NextIteration, control loops. The analysis half of the partitioner, which
// alone uses it; it changes nothing.
#pragma once

#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/build/frames.h"
#include "graph/passes/memory_kinds.h"

namespace troupe {

/// One Send/Recv pair. Its number is its index in Crossings::transfers.
struct Transfer {
  Output source;  ///< a tensor, or (control) the end of a node
  DeviceId from = 0, to = 0;
  bool host = false;  ///< its consumers want it in host memory
  FrameId frame = 0;  ///< where both ends run
  /// Of a variable that was written before its reader runs: read once the reader's other inputs have arrived.
  /// Then it serves that reader alone.
  NodeId late_reader = no_reader;
  static constexpr NodeId no_reader = UINT32_MAX;
};

/// A second copy of an Enter or NextIteration beside a consumer: their outputs come in the first iteration,
/// or in all but that one, so a transfer, which takes place in every iteration, cannot carry them.
struct Copy {
  NodeId node = 0;
  DeviceId device = 0;
};

/// Iterates a frame on a device that could not do so by itself, at the pace of the predicate (I7).
struct ControlLoop {
  FrameId frame = 0;
  DeviceId device = 0;
  Output predicate;
};

/// Where a consumer gets an edge from.
struct EdgeSource {
  enum class Kind : uint8_t { Local, Copy, Transfer } kind = Kind::Local;
  uint32_t index = 0;  ///< into copies or transfers
};

class Crossings {
 public:
  Crossings(const Graph& graph, const FrameInfo& frames, std::span<const DeviceId> device,
            const MemoryKinds& memory);

  /// InvalidArgument, naming op and node: a reference or resource handle across devices; a frame across
  /// devices without LoopCond.
  Status find();

  const FrameInfo& frames() const { return frames_; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<Copy>& copies() const { return copies_; }
  /// A frame comes after those inside it.
  const std::vector<ControlLoop>& loops() const { return loops_; }

  /// For input `index` of the reader, which runs on `to`.
  EdgeSource source_of_input(const Node& reader, size_t index, DeviceId to) const;
  EdgeSource source_of_control(NodeId source, DeviceId to) const;
  EdgeSource source_of_predicate(const ControlLoop& loop) const;

 private:
  struct Key {
    Output source;
    DeviceId to;
    bool host;
    NodeId late_reader;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return OutputHash{}(key.source) * 31 +
             (size_t{key.to} << 33 ^ size_t{key.late_reader} << 1 ^ size_t{key.host});
    }
  };

  Status find_inputs(const Node& node, DeviceId to);
  Status find_writes();
  Status add_loops();
  Status add_loop(FrameId frame, DeviceId device);
  Key predicate_key(const ControlLoop& loop) const;
  void demand(const Key& key);
  void demand_copy(NodeId node, DeviceId device);
  void note_run(const Node& node, DeviceId device);

  Key key_of_input(const Node& reader, size_t index, DeviceId to) const;
  bool can_be_copied(NodeId node) const;
  EdgeSource source_of(const Key& key) const;

  const Graph& graph_;
  const FrameInfo& frames_;
  std::span<const DeviceId> device_;
  const MemoryKinds& memory_;
  std::vector<bool>
      after_write_;  ///< per node: a write of some variable precedes it; empty until a reference crosses
  std::vector<Transfer> transfers_;
  std::vector<Copy> copies_;
  std::vector<ControlLoop> loops_;
  std::unordered_map<Key, uint32_t, KeyHash> transfer_index_;
  std::map<std::pair<NodeId, DeviceId>, uint32_t> copy_index_;
  std::vector<std::set<DeviceId>> runs_on_, receives_on_, iterates_on_;  ///< per frame
  std::vector<NodeId> loop_cond_;  ///< per frame; the number of nodes: none
};

}  // namespace troupe
