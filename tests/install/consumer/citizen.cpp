// A program that keeps Troupe inside and expects it to be a good citizen. Says nothing when all is well.
#include <troupe/troupe.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "messages/values/tensor.h"
#include "process.h"

static_assert(own_messages == 1);

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  std::exit(1);
}

/// A model in a runtime of its own: count += by, at each step.
class Counter {
 public:
  explicit Counter(float by) : runtime_({.threads = 2}), graph_(runtime_.ops()) {
    const troupe::Scope g(graph_);
    const auto count = variable(g, zeros(g, {}), "count");
    step_ = assign_add(g, count, by);
    session_ = std::make_unique<troupe::Session>(runtime_.session(graph_));
    session_->run({initializer(g)});
  }
  float next() { return session_->run({step_})[0].item<float>(); }

 private:
  troupe::Runtime runtime_;
  troupe::Graph graph_;
  troupe::Output step_;
  std::unique_ptr<troupe::Session> session_;
};

void runtimes_side_by_side_share_nothing() {
  Counter ones(1), tens(10);
  float one = 0, ten = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) ten = tens.next();
  });
  for (int i = 0; i < 100; ++i) one = ones.next();
  other.join();
  expect(one == 100 && ten == 1000, "two runtimes count each on its own");
}

void errors_cross_the_boundary() {
  troupe::Runtime runtime({.threads = 1});
  troupe::Graph graph(runtime.ops());
  const troupe::Scope g(graph);
  try {
    matmul(g.with_name("product"), zeros(g, {2, 3}), zeros(g, {4, 5}));
    expect(false, "matrices that do not fit are refused");
  } catch (const troupe::Error& error) {
    expect(error.status().code() == troupe::Code::InvalidArgument, "the builder's error has its code");
    expect(error.status().node() == "product" && error.exit_code() == 2, "and its place");
  }
  const auto x = placeholder(g, troupe::f32, {2}, "x");
  auto session = runtime.session(graph);
  try {
    session.run({{x, troupe::Tensor::of<float>({3}, {1, 2, 3})}}, {neg(g, x)});
    expect(false, "a feed of another shape is refused");
  } catch (const std::exception& error) {
    expect(dynamic_cast<const troupe::Error*>(&error) != nullptr, "the session's error is a troupe::Error");
  }
}

/// Threads that have been joined may be seen for a moment longer.
bool settles(long (*count)(), long expected) {
  for (int i = 0; i < 5000 && count() != expected; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return count() == expected;
}

void runtimes_leave_nothing_behind() {
  Counter(1).next();  // what is made once: descriptors of random devices, and the like
  const long threads_before = threads(), descriptors_before = descriptors();
  for (int i = 0; i < 20; ++i) expect(Counter(1).next() == 1, "each runtime begins anew");
  expect(settles(threads, threads_before), "no thread is left");
  expect(settles(descriptors, descriptors_before), "no descriptor is left");
}

}  // namespace

int main() {
  const auto handlers = signal_handlers();
  {
    Counter counter(1);
    counter.next();
    expect(signal_handlers() == handlers, "signal handlers are the program's own");
  }
  runtimes_side_by_side_share_nothing();
  errors_cross_the_boundary();
  runtimes_leave_nothing_behind();
  expect(signal_handlers() == handlers, "signal handlers are still the program's own");
}
