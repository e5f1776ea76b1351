// ClusterSpec: the members of a cluster, their endpoints, and how they prove their identity. A plain value. Public header.
#pragma once

#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace troupe {

/// The paths of a node's PEM files: its certificate, whose subject alternative name is its task (actors/net/transport/tls.h), its
/// private key, and the certificate of the cluster's authority.
struct TlsFiles {
  std::string certificate, key, authority;
};

/// How nodes exchange frames when they have identified each other over TCP. Unless it is Ucx, nodes of different hosts use TCP.
enum class Transport {
  Auto,  ///< through shared memory if both run as the same user in one network namespace and allow it, else over TCP
  Tcp,     ///< over TCP
  Shared,  ///< through shared memory only: nodes with which this one cannot share memory are refused
  Ucx,     ///< through UCX only, also between hosts and unencrypted: nodes that do not use it are refused
};

struct ClusterSpec {
  /// The same for all members. With plain connections it is also the secret that proves membership.
  std::string name;
  std::map<std::string, std::map<int, std::string>> jobs;  ///< "ps" -> 0 -> "host:port"
  std::optional<TlsFiles> tls = {};                        ///< empty: plain connections
  bool plain_anywhere = false;                             ///< allow plain connections to other hosts
  Transport transport = Transport::Auto;                   ///< of this process

  /// Returns the endpoint of a task; empty if the task is not a member, for example a client.
  std::string endpoint(const std::string& job, int task) const {
    const auto tasks = jobs.find(job);
    if (tasks == jobs.end()) return {};
    const auto at = tasks->second.find(task);
    return at == tasks->second.end() ? std::string() : at->second;
  }
};

}  // namespace troupe
#pragma GCC visibility pop
