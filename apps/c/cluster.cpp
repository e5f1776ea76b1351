#include "apps/c/cluster.h"

#include "apps/c/handles.h"
#include "apps/cluster_file.h"
#include "messages/values/device_name.h"

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

static_assert(TROUPE_TRANSPORT_UCX == static_cast<int>(troupe::Transport::Ucx) &&
              TROUPE_TRANSPORT_SHARED == static_cast<int>(troupe::Transport::Shared));

/// Returns the name of a job. Throws Error(InvalidArgument) if a task cannot be called so.
std::string job_of(const char* job, int32_t task) {
  std::string name = text(job, "job");
  if (name.empty()) throw troupe::Error(troupe::invalid_argument("the name of a job must not be empty"));
  if (task < 0)
    throw troupe::Error(troupe::invalid_argument("the tasks of job '" + name + "' have numbers from 0, not " +
                                                 std::to_string(task)));
  const troupe::DeviceName whole{name, 0, task, "", troupe::DeviceName::unset};
  throw_if_failed(troupe::DeviceName::parse(whole.text()).status());
  return name;
}
std::string own_job(const char* job, int32_t task) { return job_of(job ? job : "client", task); }

}  // namespace

troupe_code troupe_cluster_create(const char* name, const char* job, int32_t task, troupe_cluster** cluster) {
  return guarded([&] {
    troupe::ClusterSpec spec;
    spec.name = text(name, "name");
    auto& result = needed(cluster, "cluster");
    result = new troupe_cluster{std::move(spec), own_job(job, task), task};
  });
}

troupe_code troupe_cluster_read(const char* path, const char* job, int32_t task, troupe_cluster** cluster) {
  return guarded([&] {
    const std::string file = text(path, "path"), self = own_job(job, task);
    auto& result = needed(cluster, "cluster");
    result = new troupe_cluster{troupe::read_cluster_file(file, self, task), self, task};
  });
}

void troupe_cluster_destroy(troupe_cluster* cluster) { delete cluster; }

troupe_code troupe_cluster_set_endpoint(troupe_cluster* cluster, const char* job, int32_t task,
                                        const char* endpoint) {
  return guarded([&] {
    auto& jobs = needed(cluster, "cluster").spec.jobs;
    const std::string name = job_of(job, task), address = text(endpoint, "endpoint");
    jobs[name][task] = address;
  });
}

troupe_code troupe_cluster_set_tls(troupe_cluster* cluster, const char* certificate, const char* key,
                                   const char* authority) {
  return guarded([&] {
    auto& tls = needed(cluster, "cluster").spec.tls;
    tls = troupe::TlsFiles{text(certificate, "certificate"), text(key, "key"), text(authority, "authority")};
  });
}

troupe_code troupe_cluster_set_transport(troupe_cluster* cluster, troupe_transport transport) {
  return guarded([&] {
    auto& spec = needed(cluster, "cluster").spec;
    if (transport < TROUPE_TRANSPORT_AUTO || transport > TROUPE_TRANSPORT_UCX)
      throw troupe::Error(
          troupe::invalid_argument("there is no transport with the number " + std::to_string(transport) +
                                   ": they have the numbers 0 to " + std::to_string(TROUPE_TRANSPORT_UCX)));
    spec.transport = static_cast<troupe::Transport>(transport);
  });
}

troupe_code troupe_cluster_set_plain_anywhere(troupe_cluster* cluster, bool allowed) {
  return guarded([&] { needed(cluster, "cluster").spec.plain_anywhere = allowed; });
}
