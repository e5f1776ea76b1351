// Tests of what Print and PrintV2 write.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdio>

#include "tests/support/local_graph.h"

namespace troupe::test::prints_test {
namespace {

/// Keeps what the program writes to a stream while this object lives.
class Captured {
 public:
  explicit Captured(std::FILE* stream)
      : stream_(stream), kept_(::dup(::fileno(stream))), file_(std::tmpfile()) {
    std::fflush(stream_);
    ::dup2(::fileno(file_), ::fileno(stream_));
  }
  ~Captured() {
    std::fflush(stream_);
    ::dup2(kept_, ::fileno(stream_));
    ::close(kept_);
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    std::fflush(stream_);
    std::rewind(file_);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  std::FILE* const stream_;
  const int kept_;
  std::FILE* const file_;
};

BOOST_FIXTURE_TEST_SUITE(prints, LocalGraph)

BOOST_AUTO_TEST_CASE(print_shows_the_data_and_returns_the_input) {
  const Output words = g.constant(Tensor::vector<std::string>({"a", "b", "c", "d"}));
  const Output shown = g.add_one("Print", {number(2.5f), number<int32_t>(7), words},
                                 {{"message", "here: "}, {"summarize", int64_t{2}}});
  Captured captured(stderr);
  const auto values = value_or_throw(runtime.run(graph, {}, {shown}));
  BOOST_TEST(values[0].item<float>() == 2.5f);
  BOOST_TEST(captured.text() == "here: [7][a b...]\n");
}

BOOST_AUTO_TEST_CASE(print_stops_after_its_first_runs) {
  const Output shown = g.add_one("Print", {number(1.0f)}, {{"message", "once"}, {"first_n", int64_t{1}}});
  const auto plan = value_or_throw(runtime.prepare(graph, {{}, {shown}, {}}));
  Captured captured(stderr);
  for (int step = 0; step < 3; ++step) value_or_throw(runtime.run(plan));
  BOOST_TEST(captured.text() == "once\n");
}

BOOST_AUTO_TEST_CASE(print_v2_writes_to_the_stream_that_it_names) {
  const Output text = g.constant(Tensor::scalar(std::string("text")));
  for (std::FILE* const stream : {stdout, stderr}) {
    const NodeId node =
        g.add("PrintV2", {text}, {{"output_stream", stream == stdout ? "stdout" : "stderr"}, {"end", "!"}});
    const auto plan = value_or_throw(runtime.prepare(graph, {{}, {}, {node}}));
    std::string written;
    {
      Captured captured(stream);
      value_or_throw(runtime.run(plan));
      written = captured.text();
    }
    BOOST_TEST(written == "text!");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::prints_test
