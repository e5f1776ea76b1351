// Crossings: finds what must be added so that a placed graph can run as one graph per device
// (features.md I2-I7): transfers, copies of Enter and NextIteration, and control loops. This is
// the analysis half of the partitioner, which alone uses it. It changes no graph. One thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/build/frames.h"
#include "graph/passes/partition/memory_kinds.h"

namespace troupe {

/// One pair of Send and Recv. Its number is its index in Crossings::transfers.
struct Transfer {
  Output source;  ///< a tensor, or (control) the end of a node
  DeviceId from = 0, to = 0;
  bool host = false;  ///< true if its consumers need it in host memory
  FrameId frame = 0;  ///< the frame in which both ends run
  /// Set for a variable that may be written before its reader runs: the variable is read
  /// when the reader's other inputs have arrived, and the transfer serves this reader only.
  NodeId late_reader = no_reader;
  static constexpr NodeId no_reader = UINT32_MAX;
};

/// A second copy of an Enter or NextIteration, on the device of a consumer. Their outputs exist in the first
/// iteration only, or in all but the first, so they cannot be sent by a transfer, which happens in every iteration.
struct Copy {
  NodeId node = 0;
  DeviceId device = 0;
};

/// A loop that makes a frame iterate on a device that has no loop of its own, controlled by the predicate of the frame (I7).
struct ControlLoop {
  FrameId frame = 0;
  DeviceId device = 0;
  Output predicate;
};

/// Where a consumer gets the value of an edge.
struct EdgeSource {
  enum class Kind : uint8_t { Local, Copy, Transfer } kind = Kind::Local;
  uint32_t index = 0;  ///< the index into copies() or transfers()
};

class Crossings {
 public:
  Crossings(const Graph& graph, const FrameInfo& frames, std::span<const DeviceId> device,
            const MemoryKinds& memory);

  /// Fails with InvalidArgument, naming op and node, if a reference or resource handle
  /// would cross devices, or if a frame is on several devices and has no LoopCond.
  Status find();

  const FrameInfo& frames() const { return frames_; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<Copy>& copies() const { return copies_; }
  /// Inner frames come before the frames around them.
  const std::vector<ControlLoop>& loops() const { return loops_; }

  /// Returns the source of input `index` of the reader, which runs on `to`.
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
  void add_transfer(const Key& key);
  void add_copy(NodeId node, DeviceId device);
  void note_run(const Node& node, DeviceId device);

  Key key_of_input(const Node& reader, size_t index, DeviceId to) const;
  bool can_be_copied(NodeId node) const;
  EdgeSource source_of(const Key& key) const;

  const Graph& graph_;
  const FrameInfo& frames_;
  std::span<const DeviceId> device_;
  const MemoryKinds& memory_;
  /// For each node, whether a write of some variable may precede it. Empty unless a reference crosses devices.
  std::vector<bool> after_write_;
  std::vector<Transfer> transfers_;
  std::vector<Copy> copies_;
  std::vector<ControlLoop> loops_;
  std::unordered_map<Key, uint32_t, KeyHash> transfer_index_;
  std::map<std::pair<NodeId, DeviceId>, uint32_t> copy_index_;
  std::vector<std::set<DeviceId>> runs_on_, receives_on_, iterates_on_;  ///< for each frame
  std::vector<NodeId> loop_cond_;  ///< for each frame; the number of nodes means none
};

}  // namespace troupe
