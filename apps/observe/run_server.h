// RunServer: lets a run be watched over HTTP: by the page and by the counters at the addresses that its run file names, and by
// `troupe status`, `top` and `ctl` at a socket in the folder of the run. Owned by who starts the trainer, and used by that thread
// and the one of the trainer, one after the other; requests are answered on a thread of each server.
//
//   GET  /, /page.css, /page.js     the page
//   GET  /status, /events           the state of the run as JSON, once, and as Server-Sent Events once per second
//   GET  /graph.svg                 the model, if the program dot is installed
//   GET  /metrics                   counters for Prometheus
//   POST /ctl/ACTION                pause, resume, checkpoint, stop; only at the socket
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/config/observe_keys.h"
#include "apps/http/http_server.h"
#include "apps/observe/run_control.h"
#include "apps/observe/run_monitor.h"

namespace troupe::observe {

/// The name of the socket in the folder of a run, and of the file that lists the addresses.
inline constexpr const char* socket_name = "control";
inline constexpr const char* addresses_name = "addresses.json";

class RunServer {
 public:
  using Line = std::function<void(const std::string&)>;

  /// Begins to serve at the addresses of `keys`, each of which it prints. Monitor and control must outlive the server. Fails as
  /// HttpServer::start() does.
  static Result<std::unique_ptr<RunServer>> start(const config::Observe& keys, RunMonitor& monitor,
                                                  RunControl& control, const Line& line);
  ~RunServer();

  /// Opens the socket in the folder of the run, and writes the addresses there. A failure is printed: the run goes on without.
  void open(const std::string& folder, const Line& line);

 private:
  RunServer(RunMonitor& monitor, RunControl& control) : monitor_(monitor), control_(control) {}
  Status serve(const std::vector<std::string>& addresses, bool page, const std::vector<std::string>& hosts,
               const Line& line);
  Status open_socket(const std::string& folder);
  void forget();

  RunMonitor& monitor_;
  RunControl& control_;
  std::string folder_;
  std::vector<std::pair<std::string, std::string>> urls_;  ///< ("page" or "metrics", URL)
  std::vector<std::unique_ptr<http::HttpServer>> servers_;
};

}  // namespace troupe::observe
