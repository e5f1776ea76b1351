// What requests and predictions need of the format csv: objects of JSON that are in memory as the rows of a table, and the names of
// the columns of a table. Functions without state; any thread that may block.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/format.h"

namespace troupe::data {

/// Opens lines, each an object of JSON, as the lines of a .jsonl file are opened. They must outlive the reader. Errors name an
/// object as the element of a list that `source.path` is: "instances[0]". A column of images fails with InvalidArgument: whoever
/// sends a request chooses no files.
Result<std::unique_ptr<RecordReader>> open_csv_objects(std::string_view lines, const SourceFile& source);

/// Returns the names of the columns of a file; none if they have none. Fails as opening the file does.
Result<std::vector<std::string>> csv_column_names(Disk& disk, const SourceFile& file);

}  // namespace troupe::data
