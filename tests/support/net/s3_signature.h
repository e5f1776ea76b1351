// The signature of requests to a store of objects (AWS Signature Version 4), computed anew from what a server receives. Plain
// functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::test {

struct S3Credentials {
  std::string key_id, secret, token, region;
};

/// Returns what is wrong with the signature of a request, as the code of an error of Amazon S3; empty if it is right. The names
/// of the headers are in small letters.
std::string signature_problem(const std::string& method, std::string_view target,
                              const std::map<std::string, std::string>& headers,
                              const S3Credentials& credentials);

/// Returns the names and values of a query as they are written, in order.
std::vector<std::pair<std::string, std::string>> query_of(std::string_view target);
std::string url_decoded(std::string_view text);
std::string url_encoded(std::string_view text);

}  // namespace troupe::test
