// The keys of a run file (run_config.h). A row without `required` and `initial` is optional. `Kind::Unavailable` and `.unavailable`
// mark keys and values that the specification of run files has, but that are not available yet.
#include <algorithm>

#include "apps/config/layer_calls.h"
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

// One row per key.
// clang-format off
constexpr Key keys[] = {
    {"run", Kind::Section, "the run itself", {.initial = "{}"}},
    {"run.name", Kind::FolderName, "name of the run, whose results are written to DIRECTORY/NAME/NNN",
     {.initial = "\"run\""}},
    {"run.directory", Kind::String, "folder for the results of runs; may be relative to the current folder",
     {.initial = "\"runs\""}},
    {"run.seed", Kind::Integer, "seed of all random numbers", {.initial = "0", .range = at_least(0)}},
    {"run.threads", Kind::Integer, "compute threads; 0: one per core",
     {.initial = "0", .range = between(0, 1024)}},

    {"data", Kind::Section, "where the samples come from", {.required = true}},
    {"data.format", Kind::Choice,
     "format of the files; it yields the column image and, if there are labels, label",
     {.required = true, .listed_choices = data::format_names, .unavailable = "tfrecord"}},
    {"data.train", Kind::Paths, "files to train on", {.required = true}},
    {"data.train_labels", Kind::Paths, "for formats with label files (idx, npy): one for each file of train"},
    {"data.scale", Kind::Number, "factor by which features are multiplied", {.initial = "1.0"}},
    {"data.valid", Kind::Section, "samples to validate on: a part of train, or files of their own"},
    {"data.valid.split", Kind::Number, "fraction of train that is held out", {.range = inside(0, 1)}},
    {"data.valid.files", Kind::Paths, "files to validate on"},
    {"data.valid.labels", Kind::Paths, "label files, one for each file of files"},
    {"data.batch", Kind::Integer, "samples in a global batch",
     {.required = true, .range = between(1, 1 << 24)}},
    {"data.shuffle", Kind::Boolean, "whether each epoch has a new order", {.initial = "true"}},
    {"data.inputs", Kind::Section, "inputs of the graph, made by renaming, reshaping and casting columns"},
    {"data.inputs.*", Kind::Section, "an input of the graph"},
    {"data.inputs.*.from", Kind::Choice,
     "the column of which the input is made; default: the one of the same name",
     {.choices = "image|label"}},
    {"data.inputs.*.shape", Kind::Dimensions, "shape of one sample", {.range = at_least(1)}},
    {"data.inputs.*.cast", Kind::Choice, "element type", {.choices = "float|double|int32|int64"}},

    {"model", Kind::Section, "the model to train", {.required = true}},
    {"model.variables", Kind::Section, "the variables of the model", {.initial = "{}"}},
    {"model.variables.*", Kind::Section, "a variable"},
    {"model.variables.*.shape", Kind::Dimensions, "shape of the variable; [] is a scalar",
     {.required = true, .range = at_least(1)}},
    {"model.variables.*.init", Kind::Choice, "distribution of the initial value",
     {.required = true,
      .choices = "zeros|ones|constant|uniform|normal|truncated_normal|"
                 "glorot_uniform|glorot_normal|he_normal"}},
    {"model.variables.*.value", Kind::Number, "value of every element",
     {.required = true, .when = "init=constant"}},
    {"model.variables.*.min", Kind::Number, "lowest value", {.initial = "-0.05", .when = "init=uniform"}},
    {"model.variables.*.max", Kind::Number, "highest value", {.initial = "0.05", .when = "init=uniform"}},
    {"model.variables.*.mean", Kind::Number, "mean",
     {.initial = "0.0", .when = "init=normal|truncated_normal"}},
    {"model.variables.*.stddev", Kind::Number, "standard deviation",
     {.initial = "0.05", .range = above(0), .when = "init=normal|truncated_normal"}},
    {"model.variables.*.dtype", Kind::Choice, "element type",
     {.initial = "\"float\"", .choices = "float|double"}},
    {"model.variables.*.trainable", Kind::Boolean, "whether training changes it", {.initial = "true"}},
    {"model.graph", Kind::Section, "names and their expressions, in any order", {.initial = "{}"}},
    {"model.graph.*", Kind::Expression, "an expression of calls of ops, arithmetic, and names"},
    {"model.input", Kind::String, "what the first layer is applied to; default: image"},
    {"model.layers", Kind::Sections,
     "layers, each applied to the result of the one before; the last result is named output", {.by_type = true}},
    {"model.layers.type", Kind::Choice, "kind of layer", {.required = true, .listed_choices = layer_names}},
    {"model.layers.name", Kind::Name, "name of the layer's result and of its weights, NAME_weights; default: TYPE_NUMBER"},
    {"model.layers.input", Kind::Strings,
     "expression, or several, for what the layer is applied to; default: the result of the one before"},

    {"train", Kind::Section, "how the model is trained", {.required = true}},
    {"train.loss", Kind::Expression, "the scalar to minimize", {.required = true}},
    {"train.optimizer", Kind::Section, "the update rule", {.required = true}},
    {"train.optimizer.type", Kind::Choice, "the update rule",
     {.required = true, .choices = "sgd|momentum|adam", .unavailable = "adagrad|adadelta|rmsprop|ftrl"}},
    {"train.optimizer.lr", Kind::Number, "learning rate", {.required = true, .range = above(0)}},
    {"train.optimizer.momentum", Kind::Number, "decay of the accumulated gradient",
     {.initial = "0.9", .range = fraction, .when = "type=momentum"}},
    {"train.optimizer.nesterov", Kind::Boolean, "whether Nesterov momentum is used",
     {.initial = "false", .when = "type=momentum"}},
    {"train.optimizer.beta1", Kind::Number, "decay of the first moment",
     {.initial = "0.9", .range = fraction, .when = "type=adam"}},
    {"train.optimizer.beta2", Kind::Number, "decay of the second moment",
     {.initial = "0.999", .range = fraction, .when = "type=adam"}},
    {"train.optimizer.epsilon", Kind::Number, "added to the divisor",
     {.initial = "1e-8", .range = above(0), .when = "type=adam"}},
    {"train.metrics", Kind::Section, "names and scalar expressions to report beside the loss",
     {.initial = "{}"}},
    {"train.metrics.*", Kind::Expression, "a scalar"},
    {"train.max_epochs", Kind::Integer, "the training stops after this number of passes over the data",
     {.range = at_least(1)}},
    {"train.max_steps", Kind::Integer, "the training stops after this number of steps",
     {.range = at_least(1)}},
    {"train.early_stop", Kind::Section, "stops the training when a metric no longer improves"},
    {"train.early_stop.monitor", Kind::String,
     "metric to observe: \"valid/\" or \"train/\", then \"loss\" or a name of train.metrics",
     {.required = true}},
    {"train.early_stop.mode", Kind::Choice, "whether low or high values are better",
     {.required = true, .choices = "min|max"}},
    {"train.early_stop.patience", Kind::Integer, "epochs without improvement before the training stops",
     {.required = true, .range = at_least(1)}},
    {"train.early_stop.min_delta", Kind::Number, "the smallest change that counts as an improvement",
     {.initial = "0.0", .range = at_least(0)}},
    {"train.early_stop.keep_best", Kind::Boolean,
     "whether the training ends with the best weights instead of the last",
     {.initial = "false"}},
    {"train.on_nan", Kind::Choice, "what happens when the loss is not a finite number",
     {.initial = "\"stop\"", .choices = "stop", .unavailable = "rollback"}},
    {"train.replication", Kind::Section, "how workers share the work of a step", {.initial = "{}"}},
    {"train.replication.mode", Kind::Choice, "when gradients are applied",
     {.initial = "\"local\"", .choices = "local|sync|async", .unavailable = "ssp|hogwild|allreduce"}},
    {"train.replication.shards", Kind::Integer, "number of parts of a batch; default: the number of workers",
     {.range = between(1, 4096), .when = "mode=sync|async"}},
    {"train.replication.backup_workers", Kind::Integer, "number of shards for which a step need not wait",
     {.range = at_least(0), .when = "mode=sync"}},
    {"train.replication.staleness", Kind::Unavailable, "number of steps by which a worker may be ahead"},
    {"train.checkpoint", Kind::Section, "when the state is saved", {.initial = "{}"}},
    {"train.checkpoint.every", Kind::Period, "time or number of steps between two checkpoints",
     {.initial = "\"60s\""}},
    {"train.checkpoint.keep", Kind::Integer, "number of checkpoints to keep; older ones are deleted",
     {.initial = "5", .range = between(1, 100000)}},
    {"train.checkpoint.on_signal", Kind::Boolean,
     "whether SIGINT and SIGTERM save a checkpoint before the run ends",
     {.initial = "true"}},
    {"train.fault", Kind::Section, "how the run handles the loss of processes", {.initial = "{}"}},
    {"train.fault.max_restarts", Kind::Integer,
     "how many times the run continues from its last checkpoint after a loss",
     {.initial = "0", .range = between(0, 1000)}},
    {"train.fault.start_timeout", Kind::Duration,
     "the longest time to wait until all processes of the cluster are linked",
     {.initial = "\"60s\""}},
    {"train.fault.heartbeat", Kind::Duration,
     "the longest time between two messages of a process; one that is silent for five times as long is lost",
     {.initial = "\"200ms\"", .range = between(0.02, 60)}},

    {"cluster", Kind::Section, "the tasks of this run", {.initial = "{}"}},
    {"cluster.in_process", Kind::Section, "the number of tasks of each job, all of them in this process",
     {.initial = "{ worker = 1 }"}},
    {"cluster.in_process.*", Kind::Integer, "number of tasks of the job", {.range = between(1, 64)}},
    {"cluster.devices", Kind::Integer, "number of CPU devices of each task",
     {.initial = "1", .range = between(1, 64)}},
    {"observe", Kind::Unavailable, "TensorBoard files, a metrics server"},
};
// clang-format on

}  // namespace

std::vector<Key> run_schema() {
  std::vector<Key> all(std::begin(keys), std::end(keys));
  const auto after_format = std::ranges::find(all, "data.format", &Key::path) - all.begin() + 1;
  for (const data::Format& format : data::all_formats())
    all.insert(all.begin() + after_format, format.keys.begin(), format.keys.end());
  const auto after_layers = std::ranges::find(all, "model.layers.input", &Key::path) + 1;
  const auto of_layers = layer_keys();
  all.insert(after_layers, of_layers.begin(), of_layers.end());
  return all;
}

}  // namespace troupe::config
