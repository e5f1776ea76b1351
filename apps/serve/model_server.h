// ModelServer: answers HTTP requests with models, as TensorFlow Serving's REST interface and the Open Inference Protocol ("KServe
// v2") have them, and says how it is. The handlers that it makes run on the threads of an HttpServer; models compute on threads of
// its own.
//
//   GET  /v1/models/NAME[/versions/N|/labels/LABEL]             which versions are served
//   GET  /v1/models/NAME[/versions/N|/labels/LABEL]/metadata    the signatures
//   POST /v1/models/NAME[/versions/N|/labels/LABEL]:predict     also :classify and :regress; see request_json.h
//   GET  /v1/models                                             all models
//   GET  /v2, /v2/health/live, /v2/health/ready                 the server
//   GET  /v2/models/NAME[/versions/N][/ready]                   the inputs and outputs of a model
//   POST /v2/models/NAME[/versions/N]/infer                     see infer_request.h
//   GET  /healthz, /metrics                                     "ok"; counters for Prometheus
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/http/http_server.h"
#include "apps/serve/served_model.h"
#include "apps/serve/serving_metrics.h"

namespace troupe::serve {

struct ModelServerOptions {
  std::vector<ServedModelOptions> models;  ///< their options of batching need no functions
  size_t threads = 1;                      ///< how many requests or batches are computed at the same time
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  ///< how long a request may wait for its model
};

class ModelServer {
 public:
  /// Loads the models. Fails as ServedModel::open() does, naming the model, and with InvalidArgument if two have the same name.
  static Result<std::unique_ptr<ModelServer>> open(Disk& disk, ModelServerOptions options);
  /// Waits until all requests have been answered.
  ~ModelServer();

  /// Returns a handler for one thread of an HttpServer. This object must outlive the calls of the handler.
  http::HttpHandler make_handler();
  /// Sets the function that returns the number of open connections, for the metrics.
  void count_connections(std::function<size_t()> count);
  /// Looks for new versions of all models. Blocks. Returns what could not be loaded. One thread at a time.
  std::vector<Status> refresh();
  const std::vector<std::unique_ptr<ServedModel>>& models() const;

 private:
  class Requests;
  struct State;
  explicit ModelServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace troupe::serve
