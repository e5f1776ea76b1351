// Checkpoints of whole sessions: the writers of all tasks save them together, and they are restored by the same or another number
// of tasks, also with lost writers, full disks, crashes and damage (robustness.md I1, I3, I7).
#include "actors/checkpoint/checkpoint.h"

#include <boost/test/unit_test.hpp>

#include "actors/checkpoint/checkpoint_files.h"
#include "actors/checkpoint/checkpoint_wire.h"
#include "devices/transfer.h"
#include "graph/build/scope.h"
#include "tests/support/delayed_device.h"
#include "tests/support/failure_of.h"
#include "tests/support/simulation/simulated_node.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::checkpoint_test {
namespace {

using test::SimulatedNode;
using test::Simulation;

const std::string folder = "/checkpoints";
const SessionOptions shared{.share_state = true};

// w, b, steps, table: variables, assigned to the devices of the tasks in turn; each with an Assign of a placeholder
struct Model {
  Model(const SimulatedNode& node, size_t devices_per_task = 1)
      : graph(node.actors.library->ops), devices(node.tasks.size() * devices_per_task),
        per_task(devices_per_task) {
    variable("VariableV2", "w", DType::Float, {2, 2});
    variable("VariableV2", "layer/b", DType::BFloat16, {3});
    variable("VariableV2", "steps", DType::Int64, {});
    variable("VarHandleOp", "table", DType::Float, {4});
  }

  void variable(const std::string& op, const std::string& name, DType dtype, PartialShape shape) {
    const size_t device = names.size() % devices;
    const Scope here = Scope(graph).with_device("/job:test/task:" + std::to_string(device / per_task) +
                                                "/device:CPU:" + std::to_string(device % per_task));
    names.push_back(name);
    handles.push_back(here.with_name(name).add_one(op, {}, {{"dtype", dtype}, {"shape", shape}}));
    placeholders.push_back(here.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}}));
    if (op == "VarHandleOp") {
      assigns.push_back(
          {here.add("AssignVariableOp", {handles.back(), placeholders.back()}), Output::control});
      reads.push_back(here.add_one("ReadVariableOp", {handles.back()}, {{"dtype", dtype}}));
    } else {
      assigns.push_back({here.add("Assign", {handles.back(), placeholders.back()}), Output::control});
      reads.push_back(here.add_one("Identity", {handles.back()}));
    }
  }

  Graph graph;
  size_t devices, per_task;
  std::vector<std::string> names;
  std::vector<Output> handles, placeholders, assigns, reads;
};

std::vector<Tensor> values_of(uint64_t round) {
  const auto x = static_cast<float>(round);
  return {Tensor::of<float>(Shape({2, 2}), {x, -0.0f, 1e-42f, -x}),
          Tensor::vector<BFloat16>({BFloat16(x), BFloat16(1), BFloat16(2)}),
          Tensor::scalar(static_cast<int64_t>(round)), Tensor::vector<float>({x, x, x, 1 / x})};
}

void assign(const Model& model, Session& session, uint64_t round) {
  const auto values = values_of(round);
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < values.size(); ++i) feeds.emplace_back(model.placeholders[i], values[i]);
  session.run(feeds, model.assigns);
}

