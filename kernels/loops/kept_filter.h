// KeptFilter: what a kernel made of its filter, such as its elements in another layout, for as long as the filter stays the same
// from step to step. A filter that is kept is shared, so a variable that is updated gets new memory instead, and the next step
// finds another filter. Only the steps of an unlocked phase (kernels/core/state.h) write shared values; the samples show that.
// To spare training this copy, a filter is kept only once it was seen several times with equal samples of its elements, and
// after each one that did change it must be seen twice as often. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "messages/values/tensor.h"

namespace troupe {

/// The forms that kernels make of filters. Forms from first_plan_form on are those of DirectConvolution's plans.
inline constexpr uint64_t winograd_form = 0, panel_form = 1, first_plan_form = 2;

class KeptFilter {
 public:
  /// Returns what is kept for this filter in this form.
  std::optional<Tensor> find(const Tensor& filter, uint64_t form);
  /// Returns whether the filter has been the same for long enough to be kept. Called once for each use of a filter that is not
  /// kept.
  bool wants(const Tensor& filter);
  /// Keeps what was made of the filter.
  void keep(const Tensor& filter, uint64_t form, const Tensor& made);

 private:
  static constexpr uint32_t max_patience = 64;

  std::mutex mutex_;
  std::optional<Tensor> filter_, made_;  ///< what is kept
  uint64_t form_ = 0;                    ///< of made_
  const std::byte* seen_ = nullptr;      ///< where the elements of the filter last used lie
  uint64_t samples_ = 0;                 ///< a hash of some of its elements
  uint32_t times_ = 0;                   ///< how often it was used
  uint32_t patience_ = 1;                ///< how often it must have been used before it is kept
};

}  // namespace troupe
