// TemporaryVariables: the variables of running steps, by step and name. Such a variable is a cell of the task's state, in a
// container of its own; ops change it as they change any variable, through the actor of its group. It ends when it is destroyed
// by its name, and else with its step, whose context keeps it. Part of the TemporaryVariableService; any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "actors/site/device_site.h"

namespace troupe {

class TemporaryVariables {
 public:
  explicit TemporaryVariables(DeviceSite& site) : site_(site) {}

  /// Makes a variable with this value. It ends when its last reference goes. AlreadyExists if the step has one of this name.
  Result<std::shared_ptr<StateCell>> make(const StepInfo& step, const std::string& name, Tensor value);
  /// Ends the step's variable of this name and returns the value of `cell`, which is usually that variable. NotFound if the step
  /// has no such variable, FailedPrecondition if the cell is being changed.
  Result<Tensor> destroy(const StepInfo& step, const std::string& name, StateCell& cell);

 private:
  class Variable;
  /// The session and the ordinal of the step, and the name.
  using Key = std::pair<std::pair<uint64_t, uint64_t>, std::string>;

  static Key key(const StepInfo& step, const std::string& name) {
    return {{step.session, step.ordinal}, name};
  }
  void forget(const Key& key, const Variable* variable);

  DeviceSite& site_;
  std::mutex mutex_;
  std::map<Key, Variable*> variables_;  ///< those that exist; each removes itself
  uint64_t last_ = 0;                   ///< the number of the variable that was made last
};

}  // namespace troupe
