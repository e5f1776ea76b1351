// MetaGraph: a graph with the data that TensorFlow's MetaGraphDef holds beside it: collections, which name tensors by role, the
// saver, which names the nodes that save and restore variables, and signatures, which are the functions that a model offers. A
// plain value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/build/graph.h"

namespace troupe::interop {

/// The nodes of the graph that save and restore its variables, and the settings of TensorFlow's Saver.
struct Saver {
  std::string filename_tensor, save_tensor, restore_node;
  int max_to_keep = 0;
  bool sharded = false;
  float keep_every_n_hours = 0;
  int format = 0;  ///< 0: legacy, 1: V1, 2: V2

  friend bool operator==(const Saver&, const Saver&) = default;
};

/// A function that a saved model offers: the tensors that its caller gives and gets, by the names that callers use. The nodes of
/// the graph may have other names.
struct Signature {
  std::string method;  ///< what kind of function it is, for servers: "tensorflow/serving/predict"
  std::map<std::string, Output> inputs, outputs;

  friend bool operator==(const Signature&, const Signature&) = default;
};

/// The signature by which files of TensorFlow 2, and the collection by which those of TensorFlow 1, name MetaGraph::init_op.
inline constexpr const char *init_op_signature = "__saved_model_init_op",
                            *init_op_collection = "saved_model_main_op";

struct MetaGraph {
  /// Serialised messages, whose type follows from the name of the collection.
  struct Bytes {
    std::vector<std::string> values;
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };
  /// A serialised message with the name of its type.
  struct Any {
    std::string type, value;
    friend bool operator==(const Any&, const Any&) = default;
  };
  /// The first alternative holds names of nodes or tensors.
  using Collection = std::variant<std::vector<std::string>, Bytes, std::vector<int64_t>, std::vector<float>,
                                  std::vector<Any>>;

  Graph graph;
  std::vector<std::string> tags;
  /// The version that wrote the graph. It affects how TensorFlow reads collections.
  std::string tensorflow_version;
  std::optional<Saver> saver;
  std::map<std::string, Collection> collections;
  std::map<std::string, Signature> signatures = {};
  /// The signatures that were read from a file and left out, by their names, and why: some need an op that Troupe does not have.
  std::map<std::string, Status> absent_signatures = {};
  /// The node that TensorFlow runs when it has loaded a saved model and restored its variables. Empty: none.
  std::string init_op = {};
  /// The files in the folder assets of a saved model, by their names there, with the tensor that gets the path of each.
  std::map<std::string, Output> assets = {};
};

}  // namespace troupe::interop
