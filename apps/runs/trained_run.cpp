#include "apps/runs/trained_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "actors/checkpoint/checkpoint_files.h"
#include "apps/config/diagnostics.h"
#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "apps/data/convert/convert.h"
#include "apps/data/csv/csv_layout.h"
#include "apps/data/file_patterns.h"
#include "apps/data/numbers.h"
#include "apps/data/sources.h"
#include "apps/inference/model_source.h"
#include "apps/interop/read_graph.h"
#include "apps/runs/run_model.h"
#include "apps/runs/table_objects.h"
#include "apps/serve/request_json.h"
#include "apps/train/data/train_data.h"
#include "kernels/core/kernel.h"

namespace troupe::runs {
namespace {

/// How many samples an evaluation computes at once: as many as that of the training, for the same bits.
constexpr int64_t evaluated_at_once = 1024;

/// Returns the number of features that the model takes of a sample; nothing if it takes any number.
std::optional<int64_t> features_of(const TrainedRun& run) {
  const auto& inputs = run.model.signature(Model::predict).inputs;
  for (const data::Input& input : run.config->data.inputs) {
    const auto found = std::ranges::find(inputs, input.name, &ModelTensor::name);
    if (input.from != data::feature_column || found == inputs.end() || !found->shape.known_rank()) continue;
    int64_t features = 1;
    for (const int64_t dim : found->shape.dims().subspan(1)) {
      if (dim == unknown_dim) return {};
      features *= dim;
    }
    return features;
  }
  return {};
}

/// Returns the folder of the newest run of a run file or, if there is none yet, of its first one.
std::string folder_for(Disk& disk, const std::string& run_file) {
  const auto library = make_op_library();
  if (!library->status.ok()) return "runs/NAME/001";
  const auto parsed = config::load_run_config(disk, run_file, {}, library->ops);
  if (!parsed) return "runs/NAME/001";
  const std::string folder = parsed->run.directory + '/' + parsed->run.name;
  const auto found = inference::numbered_models(disk, folder);
  return found && !found->empty() ? found->back().path : folder + "/001";
}

/// Returns an array with the type that a model takes, if it has NumPy's own type for such numbers, float64 or int64, or floats for
/// doubles.
Result<Tensor> as_taken(const Tensor& array, DType taken) {
  if (array.dtype() == DType::Float && taken == DType::Double) {
    TROUPE_ASSIGN(const auto numbers, data::numbers_of(array));
    return Tensor::of<double>(array.shape(), numbers);
  }
  const bool is_real = array.dtype() == DType::Double && taken == DType::Float;
  if (!is_real && !(array.dtype() == DType::Int64 && taken == DType::Int32)) return array;
  TROUPE_ASSIGN(const auto numbers, data::numbers_of(array));
  TROUPE_ASSIGN(Tensor converted, Tensor::allocate(taken, array.shape()));
  if (is_real) {
    std::ranges::transform(numbers, converted.write<float>().begin(),
                           [](double x) { return static_cast<float>(x); });
    return converted;
  }
  if (std::ranges::any_of(numbers, [](double x) { return std::abs(x) > INT32_MAX; }))
    return invalid_argument("an element does not fit into 32 bits, which the model takes");
  std::ranges::transform(numbers, converted.write<int32_t>().begin(),
                         [](double x) { return static_cast<int32_t>(x); });
  return converted;
}

/// Returns the inputs of the lines of a file, each of which is an instance as `troupe serve` takes them.
Result<std::map<std::string, Tensor>> instances_in(std::string_view text, const std::string& file,
                                                   const Model& model) {
  const auto& inputs = model.signature(Model::predict).inputs;
  const std::string begin = "{\"instances\":[";
  std::string body = begin;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    if (body != begin) body += ",\n";
    body += one;
  }
  if (body == begin) return data_loss(file + ": the file has no samples");
  auto request = serve::RequestParser().parse(body + "]}", model);
  if (!request) return data_loss(file + ": as instances, its lines are wrong: " + request.status().text());
  std::map<std::string, Tensor> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) arrays[inputs[i].name] = std::move(request->inputs[i]);
  return arrays;
}

/// Returns the arrays of a file by name. The array of a .npy file is for the only input of the model.
Result<std::map<std::string, Tensor>> arrays_in(Disk& disk, const std::string& file, const Model& model) {
  constexpr uint64_t max_bytes = uint64_t{1} << 40;
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_bytes));
  if (file.ends_with(".jsonl")) return instances_in(bytes, file, model);
  if (!file.ends_with(".npy")) return data::read_npz(bytes, file);
  TROUPE_ASSIGN(Tensor array, data::read_npy(bytes, file));
  const ModelSignature& signature = model.signature(Model::predict);
  if (signature.inputs.size() != 1)
    return invalid_argument(file + ": the model has " + std::to_string(signature.inputs.size()) +
                            " inputs; an .npz file has an array for each");
  return std::map<std::string, Tensor>{{signature.inputs.front().name, std::move(array)}};
}

