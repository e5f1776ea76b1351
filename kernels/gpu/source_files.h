// The headers whose text precedes the source of kernels that are compiled at run time.
#pragma once

#include <span>
#include <string_view>

namespace troupe::gpu {

struct SourceFile {
  std::string_view name;  ///< "functions.h"
  std::string_view text;
};

/// Returns the files, each behind those that it includes. The build makes the source of this function (cmake/embed_files.cmake).
std::span<const SourceFile> source_files();

}  // namespace troupe::gpu
