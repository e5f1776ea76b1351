#include "apps/serve/versions.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "actors/checkpoint/checkpoint_files.h"
#include "apps/inference/model_source.h"

namespace troupe::serve {
namespace {

/// Returns the number that a text is; nothing if it is none.
std::optional<int64_t> number_of(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return {};
  return number;
}

/// Returns the checkpoints of a run. Their names end with their steps.
Result<std::vector<VersionPlace>> checkpoints_of(Disk& disk, const std::string& run) {
  const CheckpointFiles files(disk, run + "/checkpoints");
  TROUPE_ASSIGN(const auto names, files.names());
  std::vector<VersionPlace> versions;
  for (const std::string& name : names)
    if (const auto step = number_of(std::string_view(name).substr(name.rfind('-') + 1)))
      versions.push_back({*step, files.path(name)});
  if (versions.empty()) return not_found("the run " + run + " has no checkpoint yet in its folder");
  return versions;
}

}  // namespace

Result<std::vector<VersionPlace>> find_versions(Disk& disk, const std::string& path) {
  const auto has = [&](const std::string& folder, const std::string& file) {
    return disk.info(folder + '/' + file).ok();
  };
  if (has(path, inference::graph_file)) return std::vector{VersionPlace{1, path}};
  const std::string run_graph = std::string(inference::run_model) + '/' + inference::graph_file;
  if (has(path, run_graph)) return checkpoints_of(disk, path);
  TROUPE_ASSIGN(const auto entries, disk.list(path));
  std::vector<VersionPlace> versions;
  for (const Disk::Entry& entry : entries) {
    const auto number = number_of(entry.name);
    const std::string folder = path + '/' + entry.name;
    if (number &&
        (has(folder, inference::graph_file) || (has(folder, run_graph) && checkpoints_of(disk, folder).ok())))
      versions.push_back({*number, folder});
  }
  std::ranges::sort(versions, {}, &VersionPlace::number);
  if (versions.empty())
    return not_found(path + " is neither a run, nor a saved model, nor a folder with numbered ones");
  return versions;
}

}  // namespace troupe::serve
