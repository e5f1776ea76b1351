// Sessions in C: they run steps of a graph. Any thread may run steps, several at the same time, and cancel them. A session keeps
// its graph and its runtime alive. Public header, C11 and C++.
#pragma once

#include "apps/c/cluster.h"
#include "apps/c/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_session troupe_session;

/// How devices are chosen among those that may run a node.
typedef int32_t troupe_device_choice;
enum {
  TROUPE_FIRST_FEASIBLE = 0,  ///< the first one: GPUs before CPUs, then by name
  /// The one on which the node would end first in a simulation of the step, with estimated and then with measured times.
  TROUPE_EARLIEST_FINISH = 1,
  /// The placement whose steps are the shortest, of some that a search finds with that simulation.
  TROUPE_LEARNED = 2
};

/// Options of a session. Later versions add members behind the last one; `size` says which the caller knows.
typedef struct troupe_session_options {
  size_t size;  ///< sizeof(troupe_session_options)
  /// The seed of the random ops that have none of their own; null: they draw other numbers in every session.
  const int64_t* seed;
  bool soft_placement;  ///< whether a request of a device that nobody has is ignored
  // Of sessions in a cluster:
  int64_t start_timeout_ns;  ///< how long to wait until all tasks are linked; 0: a minute
  /// The tasks that the session uses beside that of its master (this one, or that at `endpoint`), as "/job:ps" or
  /// "/job:worker/task:1"; none: all.
  const char* const* tasks;
  size_t task_count;
  /// Whether the session shares its variables with the others that share theirs; null: in a cluster it does, otherwise not.
  const bool* share_state;
  troupe_device_choice device_choice;
  bool lossy_transfers;  ///< whether float tensors travel between tasks as bfloat16
  /// Whether a step fails that computes NaN or infinity from finite numbers, for debugging.
  bool check_finite;
} troupe_session_options;

/// A device that a session may use.
typedef struct troupe_device {
  const char* name;      ///< "/job:ps/replica:0/task:0/device:CPU:0"
  const char* type;      ///< "CPU"
  uint64_t memory;       ///< how many bytes tensors may use there
  uint64_t incarnation;  ///< random per life of the device
} troupe_device;

/// What a step computes: `fetches`, with `feed_values` in place of the outputs `feeds`, and the effects of `targets`.
typedef struct troupe_step {
  size_t size;  ///< sizeof(troupe_step); see troupe_session_options
  const troupe_output* feeds;
  const troupe_tensor* const* feed_values;
  size_t feed_count;
  const troupe_output* fetches;
  size_t fetch_count;
  const troupe_output* targets;
  size_t target_count;
  int64_t timeout_ns;  ///< 0: none; otherwise the step fails with DeadlineExceeded after this time
  const troupe_cancellation* cancellation;  ///< may be null
} troupe_step;

/// Opens a session. `options` may be null. In a cluster, waits until all tasks of the session are linked; fails with
/// DeadlineExceeded, whose text lists the missing tasks and the reasons, or with the code of a refusal.
TROUPE_C troupe_code troupe_session_create(troupe_graph* graph, const troupe_session_options* options,
                                           troupe_session** session);
/// Opens a session in a running cluster of which the runtime of the graph is no part. The node at `endpoint`, "a.lab:4242", is its
/// master: it holds the graph and runs the steps on the devices of the cluster; this process only sends feeds and gets fetches. The
/// members of `cluster` are not used. Fails with DeadlineExceeded or Unavailable if the node cannot be reached or other tasks are
/// missing, and with FailedPrecondition, PermissionDenied or InvalidArgument if one side refuses the other.
TROUPE_C troupe_code troupe_session_connect(troupe_graph* graph, const char* endpoint,
                                            const troupe_cluster* cluster,
                                            const troupe_session_options* options, troupe_session** session);
/// Ends the session, and with it its steps and its state, unless a partial run keeps it.
TROUPE_C void troupe_session_destroy(troupe_session* session);
/// Return how many devices the session may use, and one of them, as they were when it was opened. Fails with OutOfRange.
TROUPE_C troupe_code troupe_session_device_count(const troupe_session* session, size_t* count);
TROUPE_C troupe_code troupe_session_device(const troupe_session* session, size_t index,
                                           troupe_device* device);
/// Runs a step, and stores a tensor for each fetch in `results`; the caller destroys them. After a failure there are none. Nodes
/// that have been added to the graph since the last step are part of it. Fails with InvalidArgument if the step does not fit the
/// graph, with Cancelled or DeadlineExceeded, with FailedPrecondition if the session is closed, or with the error of an op.
TROUPE_C troupe_code troupe_session_run(troupe_session* session, const troupe_step* step,
                                        troupe_tensor** results);
/// Does the same, and stores the step's timeline as JSON in the trace event format, which Perfetto (ui.perfetto.dev) shows. The
/// caller releases the text with troupe_bytes_destroy().
TROUPE_C troupe_code troupe_session_profile(troupe_session* session, const troupe_step* step,
                                            troupe_tensor** results, char** timeline, size_t* size);
/// Stores which device would run each node of the step, as text with a line "NAME: (OP) DEVICE" for each node, and one for each
/// request for a device that soft placement ignores. `feed_values` are not used. The caller releases the text with
/// troupe_bytes_destroy().
TROUPE_C troupe_code troupe_session_describe(troupe_session* session, const troupe_step* step, char** text,
                                             size_t* size);
/// Starts the queue runners that the graph notes, but for those that an earlier call has started: their steps fill queues beside
/// the steps of the caller.
TROUPE_C troupe_code troupe_session_start_queue_runners(troupe_session* session);
/// Stops them, and returns when their steps have ended. Fails with the first failure of a step that is not the end of its input,
/// also if it is long ago, and with DeadlineExceeded after `timeout_ns`.
TROUPE_C troupe_code troupe_session_stop_queue_runners(troupe_session* session, int64_t timeout_ns);
/// Ends the session: running steps fail with Cancelled, and no new step begins. Does not wait.
TROUPE_C troupe_code troupe_session_cancel(troupe_session* session);
/// Does the same, and returns when all steps have ended. Fails with DeadlineExceeded after `timeout_ns`.
TROUPE_C troupe_code troupe_session_close(troupe_session* session, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