void check_values(const Model& model, Session& session, uint64_t round) {
  const auto expected = values_of(round);
  const auto found = session.run(model.reads);
  for (size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST_REQUIRE(identical(found[i], expected[i]), model.names[i] << " is not that of " << round);
}

Status save(Session& session, uint64_t round, size_t keep = 2) {
  try {
    const auto saved =
        session.save(folder, {.round = round, .note = "n" + std::to_string(round), .keep = keep});
    BOOST_TEST(saved.problem.empty());
    return {};
  } catch (const Error& error) {
    return error.status();
  }
}

Status failure_of_restore(Session& session, const std::string& name = {}) {
  try {
    session.restore(folder, name);
    return {};
  } catch (const Error& error) {
    return error.status();
  }
}

ActorRef coordinator_of(SimulatedNode& node) {
  return node.find(checkpoint_coordinator_address(node.tasks.front()->address("worker")));
}

Address writer_of(const SimulatedNode& node, size_t task) {
  return checkpoint_writer_address(node.tasks[task]->address("worker"));
}

/// Writes the writers of the node's two tasks.
void write_writers(const SimulatedNode& node, capnp::List<wire::Address>::Builder writers) {
  for (uint32_t i = 0; i < 2; ++i) write(writer_of(node, i), writers[i]);
}

/// Returns the request to save the state of the node's two tasks: the one that they hold under this number; if 0, the present one.
AnyMessage save_request(const SimulatedNode& node, uint64_t round, uint64_t state = 0) {
  Draft<wire::SaveCheckpoint> draft;
  draft->setFolder(as_text(folder));
  draft->setRound(round);
  draft->setNote(as_text("n" + std::to_string(round)));
  draft->setKeep(5);
  draft->setState(state);
  write_writers(node, draft->initWriters(2));
  return draft.finish();
}

/// Starts a new process on the same disk, and returns the round that it restores, after checking all values; 0 if there is none.
uint64_t round_after_restart(SimulatedDisk& disk, size_t tasks) {
  Simulation simulation;
  SimulatedNode node(simulation, disk, tasks);
  const Model model(node);
  Session session = node.session(model.graph);
  try {
    const auto restored = session.restore(folder);
    BOOST_TEST(restored.note == "n" + std::to_string(restored.round));
    BOOST_TEST(restored.missing.empty());
    check_values(model, session, restored.round);
    return restored.round;
  } catch (const Error& error) {
    BOOST_TEST_REQUIRE((error.status().code() == Code::NotFound), error.what());
    return 0;
  }
}

/// Returns the number of files in a folder and below it.
size_t count_files(Disk& disk, const std::string& path) {
  size_t count = 0;
  for (const auto& entry : value_or_throw(disk.list(path)))
    count += entry.is_folder ? count_files(disk, path + '/' + entry.name) : 1;
  return count;
}

/// One process with two tasks, whose variables have the values of round 1.
struct Running {
  explicit Running(uint64_t seed = 0) : simulation(seed), disk(seed) { assign(model, session, 1); }

  Simulation simulation;
  SimulatedDisk disk;
  SimulatedNode node{simulation, disk, 2};
  const Model model{node};
  Session session = node.session(model.graph, shared);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint)

BOOST_FIXTURE_TEST_CASE(what_is_saved_by_two_tasks_is_restored_in_the_same_process, Running) {
  throw_if_failed(save(session, 1));
  assign(model, session, 9);
  const auto restored = session.restore(folder);
  BOOST_TEST(restored.folder == folder + "/000001-round-1");
  BOOST_TEST(restored.round == 1u);
  BOOST_TEST(restored.note == "n1");
  BOOST_TEST(restored.skipped.empty());
  BOOST_TEST(restored.missing.empty());
  check_values(model, session, 1);
  BOOST_TEST(count_files(disk, folder) == 3u);  // one shard per task, and the manifest
}

BOOST_AUTO_TEST_CASE(variables_never_initialised_are_restored_in_any_number_of_tasks) {
  for (const size_t before : {1, 2, 5})
    for (const size_t devices : {1, 3}) {
      SimulatedDisk disk(1);
      {
        Simulation simulation;
        SimulatedNode node(simulation, disk, before, devices);
        const Model model(node, devices);
        Session session = node.session(model.graph);
        assign(model, session, 7);
        throw_if_failed(save(session, 7));
      }
      for (const size_t after : {1, 2, 3}) BOOST_TEST(round_after_restart(disk, after) == 7u);
    }
}

BOOST_FIXTURE_TEST_CASE(versions_are_restored, Running) {
  for (int i = 0; i < 4; ++i) assign(model, session, 1);
  throw_if_failed(save(session, 1));
  SimulatedNode other(simulation, disk, 1);
  const Model there(other);
  Session restored = other.session(there.graph, shared);
  restored.restore(folder);
  BOOST_TEST(other.tasks[0]->state->find("", "w")->version() == 5u);
}

BOOST_FIXTURE_TEST_CASE(one_of_several_checkpoints_can_be_restored_by_name, Running) {
  throw_if_failed(save(session, 1));
  assign(model, session, 2);
  throw_if_failed(save(session, 2));
  BOOST_TEST(session.restore(folder, "000001-round-1").round == 1u);
  check_values(model, session, 1);
  BOOST_TEST(session.restore(folder).round == 2u);
  BOOST_TEST((failure_of_restore(session, "000003-round-3").code() == Code::NotFound));
  BOOST_TEST((failure_of_restore(session, "../checkpoints/000001-round-1").code() == Code::NotFound));
}

BOOST_FIXTURE_TEST_CASE(old_checkpoints_go_by_count, Running) {
  for (uint64_t round = 1; round <= 5; ++round) throw_if_failed(save(session, round, 2));
  BOOST_TEST(value_or_throw(CheckpointFiles(disk, folder).names()) ==
                 (std::vector<std::string>{"000004-round-4", "000005-round-5"}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(variables_without_a_value_are_neither_saved_nor_restored, Running) {
  Model more(node);
  more.variable("VariableV2", "new", DType::Double, {2});
  Session with_more = node.session(more.graph, shared);
  with_more.prepare({more.placeholders.back()}, {more.assigns.back()});  // so that the variable exists
  throw_if_failed(save(with_more, 1));
  with_more.run({{more.placeholders.back(), Tensor::vector<double>({1, 2})}}, {more.assigns.back()});
  const auto restored = with_more.restore(folder);
  BOOST_TEST(restored.missing == std::vector<std::string>{"new"}, boost::test_tools::per_element());
  BOOST_TEST(identical(with_more.run({more.reads.back()})[0], Tensor::vector<double>({1, 2})));
}

// A checkpoint without any variable of the session belongs to another model, and the error says so.
BOOST_FIXTURE_TEST_CASE(a_checkpoint_of_other_variables_is_none, Running) {
  throw_if_failed(save(session, 1));
  Graph other(node.actors.library->ops);
  const Scope g(other);
  std::vector<Output> handles;
  for (const char* name : {"p", "q"})
    handles.push_back(g.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}}));
  Session elsewhere = node.session(other, {.share_state = false});
  const Status status = failure_of_restore(elsewhere);
  BOOST_TEST((status.code() == Code::NotFound));
  BOOST_TEST(status.text() == folder +
                                  "/000001-round-1 has no variable of this session: it has layer/b, steps, "
                                  "table and 1 more, the session has p, q");

  Graph none(node.actors.library->ops);
  Scope(none).constant(Tensor::scalar(1.0f));
  Session empty = node.session(none, {.share_state = false});
  BOOST_TEST(failure_of_restore(empty).text().ends_with("the session has none"));
}

BOOST_FIXTURE_TEST_CASE(there_may_be_no_checkpoint, Running) {
  BOOST_TEST((failure_of_restore(session).code() == Code::NotFound));
  check_values(model, session, 1);
}

// ---- Failures

BOOST_FIXTURE_TEST_CASE(a_variable_of_another_dtype_or_shape_is_named_and_nothing_changes, Running) {
  throw_if_failed(save(session, 1));
  struct Change {
    std::string name;
    DType dtype;
    PartialShape shape;
  };
  for (const Change& change : std::initializer_list<Change>{{"w", DType::Double, {2, 2}},
                                                            {"w", DType::Float, {2, 3}},
                                                            {"w", DType::Float, {4}},
                                                            {"steps", DType::Int32, {}}}) {
    SimulatedNode other(simulation, disk, 2);
    Graph graph(other.actors.library->ops);
    const auto variable = [&](int task, const std::string& name, DType dtype, const PartialShape& shape) {
      return Scope(graph)
          .with_device("/job:test/task:" + std::to_string(task))
          .with_name(name)
          .add_one("VariableV2", {}, {{"dtype", dtype}, {"shape", shape}});
    };
    variable(0, change.name, change.dtype, change.shape);
    const Output b = variable(1, "layer/b", DType::BFloat16, {3});
    Session session_there = other.session(graph);
    const Status status = failure_of_restore(session_there);
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(change.name) != std::string::npos, status.message());
    BOOST_CHECK_THROW(session_there.run({b}), Error);  // b still has no value
  }
}

