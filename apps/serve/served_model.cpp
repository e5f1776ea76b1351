#include "apps/serve/served_model.h"

#include <fmt/format.h>

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
  const auto info = disk.info(model->options_.path);
  if (!info && info.status().code() != Code::NotFound) return info.status();  // of a store of objects, say
  if (!info)
    return not_found("there is no run or model '" + model->options_.path + "'" +
                     config::nearest_beside(disk, model->options_.path));
  const std::vector<Status> failures = model->refresh();
  if (model->versions().empty() || !model->without_version_.empty()) return failures.front();
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

std::map<int64_t, Status> ServedModel::failures() const {
  const std::lock_guard guard(mutex_);
  std::map<int64_t, Status> failures;
  for (const auto& [number, failed] : failed_) failures.emplace(number, failed.why);
  return failures;
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

/// Returns whether requests need not name a signature. A model without any signature says why when one is asked for.
bool has_default(const Model& model) {
  const auto& all = model.signatures();
  return all.empty() || std::ranges::find(all, Model::predict, &ModelSignature::name) != all.end();
}

Result<std::shared_ptr<Version>> ServedModel::load_version(const VersionPlace& place) const {
  TROUPE_ASSIGN(const auto run, runs::open_trained_run(disk_, place.path, {}, options_.load));
  try {
    if (has_default(run.model))
      run.model.prepare();
    else
      for (const ModelSignature& signature : run.model.signatures()) run.model.prepare(signature.name);
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
  std::unique_lock lock(mutex_);
  const auto failed = failed_.find(place.number);
  const bool is_known = failed != failed_.end() && failed->second.files == files;
  if (is_known && now - failed->second.when < retry) return {};
  lock.unlock();
  auto version = load_version(place);
  lock.lock();
  if (!version) {
    Status why(version.status().code(), place.path + ": " + version.status().message());
    failed_.insert_or_assign(place.number, Failed{std::move(files), now, why});
    if (is_known) return {};
    return {why.code(), "version " + std::to_string(place.number) + " was not loaded: " + why.text()};
  }
  failed_.erase(place.number);
  versions_.emplace(place.number, std::move(*version));
  return {};
}

/// Returns a failure for each label that stands for a version which is not there, once.
std::vector<Status> ServedModel::check_labels(const std::vector<VersionPlace>& found) {
  std::string known;
  for (const VersionPlace& place : found)
    known.append(known.empty() ? "" : ", ").append(std::to_string(place.number));
  std::vector<Status> failures;
  for (const auto& [label, number] : options_.labels) {
    if (std::ranges::find(found, number, &VersionPlace::number) != found.end())
      without_version_.erase(label);
    else if (without_version_.insert(label).second)
      failures.push_back(
          not_found(fmt::format("the label '{}' stands for version {}, which is not in {}; there are {}",
                                label, number, options_.path, known)));
  }
  return failures;
}

/// Drops the versions that are not at these places. The newest one stays if none of these is loaded.
void ServedModel::drop_others(const std::vector<VersionPlace>& places) {
  const auto is_there = [&](int64_t number) {
    return std::ranges::find(places, number, &VersionPlace::number) != places.end();
  };
  std::vector<std::shared_ptr<Version>> dropped;  // destroyed after the lock is released
  const std::lock_guard guard(mutex_);
  std::erase_if(failed_, [&](const auto& one) { return !is_there(one.first); });
  const bool has_newest = versions_.contains(places.back().number);
  const auto newest = versions_.empty() ? 0 : versions_.rbegin()->first;
  for (auto at = versions_.begin(); at != versions_.end();) {
    const bool stays = is_there(at->first) || (!has_newest && at->first == newest);
    if (!stays) dropped.push_back(std::move(at->second));
    at = stays ? std::next(at) : versions_.erase(at);
  }
}

std::vector<Status> ServedModel::refresh() {
  const auto found = find_versions(disk_, options_.path);
  const std::string before = std::exchange(not_found_, found ? "" : found.status().text());
  if (!found && before == not_found_) return {};
  if (!found) return {found.status()};
  std::vector<Status> failures = check_labels(*found);
  const std::vector<VersionPlace> places = wanted(*found);
  for (const VersionPlace& place : places) {
    const auto known = versions();
    if (std::ranges::find(known, place.number) != known.end()) continue;
    if (Status status = add_version(place); !status.ok()) failures.push_back(std::move(status));
  }
  drop_others(places);
  return failures;
}

}  // namespace troupe::serve
