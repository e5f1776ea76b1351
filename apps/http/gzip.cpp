#include "apps/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace troupe::http {
namespace {

constexpr size_t most_plain = 1 << 10;  // in bytes; less is hardly worth the time

/// A stream that zlib compresses to gzip, fast rather than as short as possible.
class Deflater {
 public:
  Deflater() {
    constexpr int with_gzip_header = 16, usual_memory = 8;
    ready_ = deflateInit2(&z_, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + with_gzip_header, usual_memory,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ready_) deflateEnd(&z_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Returns the text in the form of gzip; nothing if that is not shorter, or if zlib has no memory.
  std::optional<std::string> shorter(const std::string& text) {
    if (!ready_ || text.size() > std::numeric_limits<uInt>::max()) return {};  // zlib counts with 32 bits
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));     // zlib does not write there
    z_.avail_in = static_cast<uInt>(text.size());
    std::string result;
    std::array<char, 16 << 10> piece;
    int code = Z_OK;
    while (code == Z_OK && result.size() < text.size()) {
      z_.next_out = reinterpret_cast<Bytef*>(piece.data());
      z_.avail_out = static_cast<uInt>(piece.size());
      code = deflate(&z_, Z_FINISH);
      result.append(piece.data(), piece.size() - z_.avail_out);
    }
    if (code != Z_STREAM_END || result.size() >= text.size()) return {};
    return result;
  }

 private:
  z_stream z_ = {};
  bool ready_ = false;
};

std::optional<std::string> shorter(const std::string& text) try {
  return Deflater().shorter(text);
} catch (const std::bad_alloc&) {
  return {};
}

/// Returns whether the parameters of a coding have a weight of 0, which refuses it: "0" or "0.000".
bool is_refused(const boost::beast::http::param_list& parameters) {
  return std::ranges::any_of(parameters, [](const auto& parameter) {
    return boost::beast::iequals(parameter.first, "q") &&
           parameter.second.find_first_not_of("0.") == boost::beast::string_view::npos;
  });
}

}  // namespace

bool is_gzip(std::string_view encoding) {
  const boost::beast::string_view name(encoding.data(), encoding.size());
  return boost::beast::iequals(name, "gzip") || boost::beast::iequals(name, "x-gzip");
}

bool accepts_gzip(std::string_view accepted) {
  bool takes_any = false;  // as "*" says of what is not named
  for (const auto& [coding, parameters] :
       boost::beast::http::ext_list(boost::beast::string_view(accepted.data(), accepted.size()))) {
    const bool takes = !is_refused(parameters);
    if (is_gzip({coding.data(), coding.size()})) return takes;
    if (coding == "*") takes_any = takes;
  }
  return takes_any;
}

void compress(HttpAnswer& answer, bool takes_gzip) {
  if (answer.body.size() <= most_plain) return;
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  auto body = takes_gzip ? shorter(answer.body) : std::nullopt;
  if (!body) return;
  answer.headers.emplace_back("Content-Encoding", "gzip");
  answer.body = std::move(*body);
}

}  // namespace troupe::http
