// Graphs as TensorFlow writes them, GraphDef and MetaGraphDef, read into a Graph (features.md B1, B10, B11). Functions are put in
// place where they are called; what is read has passed the checks of any graph. Whatever the bytes are, the answer is a graph or
// a Status that names the node: nothing is trusted. Functions without state.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/interop/graph_limits.h"
#include "graph/graph.h"

namespace troupe::interop {

/// The version of TensorFlow's graphs that is understood (that of 2.21).
inline constexpr int consumer_version = 2474;

/// Binary or text, whichever it is. Unimplemented when ops are missing in the table, naming them all; InvalidArgument or
/// AlreadyExists for what is wrong in the file, with node, op and attribute; ResourceExhausted naming the limit passed.
Result<Graph> read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                             const GraphLimits& limits = {});

/// How variables are saved and restored by the graph itself.
struct Saver {
  std::string filename_tensor, save_tensor, restore_node;
};

struct MetaGraph {
  /// Names of nodes or tensors, serialised messages, or numbers.
  struct Bytes {
    std::vector<std::string> values;
  };
  using Collection = std::variant<std::vector<std::string>, Bytes, std::vector<int64_t>, std::vector<float>>;

  Graph graph;
  std::vector<std::string> tags;
  std::string tensorflow_version;
  std::optional<Saver> saver;
  std::map<std::string, Collection> collections;
};

Result<MetaGraph> read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                                  const GraphLimits& limits = {});

}  // namespace troupe::interop
