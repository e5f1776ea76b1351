// The subcommand serve: trained models over HTTP.
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/http/access.h"
#include "apps/observe/watched_run.h"
#include "apps/runs/trained_run.h"
#include "apps/serve/live_weights.h"
#include "apps/serve/model_server.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct ServeArguments {
  std::vector<std::string> models, labels, origins;
  std::string tokens;
  http::HttpOptions http;
  double timeout = 30, idle_timeout = 60, live = 0;
  size_t threads = 0;
  long long max_batch = 256;
  uint64_t memory = 0;
  int64_t max_image = 150'000'000;
  bool all_versions = false, json = false;
};

/// Returns the name of a model that is given none: that of its folder or, if that is a number, of the folder around it.
std::string default_name(const std::string& path) {
  std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::string name = folder.filename().string();
  const bool is_number =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); });
  return is_number ? folder.parent_path().filename().string() : name;
}

struct Label {
  std::string model, name;  ///< the model is empty if it may be any
  int64_t version = 0;
};

/// Parses "MODEL:LABEL=VERSION" or "LABEL=VERSION".
Result<Label> parse_label(const std::string& text) {
  const size_t sign = text.rfind('='), colon = text.find(':');
  const bool has_model = colon < sign;
  Label label{has_model ? text.substr(0, colon) : std::string(),
              text.substr(has_model ? colon + 1 : 0, sign - (has_model ? colon + 1 : 0)), 0};
  const char* const begin = sign == std::string::npos ? nullptr : text.data() + sign + 1;
  const char* const end = text.data() + text.size();
  if (!begin || label.name.empty() || label.name.find_first_of("/:") != std::string::npos ||
      (has_model && label.model.empty()) || std::from_chars(begin, end, label.version).ptr != end ||
      begin == end)
    return invalid_argument("--label " + text +
                            ": expected LABEL=VERSION or MODEL:LABEL=VERSION, such as stable=3");
  return label;
}

/// Gives the models their labels.
Status set_labels(const std::vector<std::string>& texts, std::vector<serve::ServedModelOptions>& models) {
  for (const std::string& text : texts) {
    TROUPE_ASSIGN(const Label label, parse_label(text));
    bool is_known = false;
    for (serve::ServedModelOptions& model : models) {
      if (!label.model.empty() && model.name != label.model) continue;
      is_known = true;
      if (!model.labels.emplace(label.name, label.version).second)
        return invalid_argument("--label " + text + ": model '" + model.name + "' has this label already");
    }
    if (!is_known)
      return invalid_argument("--label " + text + ": no model has the name '" + label.model + "'");
  }
  return {};
}

void warn(const std::string& failure) { std::fprintf(stderr, "troupe: %s\n", failure.c_str()); }

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

/// Has a run save a checkpoint. Fails with NotFound if the path is no run, or if its training has ended.
Status save_run(const std::string& path) {
  TROUPE_ASSIGN(const std::string folder, observe::find_run(path));
  return observe::ask_run(folder, "POST", "/ctl/checkpoint").status();
}

Result<serve::ModelServerOptions> server_options(const ServeArguments& arguments) {
  serve::ModelServerOptions options;
  options.threads = arguments.threads;
  options.timeout = nanoseconds(arguments.timeout);
  for (const std::string& text : arguments.models) {
    const size_t sign = text.find('=');
    const bool is_named = sign != std::string::npos && text.find('/') > sign;
    const std::string path = is_named ? text.substr(sign + 1) : text;
    serve::ServedModelOptions model{
        is_named ? text.substr(0, sign) : default_name(path),
        path,
        arguments.all_versions,
        {},
        {.threads = arguments.threads, .memory = arguments.memory, .image_elements = arguments.max_image},
        {}};
    model.batching.max_rows = arguments.max_batch;
    options.models.push_back(std::move(model));
  }
  TROUPE_RETURN_IF_FAILED(set_labels(arguments.labels, options.models));
  return options;
}

