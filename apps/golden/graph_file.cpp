#include "apps/golden/graph_file.h"

#include "apps/data/arrays/npy.h"
#include "apps/golden/devices.h"
#include "apps/interop/partitioned.h"
#include "apps/interop/read_graph.h"
#include "graph/build/scope.h"
#include "kernels/core/kernel.h"
#include "kernels/core/state.h"

namespace troupe::golden {
namespace {

constexpr uint64_t max_bytes = uint64_t{1} << 32;

}  // namespace

GraphFile::GraphFile(Disk& disk, const GraphFileOptions& options) {
  const auto library = make_op_library();
  throw_if_failed(library->status);
  graph_ =
      std::make_unique<Graph>(value_or_throw(interop::read_graph_file(disk, options.file, library->ops)));
  runtime_ =
      std::make_unique<Runtime>(RuntimeOptions{.threads = options.threads,
                                               .memory = options.memory,
                                               .tasks = value_or_throw(tasks_of(*graph_, options.devices)),
                                               .devices = options.devices});
  session_ = std::make_unique<Session>(runtime_->session(*graph_, {.simplify = options.simplify}));
  read_feeds(disk, options.feeds);
  for (const auto& name : options.init) session_->run({value_or_throw(graph_->find_target(name))});
  if (!options.checkpoint.empty()) restore(disk, options.checkpoint);
  std::vector<Output> fetches;
  for (const auto& name : options.fetches) fetches.push_back(value_or_throw(graph_->find_output(name)));
  for (const auto& name : options.targets) fetches.push_back(value_or_throw(graph_->find_target(name)));
  step_ = session_->prepare(fed_, fetches);
}

void GraphFile::read_feeds(Disk& disk, const std::vector<std::string>& feeds) {
  for (const auto& feed : feeds) {
    const size_t equals = feed.find('=');
    if (equals == std::string::npos)
      throw Error(invalid_argument("--feed " + feed + ": expected NAME=FILE.npy"));
    const std::string file = feed.substr(equals + 1);
    fed_.push_back(value_or_throw(graph_->find_output(feed.substr(0, equals))));
    feeds_.push_back(value_or_throw(data::read_npy(value_or_throw(read_file(disk, file, max_bytes)), file)));
  }
}

/// Variables that the checkpoint does not have keep their values. If it has none of them, it belongs to another graph.
void GraphFile::restore(Disk& disk, const std::string& checkpoint) {
  const auto bundle = value_or_throw(interop::Bundle::open(disk, checkpoint));
  std::map<std::string, PartialShape> variables;
  for (const Node& node : graph_->nodes())
    if (is_variable(node)) variables.emplace(node.name, graph_->shape({node.id, 0}));
  const Scope scope(*graph_);
  std::vector<std::pair<Output, Tensor>> values;
  std::vector<Output> assigned;
  for (const auto& [name, saved] : value_or_throw(interop::find_saved(variables, bundle))) {
    const Tensor value =
        value_or_throw(saved.slice ? bundle.read(saved.name, *saved.slice) : bundle.read(saved.name));
    const Output variable{graph_->find(name)->id, 0};
    const Output fed = scope.add_one("Placeholder", {}, {{"dtype", value.dtype()}});
    const bool resource = graph_->dtype(variable) == DType::Resource;
    assigned.push_back(
        {scope.add(resource ? "AssignVariableOp" : "Assign", {variable, fed}), Output::control});
    values.emplace_back(fed, value);
  }
  if (assigned.empty()) throw Error(not_found("checkpoint " + checkpoint + " has no variable of this graph"));
  session_->run(values, assigned);
}

}  // namespace troupe::golden
