#include "apps/config/run_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/config/data_keys.h"
#include "apps/config/model.h"
#include "apps/config/reader.h"
#include "apps/data/file_patterns.h"

namespace troupe::config {
namespace {

using namespace std::chrono_literals;

Run read_run(const Reader& run) {
  return {run.string("name"), run.string("directory"), static_cast<uint64_t>(run.get<int64_t>("seed")),
          static_cast<int>(run.get<int64_t>("threads"))};
}

/// Returns nothing if a part of the variable was rejected.
std::optional<Variable> read_variable(const std::string& name, SourceLocation place, const Reader& variable) {
  if (!variable.has("shape") || !variable.has("dtype")) return {};
  Variable out{name, variable.list<int64_t>("shape"), *dtype_from_name(variable.string("dtype")), {}, true,
               place};
  out.initializer = {variable.string("init"),      variable.get<double>("value"),
                     variable.get<double>("min"),  variable.get<double>("max"),
                     variable.get<double>("mean"), variable.get<double>("stddev")};
  out.trainable = variable.get<bool>("trainable");
  return out;
}

std::vector<Definition> read_definitions(const Reader& table) {
  std::vector<Definition> out;
  table.each([&](const std::string& name, SourceLocation, const Value& value) {
    out.push_back({name, {std::get<std::string>(value.data), value.place}});
  });
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Returns whether a value at `path` or inside it was rejected.
bool is_refused(const std::set<std::string>& refused_paths, const std::string& path) {
  return std::ranges::any_of(refused_paths, [&](const std::string& refused) {
    return refused == path || refused.starts_with(path + '.');
  });
}

Layer read_layer(const Value& value, size_t number) {
  const Reader layer(value.get_if<Table>());
  Layer out{
      layer.string("type"), layer.string("name"), joined(layer.list<std::string>("input")), {}, value.place};
  if (out.name.empty()) out.name = out.type + '_' + std::to_string(number);
  std::vector<std::string> options;
  layer.each([&](const std::string& name, SourceLocation, const Value& option) {
    if (name != "type" && name != "name" && name != "input") options.push_back(name + '=' + to_toml(option));
  });
  out.options = joined(options);
  return out;
}

Model read_model(const Reader& model, const std::set<std::string>& refused_paths, Symbols& refused) {
  Model out;
  model.table("variables").each([&](const std::string& name, SourceLocation place, const Value& value) {
    if (auto variable = read_variable(name, place, Reader(value.get_if<Table>())))
      out.variables.push_back(std::move(*variable));
    else
      refused.values.emplace(name, std::nullopt);
  });
  out.graph = read_definitions(model.table("graph"));
  out.outputs = read_definitions(model.table("outputs"));
  out.input = model.has("input") ? model.string("input") : data::feature_column;
  for (const auto& value : model.get<List>("layers")) {
    const size_t index = out.layers.size();
    if (is_refused(refused_paths, "model.layers." + std::to_string(index))) {
      refused.complete = false;
      out.layers.clear();
      break;
    }
    out.layers.push_back(read_layer(value, index + 1));
  }
  const Reader segments = model.table("recompute");
  segments.each([&](const std::string& name, SourceLocation, const Value& value) {
    out.recompute.push_back({name, segments.list<std::string>(name), value.place});
  });
  model.table("split").each([&](const std::string& name, SourceLocation, const Value& value) {
    out.split.push_back({name, *value.get_if<int64_t>(), value.place});
  });
  out.split_over = model.optional<int64_t>("split_over").value_or(1);
  for (const Value& value : model.get<List>("stages")) {
    Stage& stage = out.stages.emplace_back(Stage{{}, value.place});
    for (const Value& member : *value.get_if<List>()) stage.members.push_back(*member.get_if<std::string>());
  }
  return out;
}

Optimizer read_optimizer(const Reader& optimizer) {
  Optimizer out{optimizer.string("type"), optimizer.get<double>("lr"), {}};
  optimizer.each([&](const std::string& name, SourceLocation, const Value& value) {
    if (name == "type" || name == "lr") return;
    const bool* const flag = value.get_if<bool>();
    out.hyperparameters[name] = flag ? (*flag ? 1 : 0) : std::get<double>(value.data);
  });
  return out;
}

Schedule read_schedule(const Reader& schedule) {
  return {.type = schedule.string("type"),
          .warm_up = schedule.get<int64_t>("warm_up"),
          .boundaries = schedule.list<int64_t>("boundaries"),
          .factors = schedule.list<double>("factors"),
          .steps = schedule.get<int64_t>("steps"),
          .factor = schedule.get<double>("factor"),
          .end = schedule.get<double>("end"),
          .power = schedule.get<double>("power"),
          .alpha = schedule.get<double>("alpha"),
          .period_factor = schedule.get<double>("period_factor"),
          .rate_factor = schedule.get<double>("rate_factor"),
          .staircase = schedule.get<bool>("staircase"),
          .cycle = schedule.get<bool>("cycle")};
}

Monitor read_monitor(const Reader& table) {
  return {table.string("monitor"), table.string("mode") == "max", table.get<int64_t>("patience"),
          table.get<double>("min_delta")};
}

ReplicationMode read_mode(const std::string& mode) {
  if (mode == "sync") return ReplicationMode::Sync;
  if (mode == "async") return ReplicationMode::Async;
  if (mode == "ssp") return ReplicationMode::Ssp;
  if (mode == "allreduce") return ReplicationMode::AllReduce;
  return mode == "local_sgd" ? ReplicationMode::LocalSgd : ReplicationMode::Local;
}

Replication read_replication(const Reader& replication) {
  Replication out;
  out.mode = read_mode(replication.string("mode"));
  out.shards = replication.get<int64_t>("shards");
  out.backup_workers = replication.get<int64_t>("backup_workers");
  out.staleness = replication.get<int64_t>("staleness");
  out.average_every = replication.get<int64_t>("average_every");
  if (replication.has("compression")) out.compression = replication.string("compression");
  out.keep = replication.get<double>("keep");
  out.shard_optimizer = replication.get<bool>("shard_optimizer");
  if (replication.has("outer")) out.outer = read_optimizer(replication.table("outer"));
  return out;
}

Train read_train(const Reader& train) {
  Train out;
  out.loss = train.text("loss");
  out.optimizer = read_optimizer(train.table("optimizer"));
  if (train.has("schedule")) out.schedule = read_schedule(train.table("schedule"));
  if (const Reader plateau = train.table("plateau"); train.has("plateau"))
    out.plateau = {read_monitor(plateau), plateau.get<double>("factor"), plateau.get<double>("min_factor")};
  const Reader clip = train.table("clip");
  out.clip = {clip.optional<double>("value"), clip.optional<double>("norm"),
              clip.optional<double>("global_norm")};
  out.weight_decay = train.get<double>("weight_decay");
  out.micro_batches = train.get<int64_t>("micro_batches");
  out.average = train.optional<double>("average");
  out.metrics = read_definitions(train.table("metrics"));
  out.max_epochs = train.optional<int64_t>("max_epochs");
  out.max_steps = train.optional<int64_t>("max_steps");
  if (const Reader stop = train.table("early_stop"); train.has("early_stop"))
    out.early_stop = {read_monitor(stop), stop.get<bool>("keep_best")};
  out.replication = read_replication(train.table("replication"));
  const Reader checkpoint = train.table("checkpoint");
  out.checkpoint = {parse_period(checkpoint.string("every")).value_or(Period{}),
                    checkpoint.get<int64_t>("keep"),
                    checkpoint.get<bool>("on_signal"),
                    checkpoint.string("dir"),
                    checkpoint.string("endpoint"),
                    checkpoint.string("region")};
  while (out.checkpoint.dir.ends_with('/')) out.checkpoint.dir.pop_back();
  const Reader fault = train.table("fault");
  out.fault = {fault.get<int64_t>("max_restarts"), fault.get<bool>("mirror"),
               parse_nanoseconds(fault.string("start_timeout")).value_or(0ns),
               parse_nanoseconds(fault.string("trainer_timeout")).value_or(0ns),
               parse_nanoseconds(fault.string("heartbeat")).value_or(0ns)};
  return out;
}

Cluster read_cluster(const Reader& cluster) {
  Cluster out;
  cluster.table("in_process").each([&](const std::string& job, SourceLocation, const Value& value) {
    out.tasks[job] = std::get<int64_t>(value.data);
  });
  out.devices = cluster.get<int64_t>("devices");
  return out;
}

/// Checks the rules that involve several keys.
class CrossChecker {
 public:
  CrossChecker(const RunConfig& config, const std::set<std::string>& refused, Diagnostics& diagnostics)
      : config_(config), refused_(refused), root_(&config.document->root()), diagnostics_(diagnostics) {}

  void check() {
    check_data();
    check_inputs();
    check_ragged();
    check_bucket();
    check_variables();
    check_model();
    check_metrics();
    check_jobs();
    check_length();
    check_schedule();
    check_clip();
    if (config_.train.early_stop) check_monitor("early_stop", config_.train.early_stop->monitor);
    if (config_.train.plateau) check_monitor("plateau", config_.train.plateau->monitor);
    check_checkpoint();
    check_replication();
    check_pipeline();
  }

 private:
  void error(const Reader& table, std::string_view key, std::string text) {
    diagnostics_.error(table.place(key), std::move(text));
  }
  void check_data();
  void check_format(const data::Format& format, const Reader& data);
  void check_inputs();
  void check_ragged();
  void check_bucket();
  void check_variables();
  void check_model();
  void check_metrics();
  void check_jobs();
  void check_length();
  void check_schedule();
  void check_clip();
  void check_monitor(const std::string& key, const Monitor& monitor);
  void check_checkpoint();
  void check_replication();
  void check_pipeline();

  /// Returns whether the key is absent, and not because its value was rejected.
  bool misses(const Reader& table, const char* path) const {
    return !table.has(std::string_view(path).substr(std::string_view(path).rfind('.') + 1)) &&
           !refused_.contains(path);
  }

  const RunConfig& config_;
  const std::set<std::string>& refused_;
  Reader root_;
  Diagnostics& diagnostics_;
};

void CrossChecker::check_checkpoint() {
  const Reader checkpoint = root_.table("train").table("checkpoint");
  const auto& [every, keep, on_signal, dir, endpoint, region] = config_.train.checkpoint;
  if (!dir.empty() && (!dir.starts_with("s3://") || dir.find_first_not_of('/', 5) != 5))
    error(checkpoint, "dir", "train.checkpoint.dir: expected \"s3://BUCKET/PREFIX\", found \"" + dir + '"');
  if (!endpoint.empty() && !endpoint.starts_with("http://") && !endpoint.starts_with("https://"))
    error(checkpoint, "endpoint",
          "train.checkpoint.endpoint: expected \"https://HOST:PORT\", found \"" + endpoint + '"');
}

void CrossChecker::check_data() {
  const Reader data = root_.table("data"), valid = data.table("valid"), test = data.table("test");
  if (valid.has("split") && valid.has("files"))
    error(valid, "files", "data.valid: expected either split or files, found both");
  if (valid.has("fold") && (config_.data.valid_fold + 1) * config_.data.valid_split > 1 + 1e-9)
    error(valid, "fold",
          "data.valid.fold: " + std::to_string(config_.data.valid_fold) +
              " is too large; with this split there are " +
              std::to_string(static_cast<int64_t>(1 / config_.data.valid_split + 1e-9)) +
              " folds, from 0 on");
  if (data.has("valid") && misses(valid, "data.valid.split") && misses(valid, "data.valid.files"))
    error(data, "valid", "data.valid: missing: split or files");
  const data::Options& options = config_.data;
  const auto has_pattern = [](const auto& paths) { return std::ranges::any_of(paths, data::is_pattern); };
  const bool has_patterns = has_pattern(options.train) || has_pattern(options.train_labels) ||
                            has_pattern(options.valid) || has_pattern(options.valid_labels) ||
                            has_pattern(options.test) || has_pattern(options.test_labels);
  const auto one_each = [&](const Reader& table, const char* key, const char* path, size_t labels,
                            size_t files) {
    if (labels && labels != files && !has_patterns)
      error(table, key,
            std::string(path) + ": " + std::to_string(labels) + " label files for " + std::to_string(files) +
                " files");
  };
  one_each(data, "train_labels", "data.train_labels", config_.data.train_labels.size(),
           config_.data.train.size());
  one_each(valid, "labels", "data.valid.labels", config_.data.valid_labels.size(), config_.data.valid.size());
  one_each(test, "labels", "data.test.labels", config_.data.test_labels.size(), config_.data.test.size());
  if (const auto format = data::find_format(config_.data.format)) check_format(*format, data);
}

void CrossChecker::check_format(const data::Format& format, const Reader& data) {
  if (const auto mistake = format.check(config_.data.format_options); mistake && data.has(mistake->option))
    error(data, mistake->option, "data." + std::string(mistake->option) + ": " + mistake->text);
  const auto refuse_labels = [&](const Reader& table, const char* key, const char* path) {
    if (!format.label_files && table.has(key))
      error(table, key,
            std::string(path) + ": format \"" + std::string(format.name) + "\" has no label files");
  };
  refuse_labels(data, "train_labels", "data.train_labels");
  for (const std::string part : {"valid", "test"}) {
    const Reader table = data.table(part);
    const std::string path = "data." + part;
    refuse_labels(table, "labels", (path + ".labels").c_str());
    const bool wants_labels = !config_.data.train_labels.empty() && table.has("files");
    if (format.label_files && wants_labels != table.has("labels"))
      error(data, part.c_str(),
            path + ".labels: label files must be given for " + path + ".files if and only if train has them");
  }
}

void CrossChecker::check_inputs() {
  const Reader data = root_.table("data");
  data.table("inputs").each([&](const std::string& name, SourceLocation place, const Value& value) {
    const auto from = Reader(value.get_if<Table>()).string("from");
    const auto columns = data::columns(config_.data);
    const std::string& column = from.empty() ? name : from;
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      diagnostics_.error(
          place, "data.inputs." + name + ": the data has no column '" + column + "'" + hint(column, columns));
  });
}

void CrossChecker::check_ragged() {
  root_.table("data").table("ragged").each([&](const std::string& name, SourceLocation, const Value& value) {
    const Reader column(value.get_if<Table>());
    if (column.has("vocabulary") && column.string("dtype") != "int32" && column.string("dtype") != "int64")
      error(column, "dtype", "data.ragged." + name + ".dtype: ids of words are int32 or int64");
    const double pad = column.has("pad") ? column.get<double>("pad") : 0;
    const bool is_whole = std::trunc(pad) == pad && std::abs(pad) <= INT32_MAX;
    if (!is_whole && column.string("dtype").starts_with("int"))
      error(column, "pad", "data.ragged." + name + ".pad: expected an integer, as the elements are");
  });
}

void CrossChecker::check_bucket() {
  const Reader data = root_.table("data"), bucket = data.table("bucket");
  std::vector<std::string_view> names;
  data.table("ragged").each(
      [&](const std::string& name, SourceLocation, const Value&) { names.emplace_back(name); });
  if (bucket.has("by") && std::ranges::find(names, bucket.string("by")) == names.end())
    error(bucket, "by",
          "data.bucket.by: there is no ragged column '" + bucket.string("by") + "'" +
              hint(bucket.string("by"), names));
  if (!std::ranges::is_sorted(bucket.list<int64_t>("bounds"), std::less_equal()))
    error(bucket, "bounds", "data.bucket.bounds: each bound must be above the one before");
}

void CrossChecker::check_variables() {
  root_.table("model")
      .table("variables")
      .each([&](const std::string& name, SourceLocation, const Value& value) {
        const Reader variable(value.get_if<Table>());
        if (variable.get<double>("min") > variable.get<double>("max"))
          error(variable, "min", "model.variables." + name + ".min: it is above max");
      });
}

void CrossChecker::check_model() {
  const Reader model = root_.table("model");
  if (root_.has("model") && config_.model.graph.empty() && config_.model.layers.empty() &&
      !is_refused(refused_, "model"))
    error(root_, "model", "model: missing: graph or layers");
  if (model.has("input") && config_.model.layers.empty())
    error(model, "input", "model.input: allowed only with model.layers");
}

void CrossChecker::check_metrics() {
  root_.table("train").table("metrics").each(
      [&](const std::string& name, SourceLocation place, const Value&) {
        if (name == "loss")
          diagnostics_.error(
              place, "train.metrics.loss: the name 'loss' is taken: train.loss is always reported under it");
      });
}

void CrossChecker::check_jobs() {
  root_.table("cluster")
      .table("in_process")
      .each([&](const std::string& job, SourceLocation place, const Value&) {
        if (const Status status = check_training_job(job); !status.ok())
          diagnostics_.error(place, "cluster.in_process." + job + ": " + status.text());
      });
}

void CrossChecker::check_length() {
  const Reader train = root_.table("train");
  if (root_.has("train") && misses(train, "train.max_epochs") && misses(train, "train.max_steps"))
    error(root_, "train", "train: missing: max_epochs or max_steps");
}

void CrossChecker::check_schedule() {
  if (!config_.train.schedule || config_.train.schedule->type != "piecewise") return;
  const auto& [boundaries, factors] =
      std::tie(config_.train.schedule->boundaries, config_.train.schedule->factors);
  const Reader schedule = root_.table("train").table("schedule");
  if (!schedule.has("boundaries") || !schedule.has("factors")) return;
  if (factors.size() != boundaries.size() + 1)
    error(schedule, "factors",
          "train.schedule.factors: there are " + std::to_string(factors.size()) + " factors for " +
              std::to_string(boundaries.size()) +
              " boundaries; there must be one factor more than boundaries");
  if (!std::ranges::is_sorted(boundaries, std::less_equal()))
    error(schedule, "boundaries", "train.schedule.boundaries: each boundary must be above the one before");
}

void CrossChecker::check_clip() {
  const Clip& clip = config_.train.clip;
  const int given = (clip.value ? 1 : 0) + (clip.norm ? 1 : 0) + (clip.global_norm ? 1 : 0);
  const Reader train = root_.table("train");
  if (train.has("clip") && given != 1 && !is_refused(refused_, "train.clip"))
    error(train, "clip",
          "train.clip: expected one of value, norm and global_norm; found " + std::to_string(given));
}

void CrossChecker::check_monitor(const std::string& key, const Monitor& monitor) {
  if (monitor.metric.empty()) return;
  const Reader table = root_.table("train").table(key);
  const bool validates = root_.table("data").has("valid");
  std::vector<std::string> known;
  for (const char* part : {"valid/", "train/"}) {
    known.push_back(std::string(part) + "loss");
    for (const auto& metric : config_.train.metrics) known.push_back(part + metric.name);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string path = "train." + key + ".monitor: ";
  if (std::find(known.begin(), known.end(), monitor.metric) == known.end())
    error(table, "monitor",
          path + "there is no metric '" + monitor.metric + "'" + hint(monitor.metric, names));
  else if (monitor.metric.starts_with("valid/") && !validates)
    error(table, "monitor", path + "'" + monitor.metric + "' needs data.valid");
}

/// Checks the rules of models with stages or micro-batches.
void CrossChecker::check_pipeline() {
  if (!config_.is_pipelined() && config_.model.split.empty()) return;
  const Reader train = root_.table("train"), model = root_.table("model");
  const Reader replication = train.table("replication");
  if (config_.model.split.empty() != (config_.model.split_over == 1))
    error(model, config_.model.split.empty() ? "split_over" : "split",
          "model.split_over = " + std::to_string(config_.model.split_over) +
              (config_.model.split.empty() ? ": model.split names nothing to split"
                                           : ": model.split needs at least 2 devices"));
  const Replication& options = config_.train.replication;
  const std::string why = ": not with model.stages, model.split or train.micro_batches; allowed: ";
  if (options.mode != ReplicationMode::Local && options.mode != ReplicationMode::Sync)
    error(replication, "mode",
          "train.replication.mode: \"" + replication.string("mode") + "\"" + why + "\"local\", \"sync\"");
  if (options.backup_workers > 0)
    error(replication, "backup_workers", "train.replication.backup_workers" + why + "0");
  if (config_.train.fault.mirror) error(train.table("fault"), "mirror", "train.fault.mirror" + why + "false");
  if (const int64_t parts = std::max<int64_t>(1, options.shards) * config_.train.micro_batches;
      config_.batch > 0 && parts > config_.batch)
    error(train, "micro_batches",
          "train.micro_batches: " + std::to_string(parts) +
              " micro-batches of all shards are more than the samples of a batch, data.batch = " +
              std::to_string(config_.batch));
}

void CrossChecker::check_replication() {
  const Reader replication = root_.table("train").table("replication");
  const int64_t shards = config_.train.replication.shards, backups = config_.train.replication.backup_workers;
  if (shards > 0 && backups >= shards)
    error(replication, "backup_workers",
          "train.replication.backup_workers: a round would wait for none of the " + std::to_string(shards) +
              " shards; allowed: 0 to " + std::to_string(shards - 1));
  if (config_.batch > 0 && replication.get<int64_t>("shards") > config_.batch)
    error(replication, "shards",
          "train.replication.shards: " + std::to_string(config_.train.replication.shards) +
              " shards are more than the samples of a batch, data.batch = " + std::to_string(config_.batch));
}

/// Returns whether no table that defines names was rejected. Otherwise an unknown name may have been defined there.
bool names_are_complete(const std::set<std::string>& refused_paths, const Reader& root) {
  for (const char* table : {"model", "model.variables", "model.graph", "model.layers", "data.inputs",
                            "data.map", "data.augment", "data.ragged"})
    if (refused_paths.contains(table)) return false;
  return root.has("model");
}

}  // namespace

Result<RunConfig> parse_run_config(std::string text, const std::string& file, const std::string& folder,
                                   std::span<const std::string> options,
                                   std::shared_ptr<const OpTable> ops) try {
  TROUPE_ASSIGN(Document parsed, Document::parse(file, std::move(text)));
  auto document = std::make_shared<Document>(std::move(parsed));
  Diagnostics diagnostics(*document);
  for (const auto& option : options) document->set(option, diagnostics);
  const auto refused_paths = check(*document, run_schema(), folder, diagnostics);
  const Reader root(&document->root());
  Symbols refused;
  RunConfig config;
  config.run = read_run(root.table("run"));
  config.data = read_data(root.table("data"));
  config.batch = root.table("data").get<int64_t>("batch");
  config.shuffle = root.table("data").get<bool>("shuffle");
  config.map = read_definitions(root.table("data").table("map"));
  const std::string cache = root.table("data").string("cache");
  config.cache = cache == "memory" ? Cache::Memory : cache == "file" ? Cache::File : Cache::None;
  config.cache_folder = root.table("data").string("cache_dir");
  config.ragged = read_ragged(root.table("data").table("ragged"));
  if (const Reader bucket = root.table("data").table("bucket"); root.table("data").has("bucket"))
    config.bucket = {bucket.string("by"), bucket.list<int64_t>("bounds")};
  config.augment = read_definitions(root.table("data").table("augment"));
  config.model = read_model(root.table("model"), refused_paths, refused);
  config.train = read_train(root.table("train"));
  config.cluster = read_cluster(root.table("cluster"));
  config.observe.tensorboard = root.table("observe").get<bool>("tensorboard");
  config.document = document;
  CrossChecker(config, refused_paths, diagnostics).check();
  refused.complete = refused.complete && names_are_complete(refused_paths, root);
  check_model(config, std::move(refused), std::move(ops), diagnostics);
  if (!diagnostics.empty()) return diagnostics.status();
  return config;
} catch (const Error& error) {
  return error.status();
}

Status check_training_job(const std::string& job) {
  const std::vector<std::string_view> known = {"ps", "worker"};
  if (std::ranges::find(known, job) != known.end()) return {};
  return invalid_argument("job '" + job + "' takes no part in training" + hint(job, known));
}

Result<RunConfig> load_run_config(Disk& disk, const std::string& path, std::span<const std::string> options,
                                  std::shared_ptr<const OpTable> ops) {
  TROUPE_ASSIGN(auto text, read_document(disk, path));
  const auto folder = std::filesystem::absolute(path).parent_path().string();
  return parse_run_config(std::move(text), path, folder, options, std::move(ops));
}

}  // namespace troupe::config