std::vector<std::string> paths_of(const serve::ModelServerOptions& options) {
  std::vector<std::string> paths;
  for (const auto& model : options.models) paths.push_back(model.path);
  return paths;
}

/// The health of the server is no secret, so what watches it needs no token.
Result<std::shared_ptr<const http::AccessOptions>> access_options(const ServeArguments& arguments) {
  http::AccessOptions access{.tokens = {},
                             .origins = arguments.origins,
                             .open_paths = {"/healthz", "/v2/health/live", "/v2/health/ready"}};
  for (const std::string& origin : arguments.origins)
    if (const Status mistake = http::check_origin(origin); !mistake.ok())
      return invalid_argument("--allow-origin: " + mistake.text());
  if (!arguments.tokens.empty()) {
    RealDisk disk;
    auto tokens = http::read_tokens(disk, arguments.tokens);
    if (!tokens) return Status(tokens.status().code(), "--tokens: " + tokens.status().text());
    access.tokens = std::move(*tokens);
  }
  return std::make_shared<const http::AccessOptions>(std::move(access));
}

/// Fails with InvalidArgument if a model is to be served out of a file or a checkpoint.
Status check_paths(Disk& disk, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    TROUPE_RETURN_IF_FAILED(runs::check_is_folder(disk, path));
    if (const auto run = runs::run_of_checkpoint(disk, path))
      return invalid_argument(path + " is a checkpoint; serve takes the folder of its run, " + *run +
                              ", whose checkpoints are versions");
  }
  return {};
}

void print_ready(const serve::ModelServer& models, const http::HttpServer& server,
                 const ServeArguments& arguments) {
  const std::string url = std::string(arguments.http.certificate.empty() ? "http" : "https") + "://" +
                          arguments.http.address + ':' + std::to_string(server.port());
  if (arguments.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& model : models.models())
      list.push_back({{"name", model->name()}, {"versions", model->versions()}});
    print_json({{"url", url}, {"models", list}});
  } else {
    for (const auto& model : models.models())
      std::printf("%s/v1/models/%s: version %lld\n", url.c_str(), model->name().c_str(),
                  static_cast<long long>(model->versions().back()));
  }
  std::fflush(stdout);
}

using ServedVersions = std::map<std::string, std::vector<int64_t>>;  ///< by the name of the model

/// Says which versions are served, if these are others than before.
void print_changes(const serve::ModelServer& models, ServedVersions& before) {
  for (const auto& model : models.models()) {
    std::vector<int64_t> now = model->versions();
    std::vector<int64_t>& known = before[model->name()];
    if (now == known) continue;
    if (!known.empty())
      std::fprintf(stderr, "troupe: model '%s' is served in %s %s\n", model->name().c_str(),
                   now.size() == 1 ? "version" : "versions", fmt::format("{}", fmt::join(now, ", ")).c_str());
    known = std::move(now);
  }
}

int serve_models(ServeArguments arguments) {
  const auto& stop = stop_on_signals();
  if (arguments.threads == 0) arguments.threads = std::max(1u, std::thread::hardware_concurrency());
  const auto options = server_options(arguments);
  if (!options) return failed(options.status(), arguments.json);
  const auto access = access_options(arguments);
  if (!access) return failed(access.status(), arguments.json);
  ModelDisk model_files(paths_of(*options));
  Disk& disk = *model_files;
  if (const Status mistake = check_paths(disk, paths_of(*options)); !mistake.ok())
    return failed(mistake, arguments.json);
  std::optional<serve::LiveWeights> live;
  if (arguments.live > 0) live.emplace(paths_of(*options), nanoseconds(arguments.live), save_run, warn);
  std::unique_ptr<http::HttpServer> server;  // outlives the models, whose last answers it gets
  auto models = serve::ModelServer::open(disk, *options);
  if (!models) return failed_to_open(models.status(), arguments.json);
  arguments.http.threads = arguments.threads;
  arguments.http.idle_timeout = nanoseconds(arguments.idle_timeout);
  auto started = http::HttpServer::start(
      arguments.http, [&] { return http::with_access(*access, (*models)->make_handler()); });
  if (!started) return failed(started.status(), arguments.json);
  server = std::move(*started);
  (*models)->count_connections([&] { return server->connections(); });
  print_ready(**models, *server, arguments);
  constexpr auto tick = std::chrono::milliseconds(100);
  const int ticks_per_refresh = live ? 1 : 20;
  ServedVersions served;
  print_changes(**models, served);
  for (int i = 1; !stop.load(); ++i) {
    std::this_thread::sleep_for(tick);
    if (i % ticks_per_refresh != 0) continue;
    for (const Status& failure : (*models)->refresh()) warn(failure.message());
    if (!live) print_changes(**models, served);
  }
  live.reset();
  constexpr auto patience = std::chrono::seconds(10);
  server->stop(patience);
  models->reset();
  return exit_code_of(stop_signal());
}

}  // namespace

