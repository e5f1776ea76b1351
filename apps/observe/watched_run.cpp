#include "apps/observe/watched_run.h"

#include <sys/stat.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/config/document.h"
#include "apps/http/unix_client.h"
#include "apps/observe/run_server.h"
#include "apps/train/folder/run_folder.h"
#include "messages/env/real_disk.h"

namespace troupe::observe {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds patience(5);
constexpr std::chrono::minutes patience_for_actions(10);  // a checkpoint may take long

/// Returns the JSON object in a file; nothing if there is none.
std::optional<Json> object_in(const std::string& path) {
  std::ifstream file(path);
  if (!file) return {};
  Json json = Json::parse(file, nullptr, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

/// Returns when a file was written, such as "2026-11-26 12:40:03"; empty if there is none.
std::string time_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  tm local{};
  ::localtime_r(&info.st_mtime, &local);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local));
  return text;
}

/// Returns how the last training in a folder ended.
std::string how_it_ended(const std::string& folder) {
  const std::string file = folder + "/result.json";
  if (const auto result = object_in(file); result && result->contains("ending"))
    return "its last one ended at " + time_of(file) + ": " + (*result)["ending"].dump();
  const std::string last = time_of(folder + "/metrics.jsonl");
  return last.empty() ? "none has written anything there"
                      : "its last one ended without a result, not before " + last;
}

/// Asks a run that trains, as ask_run() does.
Result<Json> ask_within(std::chrono::seconds time, const std::string& folder, const std::string& method,
                        const std::string& target, const std::atomic<bool>* stop) {
  auto answer = http::ask(folder + '/' + socket_name, method, target, time, stop);
  if (!answer && answer.status().code() == Code::NotFound)
    return not_found("no training runs in " + folder + ": " + how_it_ended(folder));
  if (!answer && answer.status().code() == Code::DeadlineExceeded)
    return deadline_exceeded("the training in " + folder + " has not answered for " +
                             std::to_string(time.count()) +
                             " s: its process is stopped, or gets no time of a processor");
  if (!answer) return answer.status();
  Json json = Json::parse(answer->body, nullptr, false);
  if (!json.is_object()) return data_loss("the run in " + folder + " has answered something else than JSON");
  if (answer->status == 200) return json;
  const auto text = json.find("error");
  const std::string why = text != json.end() && text->is_string() ? text->get<std::string>() : answer->body;
  return answer->status == 501 ? unimplemented(why) : failed_precondition(folder + ": " + why);
}

}  // namespace

Result<std::string> find_run(const std::string& path) {
  std::error_code error;
  if (fs::exists(path + "/config.toml", error)) return path;
  int newest = 0;
  std::string found;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const int number = train::run_number(entry.path().filename().string());
    if (number <= newest) continue;
    newest = number;
    found = entry.path().string();
  }
  RealDisk disk;
  if (found.empty() && !fs::exists(path, error))
    return not_found("there is no run '" + path + "'" + config::nearest_beside(disk, path));
  if (found.empty()) return not_found(path + " is neither the folder of a run nor one that contains runs");
  return found;
}

Result<Json> ask_run(const std::string& folder, const std::string& method, const std::string& target,
                     const std::atomic<bool>* stop) {
  auto state = ask_within(patience, folder, "GET", "/status", stop);
  if (!state || (method == "GET" && target == "/status")) return state;
  return ask_within(patience_for_actions, folder, method, target, stop);
}

Result<Json> state_of_run(const std::string& folder) {
  auto state = ask_run(folder, "GET", "/status");
  if (state || state.status().code() != Code::NotFound) return state;
  const auto result = object_in(folder + "/result.json");
  if (!result) return state;
  Json ended = {{"phase", "ended"}};
  ended.update(*result);
  return ended;
}

}  // namespace troupe::observe
