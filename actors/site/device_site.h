// DeviceSite: what the actors around one device share, those in front of it and beside it. Made when its task is made; any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "actors/engine/node.h"
#include "actors/services/queue/queue_table.h"
#include "actors/services/variable/prepared_rule.h"
#include "devices/device.h"
#include "devices/spin_lock.h"
#include "kernels/core/state.h"

namespace troupe {

/// A step on one device while it runs. Implemented by the executor; driven on one thread at a time.
class RunningStep {
 public:
  virtual ~RunningStep() = default;
  /// Takes over the reply to ExecuteStep and begins.
  virtual void begin(Reply executed) = 0;
};

/// Which step a message means.
struct StepKey {
  uint64_t session = 0, ordinal = 0, partition = 0;
  friend bool operator==(const StepKey&, const StepKey&) = default;
};
struct StepKeyHash {
  size_t operator()(const StepKey& key) const {
    return std::hash<uint64_t>{}(key.session ^ (key.ordinal * 0x9e3779b97f4a7c15u) ^ (key.partition << 32));
  }
};

/// Where an actor stands that may be replaced while others send to it. Any thread.
class ActorPlace {
 public:
  ActorRef get() const {
    const std::lock_guard lock(lock_);
    return actor_;
  }
  void put(ActorRef actor) {
    const std::lock_guard lock(lock_);
    std::swap(actor_, actor);  // what it replaces is released after the lock
  }

 private:
  mutable SpinLock lock_;
  ActorRef actor_;
};

/// What the actors on one device share: executor, device, variable, queues, replicas. Made by the worker; any thread.
struct DeviceSite {
  DeviceSite(ActorNode& site_node, std::shared_ptr<Device> site_device,
             std::shared_ptr<StateTable> task_state)
      : node(site_node), device(std::move(site_device)), state(std::move(task_state)) {}

  ActorNode& node;
  std::shared_ptr<Device> device;
  std::shared_ptr<StateTable> state;  ///< of the task: a container's names are unique over its devices
  ActorPlace device_actor;
  ActorPlace variable_actor;
  ActorPlace replicas_actor;
  std::atomic<size_t> committing{0};  ///< rounds that the replicas role is applying
  QueueTable queues;

  /// Steps handed to the device and not begun yet, what ExecuteStep names; kept by their executors.
  void put_step(const StepKey& key, std::weak_ptr<RunningStep> step);
  std::shared_ptr<RunningStep> take_step(const StepKey& key);

  /// Update rules of the partitions registered here, by the number that Update messages name.
  uint64_t add_rule(std::shared_ptr<const UpdateRule> rule);
  void remove_rule(uint64_t number);
  std::shared_ptr<const UpdateRule> find_rule(uint64_t number) const;

  mutable std::mutex mutex;
  uint64_t last_rule = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const UpdateRule>> rules;
  std::unordered_map<StepKey, std::weak_ptr<RunningStep>, StepKeyHash> steps;
};

}  // namespace troupe
