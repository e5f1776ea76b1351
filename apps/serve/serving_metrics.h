// ServingMetrics: what a server counts, as text for Prometheus. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace troupe::serve {

class ServingMetrics {
 public:
  /// Counts a request to a model, with the status of its answer and the seconds that it took. `model` is "" for all models that are
  /// not served: their names are the choice of the clients, who could fill the memory with them.
  void request(const std::string& model, unsigned status, double seconds);
  void batch(size_t requests, int64_t rows);
  /// Returns the metrics in Prometheus's text format. `connections` and `waiting` are the numbers at this moment.
  std::string text(size_t connections, size_t waiting) const;

 private:
  /// The upper bounds of the buckets of latencies, in seconds.
  static constexpr std::array bounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                        0.1,    0.25,  0.5,   1.0,   2.5,  5.0,  10.0};

  struct Latencies {
    std::array<uint64_t, bounds.size() + 1> counts{};  ///< by bucket; the last one has no bound
    double seconds = 0;                                ///< of all requests
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, uint64_t> requests_;  ///< by model and status
  std::map<std::string, Latencies> latencies_;                     ///< by model
  std::atomic<uint64_t> batches_{0}, batched_requests_{0}, rows_{0};
};

}  // namespace troupe::serve
