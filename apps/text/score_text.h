// Losses, metrics and counts as text for people. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Returns a loss or a metric with four decimals or, if these would say too little or it is large, with five significant digits:
/// "0.9638", "1.2e-08", "1.9518e+19", "inf", "nan".
std::string score_text(double score);
/// Returns "  NAME SCORE" for each of them.
std::string score_texts(std::span<const std::pair<std::string, double>> scores);

/// Returns "1 epoch" or "2 epochs" for "epoch", and "2 batches" for "batch".
std::string count_text(uint64_t count, std::string_view thing);

}  // namespace troupe
