#include "apps/cluster/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "messages/values/device_name.h"

namespace troupe::cluster {
namespace {

using namespace std::chrono_literals;

std::string task_name(const std::string& job, int task) {
  return DeviceName{job, 0, task, "", DeviceName::unset}.text();
}

Status system_failure(const std::string& what) { return unavailable(what + ": " + std::strerror(errno)); }

Result<std::array<Descriptor, 2>> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("a pipe could not be created");
  return std::array{Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Process {
  explicit Process(ProcessPlan given) : plan(std::move(given)) {}

  std::string name() const { return plan.node.job + "/" + std::to_string(plan.node.task); }
  /// Reads the available output without waiting, and passes on its complete lines.
  void read_output(const Processes::Line& line);
  /// Asks the process to end by closing its input. Only a local process also receives SIGTERM: a command that runs a node on
  /// another machine must not end before that node has ended.
  void ask_to_end();
  std::string how_it_ended(pid_t process, int status) const;

  const ProcessPlan plan;
  std::atomic<pid_t> pid{0};
  Descriptor input, output;
  std::string partial;    ///< the beginning of a line whose end has not been read
  std::string last_line;  ///< the last complete line
};

void Process::read_output(const Processes::Line& line) {
  std::array<char, 4096> buffer;
  pollfd readable{output.number(), POLLIN, 0};
  while (readable.fd >= 0 && ::poll(&readable, 1, 0) == 1) {
    const ssize_t count = ::read(readable.fd, buffer.data(), buffer.size());
    if (count <= 0) {
      output = Descriptor();
      break;
    }
    partial.append(buffer.data(), static_cast<size_t>(count));
  }
  for (size_t end; (end = partial.find('\n')) != std::string::npos; partial.erase(0, end + 1)) {
    last_line = partial.substr(0, end);
    while (last_line.ends_with('\r')) last_line.pop_back();  // ssh ends its own lines with "\r\n"
    if (line) line("[" + name() + "] " + last_line);
  }
}

void Process::ask_to_end() {
  input = Descriptor();
  if (const pid_t process = pid; process != 0 && plan.host.empty()) ::kill(process, SIGTERM);
}

std::string Process::how_it_ended(pid_t process, int status) const {
  const std::string who =
      name() + (plan.host.empty() ? "" : " on " + plan.host) + " (process " + std::to_string(process) + ")";
  if (WIFSIGNALED(status)) return who + " was killed by signal " + std::to_string(WTERMSIG(status));
  return who + " ended with code " + std::to_string(WEXITSTATUS(status)) +
         (last_line.empty() ? "" : ": " + last_line);
}

}  // namespace

std::string owner_task() { return task_name(owner_job, 0); }

struct Processes::Impl {
  explicit Impl(Line given) : line(std::move(given)) {}

  Status spawn(Process& process);
  static Status spawn_with(Process& process, int input, int output);
  void watch();
  void reap();
  void ended(Process& process, pid_t pid, int status);
  Status start_ended();
  void stop(Process& process);
  void end();
  bool any_runs() const {
    return std::ranges::any_of(processes, [](const auto& process) { return process->pid != 0; });
  }

