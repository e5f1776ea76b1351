// Writes samples to files of another format, batch by batch. Functions without state; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/data/convert/sample_stream.h"

namespace troupe::data {

/// Is told how many samples have been read of all that are to be read; a false result cancels the conversion.
using ConvertProgress = std::function<bool(int64_t done, int64_t all)>;

/// Returns the format that the ending of a file names (csv, idx, jsonl, npy, npz or tfrecord), also before .gz and .zst; empty for
/// others.
std::string format_of_name(std::string_view path);

/// Returns the files that a conversion to `path` writes: formats whose labels are in files of their own (idx, npy) have two if
/// there is a column `label`, the second with "_labels" before its ending. Fails with InvalidArgument if the ending names no
/// format that can be written.
Result<std::vector<std::string>> files_to_write(const std::string& path, const Dataset& columns);

/// Writes the samples. csv has all columns, with those of the label last, after the line `csv_header` if it is not empty; npz has
/// an array, a line of jsonl has a member, and tfrecord's Examples have a feature for each column; npy and idx have only `image`
/// and `label`. A file appears under its name when it is complete, and replaces what was there. Fails with InvalidArgument if the
/// format cannot have the columns or a value, and as the stream and the disk do.
Status convert(Disk& disk, SampleStream& samples, const std::string& path, const ConvertProgress& progress,
               const std::string& csv_header = {});

}  // namespace troupe::data
