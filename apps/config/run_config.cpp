#include "apps/config/run_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "apps/config/combination.h"
#include "apps/config/cross_checks.h"
#include "apps/config/data_keys.h"
#include "apps/config/model.h"
#include "apps/config/observe_keys.h"
#include "apps/config/reader.h"
#include "apps/config/scores.h"
#include "apps/config/table_keys.h"

namespace troupe::config {
namespace {

using namespace std::chrono_literals;

Run read_run(const Reader& run) {
  return {run.string("name"),
          run.string("directory"),
          static_cast<uint64_t>(run.get<int64_t>("seed")),
          static_cast<int>(run.get<int64_t>("threads")),
          static_cast<int>(run.get<int64_t>("gpus")),
          run.get<bool>("tf32")};
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
  out.input = model.string("input");
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
  out.init_from = model.string("init_from");
  out.init_except = model.list<std::string>("init_except");
  out.freeze = model.list<std::string>("freeze");
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
    if (const bool* const flag = value.get_if<bool>())
      out.hyperparameters[name] = *flag ? 1 : 0;
    else if (const double* const number = value.get_if<double>())  // else a mistake, which is reported
      out.hyperparameters[name] = *number;
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

constexpr std::pair<std::string_view, ReplicationMode> modes[] = {
    {"local", ReplicationMode::Local},       {"sync", ReplicationMode::Sync},
    {"async", ReplicationMode::Async},       {"ssp", ReplicationMode::Ssp},
    {"hogwild", ReplicationMode::Hogwild},   {"allreduce", ReplicationMode::AllReduce},
    {"local_sgd", ReplicationMode::LocalSgd}};

ReplicationMode read_mode(const std::string& mode) {
  for (const auto& [name, value] : modes)
    if (name == mode) return value;
  return ReplicationMode::Local;
}

std::string name_of(ReplicationMode mode) {
  for (const auto& [name, value] : modes)
    if (value == mode) return std::string(name);
  return {};
}

Collectives read_collectives(const std::string& name) {
  return name == "nccl" ? Collectives::Nccl : name == "host" ? Collectives::Host : Collectives::Auto;
}

Replication read_replication(const Reader& replication) {
  Replication out;
  out.mode = read_mode(replication.string("mode"));
  out.follows_cluster = replication.string("mode") == "auto";
  out.shards = replication.get<int64_t>("shards");
  out.backup_workers = replication.get<int64_t>("backup_workers");
  out.staleness = replication.get<int64_t>("staleness");
  out.average_every = replication.get<int64_t>("average_every");
  if (replication.has("collectives")) out.collectives = read_collectives(replication.string("collectives"));
  if (replication.has("compression")) out.compression = replication.string("compression");
  out.keep = replication.get<double>("keep");
  if (replication.has("combine")) out.combine = replication.text("combine");
  out.shard_optimizer = replication.get<bool>("shard_optimizer");
  if (replication.has("outer")) out.outer = read_optimizer(replication.table("outer"));
  return out;
}

std::vector<NamedFactor> read_factors(const Reader& factors) {
  std::vector<NamedFactor> out;
  factors.each([&](const std::string& name, SourceLocation place, const Value& value) {
    if (const double* const factor = value.get_if<double>()) out.push_back({name, *factor, place});
  });
  return out;
}

Train read_train(const Reader& train) {
  Train out;
  out.loss = train.text("loss");
  out.balances_classes = !train.string("class_weights").empty();
  out.class_weights = train.list<double>("class_weights");
  out.optimizer = read_optimizer(train.table("optimizer"));
  if (train.has("schedule")) out.schedule = read_schedule(train.table("schedule"));
  if (const Reader plateau = train.table("plateau"); train.has("plateau"))
    out.plateau = {read_monitor(plateau), plateau.get<double>("factor"), plateau.get<double>("min_factor")};
  if (const Reader scale = train.table("loss_scale"); train.has("loss_scale")) {
    const bool is_fixed = scale.string("type") == "fixed";
    out.loss_scale = {scale.string("type"), scale.get<double>(is_fixed ? "value" : "initial"),
                      scale.get<int64_t>("grow_after")};
  }
  const Reader clip = train.table("clip");
  out.clip = {clip.optional<double>("value"), clip.optional<double>("norm"),
              clip.optional<double>("global_norm")};
  out.weight_decay = train.get<double>("weight_decay");
  const Reader factors = train.table("factors");
  out.factors = {read_factors(factors.table("lr")), read_factors(factors.table("weight_decay"))};
  out.micro_batches = train.get<int64_t>("micro_batches");
  out.average = train.optional<double>("average");
  out.metrics = read_definitions(train.table("metrics"));
  out.max_epochs = train.optional<int64_t>("max_epochs");
  out.max_steps = train.optional<int64_t>("max_steps");
  if (const Reader stop = train.table("early_stop"); train.has("early_stop"))
    out.early_stop = {read_monitor(stop), stop.get<bool>("keep_best")};
  if (train.string("on_nan") == "rollback") out.on_nan = OnNan::Rollback;
  out.check_finite = train.get<bool>("check_finite");
  out.replication = read_replication(train.table("replication"));
  const Reader checkpoint = train.table("checkpoint");
  out.checkpoint = {parse_period(checkpoint.string("every")).value_or(Period{}),
                    parse_period(checkpoint.string("keep_every")).value_or(Period{}),
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

/// Returns whether no table that defines names was rejected. Otherwise an unknown name may have been defined there.
bool names_are_complete(const std::set<std::string>& refused_paths, const Reader& root) {
  for (const char* table : {"model", "model.variables", "model.graph", "model.layers", "data.inputs",
                            "data.columns", "data.map", "data.augment", "data.ragged"})
    if (refused_paths.contains(table)) return false;
  return root.has("model");
}

void expand_short_forms(Table& root) {
  if (Value* const scale = find(root, "train", "loss_scale")) expand_type_name(*scale);
  expand_column_types(root);
  expand_metric_names(root);
}

}  // namespace

Result<RunConfig> parse_run_config(std::string text, const std::string& file, const std::string& folder,
                                   std::span<const std::string> options,
                                   std::shared_ptr<const OpTable> ops) try {
  TROUPE_ASSIGN(Document parsed, Document::parse(file, std::move(text)));
  auto document = std::make_shared<Document>(std::move(parsed));
  Diagnostics diagnostics(*document);
  for (const auto& option : options) {
    expand_short_forms(document->root());  // the option may set a key of a column
    document->set(option, diagnostics);
  }
  expand_short_forms(document->root());
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
  config.data.columns = read_columns(root.table("data").table("columns"));
  config.model = read_model(root.table("model"), refused_paths, refused);
  if (config.model.input.empty())
    config.model.input = !config.data.columns.empty() ? table_features
                         : !data::has_arrays(config.data)
                             ? data::feature_column
                             : data::arrays_of(config.data.format_options).front();
  config.train = read_train(root.table("train"));
  config.cluster = read_cluster(root.table("cluster"));
  config.use_tasks(config.cluster.tasks, false);
  config.observe = read_observe(root.table("observe"));
  config.observe.images = read_definitions(root.table("observe").table("images"));
  config.document = document;
  check_across_keys(config, refused_paths, diagnostics);
  refused.complete = refused.complete && names_are_complete(refused_paths, root);
  check_combination(config, ops, diagnostics);
  check_model(config, std::move(refused), std::move(ops), diagnostics);
  if (!diagnostics.empty()) return diagnostics.status();
  return config;
} catch (const Error& error) {
  return error.status();
}

void RunConfig::use_tasks(std::map<std::string, int64_t> tasks, bool are_processes) {
  cluster.tasks = std::move(tasks);
  cluster.are_processes = are_processes;
  Replication& replication = train.replication;
  if (!replication.follows_cluster) return;
  const bool is_alone = std::max(replication.shards, workers()) == 1 && !cluster.tasks.contains("ps");
  if (is_alone || is_pipelined() || train.optimizer.type == "lbfgs")
    replication.mode = ReplicationMode::Local;
  else if (are_processes && !cluster.tasks.contains("ps") && !train.fault.mirror)
    replication.mode = ReplicationMode::AllReduce;
  else
    replication.mode = ReplicationMode::Sync;
}

std::string RunConfig::effective_toml() const {
  Table root = document->root();
  Value* value = find(root, "train");
  for (const char* const key : {"replication", "mode"})
    if (Table* const table = value ? value->get_if<Table>() : nullptr) value = find(*table, key);
  if (value && train.replication.follows_cluster) value->data = name_of(train.replication.mode);
  return to_toml(root);
}

int64_t RunConfig::shards() const {
  const Replication& replication = train.replication;
  if (replication.mode == ReplicationMode::Local) return 1;
  if (replication.shards != 0) return replication.shards;
  if (replication.mode != ReplicationMode::Hogwild) return groups();
  return run.threads != 0 ? run.threads : std::max(1u, std::thread::hardware_concurrency());
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
