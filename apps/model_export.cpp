#include "apps/model_export.h"

#include "actors/step/around_waits.h"
#include "apps/inference/cancellable_disk.h"
#include "apps/inference/model.h"
#include "apps/nn/partitioned_variable.h"
#include "apps/runs/export.h"
#include "apps/runs/saved_model_graph.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"

namespace troupe {
namespace {

using Signatures = std::map<std::string, ExportedSignature>;

/// Returns an output that yields the value of a variable. Adds a node if the variable is a resource that no node reads.
Output value_of(Graph& graph, Output variable) {
  if (graph.dtype(variable) != DType::Resource) return variable;
  for (const Node& node : graph.nodes())
    if (node.type() == "ReadVariableOp" && node.inputs[0] == variable && node.control_inputs.empty())
      return {node.id, 0};
  const auto dtype = graph.node(variable.node).attrs.get<DType>("dtype");
  const Scope scope = nn::beside(Scope(graph), variable).with_prefix("export");
  return scope.add_one("ReadVariableOp", {variable}, {{"dtype", dtype}});
}

/// Returns the values of variables by the names of their state.
std::map<std::string, Tensor> read(Session& session, Graph& graph, const std::vector<Output>& variables,
                                   const Cancellation* cancellation) {
  std::map<std::string, Tensor> values;
  if (variables.empty()) return values;
  std::vector<Output> fetches;
  for (const Output variable : variables) fetches.push_back(value_of(graph, variable));
  const std::vector<Tensor> tensors = session.run(fetches, {.cancellation = cancellation});
  for (size_t i = 0; i < variables.size(); ++i)
    values.emplace(state_name(graph.node(variables[i].node)), tensors[i]);
  return values;
}

runs::TrainedModel trained_model(Session& session, Graph& graph, const Signatures& signatures,
                                 const Cancellation* cancellation) {
  if (&session.graph() != &graph)
    throw Error(invalid_argument("the session belongs to another graph than the one to export"));
  interop::MetaGraph model{graph, {}, {}, {}, {}};
  for (const auto& [name, signature] : signatures)
    model.signatures.emplace(name, interop::Signature{signature.method, signature.inputs, signature.outputs});
  const std::vector<Output> variables = runs::variables_to_export(model);
  auto values = read(session, graph, variables, cancellation);
  model.graph = runs::without_parts(graph);  // which may have a node more
  return {.source = {.meta = runs::saved_model_graph(std::move(model), variables),
                     .model = {},
                     .checkpoints = {}},
          .values = std::move(values),
          .checkpoint = {},
          .config = {}};
}

}  // namespace

void export_saved_model(Session& session, Graph& graph, const std::string& folder,
                        const Signatures& signatures, const Cancellation* cancellation) {
  if (signatures.empty()) throw Error(invalid_argument("there are no signatures to export"));
  RealDisk files;
  inference::CancellableDisk disk(files, cancellation);
  throw_if_failed(runs::check_no_saved_model(disk, folder));
  const runs::TrainedModel model = trained_model(session, graph, signatures, cancellation);
  AroundWaits::call([&] { throw_if_failed(runs::export_saved_model(disk, model, folder)); });
}

void export_onnx(Session& session, Graph& graph, const std::string& file, const ExportedSignature& signature,
                 const Cancellation* cancellation) {
  const std::string name(Model::predict);
  const runs::TrainedModel model = trained_model(session, graph, {{name, signature}}, cancellation);
  RealDisk files;
  inference::CancellableDisk disk(files, cancellation);
  AroundWaits::call([&] {
    throw_if_failed(make_folders(disk, folder_of(file)));
    throw_if_failed(runs::export_onnx(disk, model, *make_op_library(), file));
  });
}

}  // namespace troupe
