// Cast on GPUs, between floats, and between a float and int32, int64 or bool: see cast.cpp. Integers become other integers on the
// host, where shapes and axes are.
#include "kernels/ops/math/cast.h"

#include <bit>

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

using Whole = TypeList<int32_t, int64_t, bool>;
using CastTypes = Joined<gpu::AllFloats, Whole>;

/// The bits of precision of a number stored as T; 0 for integers and bool.
template <class T>
constexpr int precision = std::is_same_v<T, Half>       ? 11
                          : std::is_same_v<T, BFloat16> ? 8
                          : std::is_floating_point_v<T> ? std::numeric_limits<T>::digits
                                                        : 0;

/// Converts as cast_loop and truncating_cast_loop do (kernels/loops/cast.h).
template <class From, class To>
struct Convert {
  using X = gpu::Wide<From>;
  using Y = gpu::Wide<To>;
  bool truncate;

  TROUPE_ANY Y operator()(X x) const {
    if constexpr (std::is_same_v<To, bool>) {
      return x != X(0);
    } else if constexpr (std::is_floating_point_v<X> && std::is_integral_v<Y>) {
      // What the integer cannot hold becomes the least one, as on x86.
      constexpr auto least = static_cast<X>(std::numeric_limits<Y>::min());
      return x >= least && x < -least ? static_cast<Y>(x) : std::numeric_limits<Y>::min();
    } else if constexpr (std::is_floating_point_v<From> && precision<To> != 0 &&
                         precision<To> < precision<From>) {
      return static_cast<Y>(truncate ? shortened(x) : x);
    } else {
      return static_cast<Y>(x);
    }
  }

 private:
  /// Returns x without the bits for which the mantissa of a To has no room.
  TROUPE_ANY static X shortened(X x) {
    using Bits = std::conditional_t<sizeof(X) == 8, uint64_t, uint32_t>;
    if (x != x) return x;
    return std::bit_cast<X>(std::bit_cast<Bits>(x) & ~Bits{0} << (precision<From> - precision<To>));
  }
};

template <class From, class To>
Status cast(const CastArguments& arguments, DeviceContext& device) {
  if constexpr (std::is_same_v<From, To> || (std::is_integral_v<From> && std::is_integral_v<To>)) {
    return {};  // no kernel does so
  } else {
    const auto x = arguments.x.as<From>();
    return gpu::map(device, Convert<From, To>{arguments.truncate}, x.size(), arguments.y->write<To>().data(),
                    x.data());
  }
}

Status compute_cast(const CastArguments& arguments, DeviceContext& device) {
  if (!arguments.y) return {};
  return gpu::for_type(CastTypes{}, arguments.x.dtype(), [&]<class From>(std::type_identity<From>) {
    return gpu::for_type(CastTypes{}, arguments.y->dtype(),
                         [&]<class To>(std::type_identity<To>) { return cast<From, To>(arguments, device); });
  });
}

}  // namespace

void add_cast_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel<CastCheck>("Cast", compute_cast)
                     .on("SrcT", dtypes(gpu::AllFloats{}))
                     .on("DstT", dtypes(CastTypes{})));
  library.kernel(gpu_kernel<CastCheck>("Cast", compute_cast)
                     .on("SrcT", dtypes(Whole{}))
                     .on("DstT", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
