#include "apps/serve/serving_metrics.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <numeric>

#include "apps/text/prometheus.h"

namespace troupe::serve {

void ServingMetrics::request(const std::string& model, unsigned status, double seconds) {
  const std::lock_guard guard(mutex_);
  ++requests_[{model, status}];
  Latencies& latencies = latencies_[model];
  const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
  ++latencies.counts[static_cast<size_t>(bucket)];
  latencies.seconds += seconds;
}

void ServingMetrics::batch(size_t requests, int64_t rows) {
  ++batches_;
  batched_requests_ += requests;
  rows_ += static_cast<uint64_t>(rows);
}

std::string ServingMetrics::text(size_t connections, size_t waiting) const {
  std::string text;
  const auto to = std::back_inserter(text);
  const std::lock_guard guard(mutex_);
  append_kind(text, "troupe_serving_requests_total", "counter",
              "Requests by model and status of the answer.");
  for (const auto& [key, count] : requests_)
    fmt::format_to(to, "troupe_serving_requests_total{{model={},status=\"{}\"}} {}\n",
                   quoted_label(key.first), key.second, count);
  constexpr const char* latency = "troupe_serving_request_seconds";
  append_kind(text, latency, "histogram", "Time from the whole request to its answer.");
  for (const auto& [model, latencies] : latencies_) {
    uint64_t below = 0;
    for (size_t i = 0; i < bounds.size(); ++i)
      fmt::format_to(to, "{}_bucket{{model={},le=\"{}\"}} {}\n", latency, quoted_label(model), bounds[i],
                     below += latencies.counts[i]);
    const uint64_t all = std::accumulate(latencies.counts.begin(), latencies.counts.end(), uint64_t{0});
    fmt::format_to(
        to, "{0}_bucket{{model={1},le=\"+Inf\"}} {2}\n{0}_sum{{model={1}}} {3}\n{0}_count{{model={1}}} {2}\n",
        latency, quoted_label(model), all, latencies.seconds);
  }
  append_metric(text, "troupe_serving_batches_total", "counter", "Batches that models have computed.",
                static_cast<double>(batches_));
  append_metric(text, "troupe_serving_batched_requests_total", "counter", "Requests in these batches.",
                static_cast<double>(batched_requests_));
  append_metric(text, "troupe_serving_batched_rows_total", "counter", "Rows in these batches.",
                static_cast<double>(rows_));
  append_metric(text, "troupe_serving_connections", "gauge", "Open connections.",
                static_cast<double>(connections));
  append_metric(text, "troupe_serving_waiting_requests", "gauge", "Requests that wait for a model.",
                static_cast<double>(waiting));
  return text;
}

}  // namespace troupe::serve
