#include "apps/train/folder/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/inference/model_source.h"
#include "messages/env/real_disk.h"
#include "messages/values/json_text.h"

namespace troupe::train {
namespace {

namespace fs = std::filesystem;

int highest_number(const fs::path& parent) {
  int highest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error))
    highest = std::max(highest, run_number(entry.path().filename().string()));
  return highest;
}

std::string three_digits(int number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

/// Writes a file anew, whole and durable or not at all. Fails with Unavailable.
Status write_whole(const std::string& path, std::string_view text) {
  RealDisk disk;
  const auto write = [&]() -> Status {
    TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
    TROUPE_RETURN_IF_FAILED(file.write(text));
    return file.commit();
  };
  const Status status = write();
  return status.ok() ? status : unavailable(status.text());
}

constexpr const char* metrics_file = "metrics.jsonl";

}  // namespace

int run_number(std::string_view name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? std::max(number, 0) : 0;
}

Result<RunFolder> RunFolder::open(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Failures other than EWOULDBLOCK are ignored, because some file systems have no locks. A lock ends with its process.
  if (folder.number() >= 0 && ::flock(folder.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return already_exists("another training writes in " + path);
  return RunFolder(path, std::move(folder));
}

std::string RunFolder::checkpoints(const std::string& store) const {
  const fs::path path = fs::absolute(path_).lexically_normal();
  if (store.empty()) return (path / "checkpoints").string();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  return store + '/' + folder.parent_path().filename().string() + '/' + folder.filename().string();
}

Result<RunFolder> RunFolder::create(const std::string& directory, const std::string& name, int after) {
  const fs::path parent = fs::path(directory) / name;
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return file_failure("create folder", parent.string(), error.value());
  // Two runs may start at the same time: the one that creates the folder gets the number.
  for (int number = std::max(highest_number(parent), after) + 1;; ++number) {
    const fs::path path = parent / three_digits(number);
    if (!fs::create_directory(path, error)) {
      if (error) return file_failure("create folder", path.string(), error.value());
      continue;
    }
    return open(path.string());
  }
}

Result<RunFolder> RunFolder::require(const std::string& directory, const std::string& name, int number) {
  const fs::path path = fs::path(directory) / name / three_digits(number);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return file_failure("create folder", path.string(), error.value());
  return open(path.string());
}

Result<RunFolder> RunFolder::newest(const std::string& directory, const std::string& name, int at_least) {
  const fs::path parent = fs::path(directory) / name;
  const int number = highest_number(parent);
  if (number == 0 || number < at_least) return not_found("there is no run under " + parent.string());
  return open((parent / three_digits(number)).string());
}

Status RunFolder::begin(const std::string& effective_config) {
  TROUPE_RETURN_IF_FAILED(replace("config.toml", effective_config));
  std::error_code ignored;
  fs::remove(path_ + "/result.json", ignored);
  return append_metrics();
}

Status RunFolder::append_metrics() {
  TROUPE_ASSIGN(metrics_, observe::RecordFile::open(path_ + '/' + metrics_file));
  return {};
}

Status RunFolder::replace(const std::string& name, const std::string& text) const {
  return write_whole(path_ + '/' + name, text);
}

Status RunFolder::keep_location(const config::Checkpoint& checkpoint) const {
  if (checkpoint.dir.empty()) {
    std::error_code ignored;
    fs::remove(path_ + '/' + inference::location_file, ignored);
    return {};
  }
  return replace(inference::location_file,
                 inference::text_of({checkpoints(checkpoint.dir), checkpoint.endpoint, checkpoint.region}));
}

Status RunFolder::keep(const Live& live) const {
  return replace("live", std::to_string(live.run) + ' ' + to_note(live.progress) + '\n');
}

std::optional<RunFolder::Live> RunFolder::kept() const {
  std::ifstream file(path_ + "/live");
  Live live;
  std::string note;
  file >> live.run >> std::ws;
  if (!std::getline(file, note)) return {};
  const auto progress = from_note(note);
  if (!progress) return {};
  live.progress = *progress;
  return live;
}

void RunFolder::forget() const {
  std::error_code ignored;
  fs::remove(path_ + "/live", ignored);
}

Status RunFolder::write_events(std::string_view graph_def, const observe::Hyperparameters& hyperparameters) {
  auto events = observe::EventFile::create(path_);
  if (!events) return events.status();
  events_.emplace(std::move(*events));
  TROUPE_RETURN_IF_FAILED(events_->add_graph(graph_def));
  return events_->add_hyperparameters(hyperparameters);
}

void RunFolder::log_summary(uint64_t step, std::string_view summary) {
  if (events_) note(events_->add_summary(step, summary));
}

void RunFolder::log_histograms(uint64_t step, std::span<const std::pair<std::string, Tensor>> values) {
  if (events_) note(events_->add_histograms(step, values));
}

void RunFolder::log(uint64_t step, const std::vector<std::pair<std::string, double>>& values) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  nlohmann::ordered_json line = {{"step", step}, {"time", static_cast<double>(now.count()) / 1000}};
  for (const auto& [key, value] : values) line[key] = value;
  const Status logged = metrics_->append(json_line(line) + '\n');
  const Status shown = events_ ? events_->add_scalars(step, values) : Status();
  if (logged.ok() && shown.ok()) has_failed_ = false;
  note(logged);
  note(shown);
}

void RunFolder::note(const Status& status) {
  if (status.ok() || std::exchange(has_failed_, true) || !report_) return;
  report_(status.text() + "; what the run measures is left out until there is room");
}

Status RunFolder::forget_metrics_after(uint64_t step) {
  const std::string name = metrics_file;
  std::ifstream file(path_ + '/' + name);
  std::string kept;
  bool forgets = false;
  for (std::string line; std::getline(file, line);) {
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    const auto at = parsed.is_object() ? parsed.find("step") : parsed.end();
    const bool is_later = at != parsed.end() && at->is_number_unsigned() && at->get<uint64_t>() > step;
    if (is_later)
      forgets = true;
    else
      kept += line + '\n';
  }
  if (!forgets) return {};
  TROUPE_RETURN_IF_FAILED(replace(name, kept));
  return append_metrics();
}

}  // namespace troupe::train
