#include "actors/runtime.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include "actors/engine/end_actor.h"
#include "actors/net/node_network.h"
#include "actors/net/transport/certificate_files.h"
#include "actors/runtime_impl.h"
#include "actors/services/all_services.h"
#include "actors/step/remote_session.h"
#include "actors/step/session_impl.h"
#include "actors/step/session_server.h"
#include "actors/task.h"
#include "devices/cpu_device.h"
#include "devices/gpu_queue.h"
#include "devices/gpus.h"
#include "messages/env/random_id.h"
#include "messages/wire/limits.h"

namespace troupe {
namespace {

/// Returns how many tasks of this process use the GPU.
int users_of_gpu(const RuntimeOptions& options, int gpu) {
  return static_cast<int>(std::ranges::count_if(options.tasks, [&](const TaskOptions& task) {
    const auto gpus = gpus_of(task);
    return gpus && gpu >= task.first_gpu && gpu < task.first_gpu + *gpus;
  }));
}

std::vector<std::shared_ptr<Device>> make_devices(const RuntimeOptions& runtime, const TaskOptions& options,
                                                  Pool& pool, const std::shared_ptr<MemoryBudget>& memory,
                                                  const std::shared_ptr<SharedArenas>& arenas) {
  std::vector<std::shared_ptr<Device>> devices;
  for (const int id : cpus_of(options)) {
    const DeviceName name{options.job, 0, options.task, "CPU", id};
    devices.push_back(std::make_shared<CpuDevice>(
        name, random_id(), pool, Arena::Options{.cap = memory->cap(), .shared = arenas}, memory));
  }
  const int gpus = value_or_throw(gpus_of(options));
  for (int id = 0; id < gpus; ++id) {
    std::vector<int> peers;
    for (int other = 0; other < gpus; ++other)
      if (other != id) peers.push_back(options.first_gpu + other);
    const DeviceName name{options.job, 0, options.task, "GPU", id};
    const int index = options.first_gpu + id;
    devices.push_back(
        value_or_throw(make_gpu(name, random_id(), pool,
                                {.index = index,
                                 .memory_cap = runtime.gpu_memory,
                                 .sharers = std::max(1, runtime.gpu_sharers) * users_of_gpu(runtime, index),
                                 .peers = std::move(peers),
                                 .shared = arenas,
                                 .tf32 = runtime.tf32})));
  }
  return devices;
}

std::string text_of_task(const TaskOptions& task) {
  return "task " + std::to_string(task.task) + " of job '" + task.job + "'";
}

Status check_task(const TaskOptions& task) {
  const auto wrong = [&](const std::string& what) { return invalid_argument(text_of_task(task) + what); };
  if (task.job.empty()) return wrong(" (RuntimeOptions::tasks): the job needs a name");
  if (task.task < 0) return wrong(" (RuntimeOptions::tasks): the number of a task must not be negative");
  if (task.cpus < 1) return wrong(" needs at least one CPU device, not " + std::to_string(task.cpus));
  for (const int id : task.more_cpus) {
    const std::string name = "CPU:" + std::to_string(id);
    if (id < 0) return wrong(" lists " + name + "; the number of a device must not be negative");
    if (id < task.cpus || std::ranges::count(task.more_cpus, id) != 1)
      return wrong(" lists " + name + " twice");
  }
  if (task.gpus < TaskOptions::all_gpus)
    return wrong(" wants " + std::to_string(task.gpus) + " GPUs; " + std::to_string(TaskOptions::all_gpus) +
                 " stands for all, and other numbers must not be negative");
  if (task.first_gpu < 0)
    return wrong(" begins with GPU " + std::to_string(task.first_gpu) + "; it must not be negative");
  return {};
}

Status check_devices(const RuntimeOptions& options) {
  size_t count = 0;
  std::set<std::pair<std::string, int>> names;
  for (const TaskOptions& task : options.tasks) {
    if (!names.emplace(task.job, task.task).second)
      return invalid_argument("RuntimeOptions::tasks has " + text_of_task(task) + " twice");
    TROUPE_RETURN_IF_FAILED(check_task(task));
    count += static_cast<size_t>(task.cpus) + task.more_cpus.size();
  }
  if (count <= static_cast<size_t>(std::max(options.devices, 0))) return {};
  return resource_exhausted("the tasks have " + std::to_string(count) +
                            " devices; RuntimeOptions::devices allows " + std::to_string(options.devices));
}

Status check_memory(size_t bytes) {
  constexpr size_t min_bytes = 8 * Arena::granule;  // a device takes at least one granule
  if (bytes == 0 || bytes >= min_bytes) return {};
  return invalid_argument("a memory cap of " + std::to_string(bytes) +
                          " bytes (RuntimeOptions::memory, --memory): it must be at least " +
                          std::to_string(min_bytes) + " bytes");
}

Status check_heartbeat(std::chrono::nanoseconds heartbeat) {
  if (heartbeat.count() >= limits::min_heartbeat && heartbeat.count() <= limits::max_heartbeat) return {};
  return invalid_argument("a heartbeat of " + std::to_string(heartbeat / std::chrono::milliseconds(1)) +
                          " ms: allowed are 20 ms to 60 s");
}

Status check_services(const std::vector<ServiceDef>& services) {
  std::set<std::string_view> names;
  for (const ServiceDef& service : all_services()) names.insert(service.name);
  for (const ServiceDef& service : services)
    if (!names.insert(service.name).second)
      return already_exists("RuntimeOptions::extensions: there is a service '" + std::string(service.name) +
                            "' already");
  return {};
}

/// Returns the store of files whose paths begin with "s3://".
Result<std::unique_ptr<ObjectDisk>> objects_of(const RuntimeOptions& options) {
  if (options.s3) return make_s3_disk(*options.s3);
  return failed_precondition("this process has no store of objects (RuntimeOptions::s3)");
}

}  // namespace

std::vector<int> cpus_of(const TaskOptions& task) {
  std::vector<int> ids(static_cast<size_t>(std::max(task.cpus, 0)));
  std::iota(ids.begin(), ids.end(), 0);
  ids.insert(ids.end(), task.more_cpus.begin(), task.more_cpus.end());
  return ids;
}

Result<int> gpus_of(const TaskOptions& task) {
  if (task.gpus == 0) return 0;
  const auto count = count_gpus();
  const int left = count ? std::max(0, *count - task.first_gpu) : 0;
  if (task.gpus == TaskOptions::all_gpus) return left;
  if (!count) return count.status();
  if (task.gpus > 0 && task.gpus <= left) return task.gpus;
  return invalid_argument("a task wants " + std::to_string(task.gpus) + " GPUs; this process can use " +
                          std::to_string(left));
}

Runtime::Impl::Impl(const RuntimeOptions& given)
    : options(given), files(FileRoots(options.roots)), disk(files, objects_of(options), options.roots) {
  const size_t threads =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  pool = value_or_throw(ThreadPool::make(threads));
  loop = std::make_unique<ControlThread>(*pool);
  if (options.tasks.empty()) throw Error(invalid_argument("a runtime needs at least one task"));
  throw_if_failed(check_devices(options));
  throw_if_failed(check_memory(options.memory));
  throw_if_failed(check_services(options.extensions.services));
  std::shared_ptr<SharedArenas> arenas;  // null if no tensor can be lent
  if (options.cluster) {
    if (shares_memory(options.cluster->transport)) arenas = std::make_shared<SharedArenas>();
    throw_if_failed(check_heartbeat(options.heartbeat));
    if (options.tasks.size() != 1)
      throw Error(
          invalid_argument("a process of a cluster has exactly one task, but RuntimeOptions::tasks has " +
                           std::to_string(options.tasks.size())));
    if (options.cluster->tls) throw_if_failed(check_valid(*options.cluster->tls));
    network = value_or_throw(make_network(*loop, *options.cluster, arenas));
  }
  const auto memory =
      std::make_shared<MemoryBudget>(options.memory != 0 ? options.memory : default_memory_cap());
  own_node = std::make_unique<ActorNode>(Env{*loop, disk, network.get(), random_id()}, *loop, *pool,
                                         make_op_library(options.extensions.ops), memory);
  node = own_node.get();
  throw_if_failed(node->library->status);
  node->heartbeat = options.heartbeat.count();
  for (const TaskOptions& task : options.tasks) {
    const DeviceName name{task.job, 0, task.task, "", DeviceName::unset};
    throw_if_failed(DeviceName::parse(name.text()).status());
    tasks.push_back(make_task(
        *node, name.text(), random_id(), make_devices(options, task, *pool, memory, arenas),
        [this](const Status& status) { fail(status); }, options.extensions.services));
  }
  make_services();
  if (options.cluster && !options.join_later) join();
}

Runtime::Impl::Impl(const RuntimeOptions& given, const SimulatedParts& parts)
    : options(given), disk(files, objects_of(options), options.roots), process(&parts.process),
      node(&parts.node), tasks{parts.task} {
  make_services();
  join();
}

void Runtime::Impl::make_services() {
  session_server =
      spawn_session_server(*node, tasks[0], [this](auto wanted) { return other_workers(wanted); });
  services = make_node_services(*this);
}

Status Runtime::Impl::check_named(std::span<const std::string> wanted) const {
  std::vector<std::string> here;
  for (const auto& task : tasks) here.push_back(task->task);
  return named_tasks(wanted, here).status();
}

Result<std::vector<Address>> Runtime::Impl::other_workers(std::span<const std::string> wanted) const {
  std::vector<Address> workers;
  for (size_t i = 1; i < tasks.size(); ++i) workers.push_back(tasks[i]->address("worker"));
  if (!options.cluster) {
    TROUPE_RETURN_IF_FAILED(check_named(wanted));
    return workers;
  }
  if (!joined.load(std::memory_order_acquire))
    return unavailable("this process has not joined its cluster yet");
  return membership->linked_workers(wanted);
}

void Runtime::Impl::join() {
  MembershipOptions member;
  member.cluster = *options.cluster;
  member.job = options.tasks[0].job;
  member.task = options.tasks[0].task;
  member.incarnation = tasks[0]->incarnation;
  member.listen = options.listen;
  member.heartbeat = options.heartbeat.count();
  member.displaced = [this](const Status& status) { fail(status); };
  membership = value_or_throw(Membership::join(*node, member));
  joined.store(true, std::memory_order_release);
  node->scheduler.wake();
}

Runtime::Impl::~Impl() {
  disk.stop();
  if (session_server) end_actor(*node, session_server);
  membership.reset();
  if (network) run_on_control(*loop, [this] { network.reset(); });
}

void Runtime::Impl::fail(const Status& status) {
  {
    const std::lock_guard lock(mutex);
    if (failure.ok()) failure = status;
  }
  node->scheduler.wake();
}

Result<std::vector<WorkerDevices>> Runtime::Impl::workers(std::chrono::nanoseconds timeout,
                                                          std::span<const std::string> wanted) const {
  std::vector<WorkerDevices> result;
  for (const auto& task : tasks) result.push_back(worker_of(*task));
  if (!options.cluster) {
    TROUPE_RETURN_IF_FAILED(check_named(wanted));
    return result;
  }
  // A peer may be linked to this process, and make it open a session, before join() has returned.
  const int64_t deadline = deadline_after(node->env.clock, timeout);
  if (!node->scheduler.wait([this] { return joined.load(std::memory_order_acquire); }, deadline))
    return deadline_exceeded("this process did not join its cluster in time");
  TROUPE_ASSIGN(auto others, membership->others(deadline, wanted));
  std::ranges::move(others, std::back_inserter(result));
  return result;
}

Status Runtime::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->failure;
}

