#include "apps/golden/graph_file.h"

#include "apps/data/arrays/npy.h"
#include "apps/golden/devices.h"
#include "apps/interop/partitioned.h"
#include "apps/interop/read_graph.h"
#include "apps/interop/start_up.h"
#include "graph/build/variables.h"
#include "kernels/core/kernel.h"
#include "kernels/core/state.h"

namespace troupe::golden {
namespace {

constexpr uint64_t max_feed_bytes = uint64_t{1} << 32;

}  // namespace

GraphFile::GraphFile(Disk& disk, const GraphFileOptions& options) {
  const auto library = make_op_library();
  throw_if_failed(library->status);
  meta_ = std::make_unique<interop::MetaGraph>(
      value_or_throw(interop::read_graph_file(disk, options.file, library->ops)));
  RuntimeOptions own{.threads = options.threads, .memory = options.memory, .devices = options.devices};
  if (!options.master) own.tasks = value_or_throw(tasks_of(graph(), options.devices));
  runtime_ = std::make_unique<Runtime>(own);
  session_ = std::make_unique<Session>(open_session(options));
  read_feeds(disk, options.feeds);
  initialize(disk, options);
  std::vector<Output> fetches;
  for (const auto& name : options.fetches) fetches.push_back(value_or_throw(graph().find_output(name)));
  for (const auto& name : options.targets) fetches.push_back(value_or_throw(graph().find_target(name)));
  step_ = session_->prepare(fed_, fetches);
  const auto runners = value_or_throw(interop::queue_runners_of(*meta_));
  has_queue_runners_ = !runners.empty();
  if (has_queue_runners_) session_->start_queue_runners(runners);
}

Session GraphFile::open_session(const GraphFileOptions& options) const {
  const SessionOptions session{.check_finite = options.check_finite, .simplify = options.simplify};
  return options.master ? runtime_->connect(graph(), *options.master, session)
                        : runtime_->session(graph(), session);
}

/// Returns whether every variable of the graph has a value.
bool GraphFile::has_all_values() const {
  return session_->run({report_uninitialized_variables(Scope(meta_->graph))})[0].shape().elements() == 0;
}

/// Does what TensorFlow's managed sessions do, in their order.
void GraphFile::initialize(Disk& disk, const GraphFileOptions& options) {
  for (const auto& name : options.init) session_->run({value_or_throw(graph().find_target(name))});
  const bool lacks_values = options.init.empty() && options.checkpoint.empty();
  if (lacks_values && !(options.master && has_all_values())) run_collection("init_op", "variables");
  if (!options.checkpoint.empty()) restore(disk, options.checkpoint);
  run_collection("local_init_op", "local_variables");
  run_collection("table_initializer");
}

/// Runs the targets of the collection `name`; if there are none, the initialisers of the variables in the other one.
void GraphFile::run_collection(const std::string& name, const std::string& variables) {
  auto targets = value_or_throw(interop::targets_of(*meta_, name));
  if (targets.empty()) targets = value_or_throw(interop::initializers_of(*meta_, variables));
  if (!targets.empty()) session_->run(targets);
}

std::vector<Tensor> GraphFile::run(const StepOptions& options) const try {
  return step_.run(feeds_, options);
} catch (const Error&) {
  if (has_queue_runners_) session_->stop_queue_runners();
  throw;
}

void GraphFile::read_feeds(Disk& disk, const std::vector<std::string>& feeds) {
  for (const auto& feed : feeds) {
    const size_t equals = feed.find('=');
    if (equals == std::string::npos)
      throw Error(invalid_argument("--feed " + feed + ": expected NAME=FILE.npy"));
    const std::string file = feed.substr(equals + 1);
    fed_.push_back(value_or_throw(graph().find_output(feed.substr(0, equals))));
    feeds_.push_back(
        value_or_throw(data::read_npy(value_or_throw(read_file(disk, file, max_feed_bytes)), file)));
  }
}

/// Variables that the checkpoint does not have keep their values. If it has none of them, it belongs to another graph.
void GraphFile::restore(Disk& disk, const std::string& checkpoint) {
  const auto bundle = value_or_throw(Bundle::open(disk, checkpoint));
  std::map<std::string, PartialShape> variables;
  for (const Node& node : graph().nodes())
    if (is_variable(node)) variables.emplace(node.name, graph().shape({node.id, 0}));
  const Scope scope(meta_->graph);
  std::vector<std::pair<Output, Tensor>> values;
  std::vector<Output> assigned;
  for (const auto& [name, saved] : value_or_throw(interop::find_saved(variables, bundle))) {
    const Tensor value =
        value_or_throw(saved.slice ? bundle.read(saved.name, *saved.slice) : bundle.read(saved.name));
    const Output variable{graph().find(name)->id, 0};
    const Output fed = scope.add_one("Placeholder", {}, {{"dtype", value.dtype()}});
    const bool resource = graph().dtype(variable) == DType::Resource;
    assigned.push_back(
        {scope.add(resource ? "AssignVariableOp" : "Assign", {variable, fed}), Output::control});
    values.emplace_back(fed, value);
  }
  if (assigned.empty()) throw Error(not_found("checkpoint " + checkpoint + " has no variable of this graph"));
  session_->run(values, assigned);
}

}  // namespace troupe::golden
