#include "apps/samples.h"

#include <pybind11/stl.h>

#include <mutex>

#include "apps/python/arrays.h"
#include "apps/python/gil.h"
#include "apps/python/training.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// Batches that several threads of Python may take from, one at a time.
struct BatchesHandle {
  explicit BatchesHandle(SampleBatches taken) : batches(std::move(taken)) {}
  std::mutex mutex;
  SampleBatches batches;
};

py::dict columns_of(const Samples& samples) {
  py::dict columns;
  for (const SampleColumn& column : samples.columns())
    columns[py::str(column.name)] = py::make_tuple(column.dtype, from_shape(column.shape));
  return columns;
}

/// Reads a batch without the global interpreter lock.
py::dict batch_at(const std::shared_ptr<BatchesHandle>& handle, uint64_t number) {
  auto columns = [&] {
    const GilReleased released;
    const std::lock_guard lock(handle->mutex);
    return handle->batches.at(number);
  }();
  py::dict batch;
  for (auto& [name, values] : columns) batch[py::str(name)] = to_array(std::move(values), handle);
  return batch;
}

Samples read(const std::string& path, const std::string& part, const std::vector<std::string>& settings) {
  const GilReleased released;
  return Samples::read(path, part, settings);
}

Samples parse(const std::string& text, const std::string& part, const std::string& folder,
              const std::vector<std::string>& settings, const std::string& name) {
  const GilReleased released;
  return Samples::parse(text, part, folder, settings, name);
}

}  // namespace

void bind_samples(py::module_& module) {
  py::class_<BatchesHandle, std::shared_ptr<BatchesHandle>>(module, "SampleBatches")
      .def_property_readonly("per_epoch",
                             [](const BatchesHandle& handle) { return handle.batches.per_epoch(); })
      .def("at", &batch_at, py::arg("number"));
  py::class_<Samples>(module, "Samples")
      .def_static("read", &read, py::arg("path"), py::arg("part"), py::arg("settings"))
      .def_static("parse", &parse, py::arg("text"), py::arg("part"), py::arg("folder"), py::arg("settings"),
                  py::arg("name"))
      .def_property_readonly("columns", &columns_of)
      .def("__len__", &Samples::size)
      .def(
          "batches",
          [](const Samples& samples, int64_t size, std::optional<bool> shuffle,
             std::optional<uint64_t> seed) {
            return std::make_shared<BatchesHandle>(
                samples.batches({.size = size, .shuffle = shuffle, .seed = seed}));
          },
          py::arg("size"), py::arg("shuffle"), py::arg("seed"));
}

}  // namespace troupe::python