  const Line line;
  std::vector<std::unique_ptr<Process>> processes;
  std::atomic<bool> ending{false}, done{false};
  std::thread watcher;
  std::mutex mutex;                                         ///< guards the members below
  std::vector<std::pair<std::string, std::string>> losses;  ///< tasks, and how their processes ended
  std::condition_variable changed;
  bool restart_wanted = false;
  std::optional<Status> restarted;
};

// Starting.

Status Processes::Impl::spawn(Process& process) {
  TROUPE_ASSIGN(std::string text, to_text(process.plan.node));
  text += '\n';
  TROUPE_ASSIGN(auto input, make_pipe());
  TROUPE_ASSIGN(auto output, make_pipe());
  TROUPE_RETURN_IF_FAILED(spawn_with(process, input[0].number(), output[1].number()));
  process.output = std::move(output[0]);
  process.partial.clear();
  process.last_line.clear();
  ::fcntl(input[1].number(), F_SETPIPE_SZ, std::max<size_t>(text.size(), 1 << 16));
  if (::write(input[1].number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_failure(process.name() + ": its options could not be written to its standard input");
  process.input = std::move(input[1]);
  return {};
}

Status Processes::Impl::spawn_with(Process& process, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  if (const int listening = process.plan.listening.number(); listening >= 0)
    posix_spawn_file_actions_adddup2(&actions, listening, listening_descriptor);
  // The child has its own process group, so that Ctrl-C reaches only this process, which then ends the children in order.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  auto command = process.plan.command;
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return unavailable(process.name() + ": " + command[0] + " cannot be started: " + std::strerror(error));
  process.pid = pid;
  return {};
}

Status Processes::Impl::start_ended() {
  for (const auto& process : processes)
    if (process->pid == 0) TROUPE_RETURN_IF_FAILED(spawn(*process));
  return {};
}

// Watching.

void Processes::Impl::watch() {
  while (!done || any_runs()) {
    std::vector<pollfd> descriptors;
    for (const auto& process : processes) descriptors.push_back({process->output.number(), POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), 50);
    for (const auto& process : processes) process->read_output(line);
    reap();
    const std::lock_guard lock(mutex);
    if (!std::exchange(restart_wanted, false)) continue;
    restarted = start_ended();
    losses.clear();
    changed.notify_all();
  }
}

void Processes::Impl::reap() {
  for (const auto& process : processes) {
    int status = 0;
    const pid_t pid = process->pid;
    if (pid != 0 && ::waitpid(pid, &status, WNOHANG) == pid) ended(*process, pid, status);
  }
}

void Processes::Impl::ended(Process& process, pid_t pid, int status) {
  process.read_output(line);
  process.pid = 0;
  if (ending) return;
  const std::string text = process.how_it_ended(pid, status);
  if (line) line(text);
  const std::lock_guard lock(mutex);
  losses.emplace_back(task_name(process.plan.node.job, process.plan.node.task), text);
  changed.notify_all();
}

// Ending.

void Processes::Impl::stop(Process& process) {
  const pid_t pid = process.pid;
  if (pid == 0) return;
  if (!process.plan.host.empty()) {
    process.ask_to_end();
    for (int i = 0; i < 100 && process.pid == pid; ++i) std::this_thread::sleep_for(10ms);
  }
  if (process.pid == pid) ::kill(pid, SIGKILL);
  while (process.pid == pid) std::this_thread::sleep_for(10ms);
}

void Processes::Impl::end() {
  ending = true;
  for (const auto& process : processes) process->ask_to_end();
  for (int i = 0; i < 100 && any_runs(); ++i) std::this_thread::sleep_for(10ms);
  for (const auto& process : processes)
    if (const pid_t pid = process->pid; pid != 0) ::kill(pid, SIGKILL);
  done = true;
  if (watcher.joinable())
    watcher.join();
  else
    watch();
}

Result<std::unique_ptr<Processes>> Processes::start(std::vector<ProcessPlan> plans, Line line) {
  std::unique_ptr<Processes> started(new Processes(std::make_unique<Impl>(std::move(line))));
  Impl& impl = *started->impl_;
  for (ProcessPlan& plan : plans) impl.processes.push_back(std::make_unique<Process>(std::move(plan)));
  TROUPE_RETURN_IF_FAILED(impl.start_ended());
  impl.watcher = std::thread([&impl] { impl.watch(); });
  return started;
}

Processes::Processes(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Processes::~Processes() { impl_->end(); }

bool Processes::has_loss(std::chrono::milliseconds within) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, within, [this] { return !impl_->losses.empty(); });
}

std::string Processes::loss_behind(const std::string& failure, std::chrono::milliseconds within) const {
  std::unique_lock lock(impl_->mutex);
  const auto is_named = [&](const auto& loss) { return failure.find(loss.first) != std::string::npos; };
  impl_->changed.wait_for(lock, within, [&] { return std::ranges::any_of(impl_->losses, is_named); });
  const auto named = std::ranges::find_if(impl_->losses, is_named);
  if (named != impl_->losses.end()) return named->second;
  return impl_->losses.empty() ? std::string() : impl_->losses.back().second;
}

Status Processes::restart(const std::vector<std::string>& silent) {
  // A silent process may have just ended. Waiting for that first means that it is reported with the way in which it ended.
  has_loss(500ms);
  for (const auto& process : impl_->processes)
    if (const auto& node = process->plan.node;
        std::ranges::count(silent, task_name(node.job, node.task)) != 0)
      impl_->stop(*process);
  std::unique_lock lock(impl_->mutex);
  impl_->restarted.reset();
  impl_->restart_wanted = true;
  impl_->changed.wait(lock, [this] { return impl_->restarted.has_value(); });
  return *impl_->restarted;
}

}  // namespace troupe::cluster
