// Measures all-reduce between processes of this machine. This process is one rank; bench/peers/allreduce.py starts all of them.
//   allreduce_bench RANK ENDPOINT,ENDPOINT,... shared|tcp BYTES:STEPS...
// Rank 0 prints a line "BYTES SECONDS" for each size: the median time of a step that sums a tensor of floats over all ranks. Every
// rank checks the sums. Exits with 1 if they are wrong.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

/// A process that has one task and one device, linked to those of the other ranks.
struct Rank {
  Rank(int rank, const std::string& endpoints, Transport transport) : number(rank) {
    RuntimeOptions options{.threads = 1, .tasks = {{"worker", rank, 1}}};
    options.cluster.emplace();
    options.cluster->name = "bench";
    options.cluster->transport = transport;
    std::istringstream list(endpoints);
    for (std::string endpoint; std::getline(list, endpoint, ',');) {
      const int task = static_cast<int>(members.size());
      options.cluster->jobs["worker"][task] = endpoint;
      if (task == rank) options.listen = endpoint;
      members.push_back("/job:worker/replica:0/task:" + std::to_string(task));
    }
    runtime.emplace(options);
    for (const std::string& member : members)
      while (member != members[static_cast<size_t>(rank)] && !runtime->link_status(member).ok())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  /// Returns the times of the steps, in seconds.
  std::vector<double> run(int64_t elements, int steps) {
    Graph graph(runtime->ops());
    const Scope g(graph);
    const Output part = g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{elements}}});
    const Output sum = g.add_one("AllReduce", {part},
                                 {{"members", members},
                                  {"rank", static_cast<int64_t>(number)},
                                  {"key", "size " + std::to_string(elements)}});
    Session session =
        runtime->session(graph, {.tasks = {members[static_cast<size_t>(number)]}, .share_state = true});
    PreparedStep step = session.prepare({part}, {sum});
    Tensor value = value_or_throw(Tensor::allocate(f32, Shape{elements}));
    std::ranges::fill(value.write<float>(), static_cast<float>(number + 1));
    std::vector<double> times;
    for (int i = 0; i < steps; ++i) {
      const auto begin = Clock::now();
      const Tensor result = step.run(std::vector<Tensor>{value})[0];
      times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
      if (i == 0) check(result);
    }
    return times;
  }

  void check(const Tensor& result) const {
    const auto ranks = static_cast<float>(members.size());
    for (const float element : result.as<float>())
      if (element != ranks * (ranks + 1) / 2) throw Error(internal("the sum is wrong"));
  }

  const int number;
  std::vector<std::string> members;
  std::optional<Runtime> runtime;
};

int run(int count, char** arguments) {
  const std::string_view transport = count < 5 ? "" : arguments[3];
  if (transport != "shared" && transport != "tcp") {
    std::fprintf(stderr, "usage: allreduce_bench RANK ENDPOINT,... shared|tcp BYTES:STEPS...\n");
    return 2;
  }
  Rank rank(std::atoi(arguments[1]), arguments[2], transport == "tcp" ? Transport::Tcp : Transport::Shared);
  for (int i = 4; i < count; ++i) {
    char* end = nullptr;
    const int64_t bytes = std::strtoll(arguments[i], &end, 10);
    const int steps = *end == ':' ? std::atoi(end + 1) : 10;
    auto times = rank.run(bytes / 4, steps + steps / 10 + 1);
    times.erase(times.begin(), times.begin() + steps / 10 + 1);  // the first ones warm up
    std::ranges::sort(times);
    if (rank.number == 0) std::printf("%lld %.9f\n", static_cast<long long>(bytes), times[times.size() / 2]);
    std::fflush(stdout);
  }
  // A process that ends at once would take answers with it that others still need.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int count, char** arguments) try {
  return troupe::run(count, arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
