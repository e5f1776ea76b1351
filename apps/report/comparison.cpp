#include "apps/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/config/reader.h"
#include "apps/data/numbers.h"

namespace troupe::report {
namespace {

constexpr int64_t batch_size = 256;
constexpr double most_classes = 1e6;

enum class Kind : uint8_t { Probabilities, Classes, Numbers };

/// Which output is compared with which column, and how.
struct Pair {
  Kind kind = Kind::Numbers;
  size_t output = 0;
  std::string label;
};

/// Returns how an output is compared with labels; nothing if it cannot be. `is_vector`: a label has several columns of a table,
/// which are no probabilities of one class.
std::optional<Kind> kind_of(const ModelTensor& declared, const Tensor& output, const Tensor& labels,
                            bool is_vector) {
  const int64_t count = labels.elements();
  if (!is_vector && declared.name.ends_with("probabilities") && output.shape().rank() >= 2) {
    const int64_t classes = output.shape().dims().back();
    const bool one_for_each =
        classes > 0 && output.elements() / classes == count && is_integer(labels.dtype());
    if (one_for_each || output.shape() == labels.shape()) return Kind::Probabilities;
  }
  if (output.elements() != count || output.dtype() == DType::String) return {};
  if (is_integer(output.dtype()))
    return is_integer(labels.dtype()) ? std::optional(Kind::Classes) : std::nullopt;
  return is_floating(output.dtype()) ? std::optional(Kind::Numbers) : std::nullopt;
}

/// Returns the columns of labels as files have them.
Result<std::vector<std::string>> label_columns(const config::RunConfig& config) {
  std::vector<std::string> names;
  const config::Reader map = config::Reader(&config.document->root()).table("data").table("map");
  for (const data::Input& input : data::all_inputs(config.data)) {
    if (input.from != data::label_column) continue;
    if (map.has(input.name))
      return invalid_argument("data.map computes the label '" + input.name + "' from those of the files");
    names.push_back(input.name);
  }
  if (names.empty()) return invalid_argument("the data have no column of labels");
  return names;
}

/// Finds the pair that says most.
Result<Pair> find_pair(const ModelSignature& signature, const std::vector<Tensor>& outputs,
                       const std::vector<std::string>& labels, const data::Dataset& batch, bool is_vector) {
  std::optional<Pair> best;
  for (const std::string& label : labels) {
    const Tensor* const values = batch.find(label);
    if (!values || batch.find(data::splits_name(label))) continue;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto kind = kind_of(signature.outputs[i], outputs[i], *values, is_vector);
      if (kind && (!best || *kind < best->kind)) best = Pair{*kind, i, label};
    }
  }
  if (!best) return invalid_argument("no output of the model has a value for each label");
  return *best;
}

size_t greatest(std::span<const double> values) {
  return static_cast<size_t>(std::ranges::max_element(values) - values.begin());
}

/// Gathers what is predicted, batch after batch.
class Gatherer {
 public:
  Gatherer(const Pair& pair, Comparison& into) : pair_(pair), into_(into) {
    if (pair.kind == Kind::Numbers) into.predictions = std::vector<NumberPrediction>();
  }

  Status add(const Tensor& output, const Tensor& label_tensor, int64_t samples) {
    TROUPE_ASSIGN(const auto values, data::numbers_of(output));
    TROUPE_ASSIGN(auto labels, data::numbers_of(label_tensor));
    const auto classes = static_cast<size_t>(output.shape().rank() == 0 ? 1 : output.shape().dims().back());
    if (pair_.kind == Kind::Probabilities && output.shape() == label_tensor.shape())
      labels = classes_of(labels, classes);
    const size_t each = pair_.kind == Kind::Probabilities ? classes : 1;
    if (labels.size() * each != values.size() || labels.size() % static_cast<size_t>(samples) != 0)
      return invalid_argument("output '" + into_.output + "' is " + output.signature() + " for labels of " +
                              label_tensor.signature());
    into_.per_sample = static_cast<int64_t>(labels.size()) / samples;
    for (size_t i = 0; i < labels.size(); ++i) {
      const int64_t sample = into_.samples + static_cast<int64_t>(i) / into_.per_sample;
      const std::span<const double> value(values.data() + i * each, each);
      if (pair_.kind == Kind::Numbers)
        std::get<1>(into_.predictions).push_back({sample, labels[i], value[0]});
      else
        TROUPE_RETURN_IF_FAILED(add_class(sample, labels[i], value));
    }
    into_.samples += samples;
    return {};
  }

