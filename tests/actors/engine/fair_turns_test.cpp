// Sessions take turns at the threads of a pool.
#include "actors/engine/fair_turns.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <string>

namespace troupe::fair_turns_test {
namespace {

/// A scheduler whose pool runs one computation when the test says so.
class Steps final : public Scheduler {
 public:
  void enqueue(Job job) override { job(); }
  void compute(Job job) override { jobs_.push_back(job); }
  bool try_compute(std::function<void()>) override { return false; }
  void block(Job job) override { job(); }
  bool wait(const std::function<bool()>& done, int64_t) override { return done(); }
  void wake() override {}

  size_t given() const { return jobs_.size(); }
  void run_all() {
    while (!jobs_.empty()) {
      const Job job = jobs_.front();
      jobs_.pop_front();
      job();
    }
  }

 private:
  std::deque<Job> jobs_;
};

struct Fixture {
  void add(FairTurns::Session& session, const char* name, Computation kind = Computation::Yields) {
    session.compute(make_job([this, name] { ran += name; }), kind);
  }
  Steps scheduler;
  std::string ran;
  std::shared_ptr<FairTurns> turns = FairTurns::make(scheduler, 2);
};

BOOST_FIXTURE_TEST_SUITE(fair_turns, Fixture)

BOOST_AUTO_TEST_CASE(one_session_has_all_of_the_pool) {
  FairTurns::Session one(turns);
  for (int i = 0; i < 5; ++i) add(one, "a");
  BOOST_TEST(scheduler.given() == 5u);
  scheduler.run_all();
  BOOST_TEST(ran == "aaaaa");
}

BOOST_AUTO_TEST_CASE(a_session_with_much_work_does_not_delay_another) {
  FairTurns::Session much(turns), little(turns);
  for (int i = 0; i < 6; ++i) add(much, "m");
  for (int i = 0; i < 2; ++i) add(little, "l");
  BOOST_TEST(scheduler.given() == 2u);
  scheduler.run_all();
  BOOST_TEST(ran == "mmmlmlmm");
  add(little, "l");
  BOOST_TEST(scheduler.given() == 1u);
  scheduler.run_all();
}

BOOST_AUTO_TEST_CASE(light_work_waits_for_no_turn) {
  FairTurns::Session much(turns), little(turns);
  for (int i = 0; i < 6; ++i) add(much, "m");
  add(little, "l", Computation::Light);
  BOOST_TEST(scheduler.given() == 3u);
  scheduler.run_all();
}

BOOST_AUTO_TEST_CASE(what_waits_runs_though_its_session_has_ended) {
  FairTurns::Session stays(turns);
  {
    FairTurns::Session goes(turns);
    for (int i = 0; i < 4; ++i) add(goes, "g");
  }
  add(stays, "s");
  scheduler.run_all();
  BOOST_TEST(std::ranges::count(ran, 'g') == 4);
  BOOST_TEST(std::ranges::count(ran, 's') == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::fair_turns_test
