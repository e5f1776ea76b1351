// DigitsRuns: training runs of examples/digits.toml by the real program, each under a name of its own in a folder that goes with this.
// One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "messages/env/real_disk.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::test {

struct DigitsRuns {
  using Arguments = std::vector<std::string>;

  /// The arguments of a run: of `troupe train`, or whichever subcommand.
  Arguments run(const std::string& subcommand, const std::string& name, const Arguments& more) const;
  /// Of one that does not end by itself.
  Arguments endless(const std::string& subcommand, const std::string& name, const Arguments& more) const;
  /// Of the newest checkpoint of the first run of that name.
  WholeCheckpoint weights(const std::string& name);
  /// Tells Boost.Test what differs. What trains over a cluster counts its rounds in variables of its own, beside those of the model.
  static void check_equal(const WholeCheckpoint& apart, const WholeCheckpoint& alone);
  static bool gone_within(const std::vector<pid_t>& processes, std::chrono::milliseconds most);

  const TemporaryFolder folder;
  RealDisk disk;
};

/// Those that this process starts from now on, and that they start: known by their environment.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  std::vector<pid_t> all() const;
  size_t count() const { return all().size(); }

 private:
  const std::string variable_;
};

}  // namespace troupe::test
