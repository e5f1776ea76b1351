#include "messages/objects/s3_upload.h"

#include <algorithm>

#include "messages/objects/xml_text.h"

namespace troupe {
namespace {

/// After so many parts, parts are twice as large, because there may be 10,000 of them.
constexpr size_t parts_of_a_size = 2000;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

// A destructor cannot report a failure. The store keeps the parts of an upload that is not ended, but shows no object.
S3Upload::~S3Upload() {
  if (!upload_.empty())
    (void)client_.send({.method = "DELETE", .place = place_, .query = {{"uploadId", upload_}}});
}

size_t S3Upload::part_bytes() const {
  return client_.options().part_bytes << (etags_.size() / parts_of_a_size);
}

Status S3Upload::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (part_.size() == part_bytes()) TROUPE_RETURN_IF_FAILED(send_part());
    const size_t now = std::min(bytes.size(), part_bytes() - part_.size());
    part_.insert(part_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(now));
    bytes = bytes.subspan(now);
  }
  return {};
}

Status S3Upload::begin() {
  TROUPE_ASSIGN(const S3Answer answer,
                client_.send({.method = "POST", .place = place_, .query = {{"uploads", ""}}}));
  upload_ = xml_value(answer.body, "UploadId").value_or("");
  return upload_.empty() ? data_loss(place_.text() + ": the store began an upload without telling its id")
                         : Status{};
}

Status S3Upload::send_part() {
  if (upload_.empty()) TROUPE_RETURN_IF_FAILED(begin());
  TROUPE_ASSIGN(
      const S3Answer answer,
      client_.send({.method = "PUT",
                    .place = place_,
                    .query = {{"partNumber", std::to_string(etags_.size() + 1)}, {"uploadId", upload_}},
                    .body = part_}));
  etags_.push_back(answer.etag);
  sent_ += part_.size();
  part_.clear();
  return {};
}

// The answer may be an error although its status is 200. If an attempt has joined the parts but its answer was lost, the next one
// finds no upload, but the object is there.
Status S3Upload::join() {
  std::string text = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags_.size(); ++i)
    text +=
        "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + etags_[i] + "</ETag></Part>";
  text += "</CompleteMultipartUpload>";
  const auto answer = client_.send(
      {.method = "POST", .place = place_, .query = {{"uploadId", upload_}}, .body = bytes_of(text)});
  if (answer.status().code() == Code::NotFound) {
    TROUPE_ASSIGN(const S3Answer head, client_.send({.method = "HEAD", .place = place_}));
    return head.length == sent_ ? Status{} : answer.status();
  }
  if (!answer) return answer.status();
  if (const auto error = xml_value(answer->body, "Code"))
    return unavailable(place_.text() + ": the parts could not be joined: " + *error + ": " +
                       xml_value(answer->body, "Message").value_or(""));
  return {};
}

Status S3Upload::close() {
  if (upload_.empty()) return client_.send({.method = "PUT", .place = place_, .body = part_}).status();
  TROUPE_RETURN_IF_FAILED(send_part());
  TROUPE_RETURN_IF_FAILED(join());
  upload_.clear();
  return {};
}

}  // namespace troupe
