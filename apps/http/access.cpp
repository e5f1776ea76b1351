#include "apps/http/access.h"

#include <openssl/crypto.h>
#include <strings.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace troupe::http {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr uint64_t max_token_file = uint64_t{1} << 20;  // in bytes

/// Takes as long for a wrong token as for the right one, so that the time says nothing about the right one but its length.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool has_token(const AccessOptions& options, const HttpRequest& request) {
  constexpr std::string_view scheme = "Bearer ";  // in small letters, too
  const std::string& given = request.authorization;
  if (::strncasecmp(given.c_str(), scheme.data(), scheme.size()) != 0) return false;
  const std::string_view token = std::string_view(given).substr(scheme.size());
  return std::ranges::any_of(options.tokens, [&](const auto& one) { return is_same(one, token); });
}

bool needs_token(const AccessOptions& options, const HttpRequest& request) {
  return !options.tokens.empty() && std::ranges::count(options.open_paths, path_of(request.target)) == 0;
}

/// Returns the headers with which a page may read the answer; none if its site is not allowed.
Headers sharing_headers(const AccessOptions& options, const std::string& origin) {
  if (origin.empty()) return {};
  const std::pair<std::string, std::string> readable = {"Access-Control-Expose-Headers", json_length_header};
  if (std::ranges::count(options.origins, "*") > 0) return {{"Access-Control-Allow-Origin", "*"}, readable};
  if (std::ranges::count(options.origins, origin) == 0) return {};
  return {{"Access-Control-Allow-Origin", origin}, readable, {"Vary", "Origin"}};
}

/// Returns the answer to the question whether a page may send a request.
HttpAnswer permission() {
  HttpAnswer answer{200, {}};
  answer.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                    {"Access-Control-Allow-Headers",
                     std::string("Authorization, Content-Encoding, Content-Type, ") + json_length_header},
                    {"Access-Control-Max-Age", "3600"}};
  return answer;
}

HttpAnswer no_access() {
  HttpAnswer answer = error_answer(401, "the request needs a token: \"Authorization: Bearer TOKEN\"");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

HttpReply with_headers(Headers headers, HttpReply reply) {
  if (headers.empty()) return reply;
  return [headers = std::move(headers), reply = std::move(reply)](HttpAnswer answer) {
    answer.headers.insert(answer.headers.end(), headers.begin(), headers.end());
    reply(std::move(answer));
  };
}

}  // namespace

Result<std::vector<std::string>> read_tokens(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const std::string text, read_file(disk, path, max_token_file));
  std::vector<std::string> tokens;
  std::istringstream lines(text);
  std::string token;
  for (int number = 1; std::getline(lines, token); ++number) {
    if (token.ends_with('\r')) token.pop_back();
    if (token.empty()) continue;
    const bool is_valid = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
    if (!is_valid)
      return invalid_argument(path + ", line " + std::to_string(number) +
                              ": a token must consist of visible ASCII characters, without spaces");
    tokens.push_back(token);
  }
  if (tokens.empty()) return invalid_argument(path + " has no token; it must have one in each line");
  return tokens;
}

Status check_origin(const std::string& text) {
  const size_t host = text.find("://");
  const bool is_site = host != std::string::npos && host > 0 && host + 3 < text.size() &&
                       text.find_first_of("/?# ", host + 3) == std::string::npos;
  if (text == "*" || is_site) return {};
  return invalid_argument("'" + text +
                          "' is no site: expected scheme and host, such as https://example.org, or *");
}

HttpHandler with_access(std::shared_ptr<const AccessOptions> options, HttpHandler handler) {
  return [options = std::move(options), handler = std::move(handler)](HttpRequest request, HttpReply reply) {
    Headers sharing = sharing_headers(*options, request.origin);
    const bool asks_permission = request.method == "OPTIONS" && !sharing.empty();
    reply = with_headers(std::move(sharing), std::move(reply));
    if (asks_permission) return reply(permission());  // browsers ask without a token
    if (needs_token(*options, request) && !has_token(*options, request)) return reply(no_access());
    handler(std::move(request), std::move(reply));
  };
}

}  // namespace troupe::http
