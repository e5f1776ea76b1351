// Tls: who a node is, proved. A node has a certificate whose subject alternative name is its task, signed by the authority of its
// cluster, and talks only to nodes that have one too (robustness.md R1). Whose certificate names no task may only be a client: of a
// task that is not of the cluster. TLS 1.3; one context per process, shared by its connections.
#pragma once

#include <memory>
#include <string>

#include "actors/net/cluster.h"
#include "messages/values/status.h"

typedef struct ssl_st SSL;

namespace boost::asio::ssl {
class context;
}

namespace troupe {

/// For either side of a connection. InvalidArgument names the file and what is wrong with it.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls(const TlsFiles& files);

/// The task in the certificate of the other side, "/job:ps/replica:0/task:0"; empty when it names none.
std::string proven_task(SSL* connection);
/// The same, of a process's own certificate. InvalidArgument names the file and what is wrong with it.
Result<std::string> certified_task(const TlsFiles& files);
/// As it stands in certificates: the URI "troupe:/job:ps/replica:0/task:0".
std::string uri_of_task(const std::string& task);

}  // namespace troupe
