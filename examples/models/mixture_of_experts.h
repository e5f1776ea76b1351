// A mixture of experts of which each row uses few.
#pragma once

#include <troupe/troupe.h>

#include <functional>

namespace models {

using troupe::Output;
using troupe::nn::Network;

struct MixtureOptions {
  int64_t experts = 8;
  int64_t chosen = 2;  ///< how many experts compute each row
};
struct Mixture {
  Output y;  ///< [n, units]
  /// The squared coefficient of variation of the experts' total gates. Add a multiple of it to the loss.
  Output imbalance;
};
/// Adds one expert: a network for rows [m, features] that returns [m, units]. m differs from step to step and may be 0.
using Expert = std::function<Output(const Network& network, Output rows)>;

/// Sends each row of x [n, features] to the experts whose gates are greatest, and returns the sum of their results, weighted by
/// a softmax over the gates of these experts (Shazeer et al. 2017, without noise). Only the chosen experts compute a row: rows
/// are dealt out by DynamicPartition and put back by DynamicStitch.
Mixture mixture_of_experts(const Network& network, Output x, const MixtureOptions& options,
                           const Expert& expert);

}  // namespace models
