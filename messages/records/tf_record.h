// Writes TensorFlow's records (messages/records/record_stream.h). Pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// What stands around the bytes of a record: before them their number (64 bits) and its checksum, behind them their checksum.
inline constexpr size_t tf_record_header = 12, tf_record_footer = 4;

/// Appends a record with its length and its checksums.
void append_tf_record(std::string& to, std::string_view record);

}  // namespace troupe