Result<std::string> Runtime::Impl::exchange_name_of_gpu() const {
  for (const auto& site : tasks.front()->sites)
    if (GpuQueue* const queue = site->device->context().queue()) return queue->exchange_name();
  return not_found("the task has no GPU");
}

Status Runtime::link_status(const std::string& task) const {
  return impl_->joined ? impl_->membership->link_status(task)
                       : unavailable("this process has not joined a cluster");
}

std::string Runtime::transport_of(const std::string& task) const {
  return impl_->joined ? impl_->membership->transport_of(task) : std::string();
}

NodeServices& Runtime::services() const { return *impl_->services; }

Runtime::Runtime(const RuntimeOptions& options) : impl_(std::make_shared<Impl>(options)) {}
Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runtime::~Runtime() = default;

void Runtime::join() {
  if (!impl_->options.cluster)
    throw Error(failed_precondition("the runtime has no cluster to join (RuntimeOptions::cluster)"));
  if (impl_->joined) throw Error(failed_precondition("the runtime has joined its cluster before"));
  impl_->join();
}

std::shared_ptr<const OpTable> Runtime::ops() const { return impl_->node->library->ops; }

Session Runtime::Impl::session(const Graph& graph, const SessionOptions& wanted,
                               std::shared_ptr<void> owner) const {
  auto workers_of_session = value_or_throw(workers(wanted.start_timeout, wanted.tasks));
  SessionOptions own = wanted;
  if (!own.share_state) own.share_state = options.cluster.has_value();
  return open_session(*node, *tasks.front(), process->random_id(), graph, std::move(workers_of_session), own,
                      std::move(owner));
}

