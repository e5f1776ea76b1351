// Runs a fuzz target without libFuzzer, with any compiler and in any preset: on every sample of a folder, then on mutations of them
// that a seed determines. What fails is found again with the seed and the number of the input. One thread.
//
//   X_fuzz SAMPLES [SEED [INPUTS]]
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);  // NOLINT: libFuzzer's name

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t max_size = 4096;  // of a mutation; samples may be larger
constexpr unsigned seconds_per_input = 10;

/// What a signal handler prints.
char position[128];

void report(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, position, sizeof position);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const Bytes& input, unsigned long seed, size_t number) {
  std::snprintf(position, sizeof position, "failed on seed %lu, input %zu\n", seed, number);
  alarm(seconds_per_input);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
}

std::vector<Bytes> read_samples(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> samples(1);  // the first one is empty
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    samples.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return samples;
}

class Mutator {
 public:
  explicit Mutator(unsigned long seed) : random_(seed) {}

  /// Returns a sample with up to eight changes.
  Bytes mutation(const std::vector<Bytes>& samples) {
    Bytes bytes = part(samples);
    for (size_t changes = 1 + below(8); changes > 0; --changes) change(bytes, samples);
    if (bytes.size() > max_size) bytes.resize(max_size);
    return bytes;
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  /// Returns one of the samples, or if it is large mostly the beginning of it.
  Bytes part(const std::vector<Bytes>& samples) {
    const Bytes& sample = samples[below(samples.size())];
    return {sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(std::min(sample.size(), max_size))};
  }

  void change(Bytes& bytes, const std::vector<Bytes>& samples) {
    static constexpr uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '0', '\n', ',', '"', '{', '}', '-'};
    const size_t at = below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = edges[below(std::size(edges))];
        break;
      case 2: bytes.insert(place, static_cast<uint8_t>(below(256))); break;
      case 3: bytes.insert(place, 1 + below(16), edges[below(std::size(edges))]); break;
      case 4: bytes.erase(place, place + static_cast<std::ptrdiff_t>(below(bytes.size() - at + 1))); break;
      case 5: {  // a part of another sample
        const Bytes other = part(samples);
        const size_t first = below(other.size() + 1), count = below(other.size() - first + 1);
        bytes.insert(place, other.begin() + static_cast<std::ptrdiff_t>(first),
                     other.begin() + static_cast<std::ptrdiff_t>(first + count));
        break;
      }
      default:  // a number of several bytes at its limit
        std::fill_n(place, std::min(bytes.size() - at, size_t{1} << below(4)), edges[below(5)]);
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count > 4) {
    std::fprintf(stderr, "usage: %s SAMPLES [SEED [INPUTS]]\n", arguments[0]);
    return 2;
  }
  const unsigned long seed = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1;
  const size_t inputs = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 20'000;
  for (const int signal : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP})
    std::signal(signal, report);
  const auto samples = read_samples(arguments[1]);
  size_t number = 0;
  for (const Bytes& sample : samples) run(sample, seed, number++);
  Mutator mutator(seed);
  while (number < samples.size() + inputs) run(mutator.mutation(samples), seed, number++);
  std::printf("%zu inputs of seed %lu\n", number, seed);
}