 private:
  /// Returns the class of each label that marks it with the greatest of several numbers.
  static std::vector<double> classes_of(const std::vector<double>& marks, size_t classes) {
    std::vector<double> found;
    for (size_t i = 0; i + classes <= marks.size(); i += classes)
      found.push_back(static_cast<double>(greatest(std::span(marks).subspan(i, classes))));
    return found;
  }

  Status add_class(int64_t sample, double label, std::span<const double> value) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const bool has_probabilities = pair_.kind == Kind::Probabilities;
    const double predicted = has_probabilities ? static_cast<double>(greatest(value)) : value[0];
    const double limit = has_probabilities ? static_cast<double>(value.size()) : most_classes;
    for (const double number : {label, predicted})
      if (!(number >= 0 && number < limit))
        return invalid_argument("sample " + std::to_string(sample) + " has the class " +
                                std::to_string(static_cast<int64_t>(number)) + ", which is not from 0 to " +
                                std::to_string(static_cast<int64_t>(limit) - 1));
    ClassPrediction one{sample, static_cast<int64_t>(label), static_cast<int64_t>(predicted), unknown,
                        unknown};
    if (has_probabilities) {
      one.of_label = value[static_cast<size_t>(label)];
      one.of_predicted = value[static_cast<size_t>(predicted)];
    }
    into_.classes = std::max({into_.classes, one.label + 1, one.predicted + 1,
                              has_probabilities ? static_cast<int64_t>(value.size()) : 0});
    std::get<0>(into_.predictions).push_back(one);
    return {};
  }

  const Pair& pair_;
  Comparison& into_;
};

}  // namespace

std::string Comparison::class_name(int64_t number) const {
  const auto at = static_cast<size_t>(number);
  return at < names.size() ? names[at] : std::to_string(number);
}

Result<Comparison> compare(const runs::TrainedRun& run, const data::SampleSet& samples,
                           const std::string& part, int64_t limit) try {
  if (!run.config) return invalid_argument("the model in " + run.folder + " has no run file");
  const ModelSignature& signature = run.model.signature(Model::predict);
  TROUPE_ASSIGN(const auto labels, label_columns(*run.config));
  const bool is_vector = !data::parts_of_label(run.config->data.format_options).empty();
  Comparison result{.part = part,
                    .of_samples = samples.samples(),
                    .label = {},
                    .output = {},
                    .checkpoint = run.model.source(),
                    .names = run.classes(),
                    .predictions = {}};
  const auto batches = samples.batches(batch_size, 0, false);
  std::optional<Pair> pair;
  std::optional<Gatherer> gatherer;
  for (int64_t i = 0; i < batches->per_epoch() && result.samples < limit; ++i) {
    TROUPE_ASSIGN(const data::Dataset whole, batches->at(static_cast<uint64_t>(i)));
    const data::Dataset batch = whole.slice(0, std::min(whole.samples(), limit - result.samples));
    TROUPE_ASSIGN(const auto inputs, runs::inputs_of(signature, batch));
    const auto outputs = run.model.run(inputs, Model::predict);
    if (!pair) {
      TROUPE_ASSIGN(pair, find_pair(signature, outputs, labels, batch, is_vector));
      result.label = pair->label;
      result.output = signature.outputs[pair->output].name;
      gatherer.emplace(*pair, result);
    }
    TROUPE_RETURN_IF_FAILED(gatherer->add(outputs[pair->output], *batch.find(pair->label), batch.samples()));
  }
  return result;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::report
