// S3Upload: a file that is being uploaded. A file of more than S3Options::part_bytes is uploaded in parts, of which one is in
// memory; the object appears when close() has joined them. A file that is not closed leaves nothing. One thread.
#pragma once

#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/objects/s3_client.h"

namespace troupe {

class S3Upload final : public WritableFile {
 public:
  S3Upload(S3Client& client, S3Place place) : client_(client), place_(std::move(place)) {}
  ~S3Upload() override;

  Status write(std::span<const std::byte> bytes) override;
  Status sync() override { return {}; }  // close() makes the file durable
  Status close() override;

 private:
  size_t part_bytes() const;
  Status begin();
  Status send_part();
  Status join();

  S3Client& client_;
  const S3Place place_;
  std::vector<std::byte> part_;     ///< what has not been sent
  std::string upload_;              ///< the id of the upload in parts; empty: none has begun
  std::vector<std::string> etags_;  ///< of the parts that have been sent
  uint64_t sent_ = 0;
};

}  // namespace troupe
