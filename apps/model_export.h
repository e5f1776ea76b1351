// Writes what a session has trained in forms that other programs read, installed as <troupe/model_export.h>: parts of its graph,
// with the values that variables have in the session. troupe::load (apps/inference/model.h), TensorFlow and TensorFlow Serving
// read saved models, many programs read ONNX. This process writes the files, and the program says where: RuntimeOptions::roots
// limits only what graphs and other processes name. Failures are thrown as troupe::Error. Public header; one thread at a time per
// graph, and no step may change the variables meanwhile.
//
//   troupe::export_saved_model(session, graph, "models/digits/1",
//                              {{"serving_default", {{{"image", image}}, {{"class", number}}}}});
//   const auto results = troupe::load("models/digits").run({{"image", images}});
#pragma once

#include <map>
#include <string>

#include "actors/step/session.h"
#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A function that an exported model offers: tensors of a graph by the names that callers use. The inputs replace what the graph
/// computes there, so they need not be placeholders.
struct ExportedSignature {
  std::map<std::string, Output> inputs, outputs;
  std::string method = "tensorflow/serving/predict";  ///< what kind of function it is, for servers
};

/// Writes the part of the session's graph that the signatures need, by their names, with the values of its variables, as a folder
/// in TensorFlow's SavedModel format. Requests for devices are left out. Adds nodes to the graph that read those variables which
/// are resources, if it has none. Throws AlreadyExists if there is a saved model in the folder, FailedPrecondition if a variable
/// has no value, InvalidArgument if an output needs a placeholder that is no input of its signature or the session is one of
/// another graph, and Unimplemented, naming node and op, if it needs state that is no variable, such as a queue, or a function of
/// this process. Throws Cancelled if `cancellation`, which may be null, is cancelled meanwhile; there is no saved model then.
void export_saved_model(Session& session, Graph& graph, const std::string& folder,
                        const std::map<std::string, ExportedSignature>& signatures,
                        const Cancellation* cancellation = nullptr);

/// Does the same for one signature and a file in the ONNX format, which may replace another. Throws Unimplemented, naming node and
/// op, too, if ONNX cannot compute what a node does.
void export_onnx(Session& session, Graph& graph, const std::string& file, const ExportedSignature& signature,
                 const Cancellation* cancellation = nullptr);

}  // namespace troupe
#pragma GCC visibility pop
