// MirroredVariables: which variables of a device have been in mirrors or come from one (messages/schemas/mirror.capnp). They are
// those of trainings, and move from task to task. A variable that has moved away must not stay behind: the device may have a
// mirror again later, and when that is adopted, its old value would replace the present one. Part of the VariableService. Any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/site/device_site.h"
#include "kernels/core/state.h"

namespace troupe {

class MirroredVariables {
 public:
  explicit MirroredVariables(DeviceSite& site) : site_(site) {}

  /// Called when the value of a variable is sent to a mirror.
  void sent(const StateCell& cell, uint64_t mirror);
  /// Called when these copies of a mirror have become variables.
  void adopted(const std::vector<std::shared_ptr<StateCell>>& cells);

  /// Begins an attempt of a training, before its variables are initialized: if it is later than that before, drops the variables
  /// that were in mirrors. Returns the number of the latest attempt. 0 only asks for that.
  uint64_t claim(uint64_t attempt);
  /// Called when the device gets a mirror in this attempt, or keeps one. `owns_nothing`: the device has none of the attempt's
  /// variables, so those that it has had itself are dropped. Fails with Aborted if a later attempt has begun.
  Status take_part(uint64_t attempt, bool owns_nothing = false);
  /// Drops the variables that the mirror has, because that has been adopted.
  void give_away(uint64_t mirror);

 private:
  struct Variable {
    uint64_t mirror = 0;  ///< the last one that it was sent to; 0: none
    bool is_adopted = false;
  };
  void drop_if(const std::function<bool(const Variable&)>& selected);

  DeviceSite& site_;
  std::mutex mutex_;                        ///< guards the members below
  std::map<uint32_t, Variable> variables_;  ///< by the numbers of their cells
  uint64_t attempt_ = 0;
};

}  // namespace troupe
