#include "apps/serve/model_server.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/serve/answer_json.h"
#include "apps/serve/infer_answer.h"
#include "apps/serve/infer_metadata.h"
#include "apps/serve/metadata_json.h"
#include "apps/serve/route.h"
#include "apps/text/prometheus.h"
#include "messages/values/json_text.h"

namespace troupe::serve {
namespace {

using http::HttpAnswer;
using http::HttpReply;
using http::HttpRequest;
using Json = nlohmann::ordered_json;

unsigned http_status(Code code) {
  switch (code) {
    case Code::Ok: return 200;
    case Code::InvalidArgument:
    case Code::OutOfRange: return 400;
    case Code::NotFound: return 404;
    case Code::ResourceExhausted: return 503;
    case Code::DeadlineExceeded: return 504;
    case Code::Unimplemented: return 501;
    default: return 500;
  }
}

std::string names_of(const std::vector<std::unique_ptr<ServedModel>>& models) {
  std::string list;
  for (const auto& model : models) list += (list.empty() ? "" : ", ") + model->name();
  return list;
}

HttpAnswer failure(const Status& status) {
  return http::error_answer(http_status(status.code()), status.message());
}

/// Returns the answer that `make` makes of outputs, or why there is none.
template <class Make>
HttpAnswer answer(const Batcher::Outputs& outputs, const Make& make) try {
  if (!outputs) return failure(outputs.status());
  Result<HttpAnswer> made = make(*outputs);
  return made ? std::move(*made) : failure(made.status());
} catch (const std::exception& error) {
  return http::error_answer(500, error.what());
}

/// Returns the answer of TensorFlow Serving's interface. `rows` and `instances` are those of the request.
Result<HttpAnswer> predicted(Asked what, const Version& version, const std::string& signature, int64_t rows,
                             std::optional<int64_t> instances, std::span<const Tensor> outputs) {
  const ModelSignature& made = version.model.signature(signature);
  HttpAnswer result;
  if (what == Asked::Predict)
    TROUPE_RETURN_IF_FAILED(append_predictions(made, outputs, instances, result.body));
  else if (what == Asked::Classify)
    TROUPE_RETURN_IF_FAILED(append_classes(made, outputs, rows, version.classes, result.body));
  else
    TROUPE_RETURN_IF_FAILED(append_numbers(made, outputs, rows, result.body));
  return result;
}

/// Returns the answer of the Open Inference Protocol.
Result<HttpAnswer> inferred(const std::string& model, const Version& version, const std::string& signature,
                            const WantedAnswer& wanted, std::span<const Tensor> outputs) {
  TROUPE_ASSIGN(InferAnswer made,
                infer_answer(model, version.number, version.model.signature(signature), outputs, wanted));
  HttpAnswer result;
  result.body = std::move(made.body);
  if (made.json_length) {
    result.content_type = "application/octet-stream";
    result.headers.emplace_back(http::json_length_header, std::to_string(*made.json_length));
  }
  return result;
}

}  // namespace

struct ModelServer::State {
  explicit State(size_t threads) : compute(threads) {}

  std::chrono::nanoseconds timeout{};
  std::vector<std::unique_ptr<ServedModel>> models;
  ServingMetrics metrics;
  std::function<size_t()> connections;
  boost::asio::thread_pool compute;  ///< destroyed first, which waits for its tasks
};

/// Answers the requests that come to one thread of an HttpServer.
class ModelServer::Requests {
 public:
  explicit Requests(State& server) : server_(server) {}

  void handle(const HttpRequest& request, const HttpReply& reply) {
    const std::string path = http::path_of(request.target);
    if (auto answer = page(path))
      return reply(request.method == "GET" ? std::move(*answer) : http::wrong_method(request.method, "GET"));
    const auto route = parse_route(path);
    if (!route)
      return reply(
          http::error_answer(404, "there is nothing at " + path + "; known: " + std::string(known_routes) +
                                      ", /v1/models, /v2, /v2/health/live, /v2/health/ready, /healthz and "
                                      "/metrics"));
    const ServedModel* const model = find(route->model);
    handle(*route, model, request,
           [this, reply, name = model ? model->name() : std::string(),
            since = Batcher::Clock::now()](HttpAnswer answer) {
             server_.metrics.request(name, answer.status,
                                     std::chrono::duration<double>(Batcher::Clock::now() - since).count());
             reply(std::move(answer));
           });
  }

 private:
  /// Returns the page at a path that is about no model in particular; nothing if there is none.
  std::optional<HttpAnswer> page(const std::string& path) const {
    if (path == "/healthz") return HttpAnswer{200, "ok\n", "text/plain"};
    if (path == "/metrics") return HttpAnswer{200, metrics(), prometheus_type};
    if (path == "/v1/models") return HttpAnswer{200, all_models()};
    if (path == "/v2" || path == "/v2/") return HttpAnswer{200, server_description()};
    if (path == "/v2/health/live") return HttpAnswer{200, json_line({{"live", true}})};
    // All models are loaded before the server listens, and a version of each stays.
    if (path == "/v2/health/ready") return HttpAnswer{200, json_line({{"ready", true}})};
    return {};
  }
  /// Returns the model of this name, or null.
  const ServedModel* find(const std::string& name) const {
    const auto found = std::ranges::find(server_.models, name, [](const auto& one) { return one->name(); });
    return found == server_.models.end() ? nullptr : found->get();
  }

