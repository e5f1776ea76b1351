#include "apps/serve/model_server.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/serve/answer_json.h"
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

/// What a path asks of which model.
struct Route {
  std::string model;
  Wanted version;
  std::string what;  ///< "", "metadata", "predict", "classify" or "regress"
};

/// Takes the text before the first of these characters off the front of `rest`.
std::string_view take_until(std::string_view& rest, std::string_view ends) {
  const size_t at = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at);
  return taken;
}

/// Parses what follows "/v1/models/". Returns nothing if it has another form.
std::optional<Route> parse_route(std::string_view rest) {
  Route route;
  route.model = take_until(rest, "/:");
  for (const bool is_number : {true, false}) {
    const std::string_view part = is_number ? "/versions/" : "/labels/";
    if (!rest.starts_with(part)) continue;
    rest.remove_prefix(part.size());
    const std::string_view text = take_until(rest, "/:");
    if (is_number) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return {};
      route.version.number = number;
    } else {
      route.version.label = text;
    }
    break;
  }
  if (rest == "/metadata")
    route.what = "metadata";
  else if (rest == ":predict" || rest == ":classify" || rest == ":regress")
    route.what = rest.substr(1);
  else if (!rest.empty())
    return {};
  return route.model.empty() ? std::nullopt : std::optional(route);
}

/// Returns "INVALID_ARGUMENT" for Code::InvalidArgument.
std::string code_name(Code code) {
  if (code == Code::Ok) return "OK";
  std::string text;
  for (const char letter : name(code)) {
    if (std::isupper(static_cast<unsigned char>(letter)) && !text.empty()) text += '_';
    text += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

/// Returns the states of versions in the form of TensorFlow Serving, the newest first. Those that failed to load have ended.
Json states_of(const std::map<int64_t, Status>& versions) {
  Json states = Json::array();
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    const auto& [number, status] = *version;
    states.push_back(
        {{"version", std::to_string(number)},
         {"state", status.ok() ? "AVAILABLE" : "END"},
         {"status", {{"error_code", code_name(status.code())}, {"error_message", status.text()}}}});
  }
  return {{"model_version_status", states}};
}

std::map<int64_t, Status> all_versions(const ServedModel& model) {
  std::map<int64_t, Status> versions = model.failures();
  for (const int64_t number : model.versions()) versions.insert_or_assign(number, Status());
  return versions;
}

std::string type_name(DType dtype) {
  std::string text = "DT_" + std::string(name(dtype));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

Json tensors_of(const std::vector<ModelTensor>& tensors) {
  Json result = Json::object();
  for (const ModelTensor& tensor : tensors) {
    Json dims = Json::array();
    if (tensor.shape.known_rank())
      for (const int64_t dim : tensor.shape.dims())
        dims.push_back({{"size", std::to_string(dim)}, {"name", ""}});
    result[tensor.name] = {{"dtype", type_name(tensor.dtype)},
                           {"tensor_shape", {{"dim", dims}, {"unknown_rank", !tensor.shape.known_rank()}}},
                           {"name", tensor.name}};
  }
  return result;
}

/// Returns the columns that the objects of requests may have.
Json columns_of(const runs::TableObjects& table) {
  Json list = Json::array();
  for (const auto& column : table.columns()) {
    list.push_back({{"name", column.name}, {"type", column.type}, {"may_be_missing", column.takes_gaps}});
    if (!column.values.empty()) list.back()["values"] = column.values;
  }
  return list;
}

Json metadata_of(const std::string& model, const Version& version) {
  Json signatures = Json::object();
  for (const ModelSignature& signature : version.model.signatures())
    signatures[signature.name] = {{"inputs", tensors_of(signature.inputs)},
                                  {"outputs", tensors_of(signature.outputs)},
                                  {"method_name", signature.method}};
  Json result = {
      {"model_spec", {{"name", model}, {"signature_name", ""}, {"version", std::to_string(version.number)}}},
      {"metadata", {{"signature_def", {{"signature_def", signatures}}}}}};
  if (version.table && !version.table->columns().empty()) result["columns"] = columns_of(*version.table);
  return result;
}

/// Returns the answer to a request whose outputs have been computed. `rows` and `instances` are those of the request.
HttpAnswer answer(const std::string& what, const Version& version, const std::string& signature, int64_t rows,
                  std::optional<int64_t> instances, const Batcher::Outputs& outputs) try {
  if (!outputs) return failure(outputs.status());
  const ModelSignature& made = version.model.signature(signature);
  HttpAnswer result;
  Status status;
  if (what == "predict")
    status = append_predictions(made, *outputs, instances, result.body);
  else if (what == "classify")
    status = append_classes(made, *outputs, rows, version.classes, result.body);
  else
    status = append_numbers(made, *outputs, rows, result.body);
  return status.ok() ? result : failure(status);
} catch (const std::exception& error) {
  return http::error_answer(500, error.what());
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
    if (path == "/healthz") return reply({200, "ok\n", "text/plain"});
    if (path == "/metrics") return reply({200, metrics(), prometheus_type});
    if (path == "/v1/models") return reply({200, all_models()});
    constexpr std::string_view models = "/v1/models/";
    const auto route =
        path.starts_with(models) ? parse_route(std::string_view(path).substr(models.size())) : std::nullopt;
    if (!route)
      return reply(http::error_answer(
          404,
          "there is nothing at " + path +
              "; known: /v1/models/NAME[/versions/N|/labels/LABEL][/metadata|:predict|:classify|:regress], "
              "/v1/models, /healthz and /metrics"));
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
    const bool computes = !route.what.empty() && route.what != "metadata";
    if (const std::string method = computes ? "POST" : "GET"; request.method != method) {
      HttpAnswer refused =
          http::error_answer(405, "the method must be " + method + ", it is " + request.method);
      refused.headers.emplace_back("Allow", method);
      return reply(std::move(refused));
    }
    const auto version = model->find(route.version);
    if (!version) return reply(failure(version.status()));
    if (computes) return compute(route.what, *version, request.body, reply);
    const bool is_one = route.version.number || !route.version.label.empty();
    reply({200, json_line(!route.what.empty()
                              ? metadata_of(route.model, **version)
                              : states_of(is_one ? std::map{std::pair((*version)->number, Status())}
                                                 : all_versions(*model)))});
  }

  void compute(const std::string& what, const std::shared_ptr<Version>& version, const std::string& body,
               const HttpReply& reply) {
    auto request = parser_.parse(body, version->model, version->table.get());
    if (!request) return reply(failure(request.status()));
    auto done = [what, version, reply, signature = request->signature, rows = request->rows,
                 instances = request->instances()](const Batcher::Outputs& outputs) {
      reply(answer(what, *version, signature, rows, instances, outputs));
    };
    version->batcher->run(std::move(*request), Batcher::Clock::now() + server_.timeout, std::move(done));
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
