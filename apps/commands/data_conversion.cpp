#include "apps/commands/data_conversion.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "apps/commands/command_support.h"
#include "apps/data/convert/convert.h"
#include "apps/data/file_patterns.h"
#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Prints a line now and then, on a terminal over the one before.
class ConversionProgress {
 public:
  explicit ConversionProgress(bool talks)
      : talks_(talks), terminal_(isatty(STDERR_FILENO) != 0), interval_(terminal_ ? 200 : 5000) {}
  ~ConversionProgress() {
    if (is_shown_ && terminal_) std::fprintf(stderr, "\r\033[K");
  }

  void show(int64_t done, int64_t all) {
    if (!talks_ || SteadyClock::now() < next_) return;
    next_ = SteadyClock::now() + interval_;
    is_shown_ = true;
    std::fprintf(stderr, "%s%lld of %lld samples, %lld %%%s", terminal_ ? "\r\033[K" : "",
                 static_cast<long long>(done), static_cast<long long>(all),
                 static_cast<long long>(100 * done / all), terminal_ ? "" : "\n");
  }

 private:
  bool talks_, terminal_, is_shown_ = false;
  std::chrono::milliseconds interval_;
  SteadyClock::time_point next_ = SteadyClock::now() + interval_;
};

bool is_run_file(const std::string& path) { return path.ends_with(".toml"); }

/// Returns the keys for a file of samples, as a run file would have them. The model, which such a file must have, is never built,
/// and uses no column, since those of the samples may have any name and type.
Result<config::RunConfig> config_of(const RunFile& source) {
  const std::string format = data::format_of_name(source.file);
  if (format.empty() || format == "jsonl")
    return invalid_argument(source.file +
                            ": the ending names no format; allowed: .toml for a run file, .csv, .idx, " +
                            ".npy, .npz and .tfrecord, each also with .gz or .zst, except .npz");
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  config::Table data = {{"format", {}, {format, {}}},
                        {"train", {}, {std::filesystem::absolute(source.file).string(), {}}},
                        {"batch", {}, {int64_t{1}, {}}}};
  config::Table root;
  root.push_back({"data", {}, {std::move(data), {}}});
  const std::string text = config::to_toml(root) +
                           "\n[model.graph]\nno_model = \"zeros([1])\"\n"
                           "[train]\nloss = \"sum(no_model)\"\nmax_steps = 1\n"
                           "optimizer = { type = \"sgd\", lr = 1.0 }\n";
  return config::parse_run_config(text, source.file, ".", source.set, library->ops);
}

/// What is converted: the samples, and the files that they are read from.
struct Source {
  std::unique_ptr<data::SampleStream> samples;
  std::vector<std::string> files;
};

Result<Source> open_source(Disk& disk, const RunFile& source) {
  if (is_run_file(source.file)) {
    TROUPE_ASSIGN(auto config, load(source));
    runs::leave_cache(config);
    TROUPE_ASSIGN(const auto data, train::load_data(disk, config));
    TROUPE_ASSIGN(auto samples, data::samples_of(data.train));
    TROUPE_ASSIGN(auto options, data::with_matching_files(disk, config.data));
    return Source{std::move(samples), std::move(options.train)};
  }
  TROUPE_ASSIGN(const auto config, config_of(source));
  TROUPE_ASSIGN(auto options, data::with_matching_files(disk, config.data));
  TROUPE_ASSIGN(auto samples, data::samples_of(disk, options));
  return Source{std::move(samples), std::move(options.train)};
}

Result<std::vector<std::string>> convert_files(const ConversionArguments& arguments) {
  RealDisk disk;
  TROUPE_ASSIGN(const Source source, open_source(disk, arguments.source));
  TROUPE_ASSIGN(auto files, data::files_to_write(arguments.to, source.samples->columns()));
  for (const std::string& file : files) {
    TROUPE_RETURN_IF_FAILED(check_reads_no(file, source.files));
    if (!arguments.force) TROUPE_RETURN_IF_FAILED(check_free(disk, file));
  }
  const auto& stop = stop_on_signals();
  ConversionProgress progress(!arguments.source.json);
  TROUPE_RETURN_IF_FAILED(data::convert(disk, *source.samples, arguments.to, [&](int64_t done, int64_t all) {
    progress.show(done, all);
    return !stop.load();
  }));
  return files;
}

}  // namespace

int convert(const ConversionArguments& arguments) {
  const auto files = convert_files(arguments);
  if (!files && stop_signal() != 0)
    return failed(files.status(), arguments.source.json, exit_code_of(stop_signal()));
  if (files.status().code() == Code::AlreadyExists)
    return failed(files.status(), arguments.source.json, bad_usage);
  if (!files) return failed_to_load(files.status(), arguments.source.json);
  print_files(*files, arguments.source.json);
  return 0;
}

}  // namespace troupe::commands
