// Groups of variables: each has its own actor, and a request for cells of several groups joins them. Even with failures meanwhile,
// every update is applied once, as a whole and in order, or its request fails.
#include "actors/services/variable/variable_groups.h"

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <random>
#include <set>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/runtime_impl.h"
#include "actors/services/variable/variable_service.h"
#include "graph/build/scope.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/schemas/supervisor.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::variable_groups_test {
namespace {

constexpr std::array<int64_t, 2> sizes = {1, 70'000};  // elements; the second is computed outside the handler
using Values = std::vector<uint64_t>;

/// Applies update `number` to the values of its cells. The result depends on all values and on the order of updates.
void update_values(uint64_t number, std::span<uint64_t* const> cells) {
  uint64_t sum = number;
  for (const uint64_t* cell : cells) sum += *cell;
  for (uint64_t* cell : cells) *cell = *cell * 3 + sum;
}

/// An update rule for as many cells as the node has outputs. It logs its runs.
class LogUpdate {
 public:
  LogUpdate(size_t cells, Values& log) : cells_(cells), log_(log) {}

  Status operator()(KernelContext& context) const {
    const auto number = static_cast<uint64_t>(context.input(cells_).as<int64_t>()[0]);
    Values values;
    std::vector<uint64_t*> pointers;
    for (size_t i = 0; i < cells_; ++i)
      values.push_back(static_cast<uint64_t>(context.input(i).as<int64_t>()[0]));
    for (uint64_t& value : values) pointers.push_back(&value);
    update_values(number, pointers);
    for (size_t i = 0; i < cells_; ++i) {
      TROUPE_ASSIGN(Tensor * output, context.forward(i, i, context.input(i).shape()));
      std::ranges::fill(output->write<int64_t>(), static_cast<int64_t>(values[i]));
    }
    log_.push_back(number);
    return Status();
  }

 private:
  const size_t cells_;
  Values& log_;
};

/// Makes a rule that updates one to three variables of Int64.
std::shared_ptr<UpdateRule> rule_of(const std::shared_ptr<const OpLibrary>& library, size_t cells) {
  static const std::array<std::pair<const char*, size_t>, 3> ops = {
      {{"AssignAdd", 1}, {"ApplyMomentum", 3}, {"ApplyAdam", 7}}};
  auto graph = std::make_shared<Graph>(library->ops);
  const Scope g(*graph);
  const auto input = [&](const char* op) {
    return g.add_one(op, {}, {{"dtype", DType::Int64}, {"shape", PartialShape::scalar()}});
  };
  std::vector<Output> inputs;
  for (size_t i = 0; i < cells; ++i) inputs.push_back(input("VariableV2"));
  for (size_t i = 0; i < ops[cells - 1].second; ++i) inputs.push_back(input("Placeholder"));
  auto rule = std::make_shared<UpdateRule>();
  rule->node = &graph->node(g.add(ops[cells - 1].first, inputs));
  rule->graph = std::move(graph);
  return rule;
}

AnyMessage update_message(uint64_t rule, uint64_t number, std::span<StateCell* const> cells) {
  Draft<wire::Update> draft;
  draft->setRule(rule);
  auto list = draft->initCells(static_cast<uint32_t>(cells.size()));
  for (uint32_t i = 0; i < cells.size(); ++i) list.set(i, cells[i]->id());
  return draft.finish(std::vector<Tensor>(7, Tensor::scalar(static_cast<int64_t>(number))));
}

/// Variables that are 0 at first, in one container of a simulated node, and the requests sent to their actors.
struct Bench {
  using Answered = std::shared_ptr<const std::optional<Result<AnyMessage>>>;
  struct Sent {
    std::vector<size_t> cells;
    Answered answer;
    size_t log_before = 0;  ///< the length of the log when the request was sent
    bool late = false;      ///< the request is sent to an earlier owner of the cells
  };

  Bench(size_t count, uint64_t seed) : simulation(seed) {
    for (size_t taken = 1; taken <= 3; ++taken) {
      auto rule = rule_of(node.actors.library, taken);
      rule->kernel = std::make_unique<HostKernel<LogUpdate>>(LogUpdate(taken, log));
      rules.push_back(VariableService::of(site()).rules().add(std::move(rule)));
    }
    for (size_t i = 0; i < count; ++i) {
      const Shape shape{sizes[i % 2]};
      cells.push_back(value_or_throw(node.tasks[0]->state->require(
          container, "w" + std::to_string(i), DType::Int64, shape, site().device->name().text())));
      Tensor zeros = value_or_throw(Tensor::allocate(DType::Int64, shape));
      std::ranges::fill(zeros.write<int64_t>(), 0);
      cells.back()->publish(std::move(zeros));
    }
    simulation.run_ready();
    actors = node.actors.engine.actors();
    addresses = node.actors.directory.size();
  }

  DeviceSite& site() { return *node.tasks[0]->sites[0]; }
  VariableGroups& groups() { return VariableService::of(site()).groups(); }
  std::vector<StateCell*> pointers(const std::vector<size_t>& which) const {
    std::vector<StateCell*> result;
    for (const size_t cell : which) result.push_back(cells[cell].get());
    return result;
  }
  ActorRef owner(const std::vector<size_t>& which) { return value_or_throw(groups().owner(pointers(which))); }
  std::vector<size_t> draw_cells(size_t most) {
    std::set<size_t> drawn;
    for (size_t i = 0; i <= simulation.draw(most); ++i) drawn.insert(simulation.draw(cells.size()));
    return {drawn.begin(), drawn.end()};
  }

  void update(const std::vector<size_t>& which) { update(which, owner(which), false); }
  void update(const std::vector<size_t>& which, const ActorRef& to, bool late) {
    const auto message = update_message(rules[which.size() - 1], updates.size(), pointers(which));
    updates.push_back({which, node.ask(to, message), log.size(), late});
  }
  void read(const std::vector<size_t>& which) {
    Draft<wire::Read> draft;
    auto list = draft->initCells(static_cast<uint32_t>(which.size()));
    for (uint32_t i = 0; i < which.size(); ++i) list.set(i, cells[which[i]]->id());
    reads.push_back({which, node.ask(owner(which), draft.finish()), log.size()});
  }
  void kill(const ActorRef& actor) {
    node.actors.engine.stop(actor, internal("a message handler threw an exception: on purpose"));
  }
  void run_jobs(uint64_t jobs) {
    simulation.run_until([jobs]() mutable { return jobs-- == 0; });
  }

  /// Returns the values of the cells after the first `length` updates of the log.
  Values replayed(size_t length) const {
    Values values(cells.size(), 0);
    for (size_t i = 0; i < length; ++i) {
      std::vector<uint64_t*> of_update;
      for (const size_t cell : updates[log[i]].cells) of_update.push_back(&values[cell]);
      update_values(log[i], of_update);
    }
    return values;
  }
  static uint64_t first_of(const Tensor& tensor) { return static_cast<uint64_t>(tensor.as<int64_t>()[0]); }

  void check_updates() {
    std::vector<size_t> times(updates.size(), 0), place(updates.size(), 0);
    for (size_t i = 0; i < log.size(); ++i) {
      ++times[log[i]];
      place[log[i]] = i;
    }
    for (size_t i = 0; i < updates.size(); ++i) {
      const Sent& sent = updates[i];
      BOOST_TEST_REQUIRE(sent.answer->has_value(), "update " << i << " was never answered");
      const Status status = (*sent.answer)->status();
      BOOST_TEST_REQUIRE((status.ok() ? times[i] == 1 : times[i] <= 1),
                         "update " << i << " ran " << times[i] << " times: " << status.text());
      for (size_t j = 0; j < i; ++j) {
        const bool shared = std::ranges::any_of(
            sent.cells, [&](size_t cell) { return std::ranges::count(updates[j].cells, cell) != 0; });
        if (!shared || sent.late || updates[j].late || times[i] == 0 || times[j] == 0) continue;
        BOOST_TEST_REQUIRE(place[j] < place[i], "update " << i << " ran before " << j);
      }
    }
    const Values expected = replayed(log.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      Snapshot snapshot;
      BOOST_REQUIRE((cells[i]->try_read(snapshot) == StateCell::Reading::Ready));
      BOOST_TEST_REQUIRE(first_of(snapshot.value) == expected[i]);
    }
  }

  /// Checks that each read saw its cells at one moment, not before the read was sent.
  void check_reads() const {
    for (const Sent& sent : reads) {
      BOOST_TEST_REQUIRE(sent.answer->has_value(), "a read was never answered");
      if (!(*sent.answer)->ok()) continue;
      const auto values = (**sent.answer)->attachments();
      bool found = false;
      for (size_t length = sent.log_before; length <= log.size() && !found; ++length) {
        const Values then = replayed(length);
        found = true;
        for (size_t i = 0; i < values.size(); ++i) found &= first_of(values[i]) == then[sent.cells[i]];
      }
      BOOST_TEST_REQUIRE(found, "a read saw values of different moments");
    }
  }

  /// Returns how many variable actors the supervisor keeps, and how many have failed permanently.
  std::pair<size_t, size_t> supervised() {
    const auto answer = node.ask(node.find(site().supervisor->address()), Draft<wire::ListActors>().finish());
    simulation.run_ready();
    std::pair<size_t, size_t> result;
    for (const auto child : Message<wire::ActorsListed>(value_or_throw(**answer))->getActors())
      if (read_address(child).role == "variable") ++(child.getFailed() ? result.second : result.first);
    return result;
  }
  static Address read_address(wire::Child::Reader child) { return troupe::read(child.getAddress()); }

  test::Simulation simulation;
  SimulatedDisk disk{1};
  test::SimulatedNode node{simulation, disk, 1};
  const std::string container = "own";
  std::vector<uint64_t> rules;  ///< the rules for one, two and three cells
  std::vector<std::shared_ptr<StateCell>> cells;
  Values log;  ///< the numbers of the updates, in the order in which they ran
  std::vector<Sent> updates, reads;
  size_t actors = 0, addresses = 0;  ///< before the first group was made
};

}  // namespace

BOOST_AUTO_TEST_SUITE(variable_groups)

BOOST_AUTO_TEST_CASE(a_variable_has_an_actor_and_an_address_of_its_own_until_something_takes_two) {
  Bench bench(3, 1);
  const ActorRef first = bench.owner({0}), second = bench.owner({1});
  BOOST_TEST((first != second));
  const auto address = [&](size_t cell) { return bench.site().address("variable", *bench.cells[cell]); };
  BOOST_TEST((bench.node.find(address(0)) == first));
  BOOST_TEST((bench.node.find(address(1)) == second));
  bench.update({0, 1});
  bench.simulation.run_ready();
  BOOST_TEST((bench.owner({0}) == bench.owner({1})));
  BOOST_TEST((bench.owner({2}) != bench.owner({0})));
  BOOST_TEST((bench.supervised() == std::pair<size_t, size_t>(2, 0)));
}

BOOST_AUTO_TEST_CASE(whatever_is_joined_or_dies_meanwhile_updates_happen_once_whole_and_in_order) {
  size_t survived = 0, lost = 0, merged = 0;
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Bench bench(6, seed);
      const bool kills = seed % 3 != 0;
      std::vector<std::pair<std::vector<size_t>, ActorRef>> late;
      for (int action = 0; action < 60; ++action) {
        const uint64_t what = bench.simulation.draw(100);
        // At first few requests take several cells.
        const size_t most = action < 30 && what % 4 != 0 ? 1 : 3;
        if (what < 45) {
          bench.update(bench.draw_cells(most));
        } else if (what < 55) {
          const auto cells = bench.draw_cells(most);
          late.emplace_back(cells, bench.owner(cells));
        } else if (what < 62 && !late.empty()) {
          bench.update(late.back().first, late.back().second, true);
          late.pop_back();
        } else if (what < 72) {
          bench.read(bench.draw_cells(most));
        } else if (what < 75 && kills) {
          bench.kill(bench.owner({bench.simulation.draw(bench.cells.size())}));
        } else if (what < 78 && kills && !late.empty()) {
          bench.kill(late.back().second);
        } else {
          bench.run_jobs(bench.simulation.draw(12));
        }
      }
      late.clear();
      bench.simulation.run_ready();
      bench.check_updates();
      bench.check_reads();
      const auto [alive, failed] = bench.supervised();
      BOOST_TEST(bench.node.actors.engine.actors() == bench.actors + alive);
      if (!kills) {
        BOOST_TEST(failed == 0u);
        BOOST_TEST(bench.log.size() == bench.updates.size());
      }
      survived += alive;
      lost += failed;
      merged += bench.cells.size() - alive - failed;
    }
  }
  BOOST_TEST(survived > 100u);
  BOOST_TEST(lost > 10u);
  BOOST_TEST(merged > 100u);
}

