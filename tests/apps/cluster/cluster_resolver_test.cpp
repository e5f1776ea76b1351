// The cluster resolver: the task of a node from a cluster file, TF_CONFIG, mpirun or SLURM, and the error if there is none of
// these.
#include "apps/cluster/cluster_resolver.h"

#include <boost/test/unit_test.hpp>

#include <map>

#include "apps/cluster/host_list.h"
#include "apps/config/cluster_file.h"
#include "messages/env/real_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::cluster::cluster_resolver_test {
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
  BOOST_TEST(
      has(refusal({}, {.cluster_file = file, .job = "worker"}), "has no job 'worker'; its jobs are ps"));
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
    BOOST_TEST(has(refusal({{"TF_CONFIG", bad}}), "TF_CONFIG is not as expected"), bad);
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
  BOOST_TEST(has(but("SLURM_PROCID", "5"), "SLURM_PROCID is '5'; expected a number below 5"));
  BOOST_TEST(has(but("SLURM_TASKS_PER_NODE", "2"), "SLURM lists 3 hosts, but the tasks of 1 hosts"));
  for (const std::string bad : {"", "x", "1(x", "1(x0)", "1(x99999999)", "1,,1"})
    BOOST_TEST(has(but("SLURM_TASKS_PER_NODE", bad), "cannot be read"), bad);
  for (const std::string bad : {"", "a[", "a[1", "a]1[", "a[3-1]", "a[1-99999999]", "a[x]", "a,,b"})
    BOOST_TEST(!expand_hosts(bad).ok(), bad);
  BOOST_TEST(has(refusal({{"SLURM_PROCID", "0"}}), "SLURM_STEP_NODELIST or SLURM_JOB_NODELIST"));
}

/// The variables of a rank under Open MPI.
Variables open_mpi(const std::string& rank, const std::string& size, const std::string& local_rank,
                   const std::string& local_size) {
  return {{"OMPI_COMM_WORLD_RANK", rank},
          {"OMPI_COMM_WORLD_SIZE", size},
          {"OMPI_COMM_WORLD_LOCAL_RANK", local_rank},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", local_size},
          {"PMIX_NAMESPACE", "7"}};
}

BOOST_AUTO_TEST_CASE(ranks_of_one_host_need_nothing_else) {
  const auto found = value_or_throw(find(open_mpi("2", "3", "2", "3")));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 1);
  BOOST_TEST(found.cluster.name == "mpi-7");
  BOOST_TEST(found.cluster.endpoint("ps", 0) == "127.0.0.1:4242");
  BOOST_TEST(found.cluster.endpoint("worker", 1) == "127.0.0.1:4244");
  BOOST_TEST(found.found == "by OMPI_COMM_WORLD_RANK 2 of 3");
  const Variables mpich = {
      {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
  const auto by_pmi = value_or_throw(find(mpich, {.servers = 0, .port = 7}));
  BOOST_TEST(by_pmi.job == "worker");
  BOOST_TEST(by_pmi.cluster.endpoint("worker", 1) == "127.0.0.1:8");
  BOOST_TEST(
      has(refusal(mpich, {.port = 65535}), "--port 65535 leaves no ports for the 2 nodes on 127.0.0.1"));
}

BOOST_AUTO_TEST_CASE(ranks_of_several_hosts_are_listed) {
  const auto second = open_mpi("3", "4", "1", "2");
  const auto found = value_or_throw(find(second, {.hosts = "a[1-2]:2", .first_trains = true}));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 1);
  BOOST_TEST(found.cluster.endpoint("ps", 0) == "a1:4242");  // the rank that trains has no endpoint
  BOOST_TEST(found.cluster.endpoint("worker", 0) == "a2:4242");
  BOOST_TEST(found.cluster.endpoint("worker", 1) == "a2:4243");
  const auto trainer =
      value_or_throw(find(open_mpi("0", "4", "0", "2"), {.hosts = "a:2,b:2", .first_trains = true}));
  BOOST_TEST(trainer.job == "client");
  BOOST_TEST(has(refusal(second),
                 "Open MPI has set OMPI_COMM_WORLD_RANK, which is one of 4 ranks, but no variable "
                 "tells the hosts of the ranks"));
  BOOST_TEST(has(refusal(second, {.hosts = "a:2,b"}),
                 "OMPI_COMM_WORLD_SIZE is '4', but by the list of hosts it is 3"));
  BOOST_TEST(has(refusal(second, {.hosts = "a:3,b"}),
                 "OMPI_COMM_WORLD_LOCAL_RANK is '1', but by the list of hosts it is 0"));
  for (const std::string bad : {"a:", "a:0", ":2", "a:x", "a:99999999", "a:-1", "a,,b"})
    BOOST_TEST(!hosts_of_slots(bad).ok(), bad);
}

