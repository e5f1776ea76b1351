// NextAfter on GPUs: see special.cpp.
#include <cmath>

#include "kernels/gpu/elementwise.h"

namespace troupe {
namespace {

struct NextAfter {
  TROUPE_ANY auto operator()(auto x1, auto x2) const { return std::nextafter(x1, x2); }
};

}  // namespace

void add_special_on_gpu(OpLibrary& library) {
  gpu::add_binary<NextAfter>(library, "NextAfter", gpu::Floats{});
}

}  // namespace troupe
