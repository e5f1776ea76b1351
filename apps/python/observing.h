// What programs observe of their own training, for Python: files for TensorBoard, and where the time of a step went.
#pragma once

#include <pybind11/pybind11.h>

#include "apps/trace/trace_json.h"

namespace troupe::python {

/// The profile of a step.
struct StepProfile {
  trace::TracedStep step;
};

/// Adds EventWriter, StepProfile, DeviceProfile and NodeProfile.
void bind_observing(pybind11::module_& module);

}  // namespace troupe::python
