// The keys of a run file (run_config.h). A row without `required` and `initial` is optional; `Kind::Later`
// and `.later` are what the specification of run files knows and this program refuses as not available yet.
#include <algorithm>

#include "apps/config/run_config.h"

namespace troupe::config {
namespace {

constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .above = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range inside(double low, double high) {
  return {.low = low, .high = high, .above = true, .below = true};
}
constexpr Range fraction{.low = 0, .high = 1, .below = true};

// One row a key.
// clang-format off
constexpr Key keys[] = {
    {"run", Kind::Section, "the run itself", {.initial = "{}"}},
    {"run.name", Kind::FolderName, "its results go to DIRECTORY/NAME/NNN", {.initial = "\"run\""}},
    {"run.directory", Kind::String, "results of runs, from where the program was started",
     {.initial = "\"runs\""}},
    {"run.seed", Kind::Integer, "everything random follows from it", {.initial = "0", .range = at_least(0)}},
    {"run.threads", Kind::Integer, "compute threads; 0: as many as cores",
     {.initial = "0", .range = between(0, 1024)}},

    {"data", Kind::Section, "where the samples come from", {.required = true}},
    {"data.format", Kind::Choice, "format of the files; each yields image and, where there are labels, label",
     {.required = true, .listed_choices = data::format_names, .later = "tfrecord"}},
    {"data.train", Kind::Paths, "files to train on", {.required = true}},
    {"data.train_labels", Kind::Paths, "label files of formats that have some (idx, npy), one for each of train"},
    {"data.scale", Kind::Number, "features are multiplied by it", {.initial = "1.0"}},
    {"data.valid", Kind::Section, "samples to validate on: a part of train, or files of their own"},
    {"data.valid.split", Kind::Number, "part of train that is held out", {.range = inside(0, 1)}},
    {"data.valid.files", Kind::Paths, "files to validate on"},
    {"data.valid.labels", Kind::Paths, "label files, one for each of files"},
    {"data.batch", Kind::Integer, "samples in a global batch",
     {.required = true, .range = between(1, 1 << 24)}},
    {"data.shuffle", Kind::Boolean, "a new order in every epoch", {.initial = "true"}},
    {"data.inputs", Kind::Section, "renames, reshapes and casts what the format yields"},
    {"data.inputs.*", Kind::Section, "an input of the graph"},
    {"data.inputs.*.from", Kind::Choice, "the column it is made of; default: of the same name",
     {.choices = "image|label"}},
    {"data.inputs.*.shape", Kind::Dimensions, "shape of one sample", {.range = at_least(1)}},
    {"data.inputs.*.cast", Kind::Choice, "element type", {.choices = "float|double|int32|int64"}},

    {"model", Kind::Section, "what is computed", {.required = true}},
    {"model.variables", Kind::Section, "state that training changes", {.initial = "{}"}},
    {"model.variables.*", Kind::Section, "a variable"},
    {"model.variables.*.shape", Kind::Dimensions, "its shape; [] is a scalar",
     {.required = true, .range = at_least(1)}},
    {"model.variables.*.init", Kind::Choice, "its first value",
     {.required = true,
      .choices = "zeros|ones|constant|uniform|normal|truncated_normal|"
                 "glorot_uniform|glorot_normal|he_normal"}},
    {"model.variables.*.value", Kind::Number, "every element", {.required = true, .when = "init=constant"}},
    {"model.variables.*.min", Kind::Number, "lowest value", {.initial = "-0.05", .when = "init=uniform"}},
    {"model.variables.*.max", Kind::Number, "highest value", {.initial = "0.05", .when = "init=uniform"}},
    {"model.variables.*.mean", Kind::Number, "mean",
     {.initial = "0.0", .when = "init=normal|truncated_normal"}},
    {"model.variables.*.stddev", Kind::Number, "standard deviation",
     {.initial = "0.05", .range = above(0), .when = "init=normal|truncated_normal"}},
    {"model.variables.*.dtype", Kind::Choice, "element type",
     {.initial = "\"float\"", .choices = "float|double"}},
    {"model.variables.*.trainable", Kind::Boolean, "training changes it", {.initial = "true"}},
    {"model.graph", Kind::Section, "names and their expressions, in any order", {.initial = "{}"}},
    {"model.graph.*", Kind::Expression, "calls of ops, arithmetic, and other names"},
    {"model.input", Kind::String, "what the first layer takes; default: image"},
    {"model.layers", Kind::Sections, "layers one after the other; what the last yields is called output"},
    {"model.layers.type", Kind::Choice, "kind of layer",
     {.required = true, .choices = "dense", .later = "dropout"}},
    {"model.layers.units", Kind::Integer, "outputs of a sample",
     {.required = true, .range = between(1, 1 << 24), .when = "type=dense"}},
    {"model.layers.activation", Kind::Choice, "applied last",
     {.initial = "\"linear\"", .choices = "linear|relu|sigmoid|tanh|softmax", .when = "type=dense"}},
    {"model.layers.bias", Kind::Boolean, "adds a vector of biases",
     {.initial = "true", .when = "type=dense"}},
    {"model.layers.init", Kind::Choice, "first value of the weights",
     {.initial = "\"glorot_uniform\"", .choices = "glorot_uniform|glorot_normal|he_normal",
      .when = "type=dense"}},

    {"train", Kind::Section, "how it is trained", {.required = true}},
    {"train.loss", Kind::Expression, "the scalar to make small", {.required = true}},
    {"train.optimizer", Kind::Section, "the update rule", {.required = true}},
    {"train.optimizer.type", Kind::Choice, "the update rule",
     {.required = true, .choices = "sgd|momentum|adam", .later = "adagrad|adadelta|rmsprop|ftrl"}},
    {"train.optimizer.lr", Kind::Number, "learning rate", {.required = true, .range = above(0)}},
    {"train.optimizer.momentum", Kind::Number, "decay of the accumulated gradient",
     {.initial = "0.9", .range = fraction, .when = "type=momentum"}},
    {"train.optimizer.nesterov", Kind::Boolean, "looks ahead", {.initial = "false", .when = "type=momentum"}},
    {"train.optimizer.beta1", Kind::Number, "decay of the first moment",
     {.initial = "0.9", .range = fraction, .when = "type=adam"}},
    {"train.optimizer.beta2", Kind::Number, "decay of the second moment",
     {.initial = "0.999", .range = fraction, .when = "type=adam"}},
    {"train.optimizer.epsilon", Kind::Number, "added to the divisor",
     {.initial = "1e-8", .range = above(0), .when = "type=adam"}},
    {"train.metrics", Kind::Section, "names and scalar expressions to report beside the loss",
     {.initial = "{}"}},
    {"train.metrics.*", Kind::Expression, "a scalar"},
    {"train.max_epochs", Kind::Integer, "stops after so many passes over the data", {.range = at_least(1)}},
    {"train.max_steps", Kind::Integer, "stops after so many steps", {.range = at_least(1)}},
    {"train.early_stop", Kind::Section, "stops when nothing improves any more"},
    {"train.early_stop.monitor", Kind::String, "\"valid/\" or \"train/\" and \"loss\" or a metric",
     {.required = true}},
    {"train.early_stop.mode", Kind::Choice, "whether low or high is good",
     {.required = true, .choices = "min|max"}},
    {"train.early_stop.patience", Kind::Integer, "epochs without improvement before it stops",
     {.required = true, .range = at_least(1)}},
    {"train.early_stop.min_delta", Kind::Number, "what counts as improvement",
     {.initial = "0.0", .range = at_least(0)}},
    {"train.early_stop.keep_best", Kind::Boolean, "ends with the best weights rather than the last",
     {.initial = "false"}},
    {"train.on_nan", Kind::Choice, "when the loss is no longer a number",
     {.initial = "\"stop\"", .choices = "stop", .later = "rollback"}},
    {"train.replication", Kind::Section, "how workers share a step", {.initial = "{}"}},
    {"train.replication.mode", Kind::Choice, "when gradients are applied",
     {.initial = "\"local\"", .choices = "local|sync|async", .later = "ssp|hogwild|allreduce"}},
    {"train.replication.shards", Kind::Integer, "parts of a batch; default: the workers",
     {.range = between(1, 4096), .when = "mode=sync|async"}},
    {"train.replication.backup_workers", Kind::Integer, "shards that a step need not wait for",
     {.range = at_least(0), .when = "mode=sync"}},
    {"train.replication.staleness", Kind::Later, "steps a worker may be ahead"},
    {"train.checkpoint", Kind::Section, "when the state is saved", {.initial = "{}"}},
    {"train.checkpoint.every", Kind::Period, "how often", {.initial = "\"60s\""}},
    {"train.checkpoint.keep", Kind::Integer, "checkpoints kept; older ones are deleted",
     {.initial = "5", .range = between(1, 100000)}},
    {"train.checkpoint.on_signal", Kind::Boolean, "SIGINT and SIGTERM save before the run ends",
     {.initial = "true"}},
    {"train.fault", Kind::Section, "what to do about processes that are lost", {.initial = "{}"}},
    {"train.fault.max_restarts", Kind::Integer, "so often the run goes on from its last checkpoint; 0: it ends",
     {.initial = "0", .range = between(0, 1000)}},
    {"train.fault.start_timeout", Kind::Duration, "for all processes of the cluster to be there",
     {.initial = "\"60s\""}},
    {"train.fault.heartbeat", Kind::Duration,
     "how often processes hear of each other at least; one that was silent for five times that is lost",
     {.initial = "\"200ms\"", .range = between(0.02, 60)}},

    {"cluster", Kind::Section, "the tasks of this run", {.initial = "{}"}},
    {"cluster.in_process", Kind::Section, "jobs and how many tasks of each, all in this process",
     {.initial = "{ worker = 1 }"}},
    {"cluster.in_process.*", Kind::Integer, "tasks of the job", {.range = between(1, 64)}},
    {"cluster.devices", Kind::Integer, "CPU devices of each task", {.initial = "1", .range = between(1, 64)}},
    {"observe", Kind::Later, "TensorBoard files, a metrics server"},
};
// clang-format on

}  // namespace

std::vector<Key> run_schema() {
  std::vector<Key> all(std::begin(keys), std::end(keys));
  const auto after_format = std::ranges::find(all, "data.format", &Key::path) - all.begin() + 1;
  for (const data::Format& format : data::all_formats())
    all.insert(all.begin() + after_format, format.keys.begin(), format.keys.end());
  return all;
}

}  // namespace troupe::config
