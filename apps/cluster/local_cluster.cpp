#include "apps/cluster/local_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "apps/cluster/node.h"
#include "messages/device_name.h"

namespace troupe::cluster {
namespace {

using namespace std::chrono_literals;

constexpr int listening_descriptor = 3;  // in the child

/// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Status system_failure(const std::string& what) { return unavailable(what + ": " + std::strerror(errno)); }

/// A socket that listens at a free port of this machine, and where that is.
Result<std::pair<Descriptor, std::string>> listen_somewhere() {
  Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (descriptor.number() < 0 || ::bind(descriptor.number(), generic, size) != 0 ||
      ::listen(descriptor.number(), SOMAXCONN) != 0 ||
      ::getsockname(descriptor.number(), generic, &size) != 0)
    return system_failure("no socket to listen at");
  return std::pair(std::move(descriptor), "127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
}

Result<std::array<Descriptor, 2>> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("no pipe");
  return std::array{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string random_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + "-";
  return name;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

struct Process {
  std::string job;
  int task = 0;
  std::atomic<pid_t> pid{0};
  Descriptor listening, output;
  std::string partial;  ///< a line that has not ended yet

  std::string name() const { return job + "/" + std::to_string(task); }
  std::string task_name() const { return DeviceName{job, 0, task, "", DeviceName::unset}.text(); }
};

}  // namespace

struct LocalCluster::Impl {
  explicit Impl(const LocalClusterOptions& given) : options(given) {}

  Status open_sockets();
  Status spawn(Process& process);
  Status spawn_with(Process& process, int input, int output);
  void watch();
  void read_output(Process& process);
  void reap();
  Status start_ended();
  void end();
  bool any_runs() const {
    return std::ranges::any_of(processes, [](const auto& process) { return process->pid != 0; });
  }

  const LocalClusterOptions options;
  ClusterSpec spec;
  std::vector<std::unique_ptr<Process>> processes;
  std::atomic<bool> ending{false}, done{false};
  std::thread watcher;
  std::mutex mutex;  ///< guards what follows
  std::string first_loss;
  std::condition_variable changed;
  bool restart_wanted = false;
  std::optional<Status> restarted;
};

Status LocalCluster::Impl::open_sockets() {
  spec.name = random_name();
  for (const auto& [job, count] : options.tasks)
    for (int task = 0; task < count; ++task) {
      TROUPE_ASSIGN(auto ear, listen_somewhere());
      spec.jobs[job][task] = ear.second;
      processes.push_back(std::make_unique<Process>());
      processes.back()->job = job;
      processes.back()->task = task;
      processes.back()->listening = std::move(ear.first);
    }
  return {};
}

Status LocalCluster::Impl::spawn(Process& process) {
  NodeOptions node;
  node.cluster = spec;
  node.job = process.job;
  node.task = process.task;
  node.devices = options.devices;
  const size_t cores =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  node.threads = std::max<size_t>(1, cores / processes.size());
  node.roots = options.roots;
  node.heartbeat = options.heartbeat;
  node.listen = "fd:" + std::to_string(listening_descriptor);
  node.owner = DeviceName{owner_job, 0, 0, "", DeviceName::unset}.text();

  TROUPE_ASSIGN(auto input, make_pipe());
  TROUPE_ASSIGN(auto output, make_pipe());
  TROUPE_RETURN_IF_FAILED(spawn_with(process, input[0].number(), output[1].number()));
  process.output = std::move(output[0]);
  const std::string text = to_text(node);
  if (::write(input[1].number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_failure(process.name() + " does not listen");
  return {};
}

Status LocalCluster::Impl::spawn_with(Process& process, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, process.listening.number(), listening_descriptor);
  // A group of its own: Ctrl-C is for this process, which then ends the others in order.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string program = options.program, command = "node", option = "--inherit";
  std::array<char*, 4> arguments = {program.data(), command.data(), option.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return unavailable(program + " cannot be started: " + std::strerror(error));
  process.pid = pid;
  return {};
}

void LocalCluster::Impl::watch() {
  while (!done || any_runs()) {
    std::vector<pollfd> descriptors;
    for (const auto& process : processes) descriptors.push_back({process->output.number(), POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), 50);
    for (const auto& process : processes) read_output(*process);
    reap();
    const std::lock_guard lock(mutex);
    if (!std::exchange(restart_wanted, false)) continue;
    restarted = start_ended();
    first_loss.clear();
    changed.notify_all();
  }
}

Status LocalCluster::Impl::start_ended() {
  for (const auto& process : processes)
    if (process->pid == 0) TROUPE_RETURN_IF_FAILED(spawn(*process));
  return {};
}

void LocalCluster::Impl::read_output(Process& process) {
  std::array<char, 4096> buffer;
  pollfd readable{process.output.number(), POLLIN, 0};
  while (readable.fd >= 0 && ::poll(&readable, 1, 0) == 1) {
    const ssize_t count = ::read(readable.fd, buffer.data(), buffer.size());
    if (count <= 0) {
      process.output = Descriptor();
      break;
    }
    process.partial.append(buffer.data(), static_cast<size_t>(count));
  }
  for (size_t end; (end = process.partial.find('\n')) != std::string::npos; process.partial.erase(0, end + 1))
    if (options.line) options.line("[" + process.name() + "] " + process.partial.substr(0, end));
}

void LocalCluster::Impl::reap() {
  for (const auto& process : processes) {
    int status = 0;
    const pid_t pid = process->pid;
    if (pid == 0 || ::waitpid(pid, &status, WNOHANG) != pid) continue;
    process->pid = 0;
    if (ending) continue;
    const std::string text =
        process->name() + " (process " + std::to_string(pid) + ") " + how_it_ended(status);
    if (options.line) options.line(text);
    const std::lock_guard lock(mutex);
    if (first_loss.empty()) first_loss = text;
    changed.notify_all();
  }
}

void LocalCluster::Impl::end() {
  ending = true;
  const auto signal_all = [this](int signal) {
    for (const auto& process : processes)
      if (const pid_t pid = process->pid; pid != 0) ::kill(pid, signal);
  };
  signal_all(SIGTERM);
  for (int i = 0; i < 100 && any_runs(); ++i) std::this_thread::sleep_for(10ms);
  signal_all(SIGKILL);
  done = true;
  if (watcher.joinable())
    watcher.join();
  else
    watch();
}

Result<std::unique_ptr<LocalCluster>> LocalCluster::start(const LocalClusterOptions& options) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(std::make_unique<Impl>(options)));
  Impl& impl = *cluster->impl_;
  TROUPE_RETURN_IF_FAILED(impl.open_sockets());
  for (const auto& process : impl.processes) TROUPE_RETURN_IF_FAILED(impl.spawn(*process));
  impl.watcher = std::thread([&impl] { impl.watch(); });
  return cluster;
}

LocalCluster::LocalCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalCluster::~LocalCluster() { impl_->end(); }

const ClusterSpec& LocalCluster::spec() const { return impl_->spec; }

std::string LocalCluster::first_loss(std::chrono::milliseconds within) const {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait_for(lock, within, [this] { return !impl_->first_loss.empty(); });
  return impl_->first_loss;
}

Status LocalCluster::restart(const std::vector<std::string>& silent) {
  // Who is silent because it has just ended is not killed: how it ended is worth knowing.
  first_loss(500ms);
  for (const auto& process : impl_->processes)
    if (const pid_t pid = process->pid; pid != 0 && std::ranges::count(silent, process->task_name()) != 0) {
      ::kill(pid, SIGKILL);
      while (process->pid == pid) std::this_thread::sleep_for(10ms);
    }
  std::unique_lock lock(impl_->mutex);
  impl_->restarted.reset();
  impl_->restart_wanted = true;
  impl_->changed.wait(lock, [this] { return impl_->restarted.has_value(); });
  return *impl_->restarted;
}

int LocalCluster::process(const std::string& job, int task) const {
  for (const auto& process : impl_->processes)
    if (process->job == job && process->task == task) return process->pid;
  return 0;
}

}  // namespace troupe::cluster
