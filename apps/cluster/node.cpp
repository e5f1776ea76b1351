#include "apps/cluster/node.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "actors/net/refusal.h"
#include "actors/runtime_impl.h"
#include "apps/cluster/neighbours.h"
#include "apps/services/node_service.h"
#include "devices/memory_budget.h"
#include "messages/values/json_text.h"
#include "messages/wire/limits.h"

namespace troupe::cluster {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto first_link_timeout = 60s;

/// Observes whether the owner of this node is linked, or may still become linked.
class Ownership {
 public:
  Ownership(const Runtime& runtime, const NodeOptions& options)
      : runtime_(runtime), owner_(options.owner), timeout_(limits::silent_heartbeats * options.heartbeat) {}

  /// Fails with Unavailable if the owner has been unlinked for longer than the timeout, or with Aborted if it has said before that
  /// it ends.
  Status check() {
    if (owner_.empty()) return {};
    const Presence owner = runtime_.impl().membership->presence_of(owner_);
    // A link may open and close again between two calls.
    if (owner.linked || std::exchange(links_, owner.links) != owner.links) last_linked_ = SteadyClock::now();
    if (SteadyClock::now() - last_linked_ <= (owner.links > 0 ? timeout_ : first_link_timeout)) return {};
    if (owner.ended) return aborted(owner_ + ", the owner of this node, has ended");
    return unavailable(
        owner_ + ", the owner of this node, " +
        (owner.links > 0 ? "was killed or can no longer be reached: " : "cannot be reached: ") +
        runtime_.link_status(owner_).text());
  }

 private:
  const Runtime& runtime_;
  const std::string owner_;
  const SteadyClock::duration timeout_;
  SteadyClock::time_point last_linked_ = SteadyClock::now();
  uint64_t links_ = 0;  ///< how many had been opened at the last call
};

/// Reports events of the links to the other tasks of the cluster.
class Links {
 public:
  Links(const Runtime& runtime, const NodeOptions& options, const NodeEvent& event)
      : runtime_(runtime), event_(event) {
    const auto self = DeviceName{options.job, 0, options.task, "", DeviceName::unset}.text();
    for (const auto& [job, tasks] : options.cluster.jobs)
      for (const auto& [task, endpoint] : tasks)
        if (const auto name = DeviceName{job, 0, task, "", DeviceName::unset}.text(); name != self)
          linked_[name] = false;
  }

  void report_changes() {
    if (!event_) return;
    for (auto& [task, linked] : linked_) {
      const Status status = runtime_.link_status(task);
      report_refusal(task, status);
      report_transport(task);
      if (std::exchange(linked, status.ok()) == status.ok()) continue;
      event_(status.ok() ? "linked" : "lost",
             status.ok() ? task + " is linked" : task + " is lost: " + status.text());
    }
  }

 private:
  /// Reports each reason once.
  void report_refusal(const std::string& task, const Status& status) {
    std::string& reported = refused_[task];
    if (status.ok()) reported.clear();
    if (!is_permanent(status.code()) || reported == status.text()) return;
    reported = status.text();
    event_("refused", status.text());
  }

  /// Reports why no memory is shared with a task of this host.
  void report_transport(const std::string& task) {
    const std::string transport = runtime_.transport_of(task);
    if (transport.empty() || std::exchange(transports_[task], transport) == transport) return;
    if (transport.starts_with("TCP:"))
      event_("unshared", task + " shares no memory with this node, but uses " + transport);
  }

  const Runtime& runtime_;
  const NodeEvent& event_;
  std::map<std::string, std::string> transports_;  ///< the last one, by task
  std::map<std::string, bool> linked_;
  std::map<std::string, std::string> refused_;  ///< the last reason that was reported, by task
};

/// Returns the GPUs that a node uses. Fails if its machine has not as many as it is to use.
Result<GpuShare> gpus_of(const NodeOptions& options) {
  if (options.neighbours.gpu_users == 0) return GpuShare{};
  TROUPE_ASSIGN(const int gpus, troupe::gpus_of(TaskOptions{.gpus = options.gpus}));
  return share_of_gpus(gpus, options.neighbours);
}

}  // namespace

