#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "actors/net/transport/certificate_files.h"
#include "actors/net/transport/tls.h"
#include "apps/cluster/local_port.h"
#include "apps/cluster/neighbours.h"
#include "apps/config/cluster_file.h"
#include "apps/doctor/findings.h"
#include "messages/values/device_name.h"

namespace troupe::doctor {
namespace {

/// Checks the certificate of a task, "ps/0". That of a client may name no task.
Finding certificate(const std::string& job, int task, const TlsFiles& files) {
  const std::string what = fmt::format("certificate of {}/{}", job, task),
                    remedy = "troupe certs makes new ones";
  if (const Status status = check_valid(files); !status.ok())
    return {Level::Fail, what, status.text(), remedy};
  const auto named = certified_task(files);
  const std::string own = DeviceName{job, 0, task, "", DeviceName::unset}.text();
  if (job == "client" || (named && *named == own)) return {Level::Ok, what, files.certificate, {}};
  return {Level::Fail, what,
          fmt::format("{} {}", files.certificate, named ? "is that of " + *named : "names no task"), remedy};
}

/// Tries to bind the address. A host whose addresses are not those of this machine is left out.
Finding port(const std::string& task, const std::string& endpoint) {
  const std::string what = "port of " + task;
  const auto error = cluster::error_of_binding(endpoint);
  if (!error) return {Level::Fail, what, error.status().text(), "name a host that this machine can resolve"};
  if (*error == 0) return {Level::Ok, what, endpoint + " is free", {}};
  if (*error == EADDRNOTAVAIL) return {Level::Ok, what, endpoint + " is on another machine", {}};
  if (*error == EADDRINUSE)
    return {Level::Warn, what, endpoint + " is in use",
            "a node that runs already uses it, or choose another port"};
  return {Level::Fail, what, fmt::format("{}: {}", endpoint, std::strerror(*error)),
          "choose a port above 1023"};
}

/// Says whether nodes may link without TLS.
Finding encryption(const ClusterSpec& spec) {
  const std::string what = "encryption", remedy = "troupe certs makes certificates";
  const auto is_beyond = [](const auto& task) {
    const std::string host = cluster::host_of(task.second);
    return !host.starts_with("127.") && host != "localhost" && host != "::1";
  };
  const bool is_here = std::ranges::none_of(
      spec.jobs, [&](const auto& job) { return std::ranges::any_of(job.second, is_beyond); });
  if (is_here || spec.plain_anywhere)
    return {Level::Warn, what, "the cluster has no TLS", remedy + "; plain links are for trusted networks"};
  return {Level::Fail, what,
          "the cluster has no TLS, and its hosts refuse plain links beyond the loopback interface",
          remedy + "; in a trusted network cluster.plain = true allows plain links"};
}

}  // namespace

std::vector<Finding> check_cluster(Disk& disk, const std::string& file) {
  const auto whole = config::load_cluster(disk, file, "client", 0);
  if (!whole)
    return {{Level::Fail, "cluster file", whole.status().text(),
             "mend the file; docs/reference/keys.md has its keys"}};
  std::vector<Finding> findings = {{Level::Ok, "cluster file", file, {}}};
  bool has_certificate = false;
  for (const auto& [job, tasks] : whole->jobs)
    for (const auto& [task, endpoint] : tasks) {
      const std::string name = fmt::format("{}/{}", job, task);
      const auto own = config::load_cluster(disk, file, job, task);
      // The certificates of other machines need not be here.
      if (own && own->tls && disk.info(own->tls->certificate).ok()) {
        has_certificate = true;
        findings.push_back(certificate(job, task, *own->tls));
      }
      findings.push_back(port(name, endpoint));
    }
  if (whole->tls && disk.info(whole->tls->certificate).ok())
    findings.push_back(certificate("client", 0, *whole->tls));
  else if (whole->tls && !has_certificate)
    findings.push_back(
        {Level::Warn, "certificates",
         "none that the cluster file names is on this machine, such as " + whole->tls->certificate,
         "troupe certs makes certificates; check the paths in the cluster file"});
  if (!whole->tls) findings.push_back(encryption(*whole));
  return findings;
}

}  // namespace troupe::doctor
