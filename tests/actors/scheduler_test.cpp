// What stays on a thread and what its unit gives away.
#include "actors/engine/scheduler.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace troupe;

namespace {

/// Keeps what it is given.
struct Elsewhere final : Scheduler {
  void enqueue(Job job) override { actors.push_back(job); }
  void compute(Job job) override { computations.push_back(job); }
  bool try_compute(std::function<void()>) override { return false; }
  void block(Job job) override { computations.push_back(job); }
  bool wait(const std::function<bool()>&, int64_t) override { return false; }
  void wake() override {}
  ~Elsewhere() override {
    for (const auto* jobs : {&actors, &computations})
      for (const Job& job : *jobs) job();
  }
  std::vector<Job> actors, computations;
};

struct Fixture {
  std::string ran;
  Elsewhere elsewhere;
  Unit unit{elsewhere};

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
  compute_soon(elsewhere, job('c'));
  run_actor_soon(elsewhere, job('a', [this] { run_actor_soon(elsewhere, job('b')); }));
  unit.run();
  BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(computations_that_yield_stay_on_the_thread) {
  for (const char name : {'a', 'b', 'c'}) compute_soon(elsewhere, job(name), Computation::Yields);
  BOOST_TEST(elsewhere.computations.empty());
  unit.run();
  BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(the_control_thread_computes_what_is_light_alone) {
  Unit control(elsewhere, Unit::Computes::No);
  compute_soon(elsewhere, job('a'), Computation::Yields);
  compute_soon(elsewhere, job('b'), Computation::Light);
  control.run();
  BOOST_TEST(ran == "b");
  BOOST_TEST(elsewhere.computations.size() == 1);
}

BOOST_AUTO_TEST_CASE(nothing_waits_behind_a_computation_that_does_not_yield) {
  compute_soon(elsewhere, job('a'));
  compute_soon(elsewhere, job('b'), Computation::Yields);
  compute_soon(elsewhere, job('c'));
  unit.run();
  BOOST_TEST(ran == "a");
  BOOST_TEST(elsewhere.computations.size() == 2);
}

BOOST_AUTO_TEST_CASE(a_computation_that_does_not_yield_goes_elsewhere_when_it_would_wait) {
  compute_soon(elsewhere, job('a'), Computation::Yields);
  compute_soon(elsewhere, job('b'));
  compute_soon(elsewhere, job('c'), Computation::Yields);
  unit.run();
  BOOST_TEST(ran == "ac");
}

// a lasts: at its turn the actor runs, and what would wait behind it goes where somebody has time.
BOOST_AUTO_TEST_CASE(a_turn_runs_actors_and_gives_away_computations) {
  const Job c = job('c');
  compute_soon(elsewhere,
               job('a',
                   [this, c] {
                     run_actor_soon(elsewhere,
                                    job('x', [this, c] { compute_soon(elsewhere, c, Computation::Yields); }));
                     Unit::current(elsewhere)->turn();
                     ran += '.';
                   }),
               Computation::Yields);
  compute_soon(elsewhere, job('b'), Computation::Yields);
  unit.run();
  BOOST_TEST(ran == "ax.");
  BOOST_TEST(elsewhere.computations.size() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
