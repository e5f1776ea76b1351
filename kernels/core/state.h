// State that outlives steps: a StateCell per variable (or other named state), and the table that finds them
// by container and name. A cell publishes immutable snapshots behind a short lock: any thread reads without a
// message and never sees a torn value. One writer at a time: the actor that owns the group of cells. A value
// is changed in place only while nobody else holds a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/spin_lock.h"
#include "graph/build/graph.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A value and how many changes led to it.
struct Snapshot {
  Tensor value;
  uint64_t version = 0;
};

/// What alone changes a cell. Made by the service whose cell it is.
class StateOwner {
 public:
  virtual ~StateOwner() = default;
};

class StateCell {
 public:
  enum class Reading : uint8_t {
    Ready,          ///< here it is
    Uninitialized,  ///< there is no value yet
    Busy,           ///< being changed in place: ask the owner by message
  };

  /// `dtype` Resource: a name without a value of its own (a queue).
  StateCell(std::string name, DType dtype, PartialShape shape, uint32_t id = 0, std::string home = {});
  StateCell(const StateCell&) = delete;
  StateCell& operator=(const StateCell&) = delete;

  const std::string& name() const { return name_; }
  /// Its number in the table, by which messages name it.
  uint32_t id() const { return id_; }
  /// The device whose actors own it; empty where there is only one.
  const std::string& home() const { return home_; }
  DType dtype() const { return dtype_; }
  /// As declared; the value's own shape may refine it, or differ where Assign does not validate.
  const PartialShape& shape() const { return shape_; }

  /// Fills in `snapshot` when Ready. Any thread; never waits for a writer at work.
  Reading try_read(Snapshot& snapshot) const;
  /// What try_read would say.
  Reading reading() const;
  uint64_t version() const;

  /// Null until the cell has one.
  std::shared_ptr<StateOwner> owner() const;
  void set_owner(std::shared_ptr<StateOwner> owner);

  // The writer alone.

  /// The value itself when nobody else holds it: the cell is Busy until publish() or put_back(). Nothing when
  /// it is held elsewhere or there is none: then compute a new value out of place and publish that.
  std::optional<Tensor> take_for_write();
  /// The next version: 1 for the first value.
  void publish(Tensor value);
  /// A value with its version, as restored.
  void publish(Snapshot snapshot);
  /// Ends an attempt that changed nothing.
  void put_back(Tensor value);

 private:
  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  const uint32_t id_;
  const std::string home_;
  mutable SpinLock lock_;
  Snapshot snapshot_;
  bool taken_ = false;
  std::shared_ptr<StateOwner> owner_;
};

/// The name under which a node that yields a handle (VariableV2, VarHandleOp, FIFOQueueV2) finds its state
/// (features.md C10): attribute shared_name, else the node's name, after attribute container and ';' when
/// that is given.
std::string state_name(const Node& node);
/// A node that yields the handle of a state with a value.
bool is_variable(const Node& node);

/// Cells by container and name; a name stands for one cell in each container. Containers appear with their
/// first cell. Any thread.
class StateTable {
 public:
  /// The cell of this name, made when there is none. InvalidArgument when there is one of another dtype or
  /// shape, or on another device than `home` (empty: wherever it is).
  Result<std::shared_ptr<StateCell>> require(const std::string& container, const std::string& name,
                                             DType dtype, const PartialShape& shape,
                                             const std::string& home = {});
  /// The cell that a handle-producing node stands for.
  Result<std::shared_ptr<StateCell>> require(const std::string& container, const Node& node,
                                             const std::string& home = {});
  std::shared_ptr<StateCell> find(std::string_view container, std::string_view name) const;
  /// The cell of this number, or null.
  std::shared_ptr<StateCell> at(uint32_t id) const;
  /// Of one container, in order of their names.
  std::vector<std::shared_ptr<StateCell>> cells(std::string_view container) const;
  /// Of all containers, in order of their numbers.
  std::vector<std::shared_ptr<StateCell>> cells() const;
  /// Forgets the cells of a container, which it returns; plans that hold some keep theirs. Their numbers are
  /// not used again.
  std::vector<std::shared_ptr<StateCell>> drop(std::string_view container);

 private:
  using Names = std::map<std::string, std::shared_ptr<StateCell>, std::less<>>;

  mutable std::mutex mutex_;
  std::map<std::string, Names, std::less<>> containers_;
  std::map<uint32_t, std::shared_ptr<StateCell>> numbered_;  ///< by id
  uint32_t next_id_ = 0;
};

}  // namespace troupe
#pragma GCC visibility pop