Session Runtime::session(const Graph& graph, const SessionOptions& options) {
  return impl_->session(graph, options, impl_);
}

std::unique_ptr<ClientNode> Runtime::Impl::connect(const MasterOptions& master, int64_t deadline) const {
  throw_if_failed(check_heartbeat(options.heartbeat));
  const ClientHost host{*loop, *pool, node->env.disk, node->library, options.heartbeat.count()};
  constexpr uint64_t most_clients = std::numeric_limits<int>::max();
  const auto number = static_cast<int>(1 + random_id() % most_clients);
  return value_or_throw(ClientNode::connect(host, master.cluster, master.endpoint, number, deadline));
}

size_t Runtime::reset(const std::vector<std::string>& containers, std::chrono::nanoseconds timeout) {
  return value_or_throw(reset_containers(*impl_->node, impl_->tasks[0]->address(session_server_role),
                                         containers, deadline_after(*impl_->loop, timeout)));
}

size_t Runtime::reset_cluster(const MasterOptions& master, const std::vector<std::string>& containers,
                              std::chrono::nanoseconds timeout) {
  const int64_t deadline = deadline_after(*impl_->loop, timeout);
  const auto client = impl_->connect(master, deadline);
  return value_or_throw(
      reset_containers(client->actors(), client->member_address(session_server_role), containers, deadline));
}

Session Runtime::connect(const Graph& graph, const MasterOptions& master, const SessionOptions& options) {
  const int64_t deadline = deadline_after(*impl_->loop, options.start_timeout);
  const std::shared_ptr<ClientNode> client = impl_->connect(master, deadline);
  return open_remote_session(client, master.endpoint, graph, options, deadline, impl_);
}

std::vector<std::string> Runtime::devices() const {
  std::vector<std::string> names;
  for (const auto& task : impl_->tasks)
    for (const auto& site : task->sites) names.push_back(site->device->name().text());
  return names;
}

}  // namespace troupe
