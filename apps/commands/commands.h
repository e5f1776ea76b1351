// The subcommands of the program. Each gives its exit code: 0 ok, 1 failure, 2 usage or config, 3 data, 4 diverged, 130 or 143 ended in
// order by SIGINT or SIGTERM.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/cluster/launch.h"
#include "apps/cluster/place.h"

namespace troupe::commands {

struct TrainArguments {
  std::string file;
  std::vector<std::string> set;  ///< "a.b=c"
  std::string resume;            ///< "", "auto", or the folder of a run
  long long dry_run_steps = 0;
  size_t memory = 0;  ///< of each process; see RuntimeOptions
  bool quiet = false, json = false;
  std::string cluster;  ///< a cluster file; its nodes run already, unless there is `launch`
  std::string local;    ///< "ps=1,worker=2": processes to start on this machine
  std::optional<cluster::LaunchOptions> launch = {};  ///< how the nodes of the cluster file are to be started
};

struct NodeArguments {
  cluster::PlaceOptions place;
  TlsFiles tls = {};  ///< to ask a member with; empty: plain
  std::string listen;
  std::vector<std::string> roots = {"."};  ///< folders for the files that masters name
  int devices = 1, threads = 0;
  size_t memory = 0;  ///< see RuntimeOptions
  std::string heartbeat = "200ms";
  bool json = false;     ///< what it says, as one object a line
  bool explain = false;  ///< says which task it is, and how that is known, and ends
  bool inherit = false;  ///< what to be is read from the standard input
};

/// "ps=1,worker=2".
Result<std::map<std::string, int>> parse_tasks(const std::string& text);
/// The same, of jobs that have a part in a training.
Result<std::map<std::string, int>> parse_training_tasks(const std::string& text);
/// What a subcommand has written, a line for each, or {"files": [...]}.
void print_files(const std::vector<std::string>& files, bool json);

int train(const TrainArguments& arguments);
int check(const TrainArguments& arguments);
int node(const NodeArguments& arguments);
/// Writes certificates for the tasks of a cluster file.
int certs(const std::string& folder, const std::string& cluster_file, bool json);
int version(bool json);

}  // namespace troupe::commands
