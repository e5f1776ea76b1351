// The subcommand certs: creates certificates for the tasks of a cluster file.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "apps/cluster/certs.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct CertsArguments {
  std::string folder, cluster_file;
  bool json = false;
};

int certs(const CertsArguments& arguments) {
  RealDisk disk;
  const auto spec = config::load_cluster(disk, arguments.cluster_file, {}, 0);
  if (!spec) return failed(spec.status(), arguments.json);
  const auto written = cluster::write_certificates(arguments.folder, *spec);
  if (!written) return failed(written.status(), arguments.json);
  print_files(*written, arguments.json);
  if (!spec->tls)
    std::fprintf(
        stderr,
        "troupe: %s has no [cluster.tls]: its nodes do not use the certificates, and their links stay "
        "plain, until it names them:\n[cluster.tls]\ncert = \"%s/{job}-{task}.pem\"\n"
        "key = \"%s/{job}-{task}.key\"\nca = \"%s/ca.pem\"\n",
        arguments.cluster_file.c_str(), arguments.folder.c_str(), arguments.folder.c_str(),
        arguments.folder.c_str());
  return 0;
}

}  // namespace

void add_certs_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<CertsArguments>();
  auto* command =
      add_command(app, "certs", "Create an authority and a certificate for each task of a cluster file.",
                  "troupe certs certs --cluster cluster.toml");
  command->add_option("folder", arguments->folder, "the folder to write them to")->required();
  command->add_option("--cluster", arguments->cluster_file, "cluster file (TOML)")->required();
  command->add_flag("--json", arguments->json, "print the names of the files as one line of JSON");
  command->callback([arguments, &result] { result = certs(*arguments); });
}

}  // namespace troupe::commands
