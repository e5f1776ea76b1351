#include "apps/config/cross_checks.h"

#include <algorithm>
#include <cmath>

#include "apps/config/reader.h"
#include "apps/config/scores.h"
#include "apps/data/file_patterns.h"

namespace troupe::config {
namespace {

/// Checks the rules that involve several keys.
class CrossChecker {
 public:
  CrossChecker(const RunConfig& config, const std::set<std::string>& refused, Diagnostics& diagnostics)
      : config_(config), refused_(refused), root_(&config.document->root()), diagnostics_(diagnostics) {}

  void check() {
    check_data();
    check_inputs();
    check_columns();
    check_ragged();
    check_bucket();
    check_variables();
    check_model();
    check_metrics();
    check_factors();
    check_jobs();
    check_length();
    check_schedule();
    check_clip();
    check_numbers();
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
  void check_series();
  void check_format(const data::Format& format, const Reader& data);
  void check_inputs();
  void check_columns();
  void check_column(const data::TableColumn& column, const Reader& table);
  void check_ragged();
  void check_bucket();
  void check_variables();
  void check_model();
  void check_metrics();
  void check_factors();
  void check_jobs();
  void check_length();
  void check_schedule();
  void check_clip();
  void check_numbers();
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
  const auto& [every, keep_every, keep, on_signal, dir, endpoint, region] = config_.train.checkpoint;
  if (!dir.empty() && (!dir.starts_with("s3://") || dir.find_first_not_of('/', 5) != 5))
    error(checkpoint, "dir", "train.checkpoint.dir: expected \"s3://BUCKET/PREFIX\", found \"" + dir + '"');
  if (!endpoint.empty() && !endpoint.starts_with("http://") && !endpoint.starts_with("https://"))
    error(checkpoint, "endpoint",
          "train.checkpoint.endpoint: expected \"https://HOST:PORT\", found \"" + endpoint + '"');
}

void CrossChecker::check_series() {
  const std::string& series = config_.data.window->series;
  std::vector<std::string_view> texts;
  for (const data::TableColumn& column : config_.data.columns)
    if (column.type == data::ColumnType::Text) texts.push_back(column.name);
  if (std::ranges::find(texts, std::string_view(series)) == texts.end())
    error(
        root_.table("data").table("window"), "series",
        "data.window.series: data.columns has no column '" + series + "' of type text" + hint(series, texts));
}

void CrossChecker::check_data() {
  const Reader data = root_.table("data"), valid = data.table("valid"), test = data.table("test");
  if (valid.has("split") && valid.has("files"))
    error(valid, "files", "data.valid: expected either split or files, found both");
  if (valid.has("fold") &&
      static_cast<double>(config_.data.valid_fold + 1) * config_.data.valid_split > 1 + 1e-9)
    error(valid, "fold",
          "data.valid.fold: " + std::to_string(config_.data.valid_fold) +
              " is too large; with this split there are " +
              std::to_string(static_cast<int64_t>(1 / config_.data.valid_split + 1e-9)) +
              " folds, from 0 on");
  if (config_.data.window)
    for (const auto& [is_given, key] :
         {std::pair(config_.data.stream, "data.read = \"stream\""),
          std::pair(config_.data.stratify, "stratify"), std::pair(config_.data.valid_fold > 0, "fold"),
          std::pair(!config_.ragged.empty(), "data.ragged")})
      if (is_given) error(data, "window", std::string("data.window: not with ") + key);
  if (config_.data.window && !config_.data.window->series.empty()) check_series();
  if (config_.data.has_label_of_series()) {
    data::Options files = config_.data;
    files.window.reset();
    const std::string& label = config_.data.window->label;
    const auto known = data::columns(files);
    if (std::ranges::find(known, std::string_view(data::label_column)) != known.end())
      error(data.table("window"), "label",
            "data.window.label: the files have a label, too; label = \"none\" in [data] leaves it out");
    else if (std::ranges::find(known, std::string_view(label)) == known.end())
      error(data.table("window"), "label",
            "data.window.label: there is no column '" + label + "'" + hint(label, known));
  }
  if (config_.data.stratify && (config_.data.valid_split == 0 || config_.data.stream))
    error(valid, "stratify",
          std::string("data.valid.stratify: ") +
              (config_.data.stream ? "not with data.read = \"stream\"" : "allowed only with split"));
  if (data.has("valid") && misses(valid, "data.valid.split") && misses(valid, "data.valid.files"))
    error(data, "valid", "data.valid: missing: split or files");
  const data::Options& options = config_.data;
  bool has_patterns = false;
  for (const auto* paths : {&options.train, &options.train_labels, &options.valid, &options.valid_labels,
                            &options.test, &options.test_labels})
    has_patterns |= data::has_pattern(*paths);
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
            std::string(path).append(".labels: label files must be given for ").append(path) +
                ".files if and only if train has them");
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

void CrossChecker::check_columns() {
  const Reader data = root_.table("data"), columns = data.table("columns");
  if (config_.data.columns.empty()) return;
  const data::FormatOptions& options = config_.data.format_options;
  if (!data::option(options, "header", false) && !options.contains("names"))
    error(data, "columns", "data.columns: the columns of the table need names: header = true, or data.names");
  for (const char* const key : {"features", "text", "missing"})
    if (data.has(key))
      error(data, key, "data." + std::string(key) + ": not with data.columns, where a column says this");
  if (config_.data.scale != 1)
    error(data, "scale",
          "data.scale: not with data.columns, where `normalize` brings numbers to a common size");
  for (const data::TableColumn& column : config_.data.columns)
    check_column(column, columns.table(column.name));
}

void CrossChecker::check_column(const data::TableColumn& column, const Reader& table) {
  const std::string path = "data.columns." + column.name;
  const bool is_number = column.type == data::ColumnType::Number;
  if (column.name == data::label_column)
    error(table, "type", path + ": the name is taken: data.label names the column of the label");
  if (!is_number && column.is_vector())
    error(table, "columns", path + ".columns: only numbers can have several columns");
  if (is_number && column.missing == data::Missing::Value && column.fill.empty())
    error(table, "missing", path + ".missing: \"value\" needs fill, the number for a missing one");
  if (is_number && column.missing == data::Missing::Error && !column.fill.empty())
    error(table, "fill", path + ".fill: allowed only with missing = \"mean\", \"median\", \"value\"");
  if (is_number && column.normalization == data::Normalization::None && !column.center.empty())
    error(table, "center", path + ".center: allowed only with normalize = \"standard\", \"range\"");
  if (column.center.size() != column.spread.size())
    error(table, column.center.empty() ? "spread" : "center",
          path + ": center and spread must have the same number of elements");
  if (std::ranges::find(column.spread, 0.0) != column.spread.end())
    error(table, "spread", path + ".spread: expected numbers that are not 0");
  std::vector<std::string> values = column.values;
  std::ranges::sort(values);
  if (const auto twice = std::ranges::adjacent_find(values); twice != values.end())
    error(table, "values", path + ".values: \"" + *twice + "\" is there twice");
  const auto shares = [&](const data::TableColumn& other) {
    return other.name != column.name && other.input == column.input;
  };
  if (!column.is_feature() && std::ranges::any_of(config_.data.columns, shares))
    error(table, table.has("input") ? "input" : "type",
          path + ": only numbers, categories as vectors and times can be joined in one input, '" +
              column.input + "'");
}

void CrossChecker::check_ragged() {
  root_.table("data").table("ragged").each([&](const std::string& name, SourceLocation, const Value& value) {
    const Reader column(value.get_if<Table>());
    const bool has_vocabulary = column.has("vocabulary"), counts = column.has("most_words");
    if (has_vocabulary && (counts || column.has("words")))
      error(column, counts ? "most_words" : "words",
            "data.ragged." + name + ": expected one of vocabulary and most_words; found both");
    if (counts && column.has("feature"))
      error(column, "most_words", "data.ragged." + name + ".most_words: not with feature; name a vocabulary");
    const bool has_words = has_vocabulary || counts || column.has("words");
    if (column.string("standardize").starts_with("lower") && (!has_words || column.has("feature")))
      error(column, "standardize",
            "data.ragged." + name +
                ".standardize: only for texts that are divided into words, with vocabulary or most_words");
    if (has_words && column.string("dtype") != "int32" && column.string("dtype") != "int64")
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
  if (model.has("init_except") && misses(model, "model.init_from"))
    error(model, "init_except", "model.init_except: allowed only with init_from");
}

void CrossChecker::check_metrics() {
  if (const Reader train = root_.table("train"); train.has("class_weights") && train.has("loss"))
    if (const std::string mistake = mistake_in_class_weights(config_.train); !mistake.empty())
      error(train, "class_weights", "train.class_weights: " + mistake);
  root_.table("train").table("metrics").each(
      [&](const std::string& name, SourceLocation place, const Value&) {
        if (name == "loss")
          diagnostics_.error(
              place, "train.metrics.loss: the name 'loss' is taken: train.loss is always reported under it");
      });
}

void CrossChecker::check_factors() {
  const Reader train = root_.table("train");
  if (train.has("factors") && config_.train.optimizer.type == "lbfgs")
    error(train, "factors", "train.factors: the optimizer lbfgs changes all weights together");
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
  std::vector<std::string> known = {"valid/loss", "train/loss"};
  for (const auto& metric : config_.train.metrics) known.push_back("valid/" + metric.name);
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string path = "train." + key + ".monitor: ";
  if (monitor.metric.starts_with("train/") && monitor.metric != "train/loss")
    error(table, "monitor",
          path + "'" + monitor.metric + "' is not computed: of the training part only train/loss is");
  else if (std::find(known.begin(), known.end(), monitor.metric) == known.end())
    error(table, "monitor",
          path + "there is no metric '" + monitor.metric + "'" + hint(monitor.metric, names));
  else if (monitor.metric.starts_with("valid/") && !validates)
    error(table, "monitor", path + "'" + monitor.metric + "' needs data.valid");
}

void CrossChecker::check_numbers() {
  const auto& scale = config_.train.loss_scale;
  if (config_.train.check_finite && scale && scale->type == "dynamic")
    error(root_.table("train"), "check_finite",
          "train.check_finite: not with a dynamic train.loss_scale, under which gradients may be infinite; "
          "allowed: false");
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

}  // namespace

void check_across_keys(const RunConfig& config, const std::set<std::string>& refused,
                       Diagnostics& diagnostics) {
  CrossChecker(config, refused, diagnostics).check();
}

}  // namespace troupe::config
