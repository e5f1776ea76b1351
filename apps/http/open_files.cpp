#include "apps/http/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace troupe::http {

size_t connections_within_limit(size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlimit raised = {std::min<rlim_t>(wanted / 3 * 4 + 4, limit.rlim_max), limit.rlim_max};
  if (limit.rlim_cur < raised.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return std::min<size_t>(wanted, std::max<size_t>(limit.rlim_cur / 4 * 3, 1));
}

}  // namespace troupe::http
