// What the ops that drop overlapping boxes share: overlaps, and the selection of the boxes that are kept. Pure functions; any
// thread may call them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

/// A box whose opposite corners are in order.
struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

/// Returns the box at `corners`: y1, x1, y2, x2 of any two opposite corners.
template <class T>
Box box_at(const T* corners) {
  const auto at = [&](size_t k) { return static_cast<float>(corners[k]); };
  return {std::min(at(0), at(2)), std::min(at(1), at(3)), std::max(at(0), at(2)), std::max(at(1), at(3))};
}

/// Returns the area of the intersection, divided by that of the union; 0 if a box has no area.
inline float overlap_of(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0F),
              width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0F);
  const float shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

struct SuppressionLimits {
  int64_t most;   ///< boxes that are kept
  float overlap;  ///< a box that overlaps one that is kept by more than this is dropped
  float score;    ///< only boxes with higher scores are kept
  float sigma;    ///< if above 0, overlaps lower scores instead, by the factor exp(-overlap^2 / (2 sigma))
};

/// Fails with InvalidArgument if the limit of overlaps is not in [0, 1].
inline Status check_overlap_limit(float limit) {
  if (limit >= 0 && limit <= 1) return {};
  return invalid_argument("iou_threshold is " + std::to_string(limit) + ", it must be in [0, 1]");
}

/// The numbers of boxes by falling scores, of equal ones the lower number first, and their scores.
struct KeptBoxes {
  std::vector<int32_t> boxes;
  std::vector<float> scores;
};

/// A box that may be kept. `seen` is how many of those that are kept have lowered its score.
struct SuppressionCandidate {
  int32_t box;
  float score;
  size_t seen;

  friend bool operator<(const SuppressionCandidate& a, const SuppressionCandidate& b) {
    return a.score < b.score || (a.score == b.score && a.box > b.box);
  }
};

/// Lowers the score of a candidate for each box kept since it was last seen. Returns false if it is dropped.
template <class Overlap>
bool survives(SuppressionCandidate& candidate, const SuppressionLimits& limits, const KeptBoxes& kept,
              const Overlap& overlap) {
  const bool soft = limits.sigma > 0;
  const float scale = soft ? -0.5F / limits.sigma : 0;
  for (size_t j = kept.boxes.size(); j-- > candidate.seen;) {
    const float common = overlap(candidate.box, kept.boxes[j]);
    if (soft)
      candidate.score *= std::exp(scale * common * common);
    else if (common > limits.overlap)
      return false;
    if (!(candidate.score > limits.score)) return false;  // NaN, too
  }
  candidate.seen = kept.boxes.size();
  return true;
}

/// Selects among `count` boxes. score_of(i) is the score of box i, overlap(i, j) the overlap of two boxes.
template <class ScoreOf, class Overlap>
KeptBoxes select_boxes(size_t count, const SuppressionLimits& limits, const ScoreOf& score_of,
                       const Overlap& overlap) {
  std::vector<SuppressionCandidate> all;
  for (size_t i = 0; i < count; ++i)
    if (const float score = score_of(i); score > limits.score)
      all.push_back({static_cast<int32_t>(i), score, 0});
  std::priority_queue<SuppressionCandidate> queue({}, std::move(all));
  KeptBoxes kept;
  while (static_cast<int64_t>(kept.boxes.size()) < limits.most && !queue.empty()) {
    SuppressionCandidate next = queue.top();
    queue.pop();
    const float before = next.score;
    if (!survives(next, limits, kept, overlap)) continue;
    if (next.score != before) {
      queue.push(next);
      continue;
    }
    kept.boxes.push_back(next.box);
    kept.scores.push_back(next.score);
  }
  return kept;
}

}  // namespace troupe
