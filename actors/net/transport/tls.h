// Tls: proves the identity of nodes. A node has a certificate whose subject alternative name is its task, signed by the
// authority of its cluster, and connects only to nodes with such a certificate (robustness.md R1). A node whose certificate
// names no task may only be a client, not a member; one with a client's certificate may be any client of that job. Uses TLS
// 1.3; one context per process is shared by all its connections.
#pragma once

#include <memory>
#include <string>

#include "actors/cluster.h"
#include "messages/values/status.h"

typedef struct ssl_st SSL;

namespace boost::asio::ssl {
class context;
}

namespace troupe {

/// Makes the context for both sides of connections. InvalidArgument names the file that cannot be used and its problem.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls(const TlsFiles& files);

/// Returns the task in the certificate of the peer, "/job:ps/replica:0/task:0"; empty if the certificate names no task.
std::string proven_task(SSL* connection);
/// Returns the task in a process's own certificate. Fails with InvalidArgument if a file cannot be used or the certificate
/// names no task.
Result<std::string> certified_task(const TlsFiles& files);
/// Returns the form in which certificates name a task: the URI "troupe:/job:ps/replica:0/task:0".
std::string uri_of_task(const std::string& task);

}  // namespace troupe
