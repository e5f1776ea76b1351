#include "messages/objects/s3_disk.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "messages/objects/s3_client.h"
#include "messages/objects/s3_upload.h"
#include "messages/objects/xml_text.h"

namespace troupe {
namespace {

constexpr size_t block_bytes = size_t{8} << 20;  ///< of a request for a part of an object
constexpr size_t max_pages = 10'000;             ///< of a listing; stores put up to 1000 entries on a page

/// Decodes the keys of a listing, which are asked for in the encoding of URLs: "%2F" and '+' for a space.
std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

/// An object of known length, read block by block. It must not change meanwhile.
class S3ReadableFile final : public ReadableFile {
 public:
  S3ReadableFile(S3Client& client, S3Place place, const S3Answer& head)
      : client_(client), place_(std::move(place)), size_(head.length), etag_(head.etag) {}

  Result<uint64_t> size() override { return size_; }

  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size() && offset + done < size_) {
      const uint64_t at = offset + done;
      if (at < begin_ || at - begin_ >= block_.size()) TROUPE_RETURN_IF_FAILED(load(at));
      const size_t skipped = at - begin_, now = std::min(into.size() - done, block_.size() - skipped);
      std::memcpy(into.data() + done, block_.data() + skipped, now);
      done += now;
    }
    return done;
  }

 private:
  Status load(uint64_t begin) {
    const uint64_t end = std::min<uint64_t>(begin + block_bytes, size_);
    S3Request request{.method = "GET", .place = place_};
    request.headers = {"Range: bytes=" + std::to_string(begin) + '-' + std::to_string(end - 1)};
    if (!etag_.empty()) request.headers.push_back("If-Match: " + etag_);
    request.max_answer = std::max<size_t>(end - begin, size_t{1} << 20);
    TROUPE_ASSIGN(S3Answer answer, client_.send(request));
    if (answer.body.size() != end - begin)
      return data_loss(place_.text() + ": the store sent " + std::to_string(answer.body.size()) +
                       " bytes instead of " + std::to_string(end - begin));
    begin_ = begin;
    block_ = std::move(answer.body);
    return {};
  }

  S3Client& client_;
  const S3Place place_;
  const uint64_t size_;
  const std::string etag_;
  uint64_t begin_ = 0;
  std::string block_;
};

class S3Disk final : public ObjectDisk {
 public:
  explicit S3Disk(const S3Options& options) : client_(options) {}

  void stop() override { client_.stop(); }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override {
    TROUPE_ASSIGN(S3Place place, S3Place::parse(path));
    TROUPE_ASSIGN(const S3Answer head, client_.send({.method = "HEAD", .place = place}));
    return std::unique_ptr<ReadableFile>(std::make_unique<S3ReadableFile>(client_, std::move(place), head));
  }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TROUPE_ASSIGN(S3Place place, S3Place::parse(path));
    return std::unique_ptr<WritableFile>(std::make_unique<S3Upload>(client_, std::move(place)));
  }

  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override {
    return unimplemented("cannot append to '" + path + "': a store of objects has whole files only");
  }
  Status rename(const std::string& from, const std::string&) override {
    return unimplemented("cannot rename '" + from + "': a store of objects has whole files only");
  }

  Status remove(const std::string& path) override {
    TROUPE_ASSIGN(S3Place place, S3Place::parse(path));
    return client_.send({.method = "DELETE", .place = std::move(place)}).status();
  }

  Status make_folder(const std::string& path) override { return S3Place::parse(path).status(); }
  Status sync_folder(const std::string&) override { return {}; }
  bool appears_when_closed(const std::string&) const override { return true; }

  Result<std::vector<Entry>> list(const std::string& folder) override {
    TROUPE_ASSIGN(const S3Place place, S3Place::parse(folder));
    const std::string prefix = place.key.empty() ? std::string() : place.key + '/';
    std::vector<Entry> entries;
    const auto add = [&](std::string_view element, const char* tag, bool is_folder) {
      std::string name = decoded(xml_value(element, tag).value_or(""));
      if (is_folder && name.ends_with('/')) name.pop_back();
      if (name.size() > prefix.size() && name.starts_with(prefix))
        entries.push_back({name.substr(prefix.size()), is_folder});
    };
    std::string token;
    size_t pages = 0;
    do {
      if (++pages > max_pages)
        return resource_exhausted("the store lists '" + folder + "' in more than " +
                                  std::to_string(max_pages) + " pages");
      TROUPE_ASSIGN(const std::string page, list_page(place.bucket, prefix, token, {}));
      for (const auto element : xml_elements(page, "Contents")) add(element, "Key", false);
      for (const auto element : xml_elements(page, "CommonPrefixes")) add(element, "Prefix", true);
      const std::string before = std::exchange(token, xml_value(page, "NextContinuationToken").value_or(""));
      if (!token.empty() && token == before)
        return data_loss("the store lists '" + folder + "' without an end: the page after " + token +
                         " is followed by itself");
    } while (!token.empty());
    std::ranges::sort(entries, {}, &Entry::name);
    return entries;
  }

  Result<Info> info(const std::string& path) override {
    TROUPE_ASSIGN(const S3Place place, S3Place::parse(path));
    if (place.key.empty()) return Info{0, true};
    const auto head = client_.send({.method = "HEAD", .place = place});
    if (head) return Info{head->length, false};
    if (head.status().code() != Code::NotFound) return head.status();
    TROUPE_ASSIGN(const std::string page, list_page(place.bucket, place.key + '/', {}, "1"));
    if (xml_elements(page, "Contents").empty() && xml_elements(page, "CommonPrefixes").empty())
      return not_found("there is no '" + path + "'");
    return Info{0, true};
  }

 private:
  Result<std::string> list_page(const std::string& bucket, const std::string& prefix,
                                const std::string& token, const std::string& max_keys) {
    S3Request request{.method = "GET", .place = {bucket, ""}};
    request.query = {{"list-type", "2"}, {"delimiter", "/"}, {"encoding-type", "url"}, {"prefix", prefix}};
    if (!token.empty()) request.query.emplace("continuation-token", token);
    if (!max_keys.empty()) request.query.emplace("max-keys", max_keys);
    TROUPE_ASSIGN(S3Answer answer, client_.send(request));
    return std::move(answer.body);
  }

  S3Client client_;
};

}  // namespace

Result<std::unique_ptr<ObjectDisk>> make_s3_disk(const S3Options& options) {
  if (options.key_id.empty() != options.secret_key.empty())
    return invalid_argument("an access key has an id and a secret, but one of them is missing");
  return std::unique_ptr<ObjectDisk>(std::make_unique<S3Disk>(options));
}

}  // namespace troupe
