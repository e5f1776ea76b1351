#include "apps/commands/master_options.h"

#include <CLI/CLI.hpp>

#include "apps/cluster/processes.h"
#include "apps/config/cluster_file.h"

namespace troupe::commands {

CLI::Option* add_master_options(CLI::App& command, MasterArguments& arguments) {
  auto* master = command.add_option(
      "--master", arguments.endpoint,
      "a node of a running cluster, HOST:PORT, that runs the steps; variables are shared by its clients");
  auto* file = command.add_option("--cluster", arguments.cluster_file, "with --master: cluster file (TOML)")
                   ->needs(master);
  auto* name = command.add_option("--name", arguments.name, "with --master: the name of the cluster")
                   ->needs(master)
                   ->excludes(file);
  auto* cert = command
                   .add_option("--cert", arguments.tls.certificate,
                               "with --name: the certificate (PEM) of this client")
                   ->needs(name);
  auto* key =
      command.add_option("--key", arguments.tls.key, "the key of that certificate (PEM)")->needs(cert);
  auto* ca =
      command.add_option("--ca", arguments.tls.authority, "the certificate of the cluster's authority (PEM)")
          ->needs(cert);
  cert->needs(key)->needs(ca);
  command.add_flag("--plain", arguments.plain, "with --name: use connections without TLS between hosts")
      ->needs(name)
      ->excludes(cert);
  return master;
}

Result<std::optional<MasterOptions>> master_of(Disk& disk, const MasterArguments& arguments) {
  if (arguments.endpoint.empty()) return std::optional<MasterOptions>();
  MasterOptions master{arguments.endpoint, {}};
  if (!arguments.cluster_file.empty()) {
    TROUPE_ASSIGN(master.cluster, config::load_cluster(disk, arguments.cluster_file, cluster::owner_job, 0));
    return std::optional(std::move(master));
  }
  if (arguments.name.empty())
    return invalid_argument("--master needs --cluster, the cluster file, or --name, the name of the cluster");
  master.cluster.name = arguments.name;
  master.cluster.plain_anywhere = arguments.plain;
  if (!arguments.tls.certificate.empty()) master.cluster.tls = arguments.tls;
  return std::optional(std::move(master));
}

}  // namespace troupe::commands