/// Returns the arrays of a file as columns.
Result<std::shared_ptr<const data::SampleSet>> read_arrays(Disk& disk, const std::string& file,
                                                           const Model& model) {
  TROUPE_ASSIGN(auto arrays, arrays_in(disk, file, model));
  const ModelSignature& signature = model.signature(Model::predict);
  std::vector<data::Column> columns;
  const auto refuse = [&](const std::string& name, const Tensor& array) {
    return invalid_argument(file + ": array '" + name + "' is " + array.signature() +
                            "; all arrays must have a row for each sample");
  };
  for (auto& [name, array] : arrays) {
    if (array.shape().rank() == 0 || (!columns.empty() && array.shape()[0] != columns[0].samples()))
      return refuse(name, array);
    const auto taken = std::ranges::find(signature.inputs, name, &ModelTensor::name);
    if (taken != signature.inputs.end()) {
      TROUPE_ASSIGN(array, as_taken(array, taken->dtype));
    }
    columns.push_back({name, std::move(array)});
  }
  if (columns.empty() || columns[0].samples() == 0) return data_loss(file + ": the file has no samples");
  return data::in_memory(data::Dataset(std::move(columns)));
}

/// Returns whether files of a form are read as the run file says. Those of JSON are rows of a table that has names or texts.
bool reads(const data::Options& options, const std::string& form) {
  if (form != "jsonl") return form == options.format;
  const auto& given = options.format_options;
  return options.format == "csv" &&
         (!options.columns.empty() || data::has_csv_header(given) || given.contains("names") ||
          data::has_csv_column(given, data::text_column));
}

/// Makes the files have no labels.
void leave_labels(data::Options& options) {
  options.train_labels.clear();
  options.format_options["label"] = std::string("none");
  std::erase_if(options.inputs, [](const data::Input& input) { return input.from == data::label_column; });
}

/// Returns options with which the lines of .jsonl files may lack columns. Those of [data.columns] may have others, too.
data::Options options_for_json_lines(Disk& disk, const data::Options& given) {
  auto options = options_for_objects(disk, given);
  if (!options) return given;
  if (!options->columns.empty()) options->format_options["header"] = true;
  return std::move(*options);
}

/// Returns the number of features that the first file has; nothing if it does not have columns of numbers.
Result<std::optional<int64_t>> features_of_files(Disk& disk, const data::Options& given) {
  TROUPE_ASSIGN(const data::Options options, data::with_matching_files(disk, given));
  TROUPE_ASSIGN(const auto reader, data::open_source(disk, options, data::train_files(options), 0));
  for (const data::Field& field : reader->schema()) {
    if (field.name != data::feature_column) continue;
    int64_t count = 1;
    for (const int64_t dim : field.shape) count *= dim;
    return field.dtype == DType::String ? std::optional<int64_t>() : count;
  }
  return std::optional<int64_t>();
}

/// Fails with InvalidArgument if the samples have no part of this name.
Status check_part(const std::string& part) {
  const std::vector<std::string_view> known = {"train", "valid", "test"};
  if (part.empty() || std::ranges::find(known, std::string_view(part)) != known.end()) return {};
  return invalid_argument("there is no part '" + part +
                          "' of the samples of a run; expected train, valid or test" +
                          config::hint(part, known));
}

}  // namespace

Status check_is_folder(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (!info || info->is_folder) return {};
  if (!path.ends_with(".toml"))
    return invalid_argument(path + " is a file; expected the folder of a run, such as runs/NAME/001" +
                            interop::advice_on_export(path));
  return invalid_argument(path + " is a run file; expected the folder of a run, such as " +
                          folder_for(disk, path));
}

std::optional<std::string> run_of_checkpoint(Disk& disk, const std::string& folder) {
  if (inference::kind_of(disk, folder) != inference::ModelKind::Checkpoint) return {};
  return folder_of(folder_of(folder));
}

