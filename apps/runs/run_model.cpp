#include "apps/runs/run_model.h"

#include <algorithm>
#include <map>

#include "apps/config/data_map.h"
#include "apps/config/encoded_columns.h"
#include "apps/config/model.h"
#include "apps/config/parsed_rows.h"
#include "apps/config/windows.h"
#include "apps/inference/model.h"
#include "apps/inference/model_source.h"
#include "apps/interop/write_graph.h"
#include "apps/runs/model_warnings.h"
#include "apps/runs/predictions.h"
#include "apps/runs/saved_model_graph.h"
#include "graph/build/needed_part.h"
#include "graph/build/split.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"

namespace troupe::runs {
namespace {

using config::Columns;
using config::RunConfig;

bool is_scaled(const RunConfig& config, const data::Input& input) {
  return config.data.scale != 1 && input.from == data::feature_column && input.cast != DType::String;
}

/// Builds the graph. One per model.
class Builder {
 public:
  /// `ragged` are the ragged columns with their words.
  Builder(const RunConfig& config, const std::vector<data::RaggedColumn>& ragged,
          const data::Dataset& columns, std::shared_ptr<const OpTable> ops)
      : config_(config), ragged_(ragged), columns_(columns), graph_(std::move(ops)), root_(graph_),
        diagnostics_(*config.document) {}

  Result<RunModel> build() && {
    config::Symbols symbols;
    for (const auto& [name, value] : inputs()) symbols.values[name] = Argument(value);
    const nn::Network network(root_, nn::Mode::Inference,
                              [this](const nn::Weight& weight) { return variable(weight); });
    network.join_tables();
    const config::BuiltModel model = config::build_model(config_, network, std::move(symbols), diagnostics_);
    auto outputs = config::build_outputs(config_, network, model, diagnostics_);
    TROUPE_RETURN_IF_FAILED(diagnostics_.status());
    if (outputs.empty()) outputs = predictions_of(model);
    std::vector<std::pair<std::string, Output>> scores = {{"loss", *model.loss}};
    scores.insert(scores.end(), model.metrics.begin(), model.metrics.end());
    std::map<std::string, interop::Signature> signatures;
    const std::string predicts = "tensorflow/serving/predict";
    if (!outputs.empty()) signatures.emplace(Model::predict, signature(predicts, outputs, {}));
    if (!outputs.empty() && !rows_.parsed.empty())
      signatures.emplace(Model::predict_parsed, signature(predicts, outputs, rows_.parsed));
    signatures.emplace(Model::evaluate, signature("troupe/evaluate", scores, {}));
    RunModel result{exported(std::move(signatures)), warnings_of_broadcasts(graph_, config_, model), {}, {}};
    const auto add = [&result](const std::vector<std::string>& warnings) {
      result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
    };
    add(warnings_of_classes(graph_, config_, model));
    result.mistake = check_classes(graph_, config_, model, columns_);
    result.labels = range_of_labels(graph_, config_, model);
    add(warnings_of_scores(config_));
    if (outputs.empty())
      add(
          {"the trained model will yield nothing: what it predicts does not follow from the loss; list it in "
           "[model.outputs]"});
    std::vector<Output> yielded;
    for (const auto& [name, output] : outputs) yielded.push_back(output);
    add(warnings_of_unused(graph_, config_, model, std::move(yielded)));
    return result;
  }