void add_serve_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<ServeArguments>();
  auto* command =
      add_command(app, "serve", "Serve trained models over HTTP, as TensorFlow Serving and KServe do (REST).",
                  "troupe serve runs/digits --port 8501");
  command
      ->add_option("models", arguments->models,
                   "a run, whose checkpoints are versions, a saved model, or a folder with numbered ones; "
                   "NAME=PATH names it")
      ->required();
  command->add_option("--port", arguments->http.port, "TCP port (8501; 0: any free one)")
      ->default_val(8501)
      ->check(CLI::Range(0, 65535));
  command->add_option("--address", arguments->http.address, "address to listen on (127.0.0.1; 0.0.0.0: all)");
  auto* certificate = command->add_option("--certificate", arguments->http.certificate,
                                          "PEM file of the server's certificate: serves HTTPS");
  command->add_option("--key", arguments->http.key, "PEM file of its key")->needs(certificate);
  certificate->needs("--key");
  command->add_option(
      "--tokens", arguments->tokens,
      "file with tokens, one per line: requests must send one as \"Authorization: Bearer TOKEN\"");
  command
      ->add_option("--allow-origin", arguments->origins,
                   "site whose pages may use the server from a browser (https://example.org; *: all sites)")
      ->allow_extra_args(false);
  command
      ->add_option("--threads", arguments->threads,
                   "threads that compute and that serve connections (one per core)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--max-batch", arguments->max_batch, "the most samples that are computed together (256)")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-body", arguments->http.max_body, "the largest request in bytes (64 MiB)")
      ->transform(size_value())
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--max-bodies", arguments->http.max_bodies,
                   "the bytes that all requests in progress may have together (512 MiB; at least --max-body)")
      ->transform(size_value());
  command
      ->add_option("--max-image", arguments->max_image,
                   "the most elements (height x width x channels) of an image in a request (150000000)")
      ->check(CLI::Range(int64_t{1}, int64_t{(1 << 29) - 1}));
  command
      ->add_option("--memory", arguments->memory,
                   "the memory in which each version of a model may compute (that of the machine)")
      ->transform(size_value());
  command
      ->add_option("--max-connections", arguments->http.max_connections,
                   "the most open connections (10000; at most 3/4 of the open files that the system allows)")
      ->check(CLI::PositiveNumber);
  command->add_option("--timeout", arguments->timeout, "seconds that a request may wait for its model (30)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--idle-timeout", arguments->idle_timeout,
                   "seconds after which an idle or slow connection is closed (60)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--live", arguments->live,
                   "has runs that train save a checkpoint every so many seconds, and serves it")
      ->check(CLI::PositiveNumber);
  command->add_flag("--all-versions", arguments->all_versions, "serve all versions, not only the newest one");
  command
      ->add_option("--label", arguments->labels,
                   "a label and the version that it stands for: stable=3; of one model: digits:stable=3")
      ->take_all();
  command->add_flag("--json", arguments->json,
                    "print where the models are served, or the error, as one line of JSON");
  command->callback([arguments, &result] { result = serve_models(*arguments); });
}

}  // namespace troupe::commands
