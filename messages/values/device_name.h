// DeviceName: which device, or which devices, as in "/job:worker/replica:0/task:1/device:GPU:0" (features.md
// H1, H2). Any component may be unset: it then means "any". A plain value; what a node asks for is a partial
// name, what a device is called is a fully specified one.
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

  /// Components in any order, the last of a repeated one counts; "*" unsets; "/" and "" set nothing;
  /// "/cpu:1", "/GPU:*" are the old forms of "/device:CPU:1", "/device:GPU:*". InvalidArgument names the text
  /// and the part that is wrong.
  static Result<DeviceName> parse(std::string_view text);
  /// The set components in the order of the full form, "/device:*:1"
  /// for an id without a type; "" when nothing is set.
  std::string text() const;

  bool any() const { return *this == DeviceName{}; }
  bool fully_specified() const;
  /// Every component set here is set to the same value in
  /// `other`: "/job:a" includes "/job:a/device:CPU:0" and itself.
  bool includes(const DeviceName& other) const;
  /// One of the two includes the other. So "/job:a" and
  /// "/device:GPU:0" are not compatible, although they merge.
  bool is_compatible(const DeviceName& other) const { return includes(other) || other.includes(*this); }

  /// The job, replica and task alone: "/job:worker/replica:0/task:1".
  DeviceName task_name() const;

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

/// The union of the components; where both set one, `inner`
/// wins: what nested device scopes mean (features.md H3).
DeviceName override_with(DeviceName outer, const DeviceName& inner);

/// What to do when two names ask for different types or ids.
enum class Placement : bool {
  Strict,  ///< InvalidArgument
  Soft,    ///< unequal types drop type and id, unequal ids the id; job, replica and task must still agree
};

/// The union of the components. InvalidArgument, naming both, when a component is set to different values.
Result<DeviceName> merge(const DeviceName& a, const DeviceName& b, Placement placement = Placement::Strict);

}  // namespace troupe
#pragma GCC visibility pop
