// What a runtime has counted, for Prometheus, installed as <troupe/runtime_metrics.h>. A function without state; any thread, also
// while steps run, which it does not hold up. Public header.
#pragma once

#include <string>

#include "actors/runtime.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns counters and gauges in the text format of Prometheus 0.0.4. All names begin with "troupe_"; units stand in the names:
///   troupe_runtime_*            threads, actors, steps, messages between actors, bytes exchanged with the cluster, health
///   troupe_task_states          variables, queues, tables, ... of each task
///   troupe_device_*             memory of tensors, by device
///   troupe_received_memory_*    memory of tensors that came from other nodes
///   troupe_link_up              1 or 0 for each other task of the cluster
/// The last two, and bytes exchanged, are there in a cluster only. What sessions of Runtime::connect exchange is not counted.
std::string metrics_text(const Runtime& runtime);

}  // namespace troupe
#pragma GCC visibility pop