BOOST_AUTO_TEST_CASE(a_group_whose_values_are_lost_takes_no_other_with_it) {
  Bench bench(4, 1);
  for (const size_t cell : {0, 2}) bench.update({cell});
  bench.simulation.run_ready();
  const auto value = bench.cells[0]->take_for_write();  // as an update that throws an exception does
  BOOST_REQUIRE(value.has_value());
  bench.kill(bench.owner({0}));
  bench.simulation.run_ready();
  bench.update({0});
  bench.update({0, 2});
  bench.update({2});
  bench.simulation.run_ready();
  for (const size_t update : {2, 3}) {
    const Status status = (*bench.updates[update].answer)->status();
    BOOST_TEST((status.code() == Code::Internal), status.text());
    BOOST_TEST(status.text().find("variable w0 was being changed") != std::string::npos, status.text());
  }
  BOOST_TEST((*bench.updates[4].answer)->ok());
  BOOST_TEST((bench.supervised() == std::pair<size_t, size_t>(1, 1)));
}

BOOST_AUTO_TEST_CASE(a_dropped_container_takes_its_groups_along_also_while_they_are_joined) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Bench bench(5, seed);
      for (int i = 0; i < 12; ++i) {
        bench.update(bench.draw_cells(3));
        bench.run_jobs(bench.simulation.draw(6));
      }
      for (const auto& cell : bench.node.tasks[0]->state->drop(bench.container)) bench.site().drop(*cell);
      bench.simulation.run_ready();
      for (const auto& sent : bench.updates) BOOST_TEST_REQUIRE(sent.answer->has_value());
      BOOST_TEST(bench.node.actors.engine.actors() == bench.actors);
      BOOST_TEST(bench.node.actors.directory.size() == bench.addresses);
    }
  }
}

