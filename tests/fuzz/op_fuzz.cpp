// Whatever op, inputs and attributes the bytes choose, building the graph and running a step ends with the promised outputs or with
// a Status that names op and node, and the session goes on. For libFuzzer (tests/fuzz/CMakeLists.txt). With --print, each sample is
// printed before it runs; with --statistics, the share of ops of which samples were computed is printed at the end.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "devices/flush_denormals.h"
#include "tests/fuzz/op_session.h"
#include "tests/kernels/cases/all_cases.h"

namespace troupe::fuzz {
namespace {

struct Fuzzer {
  const OpSamples samples{test::all_cases()};
  OpSession session;
  const FlushDenormals flush;
  bool prints = false, counts = false;
  std::map<std::string, std::array<size_t, 3>> reached;

  static Fuzzer& instance() {
    static Fuzzer fuzzer;
    return fuzzer;
  }
  ~Fuzzer() {
    if (!counts) return;
    size_t computed = 0;
    std::string others;
    for (const auto& [op, runs] : reached) {
      computed += runs[2] > 0;
      if (runs[2] == 0) others += ' ' + op;
    }
    std::fprintf(stderr, "computed samples of %zu of %zu ops; not of:%s\n", computed, samples.ops(),
                 others.c_str());
  }

  void run(Choices choices) {
    const OpSample sample = samples.next(choices);
    if (prints) std::fprintf(stderr, "%s\n", sample.text().c_str());
    std::string broken;
    ++reached[sample.op->name][static_cast<size_t>(session.check(sample, broken))];
    if (broken.empty()) return;
    std::fprintf(stderr, "%s\n  %s\n", sample.text().c_str(), broken.c_str());
    std::abort();
  }
};

}  // namespace
}  // namespace troupe::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {  // NOLINT: libFuzzer's name
  auto& fuzzer = troupe::fuzz::Fuzzer::instance();
  for (int i = 1; i < *count; ++i) {
    fuzzer.prints |= std::string_view((*arguments)[i]) == "--print";
    fuzzer.counts |= std::string_view((*arguments)[i]) == "--statistics";
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  troupe::fuzz::Fuzzer::instance().run(troupe::fuzz::Choices(data, size));
  return 0;
}
