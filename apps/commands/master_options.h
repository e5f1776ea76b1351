// The options with which a subcommand runs its steps in a running cluster, and what they mean for the runtime.
#pragma once

#include <optional>
#include <string>

#include "actors/runtime.h"
#include "messages/env/disk.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
class Option;
}  // namespace CLI

namespace troupe::commands {

struct MasterArguments {
  std::string endpoint;      ///< empty: the steps run in this process
  std::string cluster_file;  ///< tells name, certificates and whether connections may be plain
  std::string name;          ///< without a file
  TlsFiles tls = {};         ///< without a file; empty: connections without TLS
  bool plain = false;        ///< without a file
};

/// Returns the option --master.
CLI::Option* add_master_options(CLI::App& command, MasterArguments& arguments);
/// Returns nothing if the steps run in this process. Fails with InvalidArgument if the cluster file is wrong or nothing names the
/// cluster.
Result<std::optional<MasterOptions>> master_of(Disk& disk, const MasterArguments& arguments);

}  // namespace troupe::commands
