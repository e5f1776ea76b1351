// Partial runs for Python: steps that get their feeds one after the other (Session::partial_run).
#pragma once

#include <pybind11/pybind11.h>

#include "apps/python/steps.h"

namespace troupe::python {

/// Adds PartialRun, and its methods to the class of sessions.
void bind_partial_runs(pybind11::module_& module, pybind11::class_<SessionHandle, SessionRef>& session);

}  // namespace troupe::python
