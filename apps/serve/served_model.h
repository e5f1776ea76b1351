// ServedModel: a model by name, in one or several versions. It follows the folder of its versions: a new version is loaded beside
// the old one, and takes its place when it is ready, so that no request is lost; a version is dropped when the last of its requests
// has been answered. Any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/runs/table_objects.h"
#include "apps/serve/batcher.h"
#include "apps/serve/versions.h"
#include "messages/env/disk.h"

namespace troupe::serve {

/// A version that is served.
struct Version {
  Version(int64_t its_number, const Model& loaded, std::vector<std::string> names,
          std::shared_ptr<const runs::TableObjects> trained_from, Batcher::Options options)
      : number(its_number), model(loaded), classes(std::move(names)), table(std::move(trained_from)),
        batcher(std::make_shared<Batcher>(loaded, std::move(options))) {}

  const int64_t number;
  const Model model;
  const std::vector<std::string> classes;  ///< the names of the classes, if the run file has them
  const std::shared_ptr<const runs::TableObjects> table;  ///< the one from which it was trained; null: none
  const std::shared_ptr<Batcher> batcher;
};

struct ServedModelOptions {
  std::string name, path;
  bool all_versions = false;              ///< otherwise the newest one, and those with labels
  std::map<std::string, int64_t> labels;  ///< names of versions: "stable"
  LoadOptions load;
  Batcher::Options batching;
};

/// Which version a request wants.
struct Wanted {
  std::optional<int64_t> number;
  std::string label;  ///< empty: none; the newest version is wanted if there is no number either
};

class ServedModel {
 public:
  /// Loads the versions. Fails as find_versions() and load() do if not even one can be loaded.
  static Result<std::unique_ptr<ServedModel>> open(Disk& disk, ServedModelOptions options);

  const std::string& name() const { return options_.name; }
  /// Fails with NotFound if the version is not served.
  Result<std::shared_ptr<Version>> find(const Wanted& wanted) const;
  /// Returns the numbers of the versions that are served, ascending.
  std::vector<int64_t> versions() const;
  /// Returns the versions that should be served, but could not be loaded, and why.
  std::map<int64_t, Status> failures() const;
  /// Loads new versions and drops those that are no longer there, as the folder says now. If not even one that should be served can
  /// be loaded, the newest one stays. Blocks. Returns what could not be loaded, and which labels stand for no version, each once: a
  /// version is tried again when its files are others or, without a word, after a minute. One thread at a time.
  std::vector<Status> refresh();

 private:
  struct Failed {
    std::string files;  ///< as files_in() says
    std::chrono::steady_clock::time_point when = {};
    Status why;
  };
  ServedModel(Disk& disk, ServedModelOptions options) : disk_(disk), options_(std::move(options)) {}
  std::vector<VersionPlace> wanted(const std::vector<VersionPlace>& found) const;
  Status add_version(const VersionPlace& place);
  Result<std::shared_ptr<Version>> load_version(const VersionPlace& place) const;
  std::vector<Status> check_labels(const std::vector<VersionPlace>& found);
  void drop_others(const std::vector<VersionPlace>& places);

  Disk& disk_;
  const ServedModelOptions options_;
  mutable std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<Version>> versions_;  ///< by number
  std::map<int64_t, Failed> failed_;  ///< by number, the versions that could not be loaded
  // Of refresh():
  std::set<std::string> without_version_;  ///< labels
  std::string not_found_;                  ///< why no version was found at the last call; empty: some were
};

}  // namespace troupe::serve
