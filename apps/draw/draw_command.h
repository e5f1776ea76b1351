// The subcommand graph: a graph of TensorFlow, or that of a run file, drawn as it was built and as it would be run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe::draw {

struct DrawArguments {
  std::string file;                                  ///< "run.toml", or a GraphDef
  std::vector<std::string> feeds, fetches, targets;  ///< what the step is asked for; a run file tells itself
  std::map<std::string, int> tasks;                  ///< "ps" -> 1: where it would run; none: in one process
  std::string out = "graph";                         ///< files begin so
  bool is_run() const { return file.ends_with(".toml"); }
};

/// Writes OUT.dot, and OUT.placed.dot when something is asked for; the files. What the graph, the signature or the disk is refused
/// for; then nothing is written.
Result<std::vector<std::string>> draw(const DrawArguments& arguments);

/// Makes FILE.svg of FILE.dot for each, by the program dot of graphviz; those made, none where there is no such program.
std::vector<std::string> make_pictures(const std::vector<std::string>& files);

}  // namespace troupe::draw
