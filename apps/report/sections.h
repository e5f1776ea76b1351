// The sections of a report, each as HTML. Pure functions; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/report/comparison.h"
#include "apps/report/run_records.h"

namespace troupe::report {

/// Rows of a table with two columns, as text.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Returns a section with a heading; `content` is HTML.
std::string section(std::string_view heading, std::string_view content);
/// Returns a sentence that says why a part is missing.
std::string missing(std::string_view why);

/// The title, how the training ended, and the figures of its result.
std::string summary(const RunRecords& records);
/// The loss and the metrics during the training.
std::string curves(const RunRecords& records);
/// How good the predictions are, and which are the worst.
std::string predictions(const Comparison& comparison);
std::string facts(const Facts& facts);

}  // namespace troupe::report
