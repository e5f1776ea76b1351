// Device functions for Python (graph/build/device_function.h).
#pragma once

#include <pybind11/pybind11.h>

#include "apps/python/handles.h"

namespace troupe::python {

/// Adds NewNode, DeviceFunction and replica_devices().
void bind_devices(pybind11::module_& module);

/// Returns the scope with a device: a name, a DeviceFunction, or a callable that gets a NewNode and returns a name or None.
ScopeHandle with_device(const ScopeHandle& scope, const pybind11::object& device);

}  // namespace troupe::python
