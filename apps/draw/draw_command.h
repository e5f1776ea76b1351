// The work of the subcommand graph: draws a TensorFlow graph, or the graph of a run file, as it was built and as it would be run.
// Functions without state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe::draw {

struct DrawArguments {
  std::string file;                                  ///< a run file ("run.toml"), GraphDef or MetaGraphDef
  std::vector<std::string> feeds, fetches, targets;  ///< the signature of the step; ignored for a run file
  std::map<std::string, int> tasks;  ///< where it would run, such as "ps" -> 1; empty: in one process
  std::string out = "graph";         ///< the prefix of the names of the files
  bool is_run() const { return file.ends_with(".toml"); }
};

/// Writes OUT.dot and, if there is something to fetch or run, OUT.placed.dot. Returns the names of the files. Fails, and writes
/// nothing, if the file, the graph or the signature is invalid or the disk refuses.
Result<std::vector<std::string>> draw(const DrawArguments& arguments);

/// Runs graphviz' program dot to make FILE.svg from each FILE.dot. Returns the names of the files made: none if dot is not
/// installed.
std::vector<std::string> make_pictures(const std::vector<std::string>& files);

}  // namespace troupe::draw
