// Sets of samples with ragged or padded columns, which are made of the columns of strings of another set, batch by batch, by
// threads of their own. Functions without state; any thread.
#pragma once

#include "apps/data/ragged/row_parser.h"
#include "apps/data/sample_set.h"

namespace troupe::data {

/// Returns samples in memory with the columns of each parser, behind the columns of which none is made; these must be there and
/// have strings. Fails as RowParser::parse() does.
Result<Dataset> with_ragged(const Dataset& samples, const RowParsers& parsers);

/// Returns the samples with the columns of each parser, behind the columns of which none is made. Fails with InvalidArgument
/// if a column is missing or has no strings. If `is_checked`, all samples are parsed once, and it fails as RowParser::parse() and
/// the batches do; otherwise the batches fail.
Result<std::shared_ptr<const SampleSet>> with_ragged(std::shared_ptr<const SampleSet> set, RowParsers parsers,
                                                     bool is_checked, size_t threads);

}  // namespace troupe::data
