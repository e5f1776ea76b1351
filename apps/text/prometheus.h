// Counters and gauges in the text format of Prometheus, which its servers read over HTTP. A metric begins with its kind, which its
// samples follow. Pure functions; any thread. Source: prometheus.io/docs/instrumenting/exposition_formats.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// The type of HTTP content.
constexpr const char* prometheus_type = "text/plain; version=0.0.4";

/// Returns the value of a label in quotes.
std::string quoted_label(std::string_view value);
/// Begins a metric: `kind` is "counter", "gauge" or "histogram", `help` a line that says what it counts and in which unit.
void append_kind(std::string& text, std::string_view name, std::string_view kind, std::string_view help);
/// Adds a sample. `labels` is empty or such as `task="a",state="b"`.
void append_sample(std::string& text, std::string_view name, double value, std::string_view labels = {});
/// Adds a metric that has one sample.
void append_metric(std::string& text, std::string_view name, std::string_view kind, std::string_view help,
                   double value);

}  // namespace troupe
