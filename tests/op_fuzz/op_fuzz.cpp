// Whatever op, inputs and attributes are chosen, building the graph and running a step ends with the promised outputs or with a
// Status that names op and node, and the session goes on.
//   op_fuzz [--seconds N] [--seed N] [--samples N] [--print] [--statistics]
// Samples have the seeds N, N + 1, ..., by default from a number that differs in each run and is printed. The program runs for 20
// seconds unless --seconds or --samples says otherwise. --print prints each sample before it runs, so that the last one printed is
// the one that made the program crash. A sample that takes more than 20 seconds of processor time, or 100 seconds in all, ends the
// program, which prints its seed.
// --statistics prints at the end which ops were computed.
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string_view>

#include "devices/flush_denormals.h"
#include "tests/kernels/cases/all_cases.h"
#include "tests/op_fuzz/op_session.h"

namespace troupe::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Limits of a sample, in seconds. A sample that waits for ever takes no processor time.
constexpr unsigned most_processor_seconds = 20, most_seconds = 100;

/// The seed of the sample that runs; a signal handler can read nothing but what is static.
std::atomic<uint64_t> running_seed{0};

/// Ends the program. Writes the seed without stdio, which a signal handler must not use.
void end_slow_sample(int) {
  std::array<char, 20> digits{};
  size_t first = digits.size();
  for (uint64_t rest = running_seed; first == digits.size() || rest != 0; rest /= 10)
    digits[--first] = static_cast<char>('0' + rest % 10);
  constexpr std::string_view before = "seed ", after = ": the sample took too long\n";
  for (const std::string_view text : {before, std::string_view(&digits[first], digits.size() - first), after})
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  _exit(1);
}

/// Sends a signal after these seconds of processor time, and another after these seconds; 0 means never.
void limit_time(unsigned processor_seconds, unsigned seconds) {
  const itimerval timer{{}, {processor_seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(seconds);
}

struct Options {
  uint64_t seed = std::random_device()();
  uint64_t samples = UINT64_MAX;
  std::chrono::seconds time{20};
  bool prints = false, counts = false;
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options) : options_(options) {}

  /// Returns false after the first sample that broke a promise.
  bool run() {
    std::signal(SIGPROF, end_slow_sample);
    std::signal(SIGALRM, end_slow_sample);
    const auto end = Clock::now() + options_.time;
    uint64_t done = 0;
    for (; done < options_.samples && Clock::now() < end; ++done) {
      limit_time(most_processor_seconds, most_seconds);
      if (!check(options_.seed + done)) return false;
    }
    limit_time(0, 0);
    std::fprintf(stderr, "%lu samples, from seed %lu\n", done, options_.seed);
    if (options_.counts) print_statistics();
    return true;
  }

 private:
  bool check(uint64_t seed) {
    running_seed = seed;
    Choices choices(seed);
    const OpSample sample = samples_.next(choices);
    if (options_.prints) std::fprintf(stderr, "seed %lu: %s\n", seed, sample.text().c_str());
    std::string broken;
    ++reached_[sample.op->name][static_cast<size_t>(session_.check(sample, broken))];
    if (!broken.empty())
      std::fprintf(stderr, "seed %lu: %s\n  %s\n", seed, sample.text().c_str(), broken.c_str());
    return broken.empty();
  }

  void print_statistics() const {
    size_t computed = 0;
    std::string others;
    for (const auto& [op, runs] : reached_) {
      const bool once = runs[static_cast<size_t>(Reached::Computed)] > 0;
      computed += once;
      if (!once) others += ' ' + op;
    }
    std::fprintf(stderr, "computed samples of %zu of %zu ops; not of:%s\n", computed, samples_.ops(),
                 others.c_str());
  }

  const Options options_;
  const OpSamples samples_{test::all_cases()};
  OpSession session_;
  const FlushDenormals flush_;
  std::map<std::string, std::array<size_t, 3>> reached_;  ///< how often samples of an op came how far
};

bool read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const bool has_value = name == "--seconds" || name == "--seed" || name == "--samples";
    if (has_value && ++i == count) return false;
    const uint64_t value = has_value ? std::strtoull(arguments[i], nullptr, 10) : 0;
    if (name == "--seconds") {
      options.time = std::chrono::seconds(value);
    } else if (name == "--seed") {
      options.seed = value;
    } else if (name == "--samples") {
      options.samples = value;
      options.time = std::chrono::hours(1);
    } else if (name == "--print") {
      options.prints = true;
    } else if (name == "--statistics") {
      options.counts = true;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace troupe::fuzz

int main(int count, char** arguments) {
  troupe::fuzz::Options options;
  if (!troupe::fuzz::read_options(count, arguments, options)) {
    std::fprintf(stderr, "op_fuzz [--seconds N] [--seed N] [--samples N] [--print] [--statistics]\n");
    return 2;
  }
  std::fprintf(stderr, "op_fuzz --seed %lu\n", options.seed);
  return troupe::fuzz::Fuzzer(options).run() ? 0 : 1;
}