 private:
  /// Adds placeholders for the columns of the files, and what the model gets of them. Returns the columns of the model.
  Columns inputs() {
    Columns columns;
    for (const data::Input& input : data::all_inputs(config_.data)) {
      const bool scaled = is_scaled(config_, input);
      const Output given =
          placeholder(input.name, scaled ? data::scaled_type(input.cast) : input.cast, shape_of(input));
      (input.from == data::label_column ? labels_ : samples_).push_back(given);
      columns.emplace_back(input.name, scaled ? scale(given, input.cast) : given);
    }
    if (!config_.data.columns.empty()) {
      columns = config::samples_of_windows(config_.data, root_.with_prefix("samples"), columns);
      columns = config::encode_columns(config_.data.columns, root_.with_prefix("encode"), columns);
      columns = config::windows_of_samples(config_.data, root_.with_prefix("windows"), columns);
    }
    columns = with_known_shapes(
        config::build_data_map(config_.map, root_.with_prefix("map"), columns, diagnostics_));
    rows_ = config::parse_rows(ragged_, root_, columns);
    return rows_.columns;
  }

  /// Says the shapes of the columns that data.map computes. Where they follow from the columns of the files, they are known only by
  /// the samples to train on.
  Columns with_known_shapes(Columns columns) const {
    for (auto& [name, value] : columns) {
      const Tensor* const values = is_mapped(name) ? columns_.find(name) : nullptr;
      if (values && root_.shape(value) != shape_of_batch(*values))
        value = ensure_shape(root_.with_prefix("map"), value, shape_of_batch(*values));
    }
    return columns;
  }

  /// Returns the shape of a column of samples, of which there may be any number.
  static PartialShape shape_of_batch(const Tensor& column) {
    std::vector<int64_t> dims(column.shape().dims().begin(), column.shape().dims().end());
    dims[0] = unknown_dim;
    return PartialShape(std::move(dims));
  }

  /// Returns whether data.map changes a column, or adds it.
  bool is_mapped(const std::string& column) const {
    return std::ranges::find(config_.map, column, &config::Definition::name) != config_.map.end();
  }

