#include "apps/golden/verify.h"

#include <cstdio>
#include <memory>

#include "actors/runtime.h"
#include "apps/cluster/local_cluster.h"
#include "apps/golden/devices.h"
#include "apps/golden/run_case.h"
#include "kernels/core/kernel.h"

namespace troupe::golden {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::seconds step_timeout{60};

/// The process or processes that run the cases.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Runs the case. Returns how steps failed.
  virtual std::vector<std::string> run(Case& golden) = 0;
};

/// Runs cases in this process: in one shared runtime if the graph uses only the default device, otherwise in a runtime of its own.
class InProcess final : public Backend {
 public:
  explicit InProcess(size_t memory) : memory_(memory), default_runtime_({.memory = memory}) {}

  std::vector<std::string> run(Case& golden) override {
    const auto tasks = tasks_of(golden.graph);
    if (!tasks) return {tasks.status().message()};
    if (tasks->size() == 1 && tasks->at(0).more_cpus.empty()) return run_on(default_runtime_, golden);
    Runtime runtime({.memory = memory_, .tasks = *tasks});
    return run_on(runtime, golden);
  }

 private:
  static std::vector<std::string> run_on(Runtime& runtime, Case& golden) {
    return run_case(
        golden, [&](const Graph& graph) { return runtime.session(graph); }, step_timeout);
  }

  const size_t memory_;
  Runtime default_runtime_;
};

/// Runs cases on several processes.
class OverProcesses final : public Backend {
 public:
  OverProcesses(const ClusterSpec& spec, std::unique_ptr<cluster::Processes> nodes)
      : nodes_(std::move(nodes)),
        runtime_({.threads = 1, .tasks = {{.job = cluster::owner_job, .gpus = 0}}, .cluster = spec}) {
    for (const auto& [job, tasks] : spec.jobs)
      for (const auto& [task, endpoint] : tasks)
        tasks_.push_back(DeviceName{job, 0, task, "", DeviceName::unset}.text());
  }

  std::vector<std::string> run(Case& golden) override {
    return run_case(
        golden, [&](const Graph& graph) { return runtime_.session(assigned(graph), {.share_state = false}); },
        step_timeout);
  }

 private:
  /// Returns a copy of the graph whose nodes are assigned to the tasks. It is kept until the next case.
  const Graph& assigned(const Graph& graph) {
    graph_ = std::make_unique<Graph>(graph);
    assign_tasks(*graph_, tasks_);
    return *graph_;
  }

  const std::unique_ptr<cluster::Processes> nodes_;
  Runtime runtime_;
  std::vector<std::string> tasks_;
  std::unique_ptr<Graph> graph_;
};

Result<std::unique_ptr<Backend>> make_backend(const VerifyOptions& options) {
  if (options.tasks.empty()) return std::unique_ptr<Backend>(std::make_unique<InProcess>(options.memory));
  cluster::NodeOptions common;
  common.owner = cluster::owner_task();
  common.memory = options.memory;
  TROUPE_ASSIGN(auto plan, cluster::plan_local(options.program, options.tasks, common));
  TROUPE_ASSIGN(auto nodes, cluster::Processes::start(std::move(plan.processes), [](const std::string& line) {
                  std::fprintf(stderr, "%s\n", line.c_str());
                }));
  return std::unique_ptr<Backend>(std::make_unique<OverProcesses>(plan.spec, std::move(nodes)));
}

}  // namespace

Status verify(Disk& disk, const VerifyOptions& options, const std::function<void(const Verdict&)>& report) {
  std::vector<std::string> folders;
  for (const auto& path : options.paths) {
    TROUPE_ASSIGN(const auto found, find_cases(disk, path));
    if (found.empty()) return not_found("there is no golden case in " + path);
    folders.insert(folders.end(), found.begin(), found.end());
  }
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  TROUPE_ASSIGN(const auto backend, make_backend(options));
  for (const auto& folder : folders) {
    const auto begin = SteadyClock::now();
    auto golden = load_case(disk, folder, library->ops);
    Verdict verdict{folder, {}, {}, 0};
    if (golden)
      verdict.failures = backend->run(*golden);
    else if (known_to_lack(disk, folder, golden.status()))
      verdict.lacks = golden.status().text();
    else
      verdict.failures = {golden.status().message()};
    verdict.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    report(verdict);
  }
  return {};
}

}  // namespace troupe::golden
