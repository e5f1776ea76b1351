#include "bench/floors.h"

#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <ctime>

namespace troupe::bench {
namespace {

constexpr size_t chains = 12;  // more than the latency times the throughput of multiply-adds
constexpr size_t rounds = 20'000;

// The loop is unrolled so that each chain has its own register.
__attribute__((target("avx512f"))) void multiply_add_512() {
  __m512 sums[chains];
  const __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(0.001f);
#pragma GCC unroll 12
  for (size_t i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (size_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
#pragma GCC unroll 12
  for (__m512& sum : sums) benchmark::DoNotOptimize(sum);
}

__attribute__((target("avx2,fma"))) void multiply_add_256() {
  __m256 sums[chains];
  const __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
#pragma GCC unroll 12
  for (size_t i = 0; i < chains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (size_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
#pragma GCC unroll 12
  for (__m256& sum : sums) benchmark::DoNotOptimize(sum);
}

}  // namespace

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

MemoryFloor::MemoryFloor(size_t read, size_t written) : from_(read), to_(written) {}

void MemoryFloor::pass() {
  const size_t both = std::min(from_.size(), to_.size());
  if (both != 0) std::memcpy(to_.data(), from_.data(), both);
  if (to_.size() > both) std::memset(to_.data() + both, 0, to_.size() - both);
  // The search for a byte that does not occur runs at the rate at which memory can be read.
  if (from_.size() > both) benchmark::DoNotOptimize(std::memchr(from_.data() + both, 1, from_.size() - both));
  benchmark::ClobberMemory();
}

double MemoryFloor::measure(double seconds) {
  pass();
  std::vector<double> times;
  size_t passes = 1;  // the number of passes between two readings of the clock
  for (double total = 0; total < seconds || times.size() < 5;) {
    const double begin = thread_seconds();
    for (size_t i = 0; i < passes; ++i) pass();
    const double taken = thread_seconds() - begin;
    total += taken;
    if (taken < 20e-6) {
      passes *= 2;
      times.clear();
      continue;
    }
    times.push_back(taken / static_cast<double>(passes));
  }
  std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

double fma_rate() {
  const bool wide = __builtin_cpu_supports("avx512f");
  double best = 0;
  for (int i = 0; i < 50; ++i) {
    const double begin = thread_seconds();
    wide ? multiply_add_512() : multiply_add_256();
    const double lanes = wide ? 16 : 8;
    best = std::max(best, 2 * lanes * chains * rounds / (thread_seconds() - begin));
  }
  return best;
}

}  // namespace troupe::bench
