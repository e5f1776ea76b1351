// Extensions: what a program adds to the ops, kernels and services of Troupe. A plain value. Public header.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace troupe {

struct DeviceSite;
struct OpLibrary;  // kernels/core/kernel.h
class Service;     // actors/site/service.h

/// An entry of a list of services.
struct ServiceDef {
  std::string_view name;  ///< as ops say it (OpDef::service)
  /// Makes the service of one device; called once for each.
  std::unique_ptr<Service> (*make)(DeviceSite& site);
};

/// All processes of a cluster must have the same.
struct Extensions {
  std::function<void(OpLibrary&)> ops = {};  ///< adds ops and kernels
  std::vector<ServiceDef> services = {};
};

}  // namespace troupe
