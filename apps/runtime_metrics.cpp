#include "apps/runtime_metrics.h"

#include <functional>
#include <utility>

#include "actors/runtime_impl.h"
#include "apps/text/prometheus.h"
#include "messages/schemas/session.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Collects metrics.
class MetricsText {
 public:
  template <class Number>
  void counter(const char* name, const char* help, Number value) {
    append_metric(text_, name, "counter", help, static_cast<double>(value));
  }
  template <class Number>
  void gauge(const char* name, const char* help, Number value) {
    append_metric(text_, name, "gauge", help, static_cast<double>(value));
  }
  /// Adds a metric with a sample for each of `items`, pairs of a label and what `value` makes a number of.
  template <class Items, class Value>
  void each(const char* name, const char* kind, const char* help, const Items& items, Value value) {
    append_kind(text_, name, kind, help);
    for (const auto& [label, item] : items)
      append_sample(text_, name, static_cast<double>(std::invoke(value, item)), label);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string label_of(const char* name, const std::string& value) {
  return name + ('=' + quoted_label(value));
}

void add_actors(MetricsText& metrics, const ActorNode& node) {
  uint64_t messages = 0, bytes = 0, steps = 0;
  for (const auto& [type, count] : node.engine.counts()) {
    messages += count.messages;
    bytes += count.bytes;
    if (type == schema_id_of<wire::RunStep> || type == schema_id_of<wire::BeginPartialRun>)
      steps += count.messages;
  }
  metrics.gauge("troupe_runtime_actors", "Actors of the runtime.", node.engine.actors());
  metrics.counter("troupe_runtime_steps_total", "Steps of the sessions whose master is in this process.",
                  steps);
  metrics.counter("troupe_runtime_messages_total", "Messages to actors, those of other nodes included.",
                  messages);
  metrics.counter("troupe_runtime_message_bytes_total", "Bytes of these messages, with their tensors.",
                  bytes);
  metrics.counter("troupe_runtime_stray_messages_total",
                  "Messages from other nodes about steps, edges or sessions that this one does not know.",
                  node.strays.load(std::memory_order_relaxed));
}

void add_tasks(MetricsText& metrics, const std::vector<std::shared_ptr<TaskSites>>& tasks) {
  std::vector<std::pair<std::string, size_t>> states;
  std::vector<std::pair<std::string, MemoryStatistics>> devices;
  for (const auto& task : tasks) {
    states.emplace_back(label_of("task", task->task), task->state->cells().size());
    for (const auto& site : task->sites)
      devices.emplace_back(label_of("device", site->device->name().text()),
                           site->device->memory_statistics());
  }
  metrics.each("troupe_task_states", "gauge", "Variables, queues, tables and other states of the task.",
               states, std::identity());
  metrics.each("troupe_device_memory_used_bytes", "gauge", "Memory of tensors.", devices,
               &MemoryStatistics::in_use);
  metrics.each("troupe_device_memory_peak_bytes", "gauge", "The most memory that tensors have had at once.",
               devices, &MemoryStatistics::peak);
  metrics.each("troupe_device_memory_reserved_bytes", "gauge",
               "Memory taken from the system, also what is kept for later.", devices,
               &MemoryStatistics::reserved);
  metrics.each("troupe_device_memory_limit_bytes", "gauge",
               "The most memory that may be taken; the CPU devices of a process share it.", devices,
               &MemoryStatistics::cap);
  metrics.each("troupe_device_allocations_total", "counter", "Allocations of tensors.", devices,
               &MemoryStatistics::allocations);
}

/// Adds the links to the other tasks of the cluster, and what came over them.
void add_links(MetricsText& metrics, const Runtime& runtime) {
  const Runtime::Impl& process = runtime.impl();
  const std::string self = process.tasks.front()->task;
  std::vector<std::pair<std::string, bool>> links;
  for (const auto& [job, tasks] : process.options.cluster->jobs)
    for (const auto& [task, endpoint] : tasks) {
      const std::string name = DeviceName{job, 0, task, "", DeviceName::unset}.text();
      if (name != self) links.emplace_back(label_of("task", name), runtime.link_status(name).ok());
    }
  metrics.each("troupe_link_up", "gauge", "Whether this process is linked to the task.", links,
               std::identity());
  const MemoryStatistics received = process.node->memory.statistics();
  metrics.gauge("troupe_received_memory_used_bytes", "Memory of tensors that came from other nodes.",
                received.in_use);
  metrics.gauge("troupe_received_memory_reserved_bytes",
                "Memory taken from the system for them, also what is kept for later.", received.reserved);
  if (!process.joined.load(std::memory_order_acquire)) return;
  const Traffic& traffic = process.membership->traffic();
  metrics.counter("troupe_runtime_sent_bytes_total",
                  "Bytes of the messages to other nodes, with tensors that were lent instead of sent.",
                  traffic.sent.load(std::memory_order_relaxed));
  metrics.counter("troupe_runtime_received_bytes_total",
                  "Bytes of the messages from other nodes, with tensors that were lent instead of sent.",
                  traffic.received.load(std::memory_order_relaxed));
  metrics.gauge("troupe_runtime_unsent_bytes",
                "Bytes of messages that waited to be sent to other nodes at the last heartbeats.",
                process.membership->unsent());
}

}  // namespace

std::string metrics_text(const Runtime& runtime) {
  const Runtime::Impl& process = runtime.impl();
  MetricsText metrics;
  metrics.gauge("troupe_runtime_healthy", "0 if this process must be replaced.", runtime.status().ok());
  metrics.gauge("troupe_runtime_threads", "Threads that compute.", process.pool->threads());
  add_actors(metrics, *process.node);
  add_tasks(metrics, process.tasks);
  if (process.options.cluster) add_links(metrics, runtime);
  return metrics.take();
}

}  // namespace troupe
