// Inquiry: what a process that knows one member of a cluster asks it before it is a member itself: who belongs to it, and which place is
// free (messages/schemas/registrar.capnp). With threads and sockets of its own, gone with the answer. A thread that may wait.
#pragma once

#include <chrono>
#include <string>

#include "actors/net/cluster.h"
#include "messages/values/status.h"

namespace troupe {

struct InquiryOptions {
  std::string endpoint;  ///< of the member
  ClusterSpec cluster;   ///< its name, and how this process proves itself; the tasks are what is asked for
  std::string job = {};  ///< with TLS that of the certificate
  int task = -1;         ///< -1: the lowest that is free; with TLS that of the certificate
  bool take = true;      ///< false: only to see
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);
};

struct FoundPlace {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string member;  ///< who was asked: "/job:ps/replica:0/task:0"
};

/// DeadlineExceeded or Unavailable: nobody is there, refuses, or is silent; FailedPrecondition: it is of another cluster or version, or
/// takes another kind of connection; PermissionDenied: one side refuses the other's certificate;
/// InvalidArgument for certificates that cannot be used; NotFound and AlreadyExists as the registrar answers.
Result<FoundPlace> inquire(const InquiryOptions& options);

}  // namespace troupe
