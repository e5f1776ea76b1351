// Places of threads that compute: a thread pool and a scheduler have a number of them. A thread that waits for what others may have
// to compute gives its places to them meanwhile, so that a computation may wait for computations behind it. On the stack of the
// thread.
#pragma once

namespace troupe {

/// Who has places. Any thread may call the functions.
class PlaceLender {
 public:
  virtual ~PlaceLender() = default;
  /// Gives a place to another computation.
  virtual void lend() = 0;
  /// Takes a place again. There may be one computation too many until one of them ends.
  virtual void take_back() = 0;
};

/// While it lives, the calling thread has one of the places.
class HeldPlace {
 public:
  explicit HeldPlace(PlaceLender& lender);
  ~HeldPlace();
  HeldPlace(const HeldPlace&) = delete;
  HeldPlace& operator=(const HeldPlace&) = delete;

 private:
  friend class LentPlaces;
  PlaceLender& lender_;
  HeldPlace* const outer_;
  bool is_lent_ = false;
};

/// While it lives, the calling thread waits, and others have the places that it holds.
class LentPlaces {
 public:
  LentPlaces();
  ~LentPlaces();
  LentPlaces(const LentPlaces&) = delete;
  LentPlaces& operator=(const LentPlaces&) = delete;

 private:
  HeldPlace* end_;  ///< the innermost place that was lent before, as are all around it; null: none was
};

}  // namespace troupe
