// Readers in steps: the ops in both forms, formats, sharing by name, steps that end while they wait.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::reader_steps_test {
namespace {

using namespace std::chrono_literals;

using Strings = std::vector<std::string>;

Tensor strings(const Strings& values) { return Tensor::vector(std::span(values)); }

struct Fixture {
  test::TemporaryFolder folder;
  Runtime runtime{{.threads = 2, .roots = {folder.path()}}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  /// A queue of names that is filled and closed by `fill`.
  struct Names {
    Output queue, fill, close;
  };
  Names names(const Strings& paths, const std::string& suffix = "V2") {
    const Output queue = g.add_one("FIFOQueue" + suffix, {},
                                   {{"component_types", std::vector<DType>{DType::String}},
                                    {"shapes", std::vector<PartialShape>{PartialShape::scalar()}}});
    return {queue,
            {g.add("QueueEnqueueMany" + suffix, {queue, g.constant(strings(paths))}), Output::control},
            {g.add("QueueClose" + suffix, {queue}), Output::control}};
  }
  Output reader(const std::string& op, const Attributes& attrs = {}) { return g.add_one(op, {}, attrs); }
  std::vector<Output> read(Output reader, Output queue, const std::string& suffix = "V2") {
    const NodeId node = g.add("ReaderRead" + suffix, {reader, queue});
    return {{node, 0}, {node, 1}};
  }
  std::vector<Output> read_up_to(Output reader, Output queue, int64_t count,
                                 const std::string& suffix = "V2") {
    const NodeId node = g.add("ReaderReadUpTo" + suffix, {reader, queue, g.constant(Tensor::scalar(count))});
    return {{node, 0}, {node, 1}};
  }
  Output one(const std::string& op, Output reader) { return g.add_one(op, {reader}); }
  static int64_t number(const std::vector<Tensor>& fetched) { return fetched.at(0).item<int64_t>(); }
  /// All records of the files.
  Strings records(Output reader, const Strings& paths) {
    const Names files = names(paths);
    const auto some = read_up_to(reader, files.queue, 2);
    Session session = runtime.session(graph);
    session.run({files.fill});
    session.run({files.close});
    Strings result;
    for (;;) {
      std::vector<Tensor> fetched;
      const Status status = test::failure_of([&] { fetched = session.run(some); });
      if (fetched.empty()) {
        BOOST_TEST((status.code() == Code::OutOfRange), status.message());
        return result;
      }
      for (const std::string& record : fetched[1].as<std::string>()) result.push_back(record);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reader_steps, Fixture)

BOOST_AUTO_TEST_CASE(both_forms_read_one_file_after_the_other) {
  const std::string a = folder.write("a", "1\r\n2\n3"), b = folder.write("b", "4\n");
  for (const std::string suffix : {"V2", ""}) {
    const Names files = names({a, b}, suffix);
    const Output lines = reader("TextLineReader" + suffix);
    const auto next = read(lines, files.queue, suffix), some = read_up_to(lines, files.queue, 5, suffix);
    const Output records = one("ReaderNumRecordsProduced" + suffix, lines),
                 units = one("ReaderNumWorkUnitsCompleted" + suffix, lines),
                 save = one("ReaderSerializeState" + suffix, lines);
    const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", PartialShape()}});
    const Output restore{g.add("ReaderRestoreState" + suffix, {lines, x}), Output::control};
    const Output reset{g.add("ReaderReset" + suffix, {lines}), Output::control};
    Session session = runtime.session(graph);
    session.run({files.fill});
    session.run({files.close});
    const auto first = session.run(next);
    BOOST_TEST(first.at(0).item<std::string>() == a + ":1");
    BOOST_TEST(first.at(1).item<std::string>() == "1");
    const Tensor state = session.run({save}).at(0);
    BOOST_TEST(identical(session.run(some).at(1), strings({"2", "3"})));
    BOOST_TEST(number(session.run({records})) == 3);
    BOOST_TEST(number(session.run({units})) == 1);
    session.run({{x, state}}, {restore});
    BOOST_TEST(identical(session.run(some).at(0), strings({a + ":2", a + ":3"})));
    BOOST_TEST(session.run(next).at(1).item<std::string>() == "4");
    BOOST_TEST((test::failure_of([&] { session.run(next); }).code() == Code::OutOfRange));
    BOOST_TEST(number(session.run({units})) == 2);
    session.run({reset});
    BOOST_TEST(number(session.run({records})) == 0);
    const auto refused = [&](const Tensor& wrong) {
      return test::failure_of([&] { session.run({{x, wrong}}, {restore}); }).code() == Code::InvalidArgument;
    };
    BOOST_TEST(refused(strings({"a"})));
    BOOST_TEST(refused(Tensor::scalar<std::string>("no state")));
  }
}

BOOST_AUTO_TEST_CASE(formats) {
  const std::string a = folder.write("a", "HHaabbccF"), b = folder.write("b", "HHddeeF");
  BOOST_TEST((records(reader("IdentityReaderV2"), {a, b}) == Strings({a, b})));
  BOOST_TEST((records(reader("WholeFileReaderV2"), {a, b}) == Strings({"HHaabbccF", "HHddeeF"})));
  const Output fixed =
      reader("FixedLengthRecordReaderV2",
             {{"header_bytes", int64_t{2}}, {"record_bytes", int64_t{2}}, {"footer_bytes", int64_t{1}}});
  BOOST_TEST((records(fixed, {a, b}) == Strings({"aa", "bb", "cc", "dd", "ee"})));
  const std::string text = folder.write("text", "head\n1\n2\n");
  BOOST_TEST((records(reader("TextLineReaderV2", {{"skip_header_lines", int64_t{1}}}), {text, text}) ==
              Strings({"1", "2", "1", "2"})));
  // What tf.io.TFRecordWriter writes for b"abc".
  const std::string record(
      "\3\0\0\0\0\0\0\0\xb0\x99I\x0e"
      "abc"
      "nW\xf1!",
      19);
  BOOST_TEST((records(reader("TFRecordReaderV2"), {folder.write("records", record + record)}) ==
              Strings({"abc", "abc"})));
}

BOOST_AUTO_TEST_CASE(attributes_are_checked) {
  const auto refused = [&](const std::string& op, const Attributes& attrs, const std::string& what) {
    const Names files = names({"x"});
    const auto next = read(reader(op, attrs), files.queue);
    Session session = runtime.session(graph);
    const Status status = test::failure_of([&] { session.run(next); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(what) != std::string::npos, status.text());
  };
  refused("TextLineReaderV2", {{"skip_header_lines", int64_t{-1}}}, "skip_header_lines is -1");
  refused("TFRecordReaderV2", {{"compression_type", std::string("LZ4")}}, "compression_type is \"LZ4\"");
  refused("FixedLengthRecordReaderV2", {{"record_bytes", int64_t{0}}}, "record_bytes is 0");
  for (const char* attr : {"header_bytes", "footer_bytes", "hop_bytes"})
    refused("FixedLengthRecordReaderV2", {{"record_bytes", int64_t{1}}, {attr, int64_t{-1}}}, attr);
  refused("FixedLengthRecordReaderV2", {{"record_bytes", int64_t{1}}, {"encoding", std::string("x")}},
          "encoding");
}

BOOST_AUTO_TEST_CASE(inputs_are_checked) {
  const Output lines = reader("TextLineReaderV2");
  const Output numbers =
      g.add_one("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::Int32}}});
  const Names files = names({"x"});
  Session session = runtime.session(graph);
  for (const auto& [fetch, what] :
       {std::pair{read(lines, numbers), "must have strings"}, std::pair{read(lines, lines), "not of a queue"},
        std::pair{read(files.queue, files.queue), "not of a reader"},
        std::pair{read_up_to(lines, files.queue, -1), "num_records is -1"}}) {
    const Status status = test::failure_of([&, &step = fetch] { session.run(step); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(what) != std::string::npos, status.text());
  }
}

BOOST_AUTO_TEST_CASE(a_file_outside_of_the_roots_is_refused) {
  const Names files = names({"/etc/hostname"});
  const auto next = read(reader("WholeFileReaderV2"), files.queue);
  Session session = runtime.session(graph);
  session.run({files.fill});
  BOOST_TEST((test::failure_of([&] { session.run(next); }).code() == Code::PermissionDenied));
}

// The step ends by its timeout while it waits for a name; the next step gets the name.
BOOST_AUTO_TEST_CASE(a_step_that_ends_takes_no_name_with_it) {
  const std::string a = folder.write("a", "1\n");
  const Names files = names({a});
  const auto next = read(reader("TextLineReaderV2"), files.queue);
  Session session = runtime.session(graph);
  BOOST_TEST(
      (test::failure_of([&] { session.run({}, next, {.timeout = 5ms}); }).code() == Code::DeadlineExceeded));
  session.run({files.fill});
  BOOST_TEST(session.run(next).at(1).item<std::string>() == "1");
}

BOOST_AUTO_TEST_CASE(sessions_share_a_reader_by_its_name) {
  const std::string a = folder.write("a", "1\n2\n");
  const Names files = names({a});
  const Output first = reader("TextLineReaderV2", {{"shared_name", std::string("lines")}}),
               second = reader("TextLineReaderV2", {{"shared_name", std::string("lines")}}),
               other = reader("TextLineReaderV2",
                              {{"shared_name", std::string("lines")}, {"skip_header_lines", int64_t{1}}});
  const auto next = read(first, files.queue), after = read(second, files.queue),
             wrong = read(other, files.queue);
  Session session = runtime.session(graph, {.share_state = true}),
          more = runtime.session(graph, {.share_state = true});
  session.run({files.fill});
  BOOST_TEST(session.run(next).at(1).item<std::string>() == "1");
  BOOST_TEST(more.run(after).at(1).item<std::string>() == "2");
  const Status status = test::failure_of([&] { more.run(wrong); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.text().find("lines after the first 1") != std::string::npos, status.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::reader_steps_test
