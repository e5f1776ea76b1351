// The cluster resolver: the task of a node from a cluster file, TF_CONFIG or SLURM, and the error if there is none of these.
#include "apps/cluster/cluster_resolver.h"

#include <boost/test/unit_test.hpp>

#include <map>

#include "apps/config/cluster_file.h"
#include "messages/env/real_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::cluster {
namespace {

using Variables = std::map<std::string, std::string>;

Result<ResolvedCluster> find(const Variables& variables, const ResolverOptions& options = {}) {
  RealDisk disk;
  return resolve_cluster(options, disk, [&](const std::string& name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional<std::string>(at->second);
  });
}

std::string refusal(const Variables& variables, const ResolverOptions& options = {}) {
  return find(variables, options).status().text();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(cluster_resolver)

BOOST_AUTO_TEST_CASE(a_cluster_file_comes_first) {
  const test::TemporaryFolder folder;
  const std::string file =
      folder.write("c.toml", "cluster = { name = 'lab' }\n[jobs]\nps = ['a:1', 'b:2']\n");
  const auto found =
      value_or_throw(find({{"TF_CONFIG", "nonsense"}}, {.cluster_file = file, .job = "ps", .task = 1}));
  BOOST_TEST(found.job == "ps");
  BOOST_TEST(found.task == 1);
  BOOST_TEST(found.cluster.endpoint("ps", 1) == "b:2");
  BOOST_TEST(has(refusal({}, {.cluster_file = file, .job = "worker"}), "has no task 0 of job 'worker'"));
}

BOOST_AUTO_TEST_CASE(tf_config_is_understood) {
  const auto found =
      value_or_throw(find({{"TF_CONFIG", R"({"cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]},
                                                            "task": {"type": "worker", "index": 1}})"}}));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 1);
  BOOST_TEST(found.cluster.endpoint("worker", 1) == "c:3");
  BOOST_TEST(!found.cluster.plain_anywhere);
  const auto again =
      value_or_throw(config::parse_cluster(to_cluster_file(found.cluster), "c.toml", "", "ps", 0));
  BOOST_TEST((again.jobs == found.cluster.jobs));
  BOOST_TEST(again.name == found.cluster.name);
  for (const std::string bad :
       {"", "{", "{}", R"({"cluster": [1], "task": {}})", R"({"cluster": {"ps": 1}, "task": {}})"})
    BOOST_TEST(has(refusal({{"TF_CONFIG", bad}}), "TF_CONFIG cannot be read"), bad);
  BOOST_TEST(
      has(refusal({{"TF_CONFIG", R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 1}})"}}),
          "has no task 1 of job 'ps'"));
}

BOOST_AUTO_TEST_CASE(slurm_is_understood) {
  const Variables job = {{"SLURM_PROCID", "3"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_JOB_NODELIST", "gpu[08-09],login"},
                         {"SLURM_TASKS_PER_NODE", "2(x2),1"}};
  const auto found = value_or_throw(find(job, {.plain = true}));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 2);
  BOOST_TEST(found.cluster.name == "slurm-77");
  BOOST_TEST(found.cluster.plain_anywhere);
  BOOST_TEST(found.cluster.endpoint("ps", 0) == "gpu08:4242");
  BOOST_TEST(found.cluster.endpoint("worker", 2) == "gpu09:4243");
  BOOST_TEST(found.cluster.endpoint("worker", 3) == "login:4242");
  const auto but = [&](const std::string& name, const std::string& value) {
    Variables changed = job;
    changed[name] = value;
    return refusal(changed);
  };
  BOOST_TEST(has(but("SLURM_PROCID", "x"), "SLURM_PROCID is 'x'; expected a number"));
  BOOST_TEST(has(but("SLURM_PROCID", "5"), "which has no task"));
  BOOST_TEST(has(but("SLURM_TASKS_PER_NODE", "2"), "SLURM lists 3 hosts, but the tasks of 1 hosts"));
  for (const std::string bad : {"", "x", "1(x", "1(x0)", "1(x99999999)", "1,,1"})
    BOOST_TEST(has(but("SLURM_TASKS_PER_NODE", bad), "cannot be read"), bad);
  for (const std::string bad : {"", "a[", "a[1", "a]1[", "a[3-1]", "a[1-99999999]", "a[x]", "a,,b"})
    BOOST_TEST(!slurm_hosts(bad).ok(), bad);
  BOOST_TEST(has(refusal({{"SLURM_PROCID", "0"}}), "neither SLURM_STEP_NODELIST nor SLURM_JOB_NODELIST"));
}

BOOST_AUTO_TEST_CASE(without_anything_it_says_what_there_could_be) {
  BOOST_TEST(
      has(refusal({}), "no --cluster FILE and no --join HOST:PORT, and neither TF_CONFIG nor SLURM_PROCID"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster
