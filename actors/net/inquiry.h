// Inquiry: a process that knows one member of a cluster asks that member which tasks the cluster has and which of them is free,
// before it joins the cluster (messages/schemas/registrar.capnp). An inquiry has its own threads and sockets, which end with it. It
// blocks the calling thread.
#pragma once

#include <chrono>
#include <string>

#include "actors/cluster.h"
#include "messages/values/status.h"

namespace troupe {

struct InquiryOptions {
  std::string endpoint;  ///< the endpoint of the member
  ClusterSpec cluster;   ///< the name of the cluster and how to connect; its jobs are not used
  std::string job = {};  ///< the job to join; with TLS the job in the certificate is used instead
  int task = -1;         ///< -1: the lowest free task; with TLS the task in the certificate is used instead
  bool take = true;      ///< whether to reserve the task for this process for a short time
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);
};

struct FoundPlace {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string member;  ///< the member that answered: "/job:ps/replica:0/task:0"
};

/// Returns the cluster and the task that this process may become. Fails with DeadlineExceeded or Unavailable if the member cannot
/// be reached or does not answer; with FailedPrecondition if it belongs to another cluster, has another version or another kind of
/// connection; with PermissionDenied if one side refuses the certificate of the other; with InvalidArgument if this process's
/// certificate cannot be used; with NotFound or AlreadyExists if the member's registrar says so.
Result<FoundPlace> inquire(const InquiryOptions& options);

}  // namespace troupe
