#include "kernels/ops/strings/fingerprints.h"

#include <bit>
#include <cstring>
#include <utility>

namespace troupe {
namespace {

/// Returns the number in the next bytes, of which the first is the least.
template <class T>
T load(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
uint64_t word(const char* from) { return load<uint64_t>(from); }

/// Returns the number in fewer than eight bytes.
uint64_t short_word(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

constexpr uint64_t fold(uint64_t x) { return x ^ (x >> 47); }

// ---- FarmHash

constexpr uint64_t k0 = 0xC3A5C85C97CB3127, k1 = 0xB492B66FBE98F273, k2 = 0x9AE16A3B2F90404F;

uint64_t mixed(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = fold((u ^ v) * factor);
  return fold((v ^ a) * factor) * factor;
}

uint64_t of_up_to_16(std::string_view text) {
  const char* const s = text.data();
  const size_t n = text.size();
  if (n >= 8) {
    const uint64_t factor = k2 + 2 * n, a = word(s) + k2, b = word(s + n - 8);
    return mixed(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return mixed(n + (uint64_t{load<uint32_t>(s)} << 3), load<uint32_t>(s + n - 4), k2 + 2 * n);
  if (n == 0) return k2;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  const uint32_t y = byte(0) + (byte(n >> 1) << 8), z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return fold(y * k2 ^ z * k0) * k2;
}

uint64_t of_17_to_32(std::string_view text) {
  const char *const s = text.data(), *const end = s + text.size();
  const uint64_t factor = k2 + 2 * text.size();
  const uint64_t a = word(s) * k1, b = word(s + 8), c = word(end - 8) * factor, d = word(end - 16) * k2;
  return mixed(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c, factor);
}

uint64_t of_33_to_64(std::string_view text) {
  const char *const s = text.data(), *const end = s + text.size();
  const uint64_t factor = k2 + 2 * text.size();
  const uint64_t a = word(s) * k2, b = word(s + 8), c = word(end - 8) * factor, d = word(end - 16) * k2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = mixed(y, a + std::rotr(b + k2, 18) + c, factor);
  const uint64_t e = word(s + 16) * factor, f = word(s + 24);
  const uint64_t g = (y + word(end - 32)) * factor, h = (z + word(end - 24)) * factor;
  return mixed(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, factor);
}

/// The state that takes in blocks of 64 bytes.
struct FarmState {
  using Pair = std::pair<uint64_t, uint64_t>;
  uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  static Pair taken(const char* s, uint64_t a, uint64_t b) {
    a += word(s);
    b = std::rotr(b + a + word(s + 24), 21);
    const uint64_t c = a;
    a += word(s + 8) + word(s + 16);
    b += std::rotr(a, 44);
    return {a + word(s + 24), b + c};
  }
  /// Takes in a block. `weight` is 1, and 9 for the last block.
  void take(const char* s, uint64_t factor, uint64_t weight) {
    x = std::rotr(x + y + v.first + word(s + 8), 37) * factor;
    y = std::rotr(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(s + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = taken(s, v.second * factor, x + w.first);
    w = taken(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  }
};

uint64_t of_more_than_64(std::string_view text) {
  constexpr uint64_t seed = 81;
  FarmState state{seed, seed * k1 + 113, 0};
  state.z = fold(state.y * k2 + 113) * k2;
  state.x = seed * k2 + word(text.data());
  const size_t last = (text.size() - 1) % 64;  // the position in the last block of the last byte
  const char* const end = text.data() + text.size() - 1 - last;
  for (const char* s = text.data(); s != end; s += 64) state.take(s, k1, 1);
  const uint64_t factor = k1 + ((state.z & 0xFF) << 1);
  auto& [x, y, z, v, w] = state;
  w.first += last;
  v.first += w.first;
  w.first += v.first;
  state.take(text.data() + text.size() - 64, factor, 9);
  return mixed(mixed(v.first, w.first, factor) + fold(y) * k0 + z, mixed(v.second, w.second, factor) + x,
               factor);
}

// ---- SipHash

struct SipState {
  uint64_t a, b, c, d;

  void round() {
    a += b;
    c += d;
    b = std::rotl(b, 13) ^ a;
    d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    a += d;
    c += b;
    d = std::rotl(d, 21) ^ a;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }
  void take(uint64_t block) {
    d ^= block;
    round();
    round();
    a ^= block;
  }
};

}  // namespace

uint64_t fingerprint(std::string_view text) {
  if (text.size() <= 16) return of_up_to_16(text);
  if (text.size() <= 32) return of_17_to_32(text);
  return text.size() <= 64 ? of_33_to_64(text) : of_more_than_64(text);
}

uint64_t combined_fingerprint(uint64_t first, uint64_t second) {
  constexpr uint64_t factor = 0xC6A4A7935BD1E995;
  const uint64_t both = (first ^ factor ^ fold(second * factor) * factor) * factor;
  return fold(fold(both) * factor);
}

uint64_t murmur_hash(std::string_view text) {
  constexpr uint64_t factor = 0xC6A4A7935BD1E995, seed = 0xDECAFCAFFE;
  uint64_t hash = seed ^ text.size() * factor;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    hash ^= fold(word(text.data()) * factor) * factor;
    hash *= factor;
  }
  if (!text.empty()) hash = (hash ^ short_word(text)) * factor;
  return fold(fold(hash) * factor);
}

uint64_t keyed_hash(const std::array<uint64_t, 2>& key, std::string_view text) {
  SipState state{key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D, key[0] ^ 0x6C7967656E657261,
                 key[1] ^ 0x7465646279746573};
  const uint64_t size = text.size();
  for (; text.size() >= 8; text.remove_prefix(8)) state.take(word(text.data()));
  state.take(short_word(text) | size << 56);
  state.c ^= 0xFF;
  for (int i = 0; i < 4; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace troupe
