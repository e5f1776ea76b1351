// The reader role, tested by messages: whom it waits for, what is kept when a request is cancelled, and how files fail.
#include "actors/services/reader/reader.h"

#include <boost/test/unit_test.hpp>

#include "actors/services/queue/queue.h"
#include "devices/cpu_device.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/reader.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::reader_test {
namespace {

using Answered = std::optional<Result<AnyMessage>>;
using Asked = std::shared_ptr<const Answered>;

/// A reader and its queue in a simulation.
struct Bench {
  explicit Bench(ReaderSpec spec, QueueSpec names = {"q", {DType::String}, {PartialShape::scalar()}, -1})
      : queue(node.actors.engine.spawn(make_queue(node.actors, std::move(names), device))),
        reader(node.actors.engine.spawn(make_reader(node.actors, std::move(spec)))) {
    node.actors.directory.add(address, queue);
  }

  void write(const std::string& path, const std::string& content) {
    auto file = value_or_throw(disk.create(path));
    BOOST_TEST_REQUIRE(file->write(std::as_bytes(std::span(content))).ok());
  }
  void enqueue(const std::string& name) {
    node.ask(queue, Draft<wire::Enqueue>().finish({Tensor::scalar(name)}));
    simulation.run_ready();
  }
  void close_queue() {
    node.ask(queue, Draft<wire::CloseQueue>().finish());
    simulation.run_ready();
  }
  Asked ask(AnyMessage message) {
    auto answer = node.ask(reader, std::move(message));
    simulation.run_ready();
    return answer;
  }
  AnyMessage read_message(uint64_t step, uint64_t count) const {
    Draft<wire::ReadRecords> draft;
    draft->initStep().setOrdinal(step);
    troupe::write(address, draft->initQueue());
    draft->setCount(count);
    draft->setSingle(count == 1);
    return draft.finish();
  }
  Asked read(uint64_t step, uint64_t count = 1) { return ask(read_message(step, count)); }
  void cancel(uint64_t step) {
    Draft<wire::CancelRequests> draft;
    draft->initStep().setOrdinal(step);
    node.actors.engine.send(reader, draft.finish());
    simulation.run_ready();
  }
  /// The records that were yielded and the units completed.
  std::pair<uint64_t, uint64_t> counts() {
    const auto answer = ask(Draft<wire::GetReaderCounts>().finish());
    const Message<wire::ReaderCounts> message(***answer);
    return {message->getRecords(), message->getUnits()};
  }
  Tensor save() {
    const auto answer = ask(Draft<wire::SaveReader>().finish());
    return (**answer)->attachments()[0];
  }
  Status restore(const Tensor& state) {
    return (*ask(Draft<wire::RestoreReader>().finish({state})))->status();
  }

  test::Simulation simulation{0};
  SimulatedDisk disk{0};
  test::SimulatedNode node{simulation, disk};
  std::shared_ptr<Device> device =
      std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, node.pool);
  const Address address{"test", 1, "queue", "q"};
  ActorRef queue, reader;
};

/// Returns "-" while the request waits, the code of a failure, or "key=record" of each record.
std::string text(const Asked& asked) {
  if (!*asked) return "-";
  if (!(*asked)->ok()) return std::string(name((*asked)->status().code()));
  const auto tensors = (**asked)->attachments();
  std::string result;
  for (size_t i = 0; i < tensors[0].as<std::string>().size(); ++i)
    result += (i == 0 ? "" : " ") + tensors[0].as<std::string>()[i] + "=" + tensors[1].as<std::string>()[i];
  return tensors[0].shape().is_scalar() ? result : '[' + result + ']';
}

ReaderSpec spec(ReaderKind kind) {
  ReaderSpec result;
  result.name = "r";
  result.kind = kind;
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reader)

BOOST_AUTO_TEST_CASE(records_of_one_file_after_the_other) {
  Bench bench(spec(ReaderKind::TextLines));
  bench.write("a", "1\n2\n3\n");
  bench.write("b", "");
  bench.write("c", "4\n");
  for (const char* name : {"a", "b", "c"}) bench.enqueue(name);
  BOOST_TEST(text(bench.read(1)) == "a:1=1");
  BOOST_TEST(text(bench.read(2, 2)) == "[a:2=2 a:3=3]");
  BOOST_TEST((bench.counts() == std::pair<uint64_t, uint64_t>(3, 0)));
  BOOST_TEST(text(bench.read(3, 5)) == "[c:1=4]");  // the end of a, and b, which has no records
  BOOST_TEST((bench.counts() == std::pair<uint64_t, uint64_t>(4, 3)));
  BOOST_TEST(text(bench.read(4, 0)) == "[]");
  const Asked waiting = bench.read(5);
  BOOST_TEST(text(waiting) == "-");
  bench.close_queue();
  BOOST_TEST(text(waiting) == "OutOfRange");
}

BOOST_AUTO_TEST_CASE(names_and_whole_files) {
  Bench names(spec(ReaderKind::Names));
  for (const char* name : {"x", "y"}) names.enqueue(name);
  BOOST_TEST(text(names.read(1)) == "x=x");
  BOOST_TEST((names.counts() == std::pair<uint64_t, uint64_t>(1, 1)));
  BOOST_TEST(text(names.read(2, 9)) == "[y=y]");
  Bench files(spec(ReaderKind::WholeFile));
  files.write("f", "a\nb");
  files.enqueue("f");
  BOOST_TEST(text(files.read(1)) == "f=a\nb");
  BOOST_TEST((files.counts() == std::pair<uint64_t, uint64_t>(1, 1)));
}

