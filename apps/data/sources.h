// Sources: opens the files of a data set and makes the inputs of a graph from their records. Plain functions; any thread.
#pragma once

#include <span>

#include "apps/data/column_builder.h"
#include "apps/data/options.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// The files of a data set and, for formats with label files, one label file for each; otherwise `labels` is empty.
struct SourceFiles {
  std::span<const std::string> files, labels;
};
inline SourceFiles train_files(const Options& options) { return {options.train, options.train_labels}; }
inline SourceFiles valid_files(const Options& options) { return {options.valid, options.valid_labels}; }

/// Returns how file i is opened.
SourceFile source_file(const Options& options, const SourceFiles& files, size_t i);
/// Opens file i. Fails as the format does, and with InvalidArgument if the options name no format.
Result<std::unique_ptr<RecordReader>> open_source(Disk& disk, const Options& options,
                                                  const SourceFiles& files, size_t i);

/// Returns a text that changes when a file of the options does, as far as RecordReader::restore() notices it: a line for each
/// file.
Result<std::string> fingerprints(Disk& disk, const Options& options);

/// Returns the number of elements of the first column of a record.
int64_t width(const RecordReader& reader);
/// Fails with DataLoss if a column of the records of file i has another number of elements than in the first file.
Status check_alike(const SourceFiles& files, size_t i, const std::vector<Field>& schema,
                   const std::vector<Field>& first);

/// Returns a builder for each input of the options. `samples` is the number of samples, if it is known.
Result<std::vector<ColumnBuilder>> make_builders(const Options& options, const std::vector<Field>& schema,
                                                 std::optional<int64_t> samples);
/// Returns what the builders have made. Fails with ResourceExhausted if there is too little memory.
Result<Dataset> finish(std::vector<ColumnBuilder>& builders);

/// Returns the failure for a file without samples.
Status no_samples(const std::string& file);

/// Returns how many records of `width` floats fit in 1 MiB, at least 1: a batch of them fits the caches of a core.
int64_t records_at_once(int64_t width);

}  // namespace troupe::data
