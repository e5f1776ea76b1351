#include "tests/support/net/s3_signature.h"

#include <algorithm>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace troupe::test {
namespace {

using Bytes = std::string;

Bytes hmac(const Bytes& key, const std::string& text) {
  unsigned char result[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), result, &length);
  return {reinterpret_cast<const char*>(result), length};
}

Bytes sha256(const std::string& text) {
  unsigned char result[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), result, &length, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(result), length};
}

std::string hexadecimal(const Bytes& bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

/// Returns the text between `before` and the next ',' or the end.
std::string field(const std::string& text, const std::string& before) {
  const size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const size_t begin = at + before.size();
  return text.substr(begin, text.find(',', begin) - begin);
}

std::string value_of(const std::map<std::string, std::string>& headers, const std::string& name) {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string() : at->second;
}

std::string canonical_query(std::string_view target) {
  auto query = query_of(target);
  std::ranges::sort(query);
  std::string text;
  for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + '=' + value;
  return text;
}

}  // namespace

std::string signature_problem(const std::string& method, std::string_view target,
                              const std::map<std::string, std::string>& headers,
                              const S3Credentials& credentials) {
  const std::string authorization = value_of(headers, "authorization"),
                    time = value_of(headers, "x-amz-date"), date = time.substr(0, 8),
                    names = field(authorization, "SignedHeaders=");
  const std::string scope = date + '/' + credentials.region + "/s3/aws4_request";
  if (!authorization.starts_with("AWS4-HMAC-SHA256 ")) return "AccessDenied";
  if (field(authorization, "Credential=") != credentials.key_id + '/' + scope) return "InvalidAccessKeyId";
  if (value_of(headers, "x-amz-security-token") != credentials.token) return "InvalidToken";
  std::string canonical =
      method + '\n' + std::string(target.substr(0, target.find('?'))) + '\n' + canonical_query(target) + '\n';
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(';', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    canonical += name + ':' + value_of(headers, name) + '\n';
    begin = end + 1;
  }
  for (const char* const needed : {"host", "x-amz-date", "x-amz-security-token"})
    if ((';' + names + ';').find(std::string(";") + needed + ';') == std::string::npos) return "AccessDenied";
  canonical += '\n' + names + '\n' + value_of(headers, "x-amz-content-sha256");
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + '\n' + scope + '\n' + hexadecimal(sha256(canonical));
  Bytes key = "AWS4" + credentials.secret;
  for (const std::string& part : {date, credentials.region, std::string("s3"), std::string("aws4_request")})
    key = hmac(key, part);
  return field(authorization, "Signature=") == hexadecimal(hmac(key, to_sign)) ? "" : "SignatureDoesNotMatch";
}

std::vector<std::pair<std::string, std::string>> query_of(std::string_view target) {
  std::vector<std::pair<std::string, std::string>> query;
  const size_t mark = target.find('?');
  for (std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
       !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    const size_t equals = std::min(one.find('='), one.size());
    query.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return query;
}

std::string url_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size();
    result +=
        escaped ? static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)) : text[i];
    if (escaped) i += 2;
  }
  return result;
}

std::string url_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
    result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : escaped;
  }
  return result;
}

}  // namespace troupe::test
