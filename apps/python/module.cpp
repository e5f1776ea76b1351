// The extension module troupe._troupe. The package troupe (apps/python/troupe) is its interface for users. It uses only the public
// headers of Troupe, and links the installed library.
#include <pybind11/pybind11.h>

#include "apps/python/arrays.h"
#include "apps/python/devices.h"
#include "apps/python/dtypes.h"
#include "apps/python/errors.h"
#include "apps/python/gil.h"
#include "apps/python/graph.h"
#include "apps/python/model.h"
#include "apps/python/nn.h"
#include "apps/python/observing.h"
#include "apps/python/op_table.h"
#include "apps/python/session.h"
#include "apps/python/training.h"
#include "apps/python/wrong_arguments.h"

PYBIND11_MODULE(_troupe, module) {
  namespace python = troupe::python;
  module.attr("__version__") = TROUPE_VERSION;
  python::watch_end_of_interpreter();
  python::bind_errors(module);
  python::bind_dtypes(module);
  python::bind_tensors(module);
  python::bind_runtime(module);
  python::bind_op_table(module);
  python::bind_devices(module);
  python::bind_graphs(module);
  python::bind_building(module);
  python::bind_observing(module);
  python::bind_session(module);
  python::bind_optimizers(module);
  python::bind_losses(module);
  python::bind_ragged_rows(module);
  python::bind_layers(module);
  python::bind_models(module);
  python::bind_training(module);
  python::bind_samples(module);
  python::explain_wrong_arguments(module);
}
