// Measures steps over several processes of this machine. This process is worker 0 and the client; the others are nodes of PROGRAM.
//   cluster_bench PROGRAM WHAT WORKERS [SECONDS [auto|tcp|ucx]]
// Prints the median time of a step in microseconds. WHAT is "scalar": every worker reads a scalar from the parameter server,
// adds to it and assigns the sum (a null step); "dense": every worker reads 100 MB and sums them; "gigabyte": the same with 1
// GB; "sparse": every worker gathers 32 of 1,000 rows, different ones in each step; "embedding": every worker looks up 1,024 of
// 1,000,000 rows of 128 floats, which two parameter servers share, and subtracts the gradient of a loss from them; or "beside"
// or "large", which have their own output and are described below. bench/peers/cluster.py compares the results with
// TensorFlow's.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "actors/runtime.h"
#include "apps/nn/embedding_lookup.h"
#include "apps/nn/optimizer.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/net/listening_socket.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t rows = 25'000, columns = 1000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns a free port of this machine. Another process may take it before it is used, which is acceptable in a benchmark.
std::string free_endpoint() {
  const test::ListeningSocket socket;
  ::close(socket.descriptor);
  return socket.endpoint();
}

class Nodes {
 public:
  Nodes(const std::string& program, int servers, int workers, const std::string& transport)
      : transport_(transport) {
    if (transport == "tcp") spec_.transport = Transport::Tcp;
    if (transport == "ucx") spec_.transport = Transport::Ucx;
    spec_.name = "bench";
    for (int task = 0; task < servers; ++task) spec_.jobs["ps"][task] = free_endpoint();
    for (int task = 0; task < workers; ++task) spec_.jobs["worker"][task] = free_endpoint();
    const std::string file = folder_.write("cluster.toml", text());
    for (int task = 0; task < servers; ++task) start(program, file, "ps", task);
    for (int task = 1; task < workers; ++task) start(program, file, "worker", task);
  }
  const ClusterSpec& spec() const { return spec_; }
  pid_t parameter_server() const { return nodes_.front()->process(); }

 private:
  void start(const std::string& program, const std::string& file, const std::string& job, int task) {
    nodes_.push_back(std::make_unique<test::Program>(
        program,
        std::vector<std::string>{"node", "--cluster", file, "--job", job, "--task", std::to_string(task),
                                 "--threads", "1", "--transport", transport_}));
  }
  std::string text() const {
    std::string toml = "cluster = { name = 'bench' }\n[jobs]\n";
    for (const auto& [job, tasks] : spec_.jobs) {
      toml += job + " = [";
      for (const auto& [task, endpoint] : tasks) toml += "'" + endpoint + "', ";
      toml += "]\n";
    }
    return toml;
  }

  const test::TemporaryFolder folder_;
  const std::string transport_;
  ClusterSpec spec_;
  std::vector<std::unique_ptr<test::Program>> nodes_;
};

struct Step {
  Output initializer;
  std::vector<Output> feeds, fetches;
  size_t ids = 32;       ///< how many numbers each feed has
  int64_t range = rows;  ///< they are less than this
};

Step scalar(const Scope& at_ps, const std::vector<Scope>& workers) {
  Step step;
  std::vector<Output> first;
  for (const Scope& worker : workers) {
    const Output v =
        at_ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
    first.push_back(assign(at_ps, v, at_ps.constant(Tensor::scalar(0.0f))));
    step.fetches.push_back(at_ps.group({assign(at_ps, v, add(worker, v, 1.0))}));
  }
  step.initializer = at_ps.group(first);
  return step;
}

Step table(const Scope& at_ps, const std::vector<Scope>& workers, int64_t height, bool sparse) {
  Step step;
  const Output v =
      at_ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{height, columns}}});
  step.initializer = at_ps.group(
      {assign(at_ps, v, fill(at_ps, {static_cast<int32_t>(height), static_cast<int32_t>(columns)}, 1.0))});
  for (const Scope& worker : workers) {
    Output read = v;
    if (sparse) {
      step.feeds.push_back(
          worker.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape{32}}}));
      read = gather(at_ps, v, step.feeds.back());
    }
    step.fetches.push_back(sum(worker, read));
  }
  return step;
}

Step embedding(const Scope& g, const std::vector<Scope>& workers) {
  Step step;
  step.ids = 1024;
  step.range = 1'000'000;
  const auto table = nn::partitioned_variable(
      g, "table", Shape({step.range, 128}), nn::all_equal(1),
      {.partitioner = nn::fixed_size(2), .devices = {"/job:ps/task:0", "/job:ps/task:1"}});
  for (const Scope& worker : workers) {
    step.feeds.push_back(
        worker.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape{1024}}}));
    const Output loss = l2_loss(worker, nn::embedding_lookup(worker, table, step.feeds.back()));
    step.fetches.push_back(nn::Sgd(0.1).apply_gradients(g, nn::compute_gradients(worker, loss, table.parts)));
  }
  step.initializer = initializer(g);
  return step;
}

