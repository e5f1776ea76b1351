// EarlierRun: the run that is resumed, as the config.toml of its folder describes it, and whether it can go on with what the run
// file has become since. A view of the run file, which must outlive it; reads a file. Any thread that may block.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/config/run_config.h"

namespace troupe::train {

class EarlierRun {
 public:
  /// If config.toml in `folder` cannot be read, nothing is known of the run, and nothing has changed.
  EarlierRun(Disk& disk, std::shared_ptr<const OpTable> ops, const config::RunConfig& config,
             std::string folder);

  /// Fails with InvalidArgument, naming the key, its place in the run file and both values, if the run must not go on: its
  /// optimizer is of another type, other samples would be held out, so that the run has trained on some of them, or its columns
  /// would be normalized, or their gaps filled, otherwise.
  Status check() const;
  /// Returns the failure to restore a checkpoint that does not fit, with the first key that differs if it explains the failure, and
  /// its place in the run file. Otherwise returns `failure` as it is.
  Status with_change(const Status& failure) const;

 private:
  /// A key with another value than it had. A value that is not given is empty.
  struct Change {
    std::string path;
    config::SourceLocation place;
    std::string now, before;
  };
  static std::optional<Change> first_change(const std::string& path, const config::Value& now,
                                            const config::Value& before);
  std::optional<Change> change_of(const std::string& table, const std::string& key) const;
  Status check_held_out() const;
  Status check_encoding() const;
  std::string text_of(const Change& change) const;
  /// Says what a run may begin with whose optimizer or model is another.
  std::string what_to_do() const;

  const config::RunConfig& config_;
  const std::string folder_, file_;
  std::optional<config::RunConfig> earlier_;
};

}  // namespace troupe::train
