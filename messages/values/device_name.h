// DeviceName: names one device, or a set of devices, as in "/job:worker/replica:0/task:1/device:GPU:0"
// (features.md H1, H2). A component that is unset stands for any value. Nodes ask for devices with
// partial names; each device has a full name. A plain value.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

struct DeviceName {
  static constexpr int unset = -1;

  std::string job;  ///< empty: unset
  int replica = unset;
  int task = unset;
  std::string type;  ///< "CPU", "GPU"; empty: unset
  int id = unset;

  /// Parses components in any order; if a component is repeated, the last one counts. "*" unsets a component; "/" and "" set none.
  /// "/cpu:1" and "/GPU:*" are the old forms of "/device:CPU:1" and "/device:GPU:*". Fails with InvalidArgument, naming the text
  /// and the part that is wrong.
  static Result<DeviceName> parse(std::string_view text);
  /// Returns the components that are set, in the order of the full form. An
  /// id without a type is "/device:*:1"; a name without components is "".
  std::string text() const;

  bool any() const { return *this == DeviceName{}; }
  bool fully_specified() const;
  /// Returns true if `other` has the same value for every component that
  /// is set here: "/job:a" includes "/job:a/device:CPU:0" and itself.
  bool includes(const DeviceName& other) const;

  /// Returns the job, replica and task: "/job:worker/replica:0/task:1".
  DeviceName task_name() const;

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

/// Returns the union of the components. Where both names set a
/// component, `inner` wins, as in nested device scopes (features.md H3).
DeviceName override_with(DeviceName outer, const DeviceName& inner);

/// What merge() does if two names ask for different device types or ids.
enum class Placement : bool {
  Strict,  ///< fails with InvalidArgument
  /// Different types unset type and id, and different ids unset the id. Jobs, replicas and tasks must still agree.
  Soft,
};

/// Returns the union of the components. Fails with InvalidArgument, naming both names, if both set a component to different values.
Result<DeviceName> merge(const DeviceName& a, const DeviceName& b, Placement placement = Placement::Strict);

}  // namespace troupe
#pragma GCC visibility pop
