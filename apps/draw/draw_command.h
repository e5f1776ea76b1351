// The work of the subcommand graph: draws a TensorFlow graph, a model, or the model of a run file, as it was built and as it
// would be run. Functions without state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe::draw {

struct DrawArguments {
  std::string file;  ///< a run file ("run.toml"), GraphDef or MetaGraphDef, or the folder of a model or run
  std::vector<std::string> feeds, fetches, targets;  ///< the signature of the step; ignored for a run file
  std::map<std::string, int> tasks;  ///< where it would run, such as "ps" -> 1; empty: in one process
  std::string out = "graph";  ///< a file whose ending is a form, or the prefix of the names of the files
  std::string form;        ///< "dot", "svg" or "html"; empty: by the ending of `out`, otherwise dot and svg
  bool gradients = false;  ///< draws the training with gradients, updates and the state of the optimizer
  bool all = false;        ///< draws every node, without scopes
  std::optional<size_t> depth;  ///< the depth to which scopes are open; not set: default_depth()
  bool is_run() const { return file.ends_with(".toml"); }
};

/// Writes the drawing to `out`, or OUT.FORM, and, if there is something to fetch or run, how it would run to OUT.placed.FORM;
/// with a single file only if there are tasks. Returns the names of the files. Without graphviz no SVG is made beside a dot
/// file; if only a picture is wanted, that fails with Unavailable. Fails, and writes nothing, if the file, the graph or the
/// signature is invalid or the disk refuses.
Result<std::vector<std::string>> draw(const DrawArguments& arguments);

}  // namespace troupe::draw
