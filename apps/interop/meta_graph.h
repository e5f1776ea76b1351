// MetaGraph: a graph and what TensorFlow keeps beside it in a MetaGraphDef: what names its tensors by role, and how it is saved. The
// graph's own saver is kept only with its nodes: see read_meta_graph(). A plain value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/build/graph.h"

namespace troupe::interop {

/// How variables are saved and restored by the graph itself, with the settings that TensorFlow's Saver gets back.
struct Saver {
  std::string filename_tensor, save_tensor, restore_node;
  int max_to_keep = 0;
  bool sharded = false;
  float keep_every_n_hours = 0;
  int format = 0;  ///< 0: legacy, 1: V1, 2: V2

  friend bool operator==(const Saver&, const Saver&) = default;
};

struct MetaGraph {
  /// Serialised messages, of the type that the collection's name implies.
  struct Bytes {
    std::vector<std::string> values;
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };
  /// A serialised message with the name of its type.
  struct Any {
    std::string type, value;
    friend bool operator==(const Any&, const Any&) = default;
  };
  /// The first: names of nodes or tensors.
  using Collection = std::variant<std::vector<std::string>, Bytes, std::vector<int64_t>, std::vector<float>,
                                  std::vector<Any>>;

  Graph graph;
  std::vector<std::string> tags;
  std::string tensorflow_version;  ///< that wrote it; TensorFlow reads some collections by it
  std::optional<Saver> saver;
  std::map<std::string, Collection> collections;
};

}  // namespace troupe::interop
