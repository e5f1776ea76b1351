// metrics_text: what a runtime has counted, as Prometheus reads it.
#include <boost/test/unit_test.hpp>

#include <map>
#include <set>
#include <sstream>

#include "apps/runtime_metrics.h"
#include "graph/build/scope.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"

namespace troupe::runtime_metrics_test {
namespace {

/// Returns the samples of a text by series, and checks that each belongs to the kind before it.
std::map<std::string, double> samples_of(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> names;
  std::istringstream lines(text);
  std::string line, kind;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first, what, name, type;
    words >> first >> what;
    if (first == "#") {
      words >> name >> type;
      BOOST_TEST(name.starts_with("troupe_"), line);
      if (what == "HELP") BOOST_TEST(names.insert(name).second, name + " has two kinds");
      if (what == "TYPE") {
        BOOST_TEST((type == "counter" || type == "gauge"), line);
        BOOST_TEST((type == "counter") == name.ends_with("_total"), line);
        kind = name;
      }
      continue;
    }
    BOOST_TEST(first.substr(0, first.find('{')) == kind, line);
    BOOST_TEST(samples.emplace(first, std::stod(what)).second, first + " is there twice");
  }
  return samples;
}

BOOST_AUTO_TEST_SUITE(runtime_metrics)

BOOST_AUTO_TEST_CASE(a_runtime_tells_what_it_has_counted) {
  const std::string cpu0 = "{device=\"/job:localhost/replica:0/task:0/device:CPU:0\"}",
                    cpu1 = "{device=\"/job:localhost/replica:0/task:0/device:CPU:1\"}",
                    states = "troupe_task_states{task=\"/job:localhost/replica:0/task:0\"}";
  RuntimeOptions options{.threads = 2, .memory = size_t{64} << 20};
  options.tasks.front().cpus = 2;
  Runtime runtime(options);
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output v = variable(g, zeros(g, {1000}), "v"), add_one = assign_add(g, v, ones(g, {1000}));
  const auto before = samples_of(metrics_text(runtime));
  BOOST_TEST(before.at("troupe_runtime_healthy") == 1);
  BOOST_TEST(before.at("troupe_runtime_threads") == 2);
  BOOST_TEST(before.at("troupe_runtime_steps_total") == 0);
  BOOST_TEST(before.at(states) == 0);
  BOOST_TEST(before.at("troupe_device_memory_used_bytes" + cpu0) == 0);
  {
    Session session = runtime.session(graph);
    session.run({initializer(g)});
    for (int i = 0; i < 3; ++i) session.run({add_one});
    const auto after = samples_of(metrics_text(runtime));
    BOOST_TEST(after.at("troupe_runtime_steps_total") == 4);
    BOOST_TEST(after.at(states) == 1);
    BOOST_TEST(after.at("troupe_device_memory_used_bytes" + cpu0) >= 4000);
    BOOST_TEST(after.at("troupe_device_memory_peak_bytes" + cpu0) >=
               after.at("troupe_device_memory_used_bytes" + cpu0));
    BOOST_TEST(after.at("troupe_device_memory_reserved_bytes" + cpu0) > 0);
    BOOST_TEST(after.at("troupe_device_allocations_total" + cpu0) > 0);
    BOOST_TEST(after.at("troupe_device_allocations_total" + cpu1) == 0);
    BOOST_TEST(after.at("troupe_device_memory_limit_bytes" + cpu1) == 64 << 20);
    BOOST_TEST(after.at("troupe_runtime_messages_total") > before.at("troupe_runtime_messages_total"));
    BOOST_TEST(after.at("troupe_runtime_actors") > before.at("troupe_runtime_actors"));
    BOOST_TEST(!after.contains("troupe_runtime_sent_bytes_total"));
  }
}

BOOST_AUTO_TEST_CASE(a_process_of_a_cluster_that_is_not_linked_says_so) {
  RuntimeOptions options{.threads = 1, .join_later = true};
  options.tasks = {{.job = "worker"}};
  options.cluster = ClusterSpec{.name = "lab", .jobs = {{"ps", {{0, "127.0.0.1:1"}}}, {"worker", {{0, ""}}}}};
  const Runtime runtime(options);
  const auto samples = samples_of(metrics_text(runtime));
  BOOST_TEST(samples.at("troupe_link_up{task=\"/job:ps/replica:0/task:0\"}") == 0);
  BOOST_TEST(!samples.contains("troupe_link_up{task=\"/job:worker/replica:0/task:0\"}"));
  BOOST_TEST(!samples.contains("troupe_runtime_sent_bytes_total"));
  BOOST_TEST(samples.at("troupe_received_memory_used_bytes") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::runtime_metrics_test
