#include "apps/observe/run_server.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "apps/observe/run_handler.h"
#include "messages/env/real_disk.h"
#include "messages/values/json_text.h"

namespace troupe::observe {
namespace {

constexpr size_t max_watchers = 64;
constexpr uint64_t max_body = 4096;

http::HttpOptions limited() {
  http::HttpOptions options;
  options.max_connections = max_watchers;
  options.max_body = max_body;
  return options;
}

/// Returns where to listen: `text` is ADDRESS:PORT, as the run file was checked to say; the address may be in brackets.
http::HttpOptions options_at(const std::string& text) {
  http::HttpOptions options = limited();
  const size_t colon = text.rfind(':');
  options.address = text.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']'))
    options.address = options.address.substr(1, options.address.size() - 2);
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), options.port);
  return options;
}

}  // namespace

Result<std::unique_ptr<RunServer>> RunServer::start(const config::Observe& keys, RunMonitor& monitor,
                                                    RunControl& control, const Line& line) {
  std::unique_ptr<RunServer> server(new RunServer(monitor, control));
  TROUPE_RETURN_IF_FAILED(server->serve(keys.page, true, keys.hosts, line));
  TROUPE_RETURN_IF_FAILED(server->serve(keys.metrics, false, keys.hosts, line));
  return server;
}

RunServer::~RunServer() {
  constexpr auto patience = std::chrono::milliseconds(300);  // of which watchers learn how the run has ended
  forget();
  for (const auto& server : servers_) server->stop(patience);
}

Status RunServer::serve(const std::vector<std::string>& addresses, bool page,
                        const std::vector<std::string>& hosts, const Line& line) {
  for (const std::string& address : addresses) {
    const http::HttpOptions options = options_at(address);
    auto started = http::HttpServer::start(
        options, [&] { return run_handler(monitor_, control_, {.page = page, .hosts = hosts}); });
    const std::string key = page ? "observe.page" : "observe.metrics";
    if (!started) return Status(started.status().code(), key + ": " + started.status().text());
    const std::string host =
        options.address.find(':') == std::string::npos ? options.address : '[' + options.address + ']';
    const std::string url =
        "http://" + host + ':' + std::to_string((*started)->port()) + (page ? "/" : "/metrics");
    urls_.emplace_back(page ? "page" : "metrics", url);
    if (line) line((page ? "the run can be watched at " : "counters for Prometheus are at ") + url);
    servers_.push_back(std::move(*started));
  }
  return {};
}

void RunServer::open(const std::string& folder, const Line& line) {
  if (folder == folder_) return;
  forget();
  folder_ = folder;
  if (const Status status = open_socket(folder); !status.ok() && line)
    line("the run cannot be watched in its folder: " + status.message());
}

Status RunServer::open_socket(const std::string& folder) {
  http::HttpOptions options = limited();
  options.socket = folder + '/' + socket_name;
  TROUPE_ASSIGN(auto server, http::HttpServer::start(options, [&] {
                  return run_handler(monitor_, control_, {.page = true, .control = true, .hosts = {}});
                }));
  servers_.push_back(std::move(server));
  if (urls_.empty()) return {};
  nlohmann::ordered_json json;
  for (const auto& [what, url] : urls_) json[what].push_back(url);
  RealDisk disk;
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, folder + '/' + addresses_name));
  TROUPE_RETURN_IF_FAILED(file.write(json_line(json) + '\n'));
  return file.commit();
}

/// Removes the file with the addresses, which are valid no longer.
void RunServer::forget() {
  if (folder_.empty()) return;
  RealDisk disk;
  (void)disk.remove(folder_ + '/' + addresses_name);
}

}  // namespace troupe::observe
