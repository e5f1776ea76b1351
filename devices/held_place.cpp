#include "devices/held_place.h"

namespace troupe {
namespace {

thread_local HeldPlace* innermost_place = nullptr;

}  // namespace

HeldPlace::HeldPlace(PlaceLender& lender) : lender_(lender), outer_(innermost_place) {
  innermost_place = this;
}
HeldPlace::~HeldPlace() { innermost_place = outer_; }

LentPlaces::LentPlaces() : end_(innermost_place) {
  for (; end_ && !end_->is_lent_; end_ = end_->outer_) {
    end_->is_lent_ = true;
    end_->lender_.lend();
  }
}

LentPlaces::~LentPlaces() {
  for (HeldPlace* place = innermost_place; place != end_; place = place->outer_) {
    place->lender_.take_back();
    place->is_lent_ = false;
  }
}

}  // namespace troupe
