#include "graph/build/split.h"

#include <algorithm>

namespace troupe {
namespace {

void check_devices(const std::vector<std::string>& devices) {
  if (devices.size() < 2 || devices.size() > max_split_devices)
    throw Error(invalid_argument("a tensor is to be distributed over " + std::to_string(devices.size()) +
                                 " devices; allowed: 2 to " + std::to_string(max_split_devices)));
  for (const std::string& device : devices) value_or_throw(DeviceName::parse(device));
}

void check_dimension(const Scope& scope, Output x, const std::vector<std::string>& devices,
                     int64_t dimension) {
  const PartialShape& shape = scope.shape(x);
  const std::string what = "a tensor of shape " + shape.text() + " is to be split by dimension " +
                           std::to_string(dimension) + " over " + std::to_string(devices.size()) +
                           " devices; ";
  if (!shape.known_rank()) throw Error(invalid_argument(what + "its rank must be known"));
  if (dimension < 0 || dimension >= static_cast<int64_t>(shape.rank()))
    throw Error(invalid_argument(what + "allowed dimensions: 0 to " + std::to_string(shape.rank()) + " - 1"));
  const int64_t size = shape[static_cast<size_t>(dimension)];
  if (size != unknown_dim && size < static_cast<int64_t>(devices.size()))
    throw Error(invalid_argument(what + "the dimension must be at least as long as the list of devices"));
}

void check_parts(const char* what, const std::vector<Output>& parts,
                 const std::vector<std::string>& devices) {
  check_devices(devices);
  if (parts.size() != devices.size())
    throw Error(invalid_argument("there are " + std::to_string(parts.size()) + ' ' + what + " for " +
                                 std::to_string(devices.size()) + " devices; there must be one for each"));
}

Attributes declaration(const std::string& distribution, const std::vector<std::string>& devices) {
  Attributes attrs;
  attrs.set(split_attr, distribution);
  attrs.set(split_devices_attr, devices);
  return attrs;
}

std::string split_by(int64_t dimension) { return "S(" + std::to_string(dimension) + ')'; }

}  // namespace

Output split_over(const Scope& scope, Output x, const std::vector<std::string>& devices, int64_t dimension) {
  check_devices(devices);
  check_dimension(scope, x, devices, dimension);
  return scope.add_one("Identity", {x}, declaration(split_by(dimension), devices));
}

Output broadcast_over(const Scope& scope, Output x, const std::vector<std::string>& devices) {
  check_devices(devices);
  return scope.add_one("Identity", {x}, declaration("B", devices));
}

Output split_parts(const Scope& scope, const std::vector<Output>& parts,
                   const std::vector<std::string>& devices, int64_t dimension) {
  check_parts("parts", parts, devices);
  std::vector<Output> inputs = parts;
  inputs.push_back(scope.constant(Tensor::scalar(static_cast<int32_t>(dimension))));
  const Output whole =
      scope.add_one("ConcatV2", std::move(inputs), declaration(split_by(dimension), devices));
  check_dimension(scope, whole, devices, dimension);
  const int64_t size = scope.shape(whole)[static_cast<size_t>(dimension)];
  if (size == unknown_dim)
    throw Error(invalid_argument("the lengths of the parts in dimension " + std::to_string(dimension) +
                                 " are not known"));
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto range = part_range(size, static_cast<int64_t>(i), static_cast<int64_t>(parts.size()));
    if (const int64_t found = scope.shape(parts[i])[static_cast<size_t>(dimension)]; found != range.size)
      throw Error(invalid_argument("part " + std::to_string(i) + " has length " + std::to_string(found) +
                                   " in dimension " + std::to_string(dimension) + "; it must have length " +
                                   std::to_string(range.size)));
  }
  return whole;
}

Output partial_sums(const Scope& scope, const std::vector<Output>& terms,
                    const std::vector<std::string>& devices) {
  check_parts("terms", terms, devices);
  return scope.add_one("AddN", terms, declaration("P", devices));
}

PartRange part_range(int64_t size, int64_t part, int64_t parts) {
  const int64_t least = size / parts, longer = size % parts;
  return {part * least + std::min(part, longer), least + (part < longer ? 1 : 0)};
}

}  // namespace troupe