Status run_node(const NodeOptions& options, const std::function<bool()>& stopped,
                const NodeEvent& event) try {
  RuntimeOptions runtime_options;
  const size_t processes = options.neighbours.processes;
  runtime_options.threads = options.threads != 0 ? options.threads : share_of(0, processes);
  runtime_options.memory = options.memory != 0 ? options.memory : default_memory_cap(processes);
  TROUPE_ASSIGN(const GpuShare gpus, gpus_of(options));
  runtime_options.tasks = {{.job = options.job,
                            .task = options.task,
                            .cpus = options.devices,
                            .gpus = gpus.count,
                            .first_gpu = gpus.first}};
  runtime_options.gpu_sharers = gpus.sharers;
  runtime_options.tf32 = options.tf32;
  runtime_options.cluster = options.cluster;
  runtime_options.listen = options.listen;
  runtime_options.roots = options.roots;
  runtime_options.s3 = options.s3;
  runtime_options.heartbeat = options.heartbeat;
  runtime_options.join_later = true;
  Runtime runtime(runtime_options);
  const auto services = services::start_node_services(runtime);
  runtime.join();
  Ownership ownership(runtime, options);
  Links links(runtime, options, event);
  while (!stopped()) {
    links.report_changes();
    TROUPE_RETURN_IF_FAILED(runtime.status());
    TROUPE_RETURN_IF_FAILED(ownership.check());
    std::this_thread::sleep_for(100ms);
  }
  return {};
} catch (const Error& error) {
  return error.status();
}

std::string event_json(const std::string& task, const std::string& event, const std::string& text) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return json_line(
      {{"time", static_cast<double>(now / 1ms) / 1000}, {"task", task}, {"event", event}, {"text", text}});
}

Result<std::string> to_text(const NodeOptions& options) {
  nlohmann::json jobs;
  for (const auto& [job, tasks] : options.cluster.jobs)
    for (const auto& [task, endpoint] : tasks) jobs[job][std::to_string(task)] = endpoint;
  nlohmann::json tls;
  if (const auto& files = options.cluster.tls) tls = {files->certificate, files->key, files->authority};
  nlohmann::json s3;
  if (const auto& store = options.s3)
    s3 = {store->endpoint, store->region, store->key_id, store->secret_key, store->session_token};
  return strict_json_line({{"cluster", options.cluster.name},
                           {"jobs", jobs},
                           {"tls", tls},
                           {"plain", options.cluster.plain_anywhere},
                           {"transport", static_cast<int>(options.cluster.transport)},
                           {"job", options.job},
                           {"task", options.task},
                           {"devices", options.devices},
                           {"threads", options.threads},
                           {"memory", options.memory},
                           {"gpus", options.gpus},
                           {"tf32", options.tf32},
                           {"neighbours", options.neighbours.processes},
                           {"gpu_users", options.neighbours.gpu_users},
                           {"gpu_rank", options.neighbours.gpu_rank},
                           {"listen", options.listen},
                           {"roots", options.roots},
                           {"s3", s3},
                           {"heartbeat", options.heartbeat.count()},
                           {"owner", options.owner}});
}

Result<NodeOptions> read_node_options(const std::string& text) try {
  const auto json = nlohmann::json::parse(text);
  NodeOptions options;
  options.cluster.name = json.at("cluster");
  for (const auto& [job, tasks] : json.at("jobs").items())
    for (const auto& [task, endpoint] : tasks.items()) options.cluster.jobs[job][std::stoi(task)] = endpoint;
  if (const auto& tls = json.at("tls"); !tls.is_null())
    options.cluster.tls = {tls.at(0).get<std::string>(), tls.at(1).get<std::string>(),
                           tls.at(2).get<std::string>()};
  options.cluster.plain_anywhere = json.at("plain");
  const int transport = json.at("transport");
  if (transport < 0 || transport > 3)
    return invalid_argument("transport is " + std::to_string(transport) + "; it must be in [0, 3]");
  options.cluster.transport = static_cast<Transport>(transport);
  options.job = json.at("job");
  options.task = json.at("task");
  options.devices = json.at("devices");
  options.threads = json.at("threads");
  options.memory = json.at("memory");
  options.gpus = json.at("gpus");
  options.tf32 = json.at("tf32");
  options.neighbours = {json.at("neighbours"), json.at("gpu_users"), json.at("gpu_rank")};
  options.listen = json.at("listen");
  options.roots = json.at("roots");
  if (const auto& s3 = json.at("s3"); !s3.is_null()) {
    S3Options store;
    std::string* const members[] = {&store.endpoint, &store.region, &store.key_id, &store.secret_key,
                                    &store.session_token};
    for (size_t i = 0; i < std::size(members); ++i) *members[i] = s3.at(i).get<std::string>();
    options.s3 = std::move(store);
  }
  options.heartbeat = std::chrono::nanoseconds(json.at("heartbeat").get<int64_t>());
  options.owner = json.at("owner");
  return options;
} catch (const std::exception& error) {
  return invalid_argument(std::string("the options of this node on the standard input cannot be read: ") +
                          error.what());
}

}  // namespace troupe::cluster
