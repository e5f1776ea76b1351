// What a step takes whose nodes are placed by each DeviceChoice, on several tasks of one process with a thread each. A step is a
// random graph of products of matrices. Prints a table; see bench/README.md. Arguments: the number of tasks (2), of products (40),
// the size of the matrices (384), of graphs (5).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "actors/runtime.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"

namespace troupe {
namespace {

/// Products of earlier results with variables, half of them in pairs that are added.
struct Products {
  Products(std::shared_ptr<const OpTable> ops, int64_t size, int count, unsigned seed)
      : graph(std::move(ops)) {
    std::mt19937 random(seed);
    const auto side = static_cast<int32_t>(size);
    x = placeholder(g, f32, {size, size}, "x");
    std::vector<Output> values = {x};
    const auto earlier = [&] {
      const size_t near = std::min<size_t>(values.size(), 6);
      return values[values.size() - 1 - random() % near];
    };
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const Output w = variable(g, random_normal(g, Tensor::vector<int32_t>({side, side})), "w" + number);
      const Output product = tanh(g, matmul(g, earlier(), w));
      values.push_back(random() % 2 == 0 ? product : add(g, product, earlier()));
    }
    std::vector<Output> sums;
    for (const Output& value : values) sums.push_back(sum(g, value));
    total = add_n(g, sums);
  }

  Graph graph;
  Scope g{graph};
  Output x, total;
};

/// Returns the median of the milliseconds of a step, after those in which a session looks for a placement.
double milliseconds(int tasks, const std::vector<int64_t>& shape, DeviceChoice choice, unsigned seed) {
  RuntimeOptions options{.threads = 1, .tasks = {}};
  for (int task = 0; task < tasks; ++task) options.tasks.push_back({"worker", task, 1});
  Runtime runtime(options);
  Products products(runtime.ops(), shape[0], static_cast<int>(shape[1]), seed);
  Session session = runtime.session(products.graph, {.seed = 1, .device_choice = choice});
  session.run({initializer(products.g)});
  const auto elements = static_cast<size_t>(shape[0] * shape[0]);
  const Tensor x = Tensor::of<float>(Shape{shape[0], shape[0]}, std::vector<float>(elements, 0.01F));
  std::vector<double> times;
  for (int step = 0; step < 80; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    session.run({{products.x, x}}, {products.total});
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    if (step >= 50) times.push_back(taken.count());
  }
  std::ranges::nth_element(times, times.begin() + 15);
  return times[15];
}

int run(int tasks, const std::vector<int64_t>& shape, unsigned graphs) {
  std::cout << "graph  first feasible  earliest finish  learned   (ms per step)\n";
  for (unsigned seed = 1; seed <= graphs; ++seed) {
    std::cout << seed;
    for (const DeviceChoice choice :
         {DeviceChoice::FirstFeasible, DeviceChoice::EarliestFinish, DeviceChoice::Learned})
      std::cout << '\t' << milliseconds(tasks, shape, choice, seed) << std::flush;
    std::cout << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int count, char** arguments) {
  const auto number = [&](int i, int64_t otherwise) {
    return i < count ? std::strtoll(arguments[i], nullptr, 10) : otherwise;
  };
  return troupe::run(static_cast<int>(number(1, 2)), {number(3, 384), number(2, 40)},
                     static_cast<unsigned>(number(4, 5)));
}
