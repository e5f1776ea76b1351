// Unit: which jobs stay on its thread, and which it gives to the scheduler.
#include "actors/engine/scheduler.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace troupe::scheduler_test {
namespace {

/// A scheduler that only records the jobs that it is given.
struct RecordingScheduler final : Scheduler {
  void enqueue(Job job) override { actors.push_back(job); }
  void compute(Job job) override { computations.push_back(job); }
  bool try_compute(std::function<void()>) override { return false; }
  void block(Job job) override { computations.push_back(job); }
  bool wait(const std::function<bool()>&, int64_t) override { return false; }
  void wake() override {}
  ~RecordingScheduler() override {
    for (const auto* jobs : {&actors, &computations})
      for (const Job& job : *jobs) job();
  }
  std::vector<Job> actors, computations;
};

struct Fixture {
  std::string ran;
  RecordingScheduler recorder;
  Unit unit{recorder};

  Job job(
      char name, std::function<void()> then = [] {}) {
    return make_job([this, name, then = std::move(then)] {
      ran += name;
      then();
    });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler, Fixture)

BOOST_AUTO_TEST_CASE(actors_run_before_computations) {
  compute_soon(recorder, job('c'));
  run_actor_soon(recorder, job('a', [this] { run_actor_soon(recorder, job('b')); }));
  unit.run();
  BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(computations_that_yield_stay_on_the_thread) {
  for (const char name : {'a', 'b', 'c'}) compute_soon(recorder, job(name), Computation::Yields);
  BOOST_TEST(recorder.computations.empty());
  unit.run();
  BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(the_control_thread_computes_what_is_light_alone) {
  Unit control(recorder, Unit::Computes::No);
  compute_soon(recorder, job('a'), Computation::Yields);
  compute_soon(recorder, job('b'), Computation::Light);
  control.run();
  BOOST_TEST(ran == "b");
  BOOST_TEST(recorder.computations.size() == 1);
}

BOOST_AUTO_TEST_CASE(nothing_waits_behind_a_computation_that_does_not_yield) {
  compute_soon(recorder, job('a'));
  compute_soon(recorder, job('b'), Computation::Yields);
  compute_soon(recorder, job('c'));
  unit.run();
  BOOST_TEST(ran == "a");
  BOOST_TEST(recorder.computations.size() == 2);
}

BOOST_AUTO_TEST_CASE(a_computation_that_does_not_yield_goes_elsewhere_when_it_would_wait) {
  compute_soon(recorder, job('a'), Computation::Yields);
  compute_soon(recorder, job('b'));
  compute_soon(recorder, job('c'), Computation::Yields);
  unit.run();
  BOOST_TEST(ran == "ac");
}

// Computation a is long: when it calls turn(), the actor runs, and the computations queued behind it go to the pool.
BOOST_AUTO_TEST_CASE(a_turn_runs_actors_and_gives_away_computations) {
  const Job c = job('c');
  compute_soon(recorder,
               job('a',
                   [this, c] {
                     run_actor_soon(recorder,
                                    job('x', [this, c] { compute_soon(recorder, c, Computation::Yields); }));
                     Unit::current(recorder)->turn();
                     ran += '.';
                   }),
               Computation::Yields);
  compute_soon(recorder, job('b'), Computation::Yields);
  unit.run();
  BOOST_TEST(ran == "ax.");
  BOOST_TEST(recorder.computations.size() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::scheduler_test
