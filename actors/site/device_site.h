// DeviceSite: what the actors around one device share, those in front of it and beside it. Made when its task is made; any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "actors/engine/node.h"
#include "actors/site/service.h"
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

/// What the actors on one device share: executors, the device's actor, the services'. Made by make_task(); any thread.
struct DeviceSite : std::enable_shared_from_this<DeviceSite> {
  DeviceSite(ActorNode& site_node, std::shared_ptr<Device> site_device,
             std::shared_ptr<StateTable> task_state)
      : node(site_node), device(std::move(site_device)), state(std::move(task_state)) {}

  ActorNode& node;
  std::shared_ptr<Device> device;
  std::shared_ptr<StateTable> state;  ///< of the task: a container's names are unique over its devices
  ActorPlace device_actor;
  std::map<std::string, std::unique_ptr<Service>, std::less<>> services;  ///< by name; all from the beginning

  /// Unimplemented, naming those there are, for the name of no service.
  Result<Service*> find_service(std::string_view name) const;
  /// The actor that alone changes this state and answers a Read of it; null when no service of this device has it.
  ActorRef owner(const StateCell& cell) const;
  /// What every service has of this state goes.
  void drop(const StateCell& cell) const;

  /// Steps handed to the device and not begun yet, what ExecuteStep names; kept by their executors.
  void put_step(const StepKey& key, std::weak_ptr<RunningStep> step);
  std::shared_ptr<RunningStep> take_step(const StepKey& key);

 private:
  std::mutex mutex_;
  std::unordered_map<StepKey, std::weak_ptr<RunningStep>, StepKeyHash> steps_;
};

}  // namespace troupe