BOOST_AUTO_TEST_CASE(mpirun_inside_a_job_of_slurm_tells_the_rank_and_slurm_the_hosts) {
  Variables variables = open_mpi("2", "4", "0", "2");
  variables["SLURM_PROCID"] = "0";
  variables["SLURM_JOB_NODELIST"] = "n[1-2]";
  variables["SLURM_TASKS_PER_NODE"] = "2(x2)";
  const auto found = value_or_throw(find(variables));
  BOOST_TEST(found.task == 1);
  BOOST_TEST(found.cluster.endpoint("worker", 1) == "n2:4242");
}

BOOST_AUTO_TEST_CASE(variables_of_ranks_are_checked) {
  BOOST_TEST(has(refusal(open_mpi("x", "4", "0", "4")), "OMPI_COMM_WORLD_RANK is 'x'; expected a number"));
  BOOST_TEST(has(refusal(open_mpi("4", "4", "0", "4")),
                 "OMPI_COMM_WORLD_RANK is '4'; expected a number below OMPI_COMM_WORLD_SIZE, which is '4'"));
  BOOST_TEST(has(refusal(open_mpi("0", "4", "4", "4")), "OMPI_COMM_WORLD_LOCAL_RANK is '4'; expected"));
  BOOST_TEST(has(refusal(open_mpi("0", "99999999", "0", "99999999")), "at most 65536 are allowed"));
  BOOST_TEST(has(refusal({{"PMI_RANK", "-1"}}), "PMI_RANK is '-1'; expected a number"));
}

BOOST_AUTO_TEST_CASE(a_rank_picks_its_task_in_a_cluster_file) {
  const test::TemporaryFolder folder;
  const std::string file =
      folder.write("c.toml",
                   "cluster = { name = 'lab', tls = { cert = '{job}-{task}.pem', key = 'k', ca = 'c' } }\n"
                   "[jobs]\nworker = ['a:1', 'b:2']\nps = ['a:2']\n");
  const auto found = value_or_throw(find(open_mpi("2", "3", "0", "1"), {.cluster_file = file}));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 1);
  BOOST_TEST(has(found.cluster.tls->certificate, "worker-1.pem"));
  const auto trainer =
      value_or_throw(find(open_mpi("0", "4", "0", "1"), {.cluster_file = file, .first_trains = true}));
  BOOST_TEST(has(trainer.cluster.tls->certificate, "client-0.pem"));
  BOOST_TEST(has(refusal(open_mpi("2", "4", "0", "1"), {.cluster_file = file}),
                 "has 3 tasks; expected 3 ranks, this one is OMPI_COMM_WORLD_RANK 2 of 4"));
}

BOOST_AUTO_TEST_CASE(a_pod_finds_its_task_by_its_number) {
  const test::TemporaryFolder folder;
  const ResolverOptions options = {
      .cluster_file = folder.write("c.toml", "cluster = { name = 'lab' }\n[jobs]\nworker = ['a:1', 'b:2']\n"),
      .job = "worker"};
  BOOST_TEST(value_or_throw(find({{"JOB_COMPLETION_INDEX", "1"}}, options)).task == 1);
  const auto named = [](const std::string& pod) {
    return Variables{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HOSTNAME", pod}};
  };
  BOOST_TEST(value_or_throw(find(named("lab-worker-1"), options)).task == 1);
  BOOST_TEST(value_or_throw(find(named("lab-worker-x7z"), options)).task == 0);
  BOOST_TEST(value_or_throw(find({{"HOSTNAME", "rack-1"}}, options)).task == 0);  // not a pod
  BOOST_TEST(has(refusal(named("lab-worker-2"), options),
                 "by --job and the number of this pod in " + options.cluster_file +
                     ", which has no task 2 of job 'worker'; its tasks are 0, 1"));
  BOOST_TEST(has(refusal({{"JOB_COMPLETION_INDEX", "x"}}, options), "JOB_COMPLETION_INDEX is 'x'; expected"));
}

BOOST_AUTO_TEST_CASE(pods_of_an_indexed_job_are_ranks) {
  const auto found =
      value_or_throw(find({{"JOB_COMPLETION_INDEX", "2"}}, {.hosts = "run-[0-2].lab", .first_trains = true}));
  BOOST_TEST(found.job == "worker");
  BOOST_TEST(found.task == 0);
  BOOST_TEST(found.cluster.name == "kubernetes");
  BOOST_TEST(found.cluster.endpoint("worker", 0) == "run-2.lab:4242");
}

BOOST_AUTO_TEST_CASE(without_anything_it_says_what_there_could_be) {
  BOOST_TEST(has(refusal({}),
                 "no --cluster FILE with --job and no --join HOST:PORT, and none of TF_CONFIG, "
                 "OMPI_COMM_WORLD_RANK, PMI_RANK, JOB_COMPLETION_INDEX, SLURM_PROCID is set"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster::cluster_resolver_test
