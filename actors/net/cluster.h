// ClusterSpec: who belongs to a cluster, where, and how its members prove it. Public header. A plain value.
#pragma once

#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace troupe {

/// PEM files of a node: its certificate, whose subject alternative name is its task (actors/net/tls.h), and the cluster's authority.
struct TlsFiles {
  std::string certificate, key, authority;
};

struct ClusterSpec {
  std::string name;  ///< the same for all members; where nothing else proves membership, a secret
  std::map<std::string, std::map<int, std::string>> jobs;  ///< "ps" -> 0 -> "host:port"
  std::optional<TlsFiles> tls = {};                        ///< none: plain connections
  bool plain_anywhere = false;                             ///< plain connections beyond this host too

  /// Its endpoint; empty for a task that is not of the cluster, as a client is not.
  std::string endpoint(const std::string& job, int task) const {
    const auto tasks = jobs.find(job);
    if (tasks == jobs.end()) return {};
    const auto at = tasks->second.find(task);
    return at == tasks->second.end() ? std::string() : at->second;
  }
};

}  // namespace troupe
#pragma GCC visibility pop
