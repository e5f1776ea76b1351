#include "apps/report/run_records.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/inference/model_source.h"
#include "apps/report/html.h"
#include "apps/train/folder/run_folder.h"

namespace troupe::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* config_file = "/config.toml";
constexpr uint64_t max_bytes = uint64_t{1} << 28;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns the text of a file; nothing if it does not exist.
Result<std::string> text_of(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, max_bytes);
  if (!text && text.status().code() == Code::NotFound) return std::string();
  return text;
}

/// JSON has null for numbers that it lacks.
double number_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void add_record(const Json& record, RunRecords& records) {
  const double step = number_of(record.value("step", Json()));
  for (const auto& [key, value] : record.items()) {
    if (key == "step" || key == "epoch" || key == "time" || !(value.is_number() || value.is_null())) continue;
    const size_t slash = key.find('/');
    const std::string series_name = slash == std::string::npos ? key : key.substr(0, slash);
    auto& curve = records.curves[slash == std::string::npos ? key : key.substr(slash + 1)];
    auto series = std::ranges::find(curve, series_name, &Series::name);
    if (series == curve.end()) series = curve.insert(curve.end(), {series_name, {}});
    series->points.push_back({step, number_of(value)});
  }
}

void read_metrics(const std::string& text, RunRecords& records) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_object())
      add_record(record, records);
    else if (!line.empty())
      ++records.damaged_lines;
  }
  // A resumed run may repeat steps.
  for (auto& [name, curve] : records.curves)
    for (Series& series : curve) std::ranges::stable_sort(series.points, {}, &Point::x);
}

void read_result(const std::string& text, RunRecords& records) {
  const Json result = Json::parse(text, nullptr, false);
  if (!result.is_object()) return;
  for (const auto& [key, value] : result.items())
    records.result.emplace_back(key, value.is_string()   ? value.get<std::string>()
                                     : value.is_number() ? short_number(value.get<double>())
                                     : value.is_null()   ? short_number(number_of(value))
                                                         : value.dump());
}

bool is_run(Disk& disk, const std::string& folder) { return disk.info(folder + config_file).ok(); }

}  // namespace

Result<std::string> find_run(Disk& disk, const std::string& given) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (is_run(disk, path)) return path;
  if (inference::kind_of(disk, path) == inference::ModelKind::Checkpoint) return folder_of(folder_of(path));
  const auto entries = disk.list(path);
  int newest = 0;
  std::string found;
  for (const Disk::Entry& entry : entries ? *entries : std::vector<Disk::Entry>()) {
    const int number = train::run_number(entry.name);
    const std::string folder = path + '/' + entry.name;
    if (number <= newest || !is_run(disk, folder)) continue;
    newest = number;
    found = folder;
  }
  if (newest != 0) return found;
  return not_found(path + " is neither the folder of a run or of a checkpoint, nor one that contains runs");
}

Result<RunRecords> read_records(Disk& disk, const std::string& folder) {
  RunRecords records{
      .folder = folder, .name = last_part(folder_of(folder)), .config = {}, .curves = {}, .result = {}};
  TROUPE_ASSIGN(records.config, text_of(disk, folder + config_file));
  TROUPE_ASSIGN(const std::string metrics, text_of(disk, folder + "/metrics.jsonl"));
  TROUPE_ASSIGN(const std::string result, text_of(disk, folder + "/result.json"));
  read_metrics(metrics, records);
  read_result(result, records);
  return records;
}

}  // namespace troupe::report
