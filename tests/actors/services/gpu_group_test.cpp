// GpuGroup: with which communicator, and in which order, exchanges between GPUs run. The communicators here only note what they are
// told.
#include "actors/services/allreduce/gpu_group.h"

#include <boost/test/unit_test.hpp>

namespace troupe::gpu_group_test {
namespace {

/// What a communicator was told.
struct Notes {
  std::string id;
  std::vector<double> begun;  ///< the weights of its exchanges
  std::vector<Completion> ended;
  Status aborted;
};

class NotingCommunicator final : public GpuCommunicator {
 public:
  explicit NotingCommunicator(std::shared_ptr<Notes> notes) : notes_(std::move(notes)) {}
  Completion run(GpuExchange exchange) override {
    notes_->begun.push_back(exchange.weight);
    return notes_->ended.emplace_back(Completion::pending());
  }
  void abort(const Status& reason) override {
    notes_->aborted = reason;
    for (const Completion& exchange : notes_->ended) exchange.complete(reason);
  }

 private:
  const std::shared_ptr<Notes> notes_;
};

class NotingQueue final : public GpuQueue {
 public:
  void* stream() const override { return nullptr; }
  GpuFaults& faults() override { return faults_; }
  size_t max_blocks() const override { return 1; }
  Status launched() override { return {}; }
  Result<void*> blas() override { return unavailable("not used"); }
  Result<void*> dnn() override { return unavailable("not used"); }
  void* mark() override { return nullptr; }
  int64_t elapsed(void*, void*) override { return 0; }
  void poll() override {}
  bool tf32() const override { return false; }
  Result<std::string> new_communicator_id() override { return "id " + std::to_string(++ids_); }
  Result<std::unique_ptr<GpuCommunicator>> make_communicator(const std::string& id, int, int) override {
    if (id == refused) return unavailable("NCCL is missing");
    made.push_back(std::make_shared<Notes>(Notes{id, {}, {}, {}}));
    return std::unique_ptr<GpuCommunicator>(std::make_unique<NotingCommunicator>(made.back()));
  }

  std::vector<std::shared_ptr<Notes>> made;
  std::string refused;

 private:
  int ids_ = 0;
  GpuFault place_;
  GpuFaults faults_{{&place_, 1}};
};

struct Fixture {
  /// Runs an exchange that has this weight. Returns where its end is noted.
  std::shared_ptr<std::optional<Status>> run(const GpuTurn& turn, double weight) {
    auto ended = std::make_shared<std::optional<Status>>();
    group.run(turn, {.weight = weight}, [ended](Status status) { *ended = std::move(status); });
    return ended;
  }
  GpuTurn next_turn(const std::vector<GpuMember>& of, uint64_t fresh) {
    return value_or_throw(group.next_turn(of, fresh));
  }

  NotingQueue queue;
  size_t disposed = 0;
  GpuGroup group{queue, 0, 2, [this](std::unique_ptr<GpuCommunicator>) { ++disposed; }};
  const std::vector<GpuMember> members = {{10, 0}, {20, 0}};
};

const std::vector<double> none;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(gpu_group, Fixture)

BOOST_AUTO_TEST_CASE(exchanges_begin_in_the_order_of_their_turns) {
  run({7, "id", 2}, 0.2);
  run({7, "id", 3}, 0.3);
  BOOST_TEST_REQUIRE(queue.made.size() == 1u);
  BOOST_TEST(queue.made[0]->begun == none, boost::test_tools::per_element());
  const auto first = run({7, "id", 1}, 0.1);
  BOOST_TEST(queue.made[0]->begun == (std::vector<double>{0.1, 0.2, 0.3}), boost::test_tools::per_element());
  BOOST_TEST(!first->has_value());
  queue.made[0]->ended[0].complete({});
  BOOST_TEST((*first)->ok());
}

BOOST_AUTO_TEST_CASE(a_turn_that_was_given_twice_fails) {
  for (const uint64_t place : {1, 3}) {
    BOOST_TEST(!run({7, "id", place}, 1)->has_value());
    BOOST_TEST((run({7, "id", place}, 2)->value().code() == Code::InvalidArgument));
  }
  BOOST_TEST(queue.made[0]->begun == std::vector<double>{1}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_first_site_gives_out_the_turns_of_one_communicator) {
  const GpuTurn first = next_turn(members, 7), second = next_turn(members, 8);
  BOOST_TEST(first.communicator == 7u);
  BOOST_TEST(first.place == 1u);
  BOOST_TEST(second.communicator == 7u);
  BOOST_TEST(second.id == first.id);
  BOOST_TEST(second.place == 2u);
  BOOST_TEST(queue.made.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_communicator_that_has_failed_at_any_member_is_replaced) {
  const GpuTurn before = next_turn(members, 7);
  const auto runs = run(before, 1);
  const GpuTurn after = next_turn({{10, 0}, {20, 7}}, 8);
  BOOST_TEST(after.communicator == 8u);
  BOOST_TEST(after.id != before.id);
  BOOST_TEST(after.place == 1u);
  BOOST_TEST((runs->value().code() == Code::Aborted));
  BOOST_TEST(disposed == 1u);
  // The other member tells of the communicator before until it has a new one that has failed.
  BOOST_TEST(next_turn({{10, 0}, {20, 7}}, 9).communicator == 8u);
}

BOOST_AUTO_TEST_CASE(a_communicator_does_not_connect_a_process_that_was_started_anew) {
  next_turn(members, 7);
  BOOST_TEST(next_turn({{10, 0}, {21, 0}}, 8).communicator == 8u);
}

BOOST_AUTO_TEST_CASE(exchanges_of_an_aborted_communicator_fail_with_the_reason) {
  const auto begun = run({7, "id", 1}, 1), waits = run({7, "id", 3}, 3);
  group.abort(unavailable("a member is lost"));
  BOOST_TEST(queue.made[0]->aborted.text() == "a member is lost");
  for (const auto& ended : {begun, waits, run({7, "id", 2}, 2)}) {
    BOOST_TEST_REQUIRE(ended->has_value());
    BOOST_TEST((*ended)->text() == "a member is lost");
  }
  BOOST_TEST(group.broken() == 7u);
  BOOST_TEST(next_turn(members, 8).communicator == 8u);
}

BOOST_AUTO_TEST_CASE(the_others_take_the_communicator_that_the_first_site_names) {
  run({7, "one", 1}, 1);
  run({8, "two", 1}, 2);
  BOOST_TEST_REQUIRE(queue.made.size() == 2u);
  BOOST_TEST(queue.made[1]->id == "two");
  BOOST_TEST(queue.made[1]->begun == std::vector<double>{2}, boost::test_tools::per_element());
  BOOST_TEST((queue.made[0]->aborted.code() == Code::Aborted));
}

BOOST_AUTO_TEST_CASE(a_communicator_that_cannot_be_made_fails_its_exchanges) {
  queue.refused = "id";
  BOOST_TEST(run({7, "id", 1}, 1)->value().text() == "NCCL is missing");
  BOOST_TEST(run({7, "id", 2}, 1)->value().text() == "NCCL is missing");
  BOOST_TEST(group.broken() == 7u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::gpu_group_test
