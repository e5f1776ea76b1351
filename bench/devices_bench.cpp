// Measures the compute pool and the allocators of devices/. Chunks are busy for a given time, so the ideal time for n chunks of t
// on two cores is n * t / 2.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>

#include "devices/caching_allocator.h"
#include "devices/pool.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

void busy(std::chrono::nanoseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

// The cost of chunks() itself: there is one thread, and the chunks are empty.
void pool_nobody_helps(benchmark::State& state) {
  auto pool = value_or_throw(ThreadPool::make(2));
  const auto n = static_cast<size_t>(state.range(0));
  for (auto _ : state) pool->chunks(n, [](size_t i) { benchmark::DoNotOptimize(i); });
}
BENCHMARK(pool_nobody_helps)->Arg(1)->Arg(2)->Arg(16);

// Fork and join of `n` chunks of `us` each. Between the calls the caller computes for `gap` us, which is not part of the result.
void pool_fork_join(benchmark::State& state) {
  auto pool = value_or_throw(ThreadPool::make(2));
  const auto n = static_cast<size_t>(state.range(0));
  const auto time = std::chrono::microseconds(state.range(1)),
             gap = std::chrono::microseconds(state.range(2));
  for (auto _ : state) {
    busy(gap);
    const auto begin = Clock::now();
    pool->chunks(n, [&](size_t) { busy(time); });
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
  }
}
BENCHMARK(pool_fork_join)
    ->ArgNames({"n", "us", "gap"})
    ->ArgsProduct({{2}, {1, 20}, {0, 10, 100}})
    ->ArgsProduct({{16}, {5, 20}, {0, 10, 100}})
    ->Args({16, 100, 0})
    ->Iterations(3000)
    ->UseManualTime();

// Allocates and releases at once, on one thread.
void allocator_caching(benchmark::State& state) {
  CachingAllocator caching(Arena::Options{});
  Allocator& allocator = caching;
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(allocator.allocate(bytes).value().get());
}
void allocator_heap(benchmark::State& state) {
  Allocator& allocator = heap_allocator();
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(allocator.allocate(bytes).value().get());
}
void allocator_malloc(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* memory = std::malloc(bytes);
    benchmark::DoNotOptimize(memory);
    std::free(memory);
  }
}
BENCHMARK(allocator_caching)->Arg(4)->Arg(1 << 10)->Arg(64 << 10)->Arg(64 << 20);
BENCHMARK(allocator_heap)->Arg(4)->Arg(1 << 10)->Arg(64 << 10)->Arg(64 << 20);
BENCHMARK(allocator_malloc)->Arg(4)->Arg(1 << 10)->Arg(64 << 10)->Arg(64 << 20);

}  // namespace
}  // namespace troupe
