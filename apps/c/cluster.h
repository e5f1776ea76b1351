// Clusters in C, as one process sees them: the members, how to reach them, and which task this process is. A runtime is made part
// of a cluster (troupe_runtime_options), or a session runs in one (troupe_session_connect), and both keep what they need of it.
// One thread at a time. Public header, C11 and C++.
#pragma once

#include "apps/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_cluster troupe_cluster;

/// How a process exchanges frames with nodes that have identified themselves over TCP. Unless it is UCX, nodes of different hosts
/// use TCP.
typedef int32_t troupe_transport;
enum {
  /// Through shared memory if both nodes are of one host and user and allow it, otherwise over TCP.
  TROUPE_TRANSPORT_AUTO = 0,
  TROUPE_TRANSPORT_TCP = 1,
  /// Through shared memory only: nodes with which this one cannot share memory are refused.
  TROUPE_TRANSPORT_SHARED = 2,
  /// Through UCX only, also between hosts and unencrypted: nodes that do not use it are refused.
  TROUPE_TRANSPORT_UCX = 3
};

/// Creates a cluster without members, for a process that is task `task` of `job`. A null job is "client". All members have the
/// same name; without TLS it is also the secret that proves membership. Fails with InvalidArgument if there is no such task.
TROUPE_C troupe_code troupe_cluster_create(const char* name, const char* job, int32_t task,
                                           troupe_cluster** cluster);
/// Reads a cluster file for a task, which {job} and {task} in the paths of certificates stand for. Paths are relative to the file.
/// Fails with InvalidArgument, whose text lists all mistakes with their places, if it cannot be read or is wrong.
TROUPE_C troupe_code troupe_cluster_read(const char* path, const char* job, int32_t task,
                                         troupe_cluster** cluster);
TROUPE_C void troupe_cluster_destroy(troupe_cluster* cluster);

/// Makes a task a member with this endpoint, "a.lab:4242". Fails with InvalidArgument if there is no such task.
TROUPE_C troupe_code troupe_cluster_set_endpoint(troupe_cluster* cluster, const char* job, int32_t task,
                                                 const char* endpoint);
/// Makes all connections use TLS with these PEM files: the certificate of this process, which names its task, or for clients none;
/// its key; the certificate of the cluster's authority. They are read when a runtime or a session uses the cluster.
TROUPE_C troupe_code troupe_cluster_set_tls(troupe_cluster* cluster, const char* certificate, const char* key,
                                            const char* authority);
/// Sets the transport of this process, at first TROUPE_TRANSPORT_AUTO. Fails with InvalidArgument if there is no such transport.
TROUPE_C troupe_code troupe_cluster_set_transport(troupe_cluster* cluster, troupe_transport transport);
/// Sets whether connections to other hosts may be made without TLS, at first not.
TROUPE_C troupe_code troupe_cluster_set_plain_anywhere(troupe_cluster* cluster, bool allowed);

#ifdef __cplusplus
}
#endif
