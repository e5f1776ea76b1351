#include "apps/cluster/host_list.h"

#include <algorithm>
#include <charconv>

namespace troupe::cluster {
namespace {

/// Adds the hosts of a range such as "01-03" or "7", each with the prefix and suffix.
Status add_range(const std::string& prefix, const std::string& range, const std::string& suffix,
                 std::vector<std::string>& hosts) {
  const size_t dash = range.find('-');
  const std::string first = range.substr(0, dash),
                    last = dash == std::string::npos ? first : range.substr(dash + 1);
  const auto begin = number(first), end = number(last);
  if (!begin || !end || *end < *begin || hosts.size() + (*end - *begin) >= max_hosts)
    return invalid_argument("'" + range + "' is not a range of hosts such as '01-03' or '7'");
  for (uint64_t i = *begin; i <= *end; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    hosts.push_back(std::string(prefix).append(digits).append(suffix));
  }
  return {};
}

/// Splits the list at the commas outside brackets.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

}  // namespace

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

Result<std::vector<std::string>> expand_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& item : split(list)) {
    const size_t open = item.find('['), close = item.find(']');
    if (open == std::string::npos && close == std::string::npos && !item.empty()) {
      hosts.push_back(item);
      continue;
    }
    if (open == std::string::npos || close == std::string::npos || close < open)
      return invalid_argument("'" + list + "' is not a list of hosts such as 'a[01-03,7],b'");
    for (const std::string& range : split(item.substr(open + 1, close - open - 1)))
      TROUPE_RETURN_IF_FAILED(add_range(item.substr(0, open), range, item.substr(close + 1), hosts));
  }
  return hosts;
}

Result<std::vector<uint64_t>> tasks_per_host(const std::string& text) {
  std::vector<uint64_t> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    const size_t bracket = item.find("(x");
    const auto count = number(item.substr(0, bracket));
    const auto times = bracket == std::string_view::npos || item.back() != ')'
                           ? std::optional<uint64_t>(bracket == std::string_view::npos ? 1 : 0)
                           : number(item.substr(bracket + 2, item.size() - bracket - 3));
    if (!count || !times || *times == 0 || *times > max_hosts - counts.size())
      return invalid_argument("SLURM's list of tasks per host '" + text +
                              "' cannot be read; expected a list such as '2(x3),1'");
    counts.insert(counts.end(), *times, *count);
    begin = end + 1;
  }
  return counts;
}

Result<std::vector<std::string>> hosts_of_slots(const std::string& list) {
  TROUPE_ASSIGN(const auto items, expand_hosts(list));
  std::vector<std::string> hosts;
  for (const std::string& item : items) {
    const size_t colon = item.find(':');
    const auto slots =
        colon == std::string::npos ? std::optional<uint64_t>(1) : number(item.substr(colon + 1));
    if (colon == 0 || !slots || *slots == 0 || *slots > max_hosts - hosts.size())
      return invalid_argument(std::string("'").append(item).append("' in '").append(list).append(
          "' is not a host with its number of ranks, such as 'a:2' or 'a'"));
    hosts.insert(hosts.end(), *slots, item.substr(0, colon));
  }
  return hosts;
}

}  // namespace troupe::cluster
