#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "actors/net/certificate_files.h"
#include "apps/config/cluster_file.h"
#include "apps/doctor/findings.h"
#include "messages/env/descriptor.h"

namespace troupe::doctor {
namespace {

Finding certificate(const std::string& task, const TlsFiles& files) {
  const std::string what = "certificate of " + task;
  const Status status = check_valid(files);
  if (status.ok()) return {Level::Ok, what, files.certificate, {}};
  return {Level::Fail, what, status.text(), "troupe certs makes new ones"};
}

/// Tries to bind the address. A host whose addresses are not those of this machine is left out.
Finding port(const std::string& task, const std::string& endpoint) {
  const std::string what = "port of " + task;
  const size_t colon = endpoint.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string host = endpoint.substr(0, colon), service = endpoint.substr(colon + 1);
  if (const int error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0)
    return {Level::Fail, what, fmt::format("{}: {}", endpoint, ::gai_strerror(error)),
            "name a host that this machine can resolve"};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  const Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(socket.number(), found->ai_addr, found->ai_addrlen) == 0)
    return {Level::Ok, what, endpoint + " is free", {}};
  const int error = errno;
  if (error == EADDRNOTAVAIL) return {Level::Ok, what, endpoint + " is on another machine", {}};
  if (error == EADDRINUSE)
    return {Level::Warn, what, endpoint + " is in use",
            "a node that runs already uses it, or choose another port"};
  return {Level::Fail, what, fmt::format("{}: {}", endpoint, std::strerror(error)),
          "choose a port above 1023"};
}

}  // namespace

std::vector<Finding> check_cluster(Disk& disk, const std::string& file) {
  const auto whole = config::load_cluster(disk, file, "client", 0);
  if (!whole)
    return {{Level::Fail, "cluster file", whole.status().text(),
             "mend the file; docs/reference/keys.md has its keys"}};
  std::vector<Finding> findings = {{Level::Ok, "cluster file", file, {}}};
  for (const auto& [job, tasks] : whole->jobs)
    for (const auto& [task, endpoint] : tasks) {
      const std::string name = fmt::format("{}/{}", job, task);
      const auto own = config::load_cluster(disk, file, job, task);
      // The certificates of other machines need not be here.
      if (own && own->tls && disk.info(own->tls->certificate).ok())
        findings.push_back(certificate(name, *own->tls));
      findings.push_back(port(name, endpoint));
    }
  if (whole->tls && disk.info(whole->tls->certificate).ok())
    findings.push_back(certificate("client/0", *whole->tls));
  if (!whole->tls)
    findings.push_back({Level::Warn, "encryption", "the cluster has no TLS",
                        "troupe certs makes certificates; plain links are for trusted networks"});
  return findings;
}

}  // namespace troupe::doctor
