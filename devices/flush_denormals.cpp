#include "devices/flush_denormals.h"

namespace troupe {
namespace {

#if defined(__x86_64__)
// Bits of MXCSR: flush-to-zero for results, denormals-are-zero for operands.
constexpr uint64_t flush = 0x8040;
uint64_t control_register() { return __builtin_ia32_stmxcsr(); }
void set_control_register(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
constexpr uint64_t flush = uint64_t{1} << 24;  // a bit of FPCR, for results and operands
uint64_t control_register() { return __builtin_aarch64_get_fpcr64(); }
void set_control_register(uint64_t value) { __builtin_aarch64_set_fpcr64(value); }
#else
constexpr uint64_t flush = 0;
uint64_t control_register() { return 0; }
void set_control_register(uint64_t) {}
#endif

}  // namespace

namespace detail {

DenormalMode::DenormalMode(bool flushes) : saved_(control_register()) {
  const uint64_t wanted = flushes ? saved_ | flush : saved_ & ~flush;
  if (wanted != saved_) set_control_register(wanted);
}

DenormalMode::~DenormalMode() {
  if (control_register() != saved_) set_control_register(saved_);
}

}  // namespace detail
}  // namespace troupe