Result<std::string> find_model(Disk& disk, const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_is_folder(disk, path));
  if (inference::kind_of(disk, path) != inference::ModelKind::None) return path;
  const auto models = inference::numbered_models(disk, path);
  if (models.status().code() == Code::NotFound)
    return not_found("there is no run or model '" + path +
                     "'; expected the folder of a run, such as runs/NAME/001" +
                     config::nearest_beside(disk, path));
  if (!models) return models.status();
  if (!models->empty()) return models->back().path;
  return not_found(
      path +
      " is neither the folder of a run, of a checkpoint or of a saved model, nor one that contains runs");
}

std::vector<std::string> TrainedRun::classes() const {
  return config ? class_names(*config) : std::vector<std::string>();
}

namespace {

/// Returns the checkpoints of a run that are newer than this one of it.
Result<std::vector<std::string>> newer_checkpoints(Disk& disk, const std::string& run,
                                                   const std::string& checkpoint) {
  const CheckpointFiles files(disk, inference::checkpoints_of_run(disk, run).folder);
  TROUPE_ASSIGN(const auto names, files.names());
  auto name = std::ranges::find(names, checkpoint.substr(checkpoint.rfind('/') + 1));
  std::vector<std::string> newer;
  while (name != names.end() && ++name != names.end()) newer.push_back(files.path(*name));
  return newer;
}

Result<TrainedRun> with_run_file(Disk& disk, std::string folder, const Model& model,
                                 const std::vector<std::string>& set) {
  TrainedRun run{std::move(folder), {}, model};
  for (const std::string& file : {run.folder + "/config.toml", run.folder + '/' + exported_config}) {
    if (!disk.info(file).ok()) continue;
    const auto library = make_op_library();
    TROUPE_RETURN_IF_FAILED(library->status);
    TROUPE_ASSIGN(auto config, config::load_run_config(disk, file, set, library->ops));
    run.config = with_data_for_model(std::move(config));
    break;
  }
  return run;
}

}  // namespace

Result<TrainedRun> open_trained_run(Disk& disk, const std::string& path, const std::vector<std::string>& set,
                                    const LoadOptions& options) try {
  TROUPE_ASSIGN(const std::string found, find_model(disk, path));
  TROUPE_ASSIGN(TrainedRun run, with_run_file(disk, run_of_checkpoint(disk, found).value_or(found),
                                              load(disk, found, options), set));
  if (inference::kind_of(disk, found) == inference::ModelKind::Run) {
    TROUPE_ASSIGN(run.damaged, newer_checkpoints(disk, found, run.model.source()));
  }
  return run;
} catch (const Error& error) {
  return error.status();
}

Result<TrainedRun> trained_run_of(Disk& disk, const Model& model, const std::vector<std::string>& set) {
  const std::string& source = model.source();
  return with_run_file(disk, run_of_checkpoint(disk, source).value_or(source), model, set);
}

const ModelSignature* predict_signature(const Model& model) {
  const auto& signatures = model.signatures();
  const auto found = std::ranges::find(signatures, Model::predict, &ModelSignature::name);
  return found == signatures.end() ? nullptr : &*found;
}

void keep_columns_to_predict(const TrainedRun& run, data::Options& options) {
  const ModelSignature* const predict = predict_signature(run.model);
  if (!run.config || !predict) return;
  std::set<std::string> taken;  // columns
  for (const data::Input& input : data::all_inputs(options))
    if (std::ranges::find(predict->inputs, input.name, &ModelTensor::name) != predict->inputs.end())
      taken.insert(input.from);
  if (options.window) taken.insert(options.window->series);
  const auto is_taken = [&](const std::string& column) { return taken.contains(column); };
  if (const auto arrays = options.format_options.find(data::arrays_option);
      arrays != options.format_options.end())
    std::erase_if(std::get<std::vector<std::string>>(arrays->second),
                  [&](const auto& array) { return !is_taken(array); });
  if (data::has_arrays(options))
    std::erase_if(options.inputs, [&](const auto& input) { return !is_taken(input.from); });
  if (std::ranges::none_of(options.columns, is_taken, &data::TableColumn::name)) return;
  std::erase_if(options.columns, [&](const auto& column) { return !is_taken(column.name); });
  std::erase_if(options.inputs, [&](const auto& input) { return !is_taken(input.from); });
}

