// State that outlives steps: a StateCell for each variable (or other named state), and the StateTable that finds cells by
// container and name. A cell publishes immutable snapshots behind a short lock: any thread reads a whole value without a
// message. Only one thread writes at a time: that of the actor that owns the group of cells. A value is changed in place only
// while nobody else holds a snapshot. The exception is an unlocked phase, whose steps change values in place at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/spin_lock.h"
#include "graph/build/graph.h"
#include "graph/build/row_slice.h"
#include "kernels/core/unlocked_phase.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A value of a variable and its version: the number of changes that led to it.
struct Snapshot {
  Tensor value;
  uint64_t version = 0;
};

/// StateOwner: the only object that may change a cell. The service that serves the cell makes it.
class StateOwner {
 public:
  virtual ~StateOwner() = default;
};

/// StateCell: the memory of one variable, or the name of state without a value. Any thread may call the functions that read.
class StateCell {
 public:
  enum class Reading : uint8_t {
    Ready,          ///< the value has been read
    Uninitialized,  ///< the variable has no value yet
    Busy,           ///< the value is being changed in place: request it from the owner by message
  };

  /// Makes a cell without a value. A cell of dtype Resource only names state and never has a value (a queue).
  StateCell(std::string name, DType dtype, PartialShape shape, uint32_t id = 0, std::string home = {},
            std::optional<RowSlice> slice = {});
  StateCell(const StateCell&) = delete;
  StateCell& operator=(const StateCell&) = delete;

  const std::string& name() const { return name_; }
  /// Returns the number of the cell in the table, by which messages name it.
  uint32_t id() const { return id_; }
  /// Returns the name of the device whose actors own the cell; empty if there is only one device.
  const std::string& home() const { return home_; }
  DType dtype() const { return dtype_; }
  /// Returns the declared shape. The shape of the value may be more specific, or differ if Assign does not validate shapes.
  const PartialShape& shape() const { return shape_; }
  /// Returns what the variable is a part of; nothing if it is whole.
  const std::optional<RowSlice>& slice() const { return slice_; }

  /// Sets `snapshot` if it returns Ready. Any thread may call it; it never waits for a change in progress.
  Reading try_read(Snapshot& snapshot) const;
  /// Returns what try_read would return.
  Reading reading() const;
  uint64_t version() const;

  /// Returns the owner, or null if the cell has none yet.
  std::shared_ptr<StateOwner> owner() const;
  void set_owner(std::shared_ptr<StateOwner> owner);

  // Any thread may call the functions for unlocked phases.

  /// Returns the value if it may be changed in place in this phase, whoever holds it. Otherwise the next change by the owner,
  /// if it belongs to this phase, makes it so.
  std::optional<Tensor> unlocked(const UnlockedPhase& phase) const;
  /// Counts a change in place.
  void count_unlocked_change();

  // Only the writer may call the functions below.

  /// Takes the value out of the cell if nobody else holds it; the cell is then Busy until publish() or put_back(). Returns
  /// nothing if a snapshot is held elsewhere or there is no value: the writer then computes a new value in other memory and
  /// publishes that.
  std::optional<Tensor> take_for_write();
  /// Publishes the value as the next version; the version of the first value is 1. If nobody else holds the value, it may be
  /// changed in place in the phase from then on.
  void publish(Tensor value, const UnlockedPhase& phase = {});
  /// Publishes a value with a given version: a value restored from a checkpoint.
  void publish(Snapshot snapshot);
  /// Gives back the value of take_for_write() unchanged.
  void put_back(Tensor value);

 private:
  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  const uint32_t id_;
  const std::string home_;
  const std::optional<RowSlice> slice_;
  mutable SpinLock lock_;
  Snapshot snapshot_;
  bool taken_ = false;
  UnlockedPhase phase_;  ///< in which the value may be changed in place
  std::shared_ptr<StateOwner> owner_;
};

/// Returns the name under which a node that outputs a handle (VariableV2, VarHandleOp, FIFOQueueV2) finds its state
/// (features.md C10): attribute shared_name if given, else the name of the node; if attribute container is given, it comes
/// first, followed by ';'.
std::string state_name(const Node& node);
/// Returns whether the node outputs the handle or reference of a variable.
bool is_variable(const Node& node);

/// StateTable: cells by container and name. A name stands for one cell in each container. A container exists from its first
/// cell on. Any thread may call every function.
class StateTable {
 public:
  /// Returns the cell of this name; makes it if there is none. Fails with InvalidArgument if the cell has another dtype or
  /// shape, or is on another device than `home`. An empty `home` accepts any device. A cell stays the part that it is made as.
  Result<std::shared_ptr<StateCell>> require(const std::string& container, const std::string& name,
                                             DType dtype, const PartialShape& shape,
                                             const std::string& home = {},
                                             const std::optional<RowSlice>& slice = {});
  /// Returns the cell of a node that outputs a handle; makes it if there is none. Fails like the function above; the error
  /// names the node.
  Result<std::shared_ptr<StateCell>> require(const std::string& container, const Node& node,
                                             const std::string& home = {});
  /// Returns the cell of this name, or null.
  std::shared_ptr<StateCell> find(std::string_view container, std::string_view name) const;
  /// Returns the cell of this number, or null.
  std::shared_ptr<StateCell> at(uint32_t id) const;
  /// Returns the container of this cell; nothing if the cell was dropped.
  std::optional<std::string> container_of(const StateCell& cell) const;
  /// Returns the cells of one container, in order of their names.
  std::vector<std::shared_ptr<StateCell>> cells(std::string_view container) const;
  /// Returns the cells of all containers, in order of their numbers.
  std::vector<std::shared_ptr<StateCell>> cells() const;
  /// Removes the cells of a container and returns them; plans that hold some keep them. Their numbers are used again only
  /// after 2^32 others.
  std::vector<std::shared_ptr<StateCell>> drop(std::string_view container);
  /// Removes one cell. Returns false if it was removed before.
  bool drop(const StateCell& cell);
  /// Moves the cells of a container to another one, where they replace cells of the same names. Returns the replaced cells.
  std::vector<std::shared_ptr<StateCell>> move(std::string_view from, const std::string& to);
  /// Drops, in every container of the table, the cells of the nodes whose attribute container is one of `named`, where
  /// "localhost" and "" stand for nodes without that attribute. If `named` is empty, it does so for all cells.
  std::vector<std::shared_ptr<StateCell>> reset(std::span<const std::string> named);

 private:
  using Names = std::map<std::string, std::shared_ptr<StateCell>, std::less<>>;

  mutable std::mutex mutex_;
  std::map<std::string, Names, std::less<>> containers_;
  /// A cell and the container where it is.
  struct Place {
    std::shared_ptr<StateCell> cell;
    std::string container;
  };
  std::map<uint32_t, Place> numbered_;  ///< by id
  uint32_t next_id_ = 0;
};

}  // namespace troupe
#pragma GCC visibility pop