  Output placeholder(const std::string& name, DType dtype, PartialShape shape) {
    const Output added =
        root_.with_name(name).add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}});
    placeholders_.emplace_back(name, added);
    return added;
  }

  /// Returns the shape of a column of the files. Where data.map changes the column, or it is one of a table, only what the run file
  /// says is known.
  PartialShape shape_of(const data::Input& input) const {
    const bool is_raw = is_mapped(input.name) || !config_.data.columns.empty();
    if (const Tensor* const values = is_raw ? nullptr : columns_.find(input.name))
      return shape_of_batch(*values);
    std::vector<int64_t> dims = {unknown_dim};
    const auto shape = data::known_shape(config_.data, input);
    if (!shape) return PartialShape();
    if (config_.data.window && input.from != data::label_column) dims.push_back(config_.data.window->length);
    dims.insert(dims.end(), shape->begin(), shape->end());
    return PartialShape(std::move(dims));
  }

  /// Does what the reading of files does in the training, with the same bits.
  Output scale(Output given, DType dtype) const {
    const double factor = root_.dtype(given) == DType::Float
                              ? static_cast<double>(static_cast<float>(config_.data.scale))
                              : config_.data.scale;
    const Output scaled = mul(root_.with_name("scaled"), given, factor);
    return root_.dtype(given) == dtype ? scaled : cast(root_, scaled, dtype);
  }

  /// Returns the variable of a weight or, if the run keeps averages of weights, its average.
  Output variable(const nn::Weight& weight) {
    const bool averaged = config_.train.average && weight.trainable;
    const Scope scope = averaged ? root_.with_prefix("averages") : root_;
    const auto [at, is_new] = variables_.try_emplace(weight.name);
    if (!is_new) return at->second;
    const auto split = std::ranges::find(config_.model.split, weight.name, &config::SplitWeight::name);
    const bool has_parts = split != config_.model.split.end() && split->dimension != 0;
    at->second = has_parts ? joined_parts(scope, weight, split->dimension) : nn::add_variable(scope, weight);
    return at->second;
  }

  /// Returns a weight that model.split has cut by another dimension than that of its rows. Its parts are variables of their own, as
  /// in the checkpoints of the run.
  Output joined_parts(const Scope& scope, const nn::Weight& weight, int64_t dimension) const {
    std::vector<Output> parts;
    for (int64_t i = 0; i < config_.model.split_over; ++i) {
      nn::Weight part = weight;
      std::vector<int64_t> dims(weight.shape.dims().begin(), weight.shape.dims().end());
      int64_t& size = dims[static_cast<size_t>(dimension)];
      size = part_range(size, i, config_.model.split_over).size;
      part.name += "/part_" + std::to_string(i);
      part.shape = value_or_throw(Shape::make(dims, weight.dtype));
      parts.push_back(nn::add_variable(scope, part));
    }
    return concat(root_.with_prefix(weight.name), parts, dimension);
  }

  std::vector<std::pair<std::string, Output>> predictions_of(const config::BuiltModel& model) const {
    LossInputs inputs{*model.loss, samples_, labels_, {}};
    inputs.classes = class_names(config_);
    return predictions(root_, inputs, model.symbols);
  }

  /// Returns a signature with those of the placeholders that its outputs need. They need nothing of which `given` are made.
  interop::Signature signature(std::string method, const Columns& outputs, const Columns& given) const {
    interop::Signature signature{std::move(method), {}, {}};
    std::vector<Output> results, known;
    for (const auto& [name, output] : outputs) {
      signature.outputs.emplace(name, output);
      results.push_back(output);
    }
    for (const auto& [name, input] : given) known.push_back(input);
    const std::vector<bool> needed = nodes_needed(graph_, results, known);
    for (const Columns* const inputs : {&placeholders_, &given})
      for (const auto& [name, input] : *inputs)
        if (needed[input.node]) signature.inputs.emplace(name, input);
    return signature;
  }

  interop::MetaGraph exported(std::map<std::string, interop::Signature> signatures) const {
    interop::MetaGraph model{graph_, {}, {}, {}, {}, std::move(signatures)};
    const Scope scope(model.graph);
    if (!rows_.fills.empty())
      model.init_op = model.graph.node(scope.with_name("init").group(rows_.fills).node).name;
    std::vector<Output> kept;
    for (const auto& [name, placeholder] : placeholders_) kept.push_back(placeholder);
    return saved_model_graph(std::move(model), variables(graph_), kept);
  }

  const RunConfig& config_;
  const std::vector<data::RaggedColumn>& ragged_;
  const data::Dataset& columns_;
  Graph graph_;
  const Scope root_;
  config::Diagnostics diagnostics_;
  Columns placeholders_;
  config::ParsedRows rows_;
  std::vector<Output> samples_, labels_;     ///< placeholders
  std::map<std::string, Output> variables_;  ///< by the names of weights
};

}  // namespace

std::vector<std::string> class_names(const RunConfig& config) {
  return data::option<std::vector<std::string>>(config.data.format_options, "label_names", {});
}

RunConfig with_data_for_model(RunConfig config) {
  config.augment.clear();
  config.bucket.reset();
  config.cache = config::Cache::None;
  config.ragged.clear();
  config.data.inputs = data::all_inputs(config.data);
  for (data::Input& input : config.data.inputs)
    if (is_scaled(config, input)) input.cast = data::scaled_type(input.cast);
  config.data.scale = 1;
  config.raw_columns = true;
  config.map.clear();
  return config;
}

Result<RunModel> build_run_model(Disk& disk, const RunConfig& config, const data::Dataset& columns,
                                 std::shared_ptr<const OpTable> ops) try {
  TROUPE_ASSIGN(const auto ragged, data::with_words(disk, config.ragged));
  return Builder(config, ragged, columns, std::move(ops)).build();
} catch (const Error& error) {
  return error.status();
}

Status save_run_model(Disk& disk, const std::string& run, const interop::MetaGraph& model) {
  const std::string folder = run + '/' + inference::run_model;
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, folder + '/' + inference::graph_file));
  TROUPE_RETURN_IF_FAILED(file.write(interop::write_saved_model(model)));
  return file.commit();
}

}  // namespace troupe::runs
