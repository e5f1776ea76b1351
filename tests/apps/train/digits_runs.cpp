#include "tests/apps/train/digits_runs.h"
#include "tests/support/project_files.h"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

constexpr const char* mark = "TROUPE_TEST_PROCESS";

}  // namespace

DigitsRuns::Arguments DigitsRuns::run(const std::string& subcommand, const std::string& name,
                                      const Arguments& more, const std::string& example) const {
  Arguments arguments = {subcommand, project_path("examples/") + example + ".toml",
                         "--set",    "run.directory=" + folder.path(),
                         "--set",    "run.name=" + name,
                         "--set",    "run.gpus=0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

DigitsRuns::Arguments DigitsRuns::endless(const std::string& subcommand, const std::string& name,
                                          const Arguments& more) const {
  auto arguments = run(subcommand, name, more);
  arguments.insert(arguments.end(),
                   {"--set", "train.max_epochs=100000", "--set", "train.early_stop.patience=100000"});
  return arguments;
}

WholeCheckpoint DigitsRuns::weights(const std::string& name) {
  std::vector<std::string> skipped;
  return value_or_throw(load_newest(disk, folder.path() + "/" + name + "/001/checkpoints", skipped));
}

void DigitsRuns::check_equal(const WholeCheckpoint& apart, const WholeCheckpoint& alone) {
  for (const SavedTensor& tensor : alone.tensors) {
    if (tensor.name.ends_with("/round")) continue;
    const auto same = std::ranges::find(apart.tensors, tensor.name, &SavedTensor::name);
    BOOST_TEST_REQUIRE((same != apart.tensors.end()), tensor.name);
    BOOST_TEST(identical(same->value, tensor.value), tensor.name);
  }
}

bool DigitsRuns::gone_within(const std::vector<pid_t>& processes, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (std::ranges::any_of(processes, is_running)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

Descendants::Descendants() : variable_(std::string(mark) + "=" + std::to_string(getpid())) {
  // /proc shows the environment that a process had at its start, so this process does not count.
  setenv(mark, std::to_string(getpid()).c_str(), 1);
}
Descendants::~Descendants() { unsetenv(mark); }

std::vector<pid_t> Descendants::all() const {
  std::vector<pid_t> found;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "environ");
    const std::string environment(std::istreambuf_iterator<char>(file), {});
    if (environment.find(variable_) != std::string::npos)
      found.push_back(std::atoi(process.path().filename().c_str()));
  }
  return found;
}

}  // namespace troupe::test
