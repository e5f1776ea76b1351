// The names under which files of the format V2 hold the variables of a graph. They follow from the nodes that restore the
// variables, so they are known for every graph with a saver, whatever wrote it. Functions without state; any thread.
#pragma once

#include <map>
#include <string>

#include "apps/interop/meta_graph.h"

namespace troupe::inference {

/// Where a variable is saved.
struct SavedName {
  std::string name;
  std::string slice;  ///< in the form of an op's input shape_and_slices; empty: the whole tensor of this name
};

/// Returns the places by the names of variables (state_name()). A graph without a saver has none: its variables are saved under
/// their own names.
std::map<std::string, SavedName> saved_names(const interop::MetaGraph& meta);

/// Returns the output that the Identity nodes before this one pass on.
Output source_of(const Graph& graph, Output output);
/// Returns the element of a constant vector of strings; empty if it has none.
std::string text_at(const Graph& graph, Output texts, uint32_t index);

}  // namespace troupe::inference
