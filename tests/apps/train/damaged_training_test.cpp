// Training over processes, in which one field of one message between two of them is damaged. Whichever it is, the run ends in
// bounded time: well, because the round was repeated, or with an error that says what is wrong.
#include <boost/test/unit_test.hpp>

#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/damaged_frame.h"
#include "tests/support/net/damaging_proxy.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::damaged_training_test {
namespace {

using test::DamagedFrame;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;

/// A cluster of two parameter servers and two workers, all of whose links go through proxies.
class Cluster {
 public:
  Cluster(const test::TemporaryFolder& folder, DamagedFrame damage) : damage_(std::move(damage)) {
    std::string jobs;
    for (const char* job : {"ps", "worker"}) {
      jobs += std::string(job) + " = [";
      for (int task = 0; task < 2; ++task) {
        const auto& port = ports_.emplace_back();
        auto& proxy = proxies_.emplace_back(port.endpoint(), [this](auto& frame) {
          const std::lock_guard lock(mutex_);
          damage_(frame);
        });
        jobs += (task == 0 ? "\"" : ", \"") + proxy.endpoint() + "\"";
      }
      jobs += "]\n";
    }
    file_ = folder.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\n" + jobs);
    auto port = ports_.begin();
    for (const char* job : {"ps", "worker"})
      for (const char* task : {"0", "1"})
        nodes_.emplace_back(
            test::troupe_program(),
            Arguments{"node", "--cluster", file_, "--job", job, "--task", task, "--listen",
                      (port++)->endpoint(), "--root", "/", "--gpus", "0", "--transport", "tcp"});
  }

  const std::string& file() const { return file_; }
  std::string damage() const {
    const std::lock_guard lock(mutex_);
    return damage_.what();
  }

 private:
  mutable std::mutex mutex_;  ///< guards damage_
  DamagedFrame damage_;
  std::list<test::ReservedPort> ports_;
  std::list<test::DamagingProxy> proxies_;
  std::string file_;
  std::list<Program> nodes_;
};

struct Fixture : test::DigitsRuns {
  /// Trains with the damage, and returns what was damaged.
  std::string train(const DamagedFrame::Type& type, uint64_t seed, const std::string& replication,
                    bool mirror) {
    const Cluster cluster(folder, DamagedFrame(type.schema_id, seed % 4, seed));
    auto arguments =
        run("train", "run" + std::to_string(++runs_),
            {"--cluster", cluster.file(), "--transport", "tcp", "--set", "train.max_epochs=4", "--set",
             "train.replication={" + replication + "}", "--set", "train.fault.max_restarts=2"});
    if (mirror) arguments.insert(arguments.end(), {"--set", "train.fault.mirror=true"});
    arguments.insert(arguments.begin(), {"60", test::troupe_program()});
    Program trainer("/usr/bin/timeout", arguments);
    const int code = trainer.end();
    const std::string what = cluster.damage();
    BOOST_TEST_MESSAGE(type.name << " " << seed << ": " << what << " => " << code << "\n"
                                 << trainer.output());
    BOOST_TEST((code >= 0 && code <= 3), type.name << " " << seed << ": " << what << " ended with " << code
                                                   << "\n"
                                                   << trainer.output());
    if (code == 1)
      BOOST_TEST(trainer.output().find("troupe: ") != std::string::npos, what << trainer.output());
    return what;
  }

 private:
  int runs_ = 0;
};

struct Mode {
  std::string replication;
  bool mirror = false;
};
const Mode modes[] = {
    {"mode=\"sync\",shards=2,backup_workers=1"}, {"mode=\"sync\"", true}, {"mode=\"ssp\",staleness=1"}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(damaged_training, Fixture)

// Environment variables choose more seeds than the one (TROUPE_DAMAGE_SEEDS), and a single type (TROUPE_DAMAGE_TYPE).
BOOST_AUTO_TEST_CASE(whatever_field_is_damaged_a_run_ends) {
  const char* const more = std::getenv("TROUPE_DAMAGE_SEEDS");
  const uint64_t seeds = more ? std::stoull(more) : 1;
  const char* const only = std::getenv("TROUPE_DAMAGE_TYPE");
  int damaged = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    size_t i = seed;
    for (const auto& type : DamagedFrame::training_types()) {
      if (only && type.name != only) continue;
      // A mode that has messages of this type: most occur in all of them.
      std::string what;
      for (size_t tried = 0; what.empty() && tried < std::size(modes); ++tried) {
        const Mode& mode = modes[i++ % std::size(modes)];
        what = train(type, seed, mode.replication, mode.mirror);
      }
      damaged += what.empty() ? 0 : 1;
    }
  }
  if (!only) BOOST_TEST(damaged >= static_cast<int>(15 * seeds));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::damaged_training_test
