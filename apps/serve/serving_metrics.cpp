#include "apps/serve/serving_metrics.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <numeric>

namespace troupe::serve {
namespace {

/// Returns a label's value in quotes.
std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + '"';
}

void append_kind(std::string& text, const char* name, const char* kind, const char* help) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, kind, help);
}

void append_number(std::string& text, const char* name, const char* kind, const char* help, uint64_t value) {
  append_kind(text, name, kind, help);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

}  // namespace

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
    fmt::format_to(to, "troupe_serving_requests_total{{model={},status=\"{}\"}} {}\n", quoted(key.first),
                   key.second, count);
  constexpr const char* latency = "troupe_serving_request_seconds";
  append_kind(text, latency, "histogram", "Time from the whole request to its answer.");
  for (const auto& [model, latencies] : latencies_) {
    uint64_t below = 0;
    for (size_t i = 0; i < bounds.size(); ++i)
      fmt::format_to(to, "{}_bucket{{model={},le=\"{}\"}} {}\n", latency, quoted(model), bounds[i],
                     below += latencies.counts[i]);
    const uint64_t all = std::accumulate(latencies.counts.begin(), latencies.counts.end(), uint64_t{0});
    fmt::format_to(
        to, "{0}_bucket{{model={1},le=\"+Inf\"}} {2}\n{0}_sum{{model={1}}} {3}\n{0}_count{{model={1}}} {2}\n",
        latency, quoted(model), all, latencies.seconds);
  }
  append_number(text, "troupe_serving_batches_total", "counter", "Batches that models have computed.",
                batches_);
  append_number(text, "troupe_serving_batched_requests_total", "counter", "Requests in these batches.",
                batched_requests_);
  append_number(text, "troupe_serving_batched_rows_total", "counter", "Rows in these batches.", rows_);
  append_number(text, "troupe_serving_connections", "gauge", "Open connections.", connections);
  append_number(text, "troupe_serving_waiting_requests", "gauge", "Requests that wait for a model.", waiting);
  return text;
}

}  // namespace troupe::serve
