#include "kernels/loops/philox.h"
#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_random.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

#include <cstring>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<uint32_t>;
using Word = Vector<D>;
using Floats = hn::ScalableTag<float>;

/// Returns the upper halves of the products with a constant.
HWY_INLINE Word upper_product(Word x, uint32_t factor) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(x, hn::Set(d, factor)),
             odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), hn::Set(d, factor));
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

/// Computes Philox for as many counters, from `counter` on, as there are lanes (kernels/loops/philox.h computes one).
struct Words {
  Word x0, x1, x2, x3;

  HWY_INLINE Words(uint64_t key, uint64_t stream, uint64_t counter) {
    const D d;
    const auto low = static_cast<uint32_t>(counter), high = static_cast<uint32_t>(counter >> 32);
    x0 = hn::Iota(d, low);
    x1 = hn::IfThenElse(hn::Lt(x0, hn::Set(d, low)), hn::Set(d, high + 1), hn::Set(d, high));
    x2 = hn::Set(d, static_cast<uint32_t>(stream));
    x3 = hn::Set(d, static_cast<uint32_t>(stream >> 32));
    auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      const auto high_a = upper_product(x0, 0xD2511F53), low_a = hn::Mul(x0, hn::Set(d, 0xD2511F53)),
                 high_b = upper_product(x2, 0xCD9E8D57), low_b = hn::Mul(x2, hn::Set(d, 0xCD9E8D57));
      x0 = hn::Xor(hn::Xor(high_b, x1), hn::Set(d, k0));
      x2 = hn::Xor(hn::Xor(high_a, x3), hn::Set(d, k1));
      x1 = low_b;
      x3 = low_a;
    }
  }
};

HWY_INLINE Vector<Floats> unit(Word word) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(integers, hn::ShiftRight<8>(word))), hn::Set(d, 0x1p-24f));
}

struct Uniform {
  static HWY_INLINE void store(const Words& words, float* out) {
    hn::StoreInterleaved4(unit(words.x0), unit(words.x1), unit(words.x2), unit(words.x3), Floats(), out);
  }
};

/// Converts uniform numbers to normal ones (Box and Muller 1958).
struct Normal {
  static HWY_INLINE void store(const Words& words, float* out) {
    const Floats d;
    const auto radius = [&](Word word) {
      return hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), log(d, hn::Sub(hn::Set(d, 1.0f), unit(word)))));
    };
    const auto angle = [&](Word word) {
      return hn::Mul(hn::Set(d, 2 * std::numbers::pi_v<float>), unit(word));
    };
    const auto r0 = radius(words.x0), r1 = radius(words.x2), a0 = angle(words.x1), a1 = angle(words.x3);
    hn::StoreInterleaved4(hn::Mul(r0, hn::Sin(d, a0)), hn::Mul(r0, hn::Cos(d, a0)),
                          hn::Mul(r1, hn::Sin(d, a1)), hn::Mul(r1, hn::Cos(d, a1)), d, out);
  }
};

template <class Distribution>
void fill(uint64_t key, uint64_t stream, uint64_t first, size_t groups, float* out) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= groups; i += lanes) Distribution::store(Words(key, stream, first + i), out + 4 * i);
  if (i == groups) return;
  HWY_ALIGN float last[4 * hn::MaxLanes(D())];
  Distribution::store(Words(key, stream, first + i), last);
  std::memcpy(out + 4 * i, last, (groups - i) * 4 * sizeof(float));
}

constexpr RandomLoops loops = {fill<Uniform>, fill<Normal>};

const RandomLoops* random_loops_here() { return &loops; }

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(random_loops_here);

const RandomLoops& random_loops() { return *HWY_DYNAMIC_DISPATCH(random_loops_here)(); }

}  // namespace troupe
#endif
