#include "kernels/gpu/row_sources.h"

#include "kernels/gpu/divider.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

template <class T>
struct CopyRows {
  const std::byte* const* sources;
  T* to;
  Divider row;  ///< the number of units of a row

  TROUPE_ANY void operator()(size_t i) const {
    const size_t number = row.quotient(i), column = i - number * row.divisor();
    const T* const from = reinterpret_cast<const T*>(sources[number]);
    to[i] = from ? from[column] : T{};
  }
};

/// Returns an address that is aligned as all of these are.
const std::byte* common_alignment(std::span<const std::byte* const> addresses) {
  uintptr_t bits = 0;
  for (const std::byte* const address : addresses) bits |= reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<const std::byte*>(bits);
}

}  // namespace

Status copy_rows(DeviceContext& device, std::span<const std::byte* const> sources, size_t row, Tensor& to) {
  if (sources.empty() || row == 0) return {};
  const size_t element = size_of(to.dtype());
  const size_t unit = unit_of_rows(element, row, common_alignment(sources), to.data());
  TROUPE_ASSIGN(const BufferRef memory, uploaded(device, sources));
  const auto* const table = reinterpret_cast<const std::byte* const*>(memory->data);
  return with_unit(unit, [&]<class T>(std::type_identity<T>) {
    const size_t units = row * element / unit;
    return each(device, sources.size() * units, CopyRows<T>{table, stored<T>(to), Divider(units)});
  });
}

}  // namespace troupe::gpu
