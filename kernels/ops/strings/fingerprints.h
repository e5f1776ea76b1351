// Hash functions whose values are the same on every machine and in every version, because models are trained on them: those that
// TensorFlow uses. None but keyed_hash() resists an attacker. Pure functions; any thread may call them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe {

/// Fingerprint64 of FarmHash (G. Pike, Google).
uint64_t fingerprint(std::string_view text);
/// Returns a fingerprint of the two together, in this order, as TensorFlow's FingerprintCat64 does.
uint64_t combined_fingerprint(uint64_t first, uint64_t second);
/// MurmurHash64A (A. Appleby) with the seed that TensorFlow's Hash64 has.
uint64_t murmur_hash(std::string_view text);
/// SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, 2012).
uint64_t keyed_hash(const std::array<uint64_t, 2>& key, std::string_view text);

}  // namespace troupe
