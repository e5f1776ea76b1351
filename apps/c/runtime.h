// Runtimes in C: the threads, devices and actors that run the steps of graphs in this process. Several may live side by side.
// A runtime lives until it and all graphs and sessions made of it are destroyed, in any order. Any thread. Public header, C11 and
// C++.
#pragma once

#include "apps/c/cluster.h"
#include "apps/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_runtime troupe_runtime;
typedef struct troupe_cancellation troupe_cancellation;

/// Options of a runtime. Later versions add members behind the last one; `size` says which the caller knows.
typedef struct troupe_runtime_options {
  size_t size;      ///< sizeof(troupe_runtime_options)
  size_t threads;   ///< that compute; 0: one for each core
  uint64_t memory;  ///< the most bytes that tensors may use, at least 16 MiB; 0: 80 % of the machine's
  int32_t cpus;     ///< the number of devices CPU:0, CPU:1, ...; 0: one
  /// The cluster of which this process is a node, or a client if the cluster has no such task; null: none. Sessions span all tasks.
  const troupe_cluster* cluster;
  /// Where a node listens: "0.0.0.0:4242", or "fd:5" for an inherited socket; null: at its endpoint in `cluster`.
  const char* listen;
  /// The folders that must contain all files that graphs and checkpoints of sessions name, also those of other processes; none:
  /// files may be anywhere. What this process exports itself may be anywhere.
  const char* const* roots;
  size_t root_count;
  /// How many GPUs are used, as the devices GPU:0, GPU:1, ...; 0: all that the process sees; -1: none.
  int32_t gpus;
  int32_t first_gpu;    ///< GPU:0 is this one of those that the process sees, and the others follow
  uint64_t gpu_memory;  ///< the most bytes of each that tensors may use; 0: 95 % of what is free
  int32_t tf32;  ///< whether products and convolutions of float on GPUs may round their factors to TF32
} troupe_runtime_options;

/// Creates a runtime. `options` may be null. Fails with InvalidArgument if the options are wrong, with ResourceExhausted if the
/// system has no threads left, with AlreadyExists if the endpoint of a node is in use, and with Unavailable if it cannot listen
/// there. A node serves its cluster until the runtime ends; it does not wait for the others, but sessions do.
TROUPE_C troupe_code troupe_runtime_create(const troupe_runtime_options* options, troupe_runtime** runtime);
TROUPE_C void troupe_runtime_destroy(troupe_runtime* runtime);
/// Return how many devices there are, and the full name of one: "/job:localhost/replica:0/task:0/device:CPU:0". Fails with
/// OutOfRange.
TROUPE_C troupe_code troupe_runtime_device_count(const troupe_runtime* runtime, size_t* count);
TROUPE_C troupe_code troupe_runtime_device(const troupe_runtime* runtime, size_t index, const char** name);
/// Fails with the reason why this process must be replaced: an actor has failed for good, or another process has taken the place of
/// this task in its cluster.
TROUPE_C troupe_code troupe_runtime_status(const troupe_runtime* runtime);
/// Returns what a runtime has counted, in the text format of Prometheus: memory, steps, messages and links, under names that begin
/// with "troupe_". The caller releases the text, behind which is a zero byte, with troupe_bytes_destroy().
TROUPE_C troupe_code troupe_runtime_metrics(const troupe_runtime* runtime, char** text, size_t* size);

/// A cancellation ends the steps and trainings that are given it. It must live longer than they run. Any thread, also several.
TROUPE_C troupe_code troupe_cancellation_create(troupe_cancellation** cancellation);
TROUPE_C void troupe_cancellation_destroy(troupe_cancellation* cancellation);
/// Makes steps fail with Cancelled, and trainings end in order, also those that begin later.
TROUPE_C troupe_code troupe_cancellation_cancel(troupe_cancellation* cancellation);

#ifdef __cplusplus
}
#endif