double median_step(Session& session, const Step& step, double seconds) {
  session.run({step.initializer});
  const PreparedStep prepared = session.prepare(step.feeds, step.fetches);
  std::mt19937 random(1);
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int warm = 0; seconds_since(begin) < seconds || times.size() < 5; ++warm) {
    std::vector<Tensor> feeds;
    for (size_t i = 0; i < step.feeds.size(); ++i) {
      std::vector<int32_t> indices(step.ids);
      for (int32_t& index : indices)
        index = static_cast<int32_t>(random() % static_cast<uint64_t>(step.range));
      feeds.push_back(Tensor::vector<int32_t>(std::span<const int32_t>(indices)));
    }
    const auto start = Clock::now();
    prepared.run(feeds);
    if (warm >= 3) times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Measures the round trip of control messages, in microseconds: the median and 99th percentile of steps that exchange almost no
/// data with the parameter server, alone and while this process reads tensors of 1 GiB from it into memory that has been touched
/// before.
void round_trips_beside_transfers(Session& session, const Scope& at_ps) {
  const Output small = at_ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const PartialShape shape{1 << 15, 1 << 13};
  const Output large = at_ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
  session.run({at_ps.group({assign(at_ps, large, fill(at_ps, {1 << 15, 1 << 13}, 1.0))})});
  const PreparedStep asks = session.prepare({}, {at_ps.add_one("IsVariableInitialized", {small})});
  const PreparedStep reads = session.prepare({}, {identity(at_ps, large)});
  const auto print = [&](const char* when, const std::function<bool()>& more) {
    std::vector<double> times;
    while (more() || times.size() < 1000) {
      const auto begin = Clock::now();
      asks.run({});
      times.push_back(1e6 * seconds_since(begin));
    }
    std::ranges::sort(times);
    std::printf("%-20s median %.0f us, p99 %.0f us (%zu round trips)\n", when, times[times.size() / 2],
                times[times.size() * 99 / 100], times.size());
  };
  const auto begin = Clock::now();
  print("alone", [&] { return seconds_since(begin) < 1; });
  for (int i = 0; i < 2; ++i) reads.run({});
  std::atomic<bool> reading{true};
  std::thread reader([&] {
    for (int i = 0; i < 6; ++i) reads.run({});
    reading = false;
  });
  print("beside transfers", [&] { return reading.load(); });
  reader.join();
}

/// Returns the memory of a process in MiB: the value of a field of /proc/PID/status.
double mebibytes(pid_t process, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::atof(line.c_str() + field.size() + 1) / 1024;
  return 0;
}

/// Resets the peak of the process's memory.
void forget_peak(pid_t process) { std::ofstream("/proc/" + std::to_string(process) + "/clear_refs") << 5; }

/// Reads tensors of 1 and 3 GiB from the parameter server. Prints the time of each of four reads, and the most by which the memory
/// of each side grew during the first one.
void large_transfers(Session& session, const Scope& at_ps, pid_t sender) {
  for (const int32_t gibibytes : {1, 3}) {
    const PartialShape shape{gibibytes << 15, 1 << 13};
    const Output large = at_ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    session.run({at_ps.group({assign(at_ps, large, fill(at_ps, {gibibytes << 15, 1 << 13}, 1.0))})});
    const PreparedStep reads = session.prepare({}, {identity(at_ps, large)});
    const std::array<pid_t, 2> sides = {sender, ::getpid()};
    std::array<double, 2> before{};
    for (size_t i = 0; i < 2; ++i) {
      before[i] = mebibytes(sides[i], "VmRSS");
      forget_peak(sides[i]);
    }
    std::printf("%d GiB:", gibibytes);
    for (int i = 0; i < 4; ++i) {
      const auto begin = Clock::now();
      reads.run({});
      std::printf(" %.2f s", seconds_since(begin));
      if (i != 0) continue;
      std::printf(" (memory: sender +%.1f MiB, receiver +%.1f MiB)", mebibytes(sides[0], "VmHWM") - before[0],
                  mebibytes(sides[1], "VmHWM") - before[1]);
    }
    std::printf("\n");
  }
}

int run(const std::string& program, const std::string& what, int count, double seconds,
        const std::string& transport) {
  const bool embeds = what == "embedding";
  const Nodes nodes(program, embeds ? 2 : 1, count, transport);
  Runtime runtime({.threads = 1, .tasks = {{"worker", 0, 1}}, .cluster = nodes.spec()});
  Graph graph(runtime.ops());
  const Scope g(graph);
  std::vector<Scope> workers;
  for (int task = 0; task < count; ++task)
    workers.push_back(g.with_device("/job:worker/task:" + std::to_string(task)));
  const Scope at_ps = g.with_device("/job:ps");
  if (what == "beside" || what == "large") {
    Session session = runtime.session(graph);
    if (what == "beside")
      round_trips_beside_transfers(session, at_ps);
    else
      large_transfers(session, at_ps, nodes.parameter_server());
    session.close();
    return 0;
  }
  const Step step = embeds ? embedding(g, workers)
                    : what == "scalar"
                        ? scalar(at_ps, workers)
                        : table(at_ps, workers, what == "gigabyte" ? 10 * rows : rows, what == "sparse");
  Session session = runtime.session(graph);
  std::printf("%.1f\n", 1e6 * median_step(session, step, seconds));
  session.close();
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int count, char** arguments) try {
  if (count < 4)
    return std::fprintf(
               stderr,
               "cluster_bench PROGRAM scalar|dense|gigabyte|sparse|embedding|beside|large WORKERS [SECONDS "
               "[auto|tcp|ucx]]\n"),
           2;
  return troupe::run(arguments[1], arguments[2], std::atoi(arguments[3]),
                     count > 4 ? std::atof(arguments[4]) : 1, count > 5 ? arguments[5] : "auto");
} catch (const troupe::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