BOOST_FIXTURE_TEST_CASE(a_dtype_that_files_lack_fails_the_save_by_name, Running) {
  Model more(node);
  more.variable("VariableV2", "words", DType::String, {1});
  Session with_more = node.session(more.graph, shared);
  with_more.run({{more.placeholders.back(), Tensor::vector<std::string>({"a"})}}, {more.assigns.back()});
  const Status status = save(with_more, 1);
  BOOST_TEST((status.code() == Code::Unimplemented), status.message());
  BOOST_TEST(status.text().find("words") != std::string::npos, status.message());
  BOOST_TEST(count_files(disk, folder) == 0u);
}

// As when a cluster trains one model after the other, with other places of the variables.
BOOST_FIXTURE_TEST_CASE(of_two_variables_of_one_name_the_one_on_the_task_that_the_graph_names_is_saved,
                        Running) {
  Graph graph(node.actors.library->ops);
  const Output twin = Scope(graph)
                          .with_device("/job:test/task:1")
                          .with_name("w")
                          .add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
  const Output init =
      Scope(graph).add_one("Assign", {twin, Scope(graph).constant(Tensor::vector<float>({1}))});
  const Output own = Scope(graph).with_name("own").add_one(
      "VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
  Session other = node.session(graph, shared);
  other.run({Scope(graph).add_one("Assign", {own, init})});
  Graph anywhere(node.actors.library->ops);
  Scope(anywhere).with_name("w").add_one("VariableV2", {},
                                         {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
  Session indifferent = node.session(anywhere, shared);
  const Status status = save(indifferent, 1);
  BOOST_TEST((status.code() == Code::AlreadyExists), status.message());
  BOOST_TEST(count_files(disk, folder) == 0u);

  throw_if_failed(save(session, 1));
  std::vector<std::string> skipped;
  const auto checkpoint = value_or_throw(test::load_newest(disk, folder, skipped));
  BOOST_TEST(checkpoint.tensors.size() == model.names.size());  // not the variable "own" of the other graph
  const auto saved = std::ranges::find(checkpoint.tensors, "w", &SavedTensor::name);
  BOOST_TEST_REQUIRE((saved != checkpoint.tensors.end()));
  BOOST_TEST(identical(saved->value, values_of(1)[0]));
}

BOOST_FIXTURE_TEST_CASE(a_note_that_is_no_text_is_refused, Running) {
  BOOST_CHECK_EXCEPTION(session.save(folder, {.note = "\xff"}), Error, [](const Error& error) {
    return error.status().message() ==
           "InvalidArgument: the note of a checkpoint must be UTF-8, which the given bytes are not";
  });
  BOOST_TEST(!disk.list(folder));
}

BOOST_FIXTURE_TEST_CASE(a_damaged_checkpoint_is_skipped_even_where_nobody_needs_what_is_damaged, Running) {
  throw_if_failed(save(session, 1));
  assign(model, session, 2);
  throw_if_failed(save(session, 2));
  const std::string path = folder + "/000002-round-2/";
  for (const std::string file : {"shard-00000-of-00002.safetensors", "shard-00001-of-00002.safetensors"}) {
    const std::string whole = value_or_throw(read_file(disk, path + file, 1 << 20));
    std::string damaged = whole;
    damaged.back() ^= 1;
    const auto put = [&](const std::string& content) {
      throw_if_failed(value_or_throw(disk.create(path + file))->write(std::as_bytes(std::span(content))));
    };
    put(damaged);
    SimulatedNode other(simulation, disk,
                        3);  // a session with one variable, which does not need most of the files
    Graph graph(other.actors.library->ops);
    const Output w = Scope(graph).with_name("w").add_one(
        "VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{2, 2}}});
    Session there = other.session(graph);
    const auto restored = there.restore(folder);
    BOOST_TEST(restored.round == 1u);
    BOOST_REQUIRE(restored.skipped.size() == 1u);
    BOOST_TEST(restored.skipped[0].find(path + file) != std::string::npos, restored.skipped[0]);
    BOOST_TEST(identical(there.run({w})[0], values_of(1)[0]));
    const Status asked_for = failure_of_restore(there, "000002-round-2");
    BOOST_TEST((asked_for.code() == Code::DataLoss), asked_for.message());
    put(whole);
  }
}

BOOST_FIXTURE_TEST_CASE(a_damaged_byte_anywhere_or_a_file_cut_short_leads_to_the_one_before, Running) {
  throw_if_failed(save(session, 1));
  assign(model, session, 2);
  throw_if_failed(save(session, 2));
  for (const auto& file : value_or_throw(disk.list(folder + "/000002-round-2"))) {
    const std::string path = folder + "/000002-round-2/" + file.name;
    const std::string whole = value_or_throw(read_file(disk, path, 1 << 20));
    const auto check = [&](const std::string& damaged, size_t at) {
      throw_if_failed(value_or_throw(disk.create(path))->write(std::as_bytes(std::span(damaged))));
      const auto restored = session.restore(folder);
      BOOST_TEST_REQUIRE(restored.round == (damaged == whole ? 2u : 1u), path << " at " << at);
      if (damaged == whole) return;
      BOOST_TEST_REQUIRE(restored.skipped.size() == 1u);
      BOOST_TEST_REQUIRE(restored.skipped[0].find(path) != std::string::npos, restored.skipped[0]);
    };
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] ^= 4;
      check(damaged, at);
      check(whole.substr(0, at), at);
    }
    check(whole, whole.size());
  }
  check_values(model, session, 2);
}

BOOST_FIXTURE_TEST_CASE(without_its_writer_a_save_fails_and_the_one_before_stays, Running) {
  throw_if_failed(save(session, 1));
  assign(model, session, 2);
  node.actors.engine.stop(node.find(writer_of(node, 1)));
  simulation.run_ready();
  BOOST_TEST((save(session, 2).code() == Code::Unavailable));
  BOOST_TEST(count_files(disk, folder) == 3u);
  BOOST_TEST((failure_of_restore(session).code() == Code::Unavailable));
  check_values(model, session, 2);
  BOOST_TEST(round_after_restart(disk, 2) == 1u);
}

BOOST_AUTO_TEST_CASE(a_writer_lost_at_any_moment_fails_the_save_or_comes_too_late) {
  int failed = 0, saved = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Running at(seed);
    throw_if_failed(save(at.session, 1));
    assign(at.model, at.session, 2);
    const auto answered = at.node.ask(coordinator_of(at.node), save_request(at.node, 2));
    uint64_t jobs = seed / 2;
    at.simulation.run_until([&] { return jobs-- == 0; });
    at.node.actors.engine.stop(at.node.find(writer_of(at.node, 1)));
    at.simulation.run_ready();
    BOOST_TEST_REQUIRE(answered->has_value());
    const Result<AnyMessage>& answer = **answered;
    if (!answer) {
      const std::string message = answer.status().message();
      BOOST_TEST_REQUIRE((answer.status().code() == Code::Unavailable), message);
      BOOST_TEST_REQUIRE(message.find(writer_of(at.node, 1).task) != std::string::npos, message);
    }
    ++(answer ? saved : failed);
    BOOST_TEST_REQUIRE(round_after_restart(at.disk, 2) == (answer ? 2u : 1u));
    BOOST_TEST_REQUIRE(count_files(at.disk, folder) == (answer ? 6u : 3u));
  }
  BOOST_TEST(failed > 10);
  BOOST_TEST(saved > 10);
}

BOOST_FIXTURE_TEST_CASE(what_is_saved_are_the_values_when_the_save_began, Running) {
  PendingSave first = session.begin_save(folder, {.round = 1, .note = {}});
  assign(model, session, 2);
  PendingSave second = session.begin_save(folder, {.round = 2, .note = {}});
  assign(model, session, 3);
  const SavedCheckpoint saved[] = {first.wait(), second.wait()};
  BOOST_TEST(first.done());
  check_values(model, session, 3);
  for (const uint64_t round : {1, 2}) {
    const std::string& path = saved[round - 1].folder;
    BOOST_TEST(session.restore(folder, path.substr(path.rfind('/') + 1)).round == round);
    check_values(model, session, round);
  }
}

BOOST_FIXTURE_TEST_CASE(a_third_state_that_is_held_takes_the_place_of_the_first, Running) {
  for (uint64_t state = 1; state <= 3; ++state) {
    assign(model, session, state);
    Draft<wire::HoldState> hold;
    hold->setState(state);
    write_writers(node, hold->initWriters(2));
    auto variables = hold->initVariables(static_cast<uint32_t>(model.names.size()));
    for (uint32_t i = 0; i < model.names.size(); ++i) variables[i].setName(as_text(model.names[i]));
    const auto held = node.ask(coordinator_of(node), hold.finish());
    simulation.run_ready();
    BOOST_TEST_REQUIRE((held->has_value() && (*held)->ok()));
  }
  for (uint64_t state = 1; state <= 3; ++state) {
    const auto saved = node.ask(coordinator_of(node), save_request(node, state, state));
    simulation.run_ready();
    BOOST_TEST_REQUIRE(saved->has_value());
    BOOST_TEST(((*saved)->status().code() == (state == 1 ? Code::Aborted : Code::Ok)),
               (*saved)->status().text());
    if (state == 1) continue;
    BOOST_TEST(session.restore(folder).round == state);
    check_values(model, session, state);
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_fails_the_save_and_the_one_before_stays) {
  Running whole;
  throw_if_failed(save(whole.session, 1));
  const uint64_t before = whole.disk.used();
  throw_if_failed(save(whole.session, 2));
  const uint64_t size = whole.disk.used() - before;
  constexpr uint64_t varies = 32;  // bytes: the numbers in a manifest have as many digits as they need
  for (uint64_t room = 0; room + varies < size; room += 13) {
    Running at(room);
    throw_if_failed(save(at.session, 1));
    at.disk.set_capacity(at.disk.used() + room);
    assign(at.model, at.session, 2);
    const Status full = save(at.session, 2);
    BOOST_TEST_REQUIRE((full.code() == Code::ResourceExhausted),
                       full.message() << ", in " << room << " bytes where another save took " << size);
    BOOST_TEST_REQUIRE(count_files(at.disk, folder) == 3u);
    BOOST_TEST_REQUIRE(round_after_restart(at.disk, 2) == 1u);
    at.disk.set_capacity(UINT64_MAX);
    throw_if_failed(save(at.session, 2));
    BOOST_TEST_REQUIRE(round_after_restart(at.disk, 2) == 2u);
  }
}

BOOST_AUTO_TEST_CASE(after_a_crash_at_any_operation_the_new_or_the_old_one_is_restored) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    for (uint64_t operation = 1;; ++operation) {
      Running at(seed);
      throw_if_failed(save(at.session, 1, 1));
      assign(at.model, at.session, 2);
      at.disk.crash_at(at.disk.operations() + operation);
      Status status;
      try {
        at.session.save(folder, {.round = 2, .note = "n2", .keep = 1});
      } catch (const Error& error) {
        status = error.status();
      }
      const bool over = !at.disk.crashed();
      if (over) at.disk.crash();
      at.disk.restart();
      const uint64_t found = round_after_restart(at.disk, 2);
      BOOST_TEST_REQUIRE((found == 2 || (found == 1 && !status.ok())),
                         "seed " << seed << " operation " << operation << ": found " << found);
      throw_if_failed(save(at.session, 2, 1));
      BOOST_TEST_REQUIRE(count_files(at.disk, folder) == 3u);
      if (over) break;
    }
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_removed_is_told_and_the_save_is_good, Running) {
  throw_if_failed(save(session, 1));
  throw_if_failed(disk.make_folder(
      folder + "/000001-round-1/mine"));  // remove() does not remove a folder inside a checkpoint
  throw_if_failed(value_or_throw(disk.create(folder + "/000001-round-1/mine/file"))->close());
  const auto saved = session.save(folder, {.round = 2, .note = "n2", .keep = 1});
  BOOST_TEST(saved.problem.find("mine") != std::string::npos, saved.problem);
  BOOST_TEST(session.restore(folder).round == 2u);
}

BOOST_AUTO_TEST_CASE(requests_are_carried_out_one_at_a_time_in_order) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Running at(seed);
    const ActorRef coordinator = coordinator_of(at.node);
    std::vector<std::string> folders;
    const auto send = [&](AnyMessage message, auto then) {
      at.node.actors.engine.send(coordinator, std::move(message), Reply([then](Result<AnyMessage> answer) {
                                   then(value_or_throw(std::move(answer)));
                                 }));
    };
    for (uint64_t round = 1; round <= 3; ++round)
      send(save_request(at.node, round), [&](const AnyMessage& answer) {
        folders.emplace_back(view(Message<wire::CheckpointSaved>(answer)->getFolder()));
      });
    Draft<wire::RestoreCheckpoint> draft;
    draft->setFolder(as_text(folder));
    write_writers(at.node, draft->initWriters(2));
    send(draft.finish(), [&](const AnyMessage& answer) {
      folders.emplace_back(view(Message<wire::CheckpointRestored>(answer)->getFolder()));
    });
    at.simulation.run_ready();
    const std::vector<std::string> expected = {folder + "/000001-round-1", folder + "/000002-round-2",
                                               folder + "/000003-round-3", folder + "/000003-round-3"};
    BOOST_TEST_REQUIRE(folders == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(values_in_the_memory_of_a_device_are_saved_and_restored) {
  SimulatedDisk disk(1);
  const auto value = Tensor::vector<float>({1, 2, 3});
  const auto in_new_process = [&](auto act) {
    Simulation simulation;
    SimulatedNode node(simulation, disk, 1);
    const auto device = std::make_shared<DelayedDevice>(DeviceName{"test", 0, 7, "CPU", 0}, node.pool,
                                                        DelayedDevice::Options{});
    const auto task = make_task(node.actors, "/job:test/replica:0/task:7", 7, {device});
    const auto cell =
        value_or_throw(task->state->require("", "w", DType::Float, PartialShape{3}, device->name().text()));
    const auto answer = [&](AnyMessage message) {
      return value_or_throw(node.actors.engine.call(coordinator_of(node), std::move(message)));
    };
    act(*device, *cell, checkpoint_writer_address(task->address("worker")), answer);
  };
  in_new_process([&](DelayedDevice& device, StateCell& cell, const Address& writer, const auto& answer) {
    cell.publish(value_or_throw(transfer(value, device, device)));
    Draft<wire::SaveCheckpoint> draft;
    draft->setFolder(as_text(folder));
    write(writer, draft->initWriters(1)[0]);
    answer(draft.finish());
  });
  in_new_process([&](DelayedDevice& device, StateCell& cell, const Address& writer, const auto& answer) {
    Draft<wire::RestoreCheckpoint> draft;
    draft->setFolder(as_text(folder));
    write(writer, draft->initWriters(1)[0]);
    answer(draft.finish());
    Snapshot snapshot;
    BOOST_REQUIRE((cell.try_read(snapshot) == StateCell::Reading::Ready));
    BOOST_TEST((snapshot.value.memory() == MemoryKind::Device));
    const Tensor back = value_or_throw(to_host(snapshot.value, device));
    throw_if_failed(device.wait(back.completion()));
    BOOST_TEST(identical(back, value));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::checkpoint_test
