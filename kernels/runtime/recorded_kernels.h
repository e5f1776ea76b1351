// RecordedKernels: runs the kernels of one step context on a GPU from records. A node that runs with the same arguments as in an
// earlier step (addresses, shapes, the values of host inputs) is not run again: its outputs are what they were, and the work that
// it had issued to the GPU is issued once more, in one call for many nodes. So steps that are alike cost the host little. A node
// with new arguments is run and recorded. Random nodes, nodes with effects, and nodes whose arguments are new too often are run
// each time.
//
// The tensors of such steps lie in memory of their own (devices/replay_memory.h), so that they have the same addresses in each
// step. Sizes that differ from step to step are rounded up, so that they seldom move the tensors after them. Work that was recorded
// is held back until flush(); what it reads and what others may write meanwhile, the values of variables, is kept until then.
// Everything that leaves the step is kept until its end, because releasing it in between would change the addresses that later
// nodes get. Owned by a StepContext; the thread that drives the step uses it.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "devices/gpu_recorder.h"
#include "devices/replay_memory.h"
#include "kernels/runtime/prepared_plan.h"

namespace troupe {

class RecordedKernels {
 public:
  RecordedKernels(const PreparedPlan& plan, std::unique_ptr<GpuRecorder> recorder);
  ~RecordedKernels();

  /// Returns false after many steps that were not alike: then recording costs more than it saves.
  bool useful() const;
  /// Returns whether the step that begins can use records: others must have released what the step before has sent out.
  bool begin_step();
  /// Runs the kernel of a node, or repeats its work. The inputs are then used up. Fails as the kernel does.
  Status run(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs, const StepInfo& step,
             uint64_t frame_key);
  /// Issues what is held back. Called before anything else that has to do with the tensors of the step is issued to the device.
  Status flush();
  /// Returns the device for kernels that are run without records during the step.
  DeviceContext& device() { return issuing_; }
  /// Returns memory for a tensor that arrives during the step.
  Allocator& memory() { return rounded_; }
  /// Returns whether a tensor, which is valid, lies in the memory of these records.
  bool owns(const Tensor& tensor) const { return memory_.owns(*tensor.buffer().get()); }
  /// Keeps a tensor that leaves the step until its end.
  void keep(const Tensor& tensor) { kept_.push_back(tensor); }
  /// Called when the step has ended: drops what is held back and releases what was kept.
  void end_step();

 private:
  struct Record;
  struct Group;
  /// What is known of one node.
  struct NodeRecords {
    bool unrecorded = false;  ///< the node is run each time
    /// Grows with each step in which the node was recorded often, and shrinks with others.
    unsigned unlike = 0;
    uint64_t step = 0;  ///< the last step in which the node has run
    /// How often in that step; several times if the node is in a loop.
    size_t repeated = 0, recorded = 0;
    size_t expected = 0;  ///< where the record of the next run is, if that is as in the step before
    std::vector<std::unique_ptr<Record>> records;
  };

  Status run_now(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs, const StepInfo& step,
                 uint64_t frame_key);
  Status record(PlanId id, std::span<Slot> inputs, std::span<Tensor> outputs, const StepInfo& step);
  void note_step(NodeRecords& known) const;
  Record* find_record(NodeRecords& known, std::span<const Slot> inputs) const;
  bool repeat(const Record& record, std::span<Slot> inputs, std::span<Tensor> outputs);
  Status hold_back(Record& record);
  void keep_readable(std::span<const Slot> inputs);
  void drop_groups(const Record& record);
  void make_room(NodeRecords& known);
  void drop_records(NodeRecords& known);
  Result<Group*> pending_group();

  /// Allocates from a ReplayMemory with sizes that are rounded up.
  class RoundedMemory final : public Allocator {
   public:
    explicit RoundedMemory(ReplayMemory& memory) : memory_(memory) {}
    Result<BufferRef> allocate(size_t bytes) override;

   private:
    ReplayMemory& memory_;
  };

  const PreparedPlan& plan_;
  const std::unique_ptr<GpuRecorder> recorder_;
  ReplayMemory memory_;
  RoundedMemory rounded_;
  DeviceContext recording_, issuing_;
  std::vector<NodeRecords> nodes_;  ///< by number in the plan
  std::vector<const Record*> pending_;
  std::unordered_multimap<const Record*, std::unique_ptr<Group>> groups_;  ///< by their first record
  std::vector<BufferRef> readable_;  ///< what pending work reads outside memory_
  std::vector<Tensor> kept_;
  std::vector<BufferRef> buffers_;  ///< of the node that is repeated
  uint64_t step_ = 0;
  size_t repeated_ = 0, recorded_ = 0;  ///< how many nodes in this step
  unsigned unlike_ = 0;  ///< grows with each step in which many nodes were recorded, and shrinks with others
};

}  // namespace troupe
