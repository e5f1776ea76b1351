#include "apps/draw/draw_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "apps/cluster/planned_tasks.h"
#include "apps/config/run_config.h"
#include "apps/draw/dot.h"
#include "apps/golden/devices.h"
#include "apps/interop/read_graph.h"
#include "apps/train/train_data.h"
#include "apps/train/training_graph.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::draw {
namespace {

/// The graph to draw, the signature of its step, and the tasks on which it would run.
struct Subject {
  Graph graph;
  RunSignature step;
  std::vector<TaskOptions> tasks;
};

Result<Subject> read_run(Disk& disk, const DrawArguments& arguments, const OpLibrary& library) {
  TROUPE_ASSIGN(auto config, config::load_run_config(disk, arguments.file, {}, library.ops));
  auto tasks = arguments.tasks;
  if (tasks.empty())
    for (const auto& [job, count] : config.cluster.tasks) tasks[job] = static_cast<int>(count);
  config.cluster.tasks = {tasks.begin(), tasks.end()};
  auto loaded = train::load_data(disk, config);
  if (!loaded && loaded.status().code() == Code::NotFound) return data_loss(loaded.status().text());
  TROUPE_ASSIGN(const auto data, std::move(loaded));
  Subject subject{Graph(library.ops), {}, tasks_of(tasks, static_cast<int>(config.devices()))};
  TROUPE_ASSIGN(const auto training,
                train::build_training_graph(config, data.train->columns(), subject.graph));
  subject.step = train::training_step(training);
  return subject;
}

Result<Subject> read_graph(Disk& disk, const DrawArguments& arguments, const OpLibrary& library) {
  TROUPE_ASSIGN(auto meta, interop::read_graph_file(disk, arguments.file, library.ops));
  Graph graph = std::move(meta.graph);
  auto tasks = tasks_of(arguments.tasks, 1);
  if (tasks.empty()) {
    TROUPE_ASSIGN(tasks, golden::tasks_of(graph));
  }
  TROUPE_ASSIGN(auto step, resolve_signature(graph, arguments.feeds, arguments.fetches, arguments.targets));
  return Subject{std::move(graph), std::move(step), std::move(tasks)};
}

Status write(Disk& disk, const std::string& path, const std::string& text) {
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  return file.commit();
}

/// Writes all drawings, or none if the disk refuses one.
Result<std::vector<std::string>> write_all(Disk& disk,
                                           const std::vector<std::pair<std::string, std::string>>& drawings) {
  std::vector<std::string> files;
  for (const auto& [path, text] : drawings) {
    if (Status status = write(disk, path, text); !status.ok()) {
      for (const auto& file : files) (void)disk.remove(file);
      return status;
    }
    files.push_back(path);
  }
  return files;
}

}  // namespace

Result<std::vector<std::string>> draw(const DrawArguments& arguments) {
  RealDisk disk;
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  TROUPE_ASSIGN(Subject subject, arguments.is_run() ? read_run(disk, arguments, *library)
                                                    : read_graph(disk, arguments, *library));
  if (subject.tasks.empty()) subject.tasks = {{}};
  std::vector<std::pair<std::string, std::string>> drawings = {{arguments.out + ".dot", dot(subject.graph)}};
  if (!subject.step.fetches.empty() || !subject.step.targets.empty()) {
    TROUPE_ASSIGN(const auto placed,
                  place_step(subject.graph, subject.step, *library, workers_of(subject.tasks), {}));
    drawings.emplace_back(arguments.out + ".placed.dot", dot(placed));
  }
  return write_all(disk, drawings);
}

std::vector<std::string> make_pictures(const std::vector<std::string>& files) {
  std::vector<std::string> pictures;
  for (const auto& file : files) {
    std::string program = "dot", format = "-Tsvg", option = "-o",
                picture = file.substr(0, file.size() - std::string_view("dot").size()) + "svg", input = file;
    std::array<char*, 6> words = {program.data(), format.data(), option.data(),
                                  picture.data(), input.data(),  nullptr};
    pid_t pid = 0;
    int status = 0;
    if (::posix_spawnp(&pid, "dot", nullptr, nullptr, words.data(), environ) != 0 ||
        ::waitpid(pid, &status, 0) != pid || status != 0)
      break;
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace troupe::draw
