// Neighbours: which nodes of a cluster have the same host, and how they share its cores and its GPUs.
#include "apps/cluster/neighbours.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <thread>

namespace troupe::cluster::neighbours_test {
namespace {

BOOST_AUTO_TEST_SUITE(neighbours)

BOOST_AUTO_TEST_CASE(nodes_of_one_host_are_counted) {
  const ClusterSpec cluster{
      "lab", {{"ps", {{0, "a:1"}}}, {"worker", {{0, "a:2"}, {1, "b:1"}, {2, "[::1]:1"}, {3, "[::1]:2"}}}}};
  BOOST_TEST(neighbours_of(cluster, "ps", 0).processes == 2u);
  BOOST_TEST(neighbours_of(cluster, "worker", 1).processes == 1u);
  BOOST_TEST(neighbours_of(cluster, "worker", 3).processes == 2u);
  BOOST_TEST(host_of("[::1]:1") == "::1");
}

BOOST_AUTO_TEST_CASE(no_core_lies_idle_and_a_given_number_of_threads_is_not_exceeded) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  BOOST_TEST(share_of(0, 1) == cores);
  BOOST_TEST(share_of(0, cores) == 1u);
  BOOST_TEST(share_of(0, cores + 1) == 1u);
  BOOST_TEST(3 * share_of(0, 3) >= cores);
  BOOST_TEST(share_of(8, 3) == 2u);
  BOOST_TEST(share_of(2, 3) == 1u);
}

/// Returns the shares of all tasks on the host "a": "job/task: first+count/sharers".
std::string shares(const ClusterSpec& cluster, int gpus) {
  std::string text;
  for (const auto& [job, tasks] : cluster.jobs)
    for (const auto& [task, endpoint] : tasks) {
      if (host_of(endpoint) != "a") continue;
      const GpuShare share = share_of_gpus(gpus, neighbours_of(cluster, job, task));
      text += (text.empty() ? "" : ", ") + job + '/' + std::to_string(task) + ": " +
              std::to_string(share.first) + '+' + std::to_string(share.count) + '/' +
              std::to_string(share.sharers);
    }
  return text;
}

BOOST_AUTO_TEST_CASE(processes_that_compute_share_out_the_gpus_of_their_host) {
  const ClusterSpec cluster{"lab",
                            {{"evaluator", {{0, "a:3"}}},
                             {"ps", {{0, "a:1"}, {1, "b:1"}}},
                             {"worker", {{0, "a:2"}, {1, "b:2"}, {2, "a:4"}}}}};
  BOOST_TEST(shares(cluster, 8) == "evaluator/0: 0+2/1, ps/0: 0+0/1, worker/0: 2+3/1, worker/2: 5+3/1");
  BOOST_TEST(shares(cluster, 3) == "evaluator/0: 0+1/1, ps/0: 0+0/1, worker/0: 1+1/1, worker/2: 2+1/1");
  BOOST_TEST(shares(cluster, 2) == "evaluator/0: 0+1/2, ps/0: 0+0/1, worker/0: 0+1/2, worker/2: 1+1/1");
  BOOST_TEST(shares(cluster, 1) == "evaluator/0: 0+1/3, ps/0: 0+0/1, worker/0: 0+1/3, worker/2: 0+1/3");
  BOOST_TEST(shares(cluster, 0) == "evaluator/0: 0+0/1, ps/0: 0+0/1, worker/0: 0+0/1, worker/2: 0+0/1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster::neighbours_test