// Before the save begins, cells 0 and 1 are one group, and 2 and 3 another. They are joined with others during the save.
BOOST_AUTO_TEST_CASE(a_checkpoint_has_the_values_of_each_group_from_one_moment) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Bench bench(6, seed);
      for (const std::vector<size_t>& pair : {std::vector<size_t>{0, 1}, {2, 3}}) bench.update(pair);
      bench.simulation.run_ready();
      const TaskSites& task = *bench.node.tasks[0];
      Draft<wire::SaveCheckpoint> draft;
      draft->setFolder("/checkpoints");
      draft->setContainer(as_text(bench.container));
      write(checkpoint_writer_address(task.address("worker")), draft->initWriters(1)[0]);
      const auto saved = bench.node.ask(
          bench.node.find(checkpoint_coordinator_address(task.address("worker"))), draft.finish());
      for (int i = 0; i < 20; ++i) {
        const size_t pair = bench.simulation.draw(2) * 2;
        std::vector<size_t> cells = {pair, pair + 1};
        if (bench.simulation.draw(3) == 0) cells.push_back(4 + bench.simulation.draw(2));
        bench.update(cells);
        bench.run_jobs(bench.simulation.draw(8));
      }
      bench.simulation.run_ready();
      bench.check_updates();
      BOOST_TEST_REQUIRE(saved->has_value());
      BOOST_TEST_REQUIRE((*saved)->ok(), (*saved)->status().text());
      std::vector<std::string> skipped;
      const auto checkpoint = value_or_throw(test::load_newest(bench.disk, "/checkpoints", skipped));
      std::map<std::string, uint64_t> values;
      for (const auto& tensor : checkpoint.tensors) values[tensor.name] = Bench::first_of(tensor.value);
      for (const size_t pair : {0, 2}) {
        bool found = false;
        for (size_t length = 0; length <= bench.log.size() && !found; ++length) {
          const Values then = bench.replayed(length);
          found = then[pair] == values.at("w" + std::to_string(pair)) &&
                  then[pair + 1] == values.at("w" + std::to_string(pair + 1));
        }
        BOOST_TEST(found);
      }
    }
  }
}

