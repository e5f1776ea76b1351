#include "apps/samples.h"

#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "apps/python/arrays.h"
#include "apps/python/forks.h"
#include "apps/python/gil.h"
#include "apps/python/training.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// Samples, and the process that opened them.
struct SamplesHandle {
  const Samples samples;
  const uint64_t forks = forks_so_far();
};

/// Batches that several threads of Python may take from, one at a time.
struct BatchesHandle {
  SampleBatches batches;
  const bool has_threads = batches.has_threads();
  const uint64_t forks = forks_so_far();
  std::mutex mutex = {};
};

/// Fails if the threads that would make batches are those of the process from which this one was forked.
void require_own_threads(bool has_threads, uint64_t forks) {
  if (has_threads && forks != forks_so_far())
    throw Error(failed_precondition(
        "this process was forked from the one that opened these samples, and has none of the threads that "
        "read them: open the samples in it"));
}

/// Leaves alone what belongs to the process from which this one was forked: it would wait for threads that are not here.
template <class Handle>
void destroy_own(Handle* handle) {
  if (handle->forks == forks_so_far()) delete handle;
}

template <class Handle, class... Parts>
std::shared_ptr<Handle> make_handle(Parts&&... parts) {
  return {new Handle{std::forward<Parts>(parts)...}, destroy_own<Handle>};
}

py::dict columns_of(const SamplesHandle& handle) {
  py::dict columns;
  for (const SampleColumn& column : handle.samples.columns())
    columns[py::str(column.name)] = py::make_tuple(column.dtype, from_shape(column.shape));
  return columns;
}

std::shared_ptr<BatchesHandle> batches_of(const SamplesHandle& handle, int64_t size,
                                          std::optional<bool> shuffle, std::optional<uint64_t> seed) {
  auto batches =
      make_handle<BatchesHandle>(handle.samples.batches({.size = size, .shuffle = shuffle, .seed = seed}));
  require_own_threads(batches->has_threads, handle.forks);
  return batches;
}

/// Reads a batch without the global interpreter lock.
py::dict batch_at(const std::shared_ptr<BatchesHandle>& handle, uint64_t number) {
  require_own_threads(handle->has_threads, handle->forks);
  auto columns = [&] {
    const GilReleased released;
    const std::lock_guard lock(handle->mutex);
    return handle->batches.at(number);
  }();
  py::dict batch;
  for (auto& [name, values] : columns) batch[py::str(name)] = to_array(std::move(values), handle);
  return batch;
}

std::shared_ptr<SamplesHandle> read(const std::string& path, const std::string& part,
                                    const std::vector<std::string>& settings) {
  const GilReleased released;
  return make_handle<SamplesHandle>(Samples::read(path, part, settings));
}

std::shared_ptr<SamplesHandle> parse(const std::string& text, const std::string& part,
                                     const std::string& folder, const std::vector<std::string>& settings,
                                     const std::string& name) {
  const GilReleased released;
  return make_handle<SamplesHandle>(Samples::parse(text, part, folder, settings, name));
}

std::shared_ptr<SamplesHandle> from_arrays(const py::dict& arrays) {
  std::vector<std::pair<std::string, Tensor>> columns;
  for (const auto& [name, values] : arrays) columns.emplace_back(py::str(name), to_tensor(values));
  return make_handle<SamplesHandle>(Samples::from_tensors(columns));
}

}  // namespace

void bind_samples(py::module_& module) {
  py::class_<BatchesHandle, std::shared_ptr<BatchesHandle>>(module, "SampleBatches")
      .def_property_readonly("per_epoch",
                             [](const BatchesHandle& handle) { return handle.batches.per_epoch(); })
      .def("at", &batch_at, py::arg("number"));
  py::class_<SamplesHandle, std::shared_ptr<SamplesHandle>>(module, "Samples")
      .def_static("read", &read, py::arg("path"), py::arg("part"), py::arg("settings"))
      .def_static("parse", &parse, py::arg("text"), py::arg("part"), py::arg("folder"), py::arg("settings"),
                  py::arg("name"))
      .def_static("from_arrays", &from_arrays, py::arg("arrays"))
      .def_property_readonly("columns", &columns_of)
      .def("__len__", [](const SamplesHandle& handle) { return handle.samples.size(); })
      .def("batches", &batches_of, py::arg("size"), py::arg("shuffle"), py::arg("seed"));
}

}  // namespace troupe::python
