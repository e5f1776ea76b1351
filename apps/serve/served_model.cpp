#include "apps/serve/served_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/runs/trained_run.h"

namespace troupe::serve {
namespace {

/// Returns the names and sizes of the files in a folder and those in it, by which a change of them is noticed.
std::string files_in(Disk& disk, const std::string& folder, int levels = 4) {
  const auto entries = disk.list(folder);
  if (!entries) return entries.status().text();
  std::string text;
  for (const Disk::Entry& entry : *entries) {
    const std::string path = folder + '/' + entry.name;
    const auto info = disk.info(path);
    text += path + ' ' + std::to_string(info ? info->bytes : 0) + '\n';
    if (entry.is_folder && levels > 1) text += files_in(disk, path, levels - 1);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<ServedModel>> ServedModel::open(Disk& disk, ServedModelOptions options) {
  std::unique_ptr<ServedModel> model(new ServedModel(disk, std::move(options)));
  if (!disk.info(model->options_.path))
    return not_found("there is no run or model '" + model->options_.path + "'" +
                     config::nearest_beside(disk, model->options_.path));
  const Status status = model->refresh();
  if (model->versions().empty()) return status;
  return model;
}

Result<std::shared_ptr<Version>> ServedModel::find(const Wanted& wanted) const {
  std::optional<int64_t> number = wanted.number;
  if (!wanted.label.empty()) {
    const auto label = options_.labels.find(wanted.label);
    if (label == options_.labels.end())
      return not_found("model '" + name() + "' has no version with the label '" + wanted.label + "'");
    number = label->second;
  }
  const std::lock_guard guard(mutex_);
  if (!number) return versions_.rbegin()->second;
  const auto found = versions_.find(*number);
  if (found == versions_.end())
    return not_found("model '" + name() + "' is not served in version " + std::to_string(*number));
  return found->second;
}

std::vector<int64_t> ServedModel::versions() const {
  const std::lock_guard guard(mutex_);
  std::vector<int64_t> numbers;
  for (const auto& [number, version] : versions_) numbers.push_back(number);
  return numbers;
}

/// Returns the versions to serve, of those that there are.
std::vector<VersionPlace> ServedModel::wanted(const std::vector<VersionPlace>& found) const {
  if (options_.all_versions) return found;
  std::vector<VersionPlace> result;
  for (const VersionPlace& place : found) {
    const bool has_label =
        std::ranges::any_of(options_.labels, [&](const auto& label) { return label.second == place.number; });
    if (has_label || place == found.back()) result.push_back(place);
  }
  return result;
}

Result<std::shared_ptr<Version>> ServedModel::load_version(const VersionPlace& place) const {
  TROUPE_ASSIGN(const auto run, runs::open_trained_run(disk_, place.path, {}, {.threads = options_.threads}));
  try {
    run.model.prepare();
  } catch (const Error& error) {
    return error.status();
  }
  return std::make_shared<Version>(place.number, run.model, run.classes(),
                                   runs::TableObjects::make(disk_, run), options_.batching);
}

/// Loads a version. Returns why it could not be loaded, unless that is known.
Status ServedModel::add_version(const VersionPlace& place) {
  constexpr auto retry = std::chrono::minutes(1);  // files may change without another size
  const auto now = std::chrono::steady_clock::now();
  std::string files = files_in(disk_, place.path);
  Failed& failed = failed_[place.number];
  const bool is_known = failed.files == files;
  if (is_known && now - failed.when < retry) return {};
  auto version = load_version(place);
  if (!version) {
    failed = {std::move(files), now};
    return is_known ? Status()
                    : Status(version.status().code(), place.path + ": " + version.status().message());
  }
  failed_.erase(place.number);
  const std::lock_guard guard(mutex_);
  versions_.emplace(place.number, std::move(*version));
  return {};
}

Status ServedModel::refresh() {
  const auto found = find_versions(disk_, options_.path);
  const std::string before = std::exchange(not_found_, found ? "" : found.status().text());
  if (!found) return before == not_found_ ? Status() : found.status();
  const std::vector<VersionPlace> places = wanted(*found);
  const auto is_there = [&](int64_t number) {
    return std::ranges::find(places, number, &VersionPlace::number) != places.end();
  };
  std::erase_if(failed_, [&](const auto& one) { return !is_there(one.first); });
  Status failure;
  for (const VersionPlace& place : places) {
    const auto known = versions();
    if (std::ranges::find(known, place.number) != known.end()) continue;
    if (const Status status = add_version(place); !status.ok()) failure = status;
  }
  std::vector<std::shared_ptr<Version>> dropped;  // destroyed after the lock is released
  const std::lock_guard guard(mutex_);
  const auto newest = versions_.empty() ? 0 : versions_.rbegin()->first;
  for (auto at = versions_.begin(); at != versions_.end();) {
    const bool stays = at->first == newest || is_there(at->first);
    if (!stays) dropped.push_back(std::move(at->second));
    at = stays ? std::next(at) : versions_.erase(at);
  }
  return failure;
}

}  // namespace troupe::serve