Result<std::shared_ptr<const data::SampleSet>> samples_to_predict(Disk& disk, const TrainedRun& run,
                                                                  const std::vector<std::string>& files) try {
  const std::string form = files.size() == 1 ? data::format_of_name(files.front()) : "";
  const bool has_arrays =
      (form == "npz" || form == "npy" || form == "jsonl") && files.front().ends_with(form);
  if (has_arrays && (!run.config || !reads(run.config->data, form)))
    return read_arrays(disk, files.front(), run.model);
  if (!run.config)
    return invalid_argument(
        files.front() + ": the model in " + run.folder +
        " has no run file that says how files are read; it takes one .npz or .jsonl file with "
        "its inputs by name, or one .npy file");
  config::RunConfig config = *run.config;
  if (std::ranges::all_of(files, [](const auto& file) { return data::format_of_name(file) == "jsonl"; }))
    config.data = options_for_json_lines(disk, config.data);
  keep_columns_to_predict(run, config.data);
  config.data.train = files;
  config.data.valid.clear();
  config.data.valid_labels.clear();
  config.data.valid_split = 0;
  if (auto& window = config.data.window) {  // the label of a stretch may lie in the future
    window->ahead = 0;
    if (!std::exchange(window->label, {}).empty()) leave_labels(config.data);
  }
  const auto features = features_of(run);
  config::RunConfig unlabelled = config;
  leave_labels(unlabelled.data);
  const auto fits = [&](const Result<std::optional<int64_t>>& found) {
    return found && (!features || !*found || *found == features);
  };
  if (!config.data.columns.empty() || config.data.format_options.contains(data::features_option) ||
      data::has_arrays(config.data))
    config = unlabelled;                           // the columns have names, so the label is not needed
  config.data.format_options.erase("unlabelled");  // each row gets a prediction
  const auto as_trained = features_of_files(disk, config.data);
  if (!fits(as_trained)) {
    const auto without = features_of_files(disk, unlabelled.data);
    if (without && as_trained && !fits(without))
      return data_loss(files.front() + ": a sample has " + std::to_string(**without) +
                       " numbers; the model takes " + std::to_string(*features) +
                       ", and a label beside them, if there is one");
    config = std::move(unlabelled);
  }
  TROUPE_ASSIGN(auto samples, train::load_data(disk, config));
  return samples.train;
} catch (const Error& error) {
  return error.status();
}

std::string default_part(const config::RunConfig& config) {
  const data::Options& data = config.data;
  return !data.test.empty() ? "test" : data.valid_split > 0 || !data.valid.empty() ? "valid" : "train";
}

Result<std::shared_ptr<const data::SampleSet>> samples_to_evaluate(Disk& disk, const TrainedRun& run,
                                                                   const LabelledFiles& what) {
  if (!run.config)
    return invalid_argument("the model in " + run.folder + " has no run file that says how files are read");
  TROUPE_RETURN_IF_FAILED(check_part(what.part));
  config::RunConfig config = *run.config;
  data::Options& options = config.data;
  const bool needs_files = what.part == "test" || !what.files.empty();
  if (needs_files) {
    options.train = what.files.empty() ? options.test : what.files;
    options.train_labels = what.files.empty() ? options.test_labels : what.labels;
    options.valid.clear();
    options.valid_labels.clear();
    options.valid_split = 0;
  }
  if (options.train.empty())
    return invalid_argument(
        "the run file names no files for testing, data.test; name files, or write --on valid or train");
  TROUPE_ASSIGN(auto samples, train::load_data(disk, config));
  if (needs_files || what.part == "train") return samples.train;
  if (!samples.valid) return invalid_argument("the run file holds out no samples for validation, data.valid");
  return samples.valid;
}

Result<std::vector<Tensor>> inputs_of(const ModelSignature& signature, const data::Dataset& batch) {
  std::vector<Tensor> inputs;
  for (const ModelTensor& wanted : signature.inputs) {
    const Tensor* const values = batch.find(wanted.name);
    if (!values)
      return invalid_argument("the samples have no column '" + wanted.name + "', which the model takes");
    inputs.push_back(*values);
  }
  return inputs;
}

train::Scores evaluate(const TrainedRun& run, const data::SampleSet& samples,
                       const Cancellation* cancellation) {
  const ModelSignature& signature = run.model.signature(Model::evaluate);
  std::vector<std::string> names;
  for (const ModelTensor& score : signature.outputs) names.push_back(score.name);
  train::ScoreMeans means(std::move(names),
                          run.config ? train::set_metrics_of(*run.config) : train::SetMetrics());
  const auto batches = samples.batches(evaluated_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    const data::Dataset batch = value_or_throw(batches->at(static_cast<uint64_t>(i)));
    means.add(run.model.run(value_or_throw(inputs_of(signature, batch)), Model::evaluate, cancellation),
              static_cast<double>(batch.samples()) / static_cast<double>(samples.samples()));
  }
  train::Scores scores = means.result();
  std::stable_partition(scores.begin(), scores.end(),
                        [](const auto& score) { return score.first == "loss"; });
  return scores;
}

}  // namespace troupe::runs
