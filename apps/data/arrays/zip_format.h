// The numbers of zip files, as far as archives of arrays need them.
#pragma once

#include <cstdint>

namespace troupe::data::zip {

inline constexpr uint32_t local_magic = 0x04034b50, central_magic = 0x02014b50, end_magic = 0x06054b50,
                          behind_magic = 0x08074b50;
/// The end record of zip64, and the record in front of the end record that says where it is.
inline constexpr uint32_t wide_end_magic = 0x06064b50, wide_locator_magic = 0x07064b50;
/// A number that stands in a record of zip64 instead; the largest size otherwise.
inline constexpr uint32_t in_zip64 = 0xffffffff;
inline constexpr uint16_t count_in_zip64 = 0xffff;
/// The extra field of an entry with the numbers that are too large for it.
inline constexpr uint16_t wide_field = 1;
/// The forms of a member's bytes.
inline constexpr uint16_t stored = 0, deflated = 8;

}  // namespace troupe::data::zip