  void handle(const Route& route, const ServedModel* model, const HttpRequest& request,
              const HttpReply& reply) {
    if (!model)
      return reply(http::error_answer(
          404, "there is no model '" + route.model + "'; served: " + names_of(server_.models)));
    if (const std::string method = route.computes() ? "POST" : "GET"; request.method != method)
      return reply(http::wrong_method(request.method, method));
    const auto version = model->find(route.version);
    if (!version) return reply(failure(version.status()));
    if (route.what == Asked::Inference) return infer(model->name(), *version, request, reply);
    if (route.computes()) return predict(route.what, *version, request.body, reply);
    reply({200, description(route, *model, **version)});
  }

  static std::string description(const Route& route, const ServedModel& model, const Version& version) {
    if (route.what == Asked::Description) return model_description(model, version);
    if (route.what == Asked::Readiness) return readiness(model);
    if (route.what == Asked::Metadata) return metadata_json(model.name(), version);
    const bool is_one = route.version.number || !route.version.label.empty();
    return is_one ? state_json(version) : states_json(model);
  }

  void predict(Asked what, const std::shared_ptr<Version>& version, const std::string& body,
               const HttpReply& reply) {
    auto request = parser_.parse(body, version->model, version->table.get());
    if (!request) return reply(failure(request.status()));
    auto done = [what, version, reply, signature = request->signature, rows = request->rows,
                 instances = request->instances()](const Batcher::Outputs& outputs) {
      reply(answer(outputs, [&](const std::vector<Tensor>& tensors) {
        return predicted(what, *version, signature, rows, instances, tensors);
      }));
    };
    compute(*version, std::move(*request), std::move(done));
  }

  void infer(const std::string& model, const std::shared_ptr<Version>& version, const HttpRequest& request,
             const HttpReply& reply) {
    auto parsed =
        infer_parser_.parse(request.body, request.json_length, version->model, version->table.get());
    if (!parsed) return reply(failure(parsed.status()));
    auto done = [model, version, reply, signature = parsed->inputs.signature,
                 wanted = std::move(parsed->wanted)](const Batcher::Outputs& outputs) {
      reply(answer(outputs, [&](const std::vector<Tensor>& tensors) {
        return inferred(model, *version, signature, wanted, tensors);
      }));
    };
    compute(*version, std::move(parsed->inputs), std::move(done));
  }

  void compute(const Version& version, ModelRequest request, std::function<void(Batcher::Outputs)> done) {
    version.batcher->run(std::move(request), Batcher::Clock::now() + server_.timeout, std::move(done));
  }

  std::string all_models() const {
    Json list = Json::array();
    for (const auto& model : server_.models)
      list.push_back({{"name", model->name()}, {"versions", model->versions()}});
    return json_line({{"models", list}});
  }

  std::string metrics() const {
    size_t waiting = 0;
    for (const auto& model : server_.models)
      for (const int64_t number : model->versions())
        if (const auto version = model->find({number, {}})) waiting += (*version)->batcher->waiting();
    return server_.metrics.text(server_.connections ? server_.connections() : 0, waiting);
  }

  State& server_;
  RequestParser parser_;
  InferParser infer_parser_;
};

ModelServer::ModelServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ModelServer::~ModelServer() { state_->compute.join(); }

Result<std::unique_ptr<ModelServer>> ModelServer::open(Disk& disk, ModelServerOptions options) {
  auto state = std::make_unique<State>(options.threads);
  state->timeout = options.timeout;
  std::set<std::string> names;
  for (ServedModelOptions& model : options.models) {
    const std::string name = model.name;
    if (name.empty() || name.find_first_of("/:") != std::string::npos)
      return invalid_argument("'" + name + "' is no name of a model at " + model.path +
                              ": it must not be empty, nor have '/' or ':'; NAME=PATH gives another");
    if (!names.insert(name).second)
      return invalid_argument("two models have the name '" + name + "'; NAME=PATH gives one another name");
    model.batching.parallel = options.threads;
    model.batching.submit = [pool = &state->compute](std::function<void()> task) {
      boost::asio::post(*pool, std::move(task));
    };
    model.batching.observe = [metrics = &state->metrics](size_t requests, int64_t rows) {
      metrics->batch(requests, rows);
    };
    auto served = ServedModel::open(disk, std::move(model));
    if (!served) return Status(served.status().code(), "model '" + name + "': " + served.status().text());
    state->models.push_back(std::move(*served));
  }
  return std::unique_ptr<ModelServer>(new ModelServer(std::move(state)));
}

http::HttpHandler ModelServer::make_handler() {
  return [requests = std::make_shared<Requests>(*state_)](
             const HttpRequest& request, const HttpReply& reply) { requests->handle(request, reply); };
}

void ModelServer::count_connections(std::function<size_t()> count) { state_->connections = std::move(count); }

std::vector<Status> ModelServer::refresh() {
  std::vector<Status> failures;
  for (const auto& model : state_->models)
    for (const Status& failure : model->refresh())
      failures.emplace_back(failure.code(), "model '" + model->name() + "': " + failure.text());
  return failures;
}

const std::vector<std::unique_ptr<ServedModel>>& ModelServer::models() const { return state_->models; }

}  // namespace troupe::serve
