// Runtimes and clusters for Python.
#include <pybind11/stl.h>

#include "apps/python/gil.h"
#include "apps/python/handles.h"
#include "apps/python/session.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

using Jobs = std::map<std::string, std::map<int, std::string>>;

Transport transport_of(const std::string& name) {
  if (name == "auto") return Transport::Auto;
  if (name == "tcp") return Transport::Tcp;
  if (name == "shared") return Transport::Shared;
  if (name == "ucx") return Transport::Ucx;
  throw Error(invalid_argument("the transport must be \"auto\", \"tcp\", \"shared\" or \"ucx\", not \"" +
                               name + "\""));
}

ClusterSpec make_cluster(const std::string& name, const Jobs& jobs, const std::string& certificate,
                         const std::string& key, const std::string& authority, const std::string& transport,
                         bool plain_anywhere) {
  ClusterSpec cluster{
      .name = name, .jobs = jobs, .plain_anywhere = plain_anywhere, .transport = transport_of(transport)};
  const bool has_all = !certificate.empty() && !key.empty() && !authority.empty();
  const bool has_none = certificate.empty() && key.empty() && authority.empty();
  if (!has_all && !has_none)
    throw Error(invalid_argument(
        "TLS needs all of certificate, key and authority; without them connections are plain"));
  if (has_all) cluster.tls = TlsFiles{certificate, key, authority};
  return cluster;
}

/// Destroys a runtime without the GIL: it waits for its threads. Those of another process are left alone.
void destroy(RuntimeHandle* runtime) {
  if (runtime->forks != forks_so_far()) return;
  std::optional<GilReleased> released;
  if (Py_IsInitialized() && PyGILState_Check()) released.emplace();
  delete runtime;
}

std::shared_ptr<RuntimeHandle> make_runtime(size_t threads, size_t memory, int cpus,
                                            const std::vector<std::string>& roots,
                                            const std::optional<ClusterSpec>& cluster, const std::string& job,
                                            int task, const std::string& listen, int gpus, int first_gpu,
                                            size_t gpu_memory, bool tf32) {
  const RuntimeOptions options{
      .threads = threads,
      .memory = memory,
      .tasks = {{.job = job, .task = task, .cpus = cpus, .gpus = gpus, .first_gpu = first_gpu}},
      .gpu_memory = gpu_memory,
      .tf32 = tf32,
      .roots = roots,
      .cluster = cluster,
      .listen = listen};
  const GilReleased released;
  return {new RuntimeHandle(options), destroy};
}

size_t reset(RuntimeHandle& handle, const std::vector<std::string>& containers) {
  const GilReleased released;
  return handle.runtime.reset(containers);
}

}  // namespace

void bind_runtime(py::module_& module) {
  py::class_<ClusterSpec>(module, "Cluster", "The processes of a cluster, with their addresses.")
      .def(py::init(&make_cluster), py::arg("name"), py::arg("jobs"), py::kw_only(),
           py::arg("certificate") = "", py::arg("key") = "", py::arg("authority") = "",
           py::arg("transport") = "auto", py::arg("plain_anywhere") = false)
      .def_readonly("name", &ClusterSpec::name)
      .def_readonly("jobs", &ClusterSpec::jobs);
  py::class_<RuntimeHandle, std::shared_ptr<RuntimeHandle>>(module, "Runtime",
                                                            "The threads, devices and actors of a process.")
      .def(py::init(&make_runtime), py::kw_only(), py::arg("threads") = 0, py::arg("memory") = 0,
           py::arg("cpus") = 1, py::arg("roots") = std::vector<std::string>(),
           py::arg("cluster") = py::none(), py::arg("job") = "localhost", py::arg("task") = 0,
           py::arg("listen") = "", py::arg("gpus") = TaskOptions::all_gpus, py::arg("first_gpu") = 0,
           py::arg("gpu_memory") = 0, py::arg("tf32") = false)
      .def_property_readonly("has_threads",
                             [](const RuntimeHandle& handle) { return handle.forks == forks_so_far(); })
      .def_property_readonly("devices", [](const RuntimeHandle& handle) { return handle.runtime.devices(); })
      .def("reset", &reset, py::arg("containers") = std::vector<std::string>());
}

}  // namespace troupe::python
