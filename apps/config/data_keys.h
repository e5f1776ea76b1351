// Reads the keys of [data] that describe the samples in files. Functions without state; any thread.
#pragma once

#include <vector>

#include "apps/config/reader.h"
#include "apps/data/options.h"
#include "apps/data/ragged/row_parser.h"

namespace troupe::config {

/// Returns the description of the data set in the table [data], which has been checked.
data::Options read_data(const Reader& data);

/// Returns the columns in the table [data.ragged], which has been checked.
std::vector<data::RaggedColumn> read_ragged(const Reader& table);

}  // namespace troupe::config
