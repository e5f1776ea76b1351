// Pipeline: the stages of a model on the devices of one group, and the order in which a group computes its micro-batches: 1F1B
// (Narayanan et al. 2019, "PipeDream"; Fan et al. 2021, "DAPPLE"). With S stages, stage s begins micro-batch i when it has
// ended the forward pass of i - 1 and the backward pass of i - (S - s), so it keeps the activations of at most S - s
// micro-batches.
//
//   stage 0   F0 F1 B0 F2 B1 F3 B2 B3         F: forward pass, B: backward pass
//   stage 1      F0 B0 F1 B1 F2 B2 F3 B3
//
// What enters a stage passes through an Identity node that waits for that, so everything waits that depends on the batch. All
// functions add nodes and throw Error as the graph builder does. One per group and graph; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/evaluate.h"
#include "apps/train/graphs/stage_devices.h"

namespace troupe::train {

/// Stages on devices, without an order of their own.
class PlacedStages : public config::StageBuilder {
 public:
  explicit PlacedStages(const StageDevices& devices);
  nn::Network at(const nn::Network& network, int64_t stage) override;
  Output entering(Output value, int64_t /*from*/, int64_t /*to*/) override { return value; }

  size_t stages() const { return devices_.size(); }
  /// Returns the device for all nodes of a stage that are not split.
  const std::string& device(size_t stage) const { return devices_[stage].front(); }
  /// Returns the devices of the stage that has `device`.
  const std::vector<std::string>& devices_at(const std::string& device) const {
    return devices_[stage_at(device)];
  }
  /// Returns the stage that has a device; the first one for other devices.
  size_t stage_at(const std::string& device) const;

  /// Returns a variable in parts, one for each device of the stage that has `device`, as one tensor. `scope` is that of the
  /// tower.
  Output join(const Scope& scope, const std::vector<Output>& parts, const std::string& device,
              int64_t dimension);
  /// Returns the device that uses a part of a variable; empty if the variable is none.
  std::string device_of_part(Output variable) const;

 private:
  StageDevices devices_;                      ///< as nodes have them
  std::map<NodeId, std::string> part_users_;  ///< by the nodes of variables that are parts
};

class Pipeline final : public PlacedStages {
 public:
  using PlacedStages::PlacedStages;

  /// Begins the forward pass of the next micro-batch, whose nodes are in `scope`.
  void begin(const Scope& scope);
  Output entering(Output value, int64_t from, int64_t to) override;
  /// Ends the forward pass.
  void end_forward(Output loss);
  /// Returns the values by which gradients leave the stages of this micro-batch. The gradient of what a stage has entered is
  /// its last one.
  std::vector<Output> entered() const;
  /// Ends the backward pass: `gradients` are those of entered(), if there are any, and `results` what becomes of the others.
  void end_backward(const std::vector<std::optional<Output>>& gradients, const std::vector<Output>& results);

 private:
  struct Entrance {
    Output value, entered;
    int64_t from = 0, to = 0;
  };

  size_t stage_of(Output output) const { return stage_at(scope_->graph().node(output.node).device); }

  std::optional<Scope> scope_;
  std::vector<Entrance> entrances_;           ///< of this micro-batch
  std::vector<std::vector<Output>> gates_;    ///< by stage: what this micro-batch waits for
  std::vector<std::vector<Output>> forward_;  ///< by stage: what the micro-batch before yields
  /// By micro-batch and stage: the target that ends with the backward pass; nothing if there is none.
  std::vector<std::vector<std::optional<Output>>> backward_;
};

}  // namespace troupe::train