// ---- With threads

namespace {

/// Counts the updates that have begun; each of two updates waits for the other.
struct Meeting {
  bool meet() {
    std::unique_lock lock(mutex);
    ++begun;
    changed.notify_all();
    return changed.wait_for(lock, std::chrono::seconds(30), [this] { return begun == 2; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
};

class MeetUpdate {
 public:
  explicit MeetUpdate(Meeting& meeting) : meeting_(meeting) {}
  Status operator()(KernelContext& context) const {
    context.set_output(0, context.input(0));
    return meeting_.meet() ? Status() : deadline_exceeded("the other update did not begin");
  }

 private:
  Meeting& meeting_;
};

/// A rule that adds 1 to every element of every variable.
class CountUpdate {
 public:
  explicit CountUpdate(size_t cells) : cells_(cells) {}
  Status operator()(KernelContext& context) const {
    for (size_t i = 0; i < cells_; ++i) {
      const int64_t next = context.input(i).as<int64_t>()[0] + 1;
      TROUPE_ASSIGN(Tensor * output, context.forward(i, i, context.input(i).shape()));
      std::ranges::fill(output->write<int64_t>(), next);
    }
    return Status();
  }

 private:
  const size_t cells_;
};

/// A runtime with variables that are 0 at first, and threads that send updates.
struct Threads {
  uint64_t add_rule(size_t taken, std::unique_ptr<Kernel> kernel) {
    auto rule = rule_of(impl.node->library, taken);
    rule->kernel = std::move(kernel);
    return service.rules().add(std::move(rule));
  }
  std::shared_ptr<StateCell> cell(int64_t size) {
    auto cell = value_or_throw(impl.tasks[0]->state->require("", "w" + std::to_string(++cells), DType::Int64,
                                                             Shape{size}, site.device->name().text()));
    Tensor zeros = value_or_throw(Tensor::allocate(DType::Int64, Shape{size}));
    std::ranges::fill(zeros.write<int64_t>(), 0);
    cell->publish(std::move(zeros));
    return cell;
  }
  Result<AnyMessage> call(std::span<StateCell* const> of, AnyMessage message) {
    TROUPE_ASSIGN(const ActorRef owner, service.groups().owner(of));
    return impl.node->engine.call(owner, std::move(message));
  }

  Runtime runtime{{.threads = 2}};
  Runtime::Impl& impl = runtime.impl();
  DeviceSite& site = *impl.tasks[0]->sites[0];
  VariableService& service = VariableService::of(site);
  size_t cells = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(updates_of_two_variables_run_side_by_side_in_or_outside_the_handler, Threads) {
  for (const int64_t size : sizes) {
    Meeting meeting;
    const uint64_t meet = add_rule(1, std::make_unique<HostKernel<MeetUpdate>>(MeetUpdate(meeting)));
    const std::array pair = {cell(size), cell(size)};
    for (const auto& variable : pair) BOOST_TEST_REQUIRE(site.owner(*variable).ok());
    run_on_control(*impl.loop,
                   [] {});  // after this the actors are idle, and run on the threads that send requests
    std::array<Status, 2> statuses;
    const auto update = [&](size_t which) {
      StateCell* const updated[] = {pair[which].get()};
      statuses[which] = call(updated, update_message(meet, which, updated)).status();
    };
    std::thread other(update, 1);
    update(0);
    other.join();
    for (const Status& status : statuses) BOOST_TEST(status.ok(), status.text());
  }
}

// Variables 0 and 1 are always updated together.
BOOST_FIXTURE_TEST_CASE(threads_that_join_groups_lose_no_update_and_see_no_half_of_one, Threads) {
  const uint64_t count_two = add_rule(2, std::make_unique<HostKernel<CountUpdate>>(CountUpdate(2))),
                 count_three = add_rule(3, std::make_unique<HostKernel<CountUpdate>>(CountUpdate(3)));
  for (uint64_t round = 0; round < 30; ++round) {
    std::vector<std::shared_ptr<StateCell>> variables;
    for (size_t i = 0; i < 8; ++i) variables.push_back(cell(sizes[round % 2]));
    std::vector<std::atomic<int64_t>> expected(variables.size());
    std::atomic<int> failed{0}, torn{0};
    const auto work = [&](uint64_t seed) {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 20; ++i) {
        std::vector<size_t> which = {0, 1};
        if (i % 2 == 1) which = {2 + random() % 3, 5 + random() % 3};
        if (i % 4 == 2) which.push_back(2 + random() % 6);
        std::vector<StateCell*> updated;
        for (const size_t variable : which) updated.push_back(variables[variable].get());
        const uint64_t rule = which.size() == 2 ? count_two : count_three;
        if (!call(updated, update_message(rule, 0, updated)).ok()) ++failed;
        for (const size_t variable : which) ++expected[variable];
        Draft<wire::Read> draft;
        auto both = draft->initCells(2);
        for (uint32_t first = 0; first < 2; ++first) both.set(first, variables[first]->id());
        StateCell* const read[] = {variables[0].get(), variables[1].get()};
        const auto values = call(read, draft.finish());
        if (!values.ok() ||
            values->attachments()[0].as<int64_t>()[0] != values->attachments()[1].as<int64_t>()[0])
          ++torn;
      }
    };
    std::thread second(work, 3 * round + 1), third(work, 3 * round + 2);
    work(3 * round);
    second.join();
    third.join();
    BOOST_TEST_REQUIRE(failed == 0);
    BOOST_TEST_REQUIRE(torn == 0);
    for (size_t i = 0; i < variables.size(); ++i) {
      Snapshot snapshot;
      BOOST_REQUIRE((variables[i]->try_read(snapshot) == StateCell::Reading::Ready));
      BOOST_TEST_REQUIRE(snapshot.value.as<int64_t>()[0] == expected[i]);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::variable_groups_test
