// Neighbours: which nodes of a cluster have the same host, and how they share its cores.
#include "apps/cluster/neighbours.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <thread>

namespace troupe::cluster {
namespace {

BOOST_AUTO_TEST_SUITE(neighbours)

BOOST_AUTO_TEST_CASE(nodes_of_one_host_are_counted) {
  const ClusterSpec cluster{
      "lab", {{"ps", {{0, "a:1"}}}, {"worker", {{0, "a:2"}, {1, "b:1"}, {2, "[::1]:1"}, {3, "[::1]:2"}}}}};
  BOOST_TEST(nodes_on_host_of(cluster, "ps", 0) == 2u);
  BOOST_TEST(nodes_on_host_of(cluster, "worker", 1) == 1u);
  BOOST_TEST(nodes_on_host_of(cluster, "worker", 3) == 2u);
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster
