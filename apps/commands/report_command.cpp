// The subcommand report: a page on a run.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/commands/trained_run_options.h"
#include "apps/report/environment.h"
#include "apps/report/report.h"

namespace troupe::commands {
namespace {

struct ReportArguments {
  TrainedRunOptions run;
  int64_t samples = 10'000;
  std::string out;
};

Status write(Disk& disk, const std::string& path, const std::string& text) {
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  return file.commit();
}

int report(const ReportArguments& arguments) {
  ModelDisk models{arguments.run.run};
  Disk& disk = *models;
  const bool json = arguments.run.json;
  if (const Status mistake = check_trained_run(disk, arguments.run); !mistake.ok())
    return failed(mistake, json);
  const auto made = report::make_report(disk, {.run = arguments.run.run,
                                               .set = arguments.run.set,
                                               .threads = arguments.run.threads,
                                               .samples = arguments.samples,
                                               .environment = report::environment(TROUPE_VERSION)});
  if (!made) return failed_to_open(made.status(), json);
  const std::string out = arguments.out.empty() ? made->folder + "/report.html" : arguments.out;
  if (const Status status = write(disk, out, made->page); !status.ok()) return failed(status, json);
  if (json) {
    print_json({{"files", {out}}, {"missing", made->missing}});
    return 0;
  }
  for (const std::string& sentence : made->missing) std::fprintf(stderr, "troupe: %s\n", sentence.c_str());
  std::printf("%s\n", out.c_str());
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<ReportArguments>();
  auto* command = add_command(
      app, "report", "Write a page of HTML on a run: its result, its curves, the errors of its model.",
      "troupe report runs/digits/001 -o digits.html");
  add_trained_run(*command, arguments->run);
  command->add_option("-o,--out", arguments->out,
                      "file to write; default: report.html in the folder of the run");
  command->add_option("--samples", arguments->samples, "the most samples to predict; default: 10000")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  command->callback([arguments, &result] { result = report(*arguments); });
}

}  // namespace troupe::commands