// A read that is cancelled takes no name and no record with it.
BOOST_AUTO_TEST_CASE(cancelled_reads_lose_nothing) {
  Bench bench(spec(ReaderKind::TextLines));
  bench.write("a", "1\n2\n3\n");
  const Asked first = bench.read(1), second = bench.read(2), third = bench.read(1), fourth = bench.read(3);
  bench.cancel(1);
  BOOST_TEST(text(first) == "Cancelled");
  BOOST_TEST(text(third) == "Cancelled");
  BOOST_TEST(text(second) == "-");
  bench.enqueue("a");
  BOOST_TEST(text(second) == "a:1=1");
  BOOST_TEST(text(fourth) == "a:2=2");
  bench.cancel(3);  // too late
  BOOST_TEST(text(bench.read(4, 3)) == "[a:3=3]");
}

// The step is cancelled at each moment between its request and the answer.
BOOST_AUTO_TEST_CASE(a_read_may_be_cancelled_at_any_moment) {
  size_t cancelled = 0;
  for (size_t moment = 0; moment < 12; ++moment) {
    Bench bench(spec(ReaderKind::TextLines));
    bench.write("a", "1\n2\n");
    bench.enqueue("a");
    const auto answer = bench.node.ask(bench.reader, bench.read_message(1, 2));
    size_t jobs = 0;
    bench.simulation.run_until([&] { return jobs++ == moment; });
    bench.cancel(1);
    const std::string got = text(answer);
    BOOST_TEST((got == "Cancelled" || got == "[a:1=1 a:2=2]"), got);
    if (got != "Cancelled") continue;
    ++cancelled;
    BOOST_TEST(text(bench.read(2, 2)) == "[a:1=1 a:2=2]");
  }
  BOOST_TEST(cancelled > 0u);
  BOOST_TEST(cancelled < 12u);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_missing_is_passed_over_after_its_failure) {
  Bench bench(spec(ReaderKind::WholeFile));
  bench.write("a", "x");
  for (const char* name : {"none", "a"}) bench.enqueue(name);
  const Asked failed = bench.read(1);
  BOOST_TEST(text(failed) == "NotFound");
  BOOST_TEST((*failed)->status().text().find("none") != std::string::npos);
  BOOST_TEST(text(bench.read(2)) == "a=x");
  BOOST_TEST((bench.counts() == std::pair<uint64_t, uint64_t>(1, 1)));
}

BOOST_AUTO_TEST_CASE(damage_is_named_until_the_reader_is_reset) {
  Bench bench(spec(ReaderKind::TfRecords));
  bench.write("a", "no record at all");
  bench.write("b", "");
  bench.enqueue("a");
  bench.enqueue("b");
  for (uint64_t step = 1; step < 3; ++step) {
    const Asked failed = bench.read(step, step);
    BOOST_TEST(text(failed) == "DataLoss");
    BOOST_TEST((*failed)->status().text() ==
               "file 'a': record 0 at byte 0: the checksum of its length is wrong");
  }
  bench.ask(Draft<wire::ResetReader>().finish());
  bench.close_queue();
  BOOST_TEST(text(bench.read(3)) == "OutOfRange");
}

BOOST_AUTO_TEST_CASE(a_queue_of_something_else_is_refused) {
  Bench bench(spec(ReaderKind::Names), {"q", {DType::String}, {}, -1});
  bench.node.ask(bench.queue, Draft<wire::Enqueue>().finish({Tensor::vector<std::string>({"a", "b"})}));
  BOOST_TEST(text(bench.read(1)) == "InvalidArgument");
  bench.node.actors.engine.stop(bench.queue);
  BOOST_TEST(text(bench.read(2)) == "Unavailable");
}

BOOST_AUTO_TEST_CASE(a_reader_continues_from_its_state) {
  const auto make = [](Bench& bench) {
    bench.write("a", "1\n2\n3\n");
    bench.write("b", "4\n");
  };
  Bench bench(spec(ReaderKind::TextLines));
  make(bench);
  bench.enqueue("a");
  BOOST_TEST(text(bench.read(1, 2)) == "[a:1=1 a:2=2]");
  const Tensor state = bench.save();
  Bench restored(spec(ReaderKind::TextLines));
  make(restored);
  restored.enqueue("b");
  BOOST_TEST(restored.restore(state).ok());
  BOOST_TEST((restored.counts() == std::pair<uint64_t, uint64_t>(2, 0)));
  BOOST_TEST(text(restored.read(1)) == "a:3=3");
  BOOST_TEST(text(restored.read(2)) == "b:1=4");
  BOOST_TEST((restored.counts() == std::pair<uint64_t, uint64_t>(4, 1)));
}

BOOST_AUTO_TEST_CASE(what_is_no_state_resets_the_reader) {
  Bench bench(spec(ReaderKind::Names));
  bench.enqueue("x");
  BOOST_TEST(text(bench.read(1)) == "x=x");
  const std::string state = bench.save().item<std::string>();
  for (const std::string& wrong : {state + "x", state.substr(1), std::string("\x08\x05\x10\x01", 4),
                                   std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    BOOST_TEST(bench.restore(Tensor::scalar(state)).ok());
    BOOST_TEST((bench.restore(Tensor::scalar(wrong)).code() == Code::InvalidArgument));
    BOOST_TEST((bench.counts() == std::pair<uint64_t, uint64_t>(0, 0)));
  }
  BOOST_TEST((bench.restore(Tensor::scalar<int32_t>(1)).code() == Code::InvalidArgument));
  // TensorFlow's own, of a reader that has yielded "x".
  BOOST_TEST(state == std::string("\x08\x01\x10\x01\x18\x01\x22\x01x", 9));
  BOOST_TEST(bench.restore(Tensor::scalar(std::string("\x08\x01\x10\x01\x18\x01\x22\x01x", 9))).ok());
  BOOST_TEST((bench.counts() == std::pair<uint64_t, uint64_t>(1, 1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::reader_test
