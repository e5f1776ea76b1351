#include "messages/objects/s3_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>

#include "messages/objects/xml_text.h"

namespace troupe {
namespace {

constexpr size_t max_idle = 4;
constexpr size_t max_message = 300;  ///< of a message of the store, in an error
constexpr std::chrono::milliseconds max_pause{10'000};

/// Percent-encodes all but unreserved characters and those in `kept`.
std::string encoded(std::string_view text, std::string_view kept = {}) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       std::strchr("-_.~", c) != nullptr || kept.find(c) != std::string_view::npos;
    if (plain && c != '\0')
      result += c;
    else
      result.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return result;
}

/// What the callbacks of an attempt use.
struct Transfer {
  std::span<const std::byte> body;
  size_t sent = 0;
  size_t max_answer = 0;
  std::string answer;
  const std::atomic<bool>* stopped = nullptr;
};

size_t write_answer(char* data, size_t, size_t bytes, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (bytes > transfer.max_answer - transfer.answer.size()) return 0;
  transfer.answer.append(data, bytes);
  return bytes;
}

size_t read_body(char* into, size_t, size_t bytes, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const size_t now = std::min(bytes, transfer.body.size() - transfer.sent);
  if (now > 0) std::memcpy(into, transfer.body.data() + transfer.sent, now);
  transfer.sent += now;
  return now;
}

int seek_body(void* user, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > transfer.body.size())
    return CURL_SEEKFUNC_FAIL;
  transfer.sent = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int stop_if_asked(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(user)->stopped->load() ? 1 : 0;
}

bool is_passing(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK: return false;
    default: return true;
  }
}

bool is_passing(long status) { return status >= 500 || status == 429 || status == 408; }

Code code_of(long status) {
  switch (status) {
    case 401:
    case 403: return Code::PermissionDenied;
    case 404: return Code::NotFound;
    case 409:
    case 412:
    case 416: return Code::FailedPrecondition;
    default: return is_passing(status) ? Code::Unavailable : Code::InvalidArgument;
  }
}

std::string about(const S3Request& request) { return request.place.text() + ": " + request.method; }

Status refused(const S3Request& request, const S3Answer& answer) {
  std::string text = about(request) + " was answered with HTTP " + std::to_string(answer.status);
  for (const auto& [tag, before] : {std::pair("Code", " "), std::pair("Message", ": ")})
    if (const auto value = xml_value(answer.body, tag)) text += before + value->substr(0, max_message);
  return {code_of(answer.status), std::move(text)};
}

}  // namespace

Result<S3Place> S3Place::parse(const std::string& path) {
  if (!path.starts_with(s3_scheme)) return invalid_argument("'" + path + "' does not begin with s3://");
  std::string_view rest = std::string_view(path).substr(s3_scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t slash = rest.find('/');
  S3Place place{std::string(rest.substr(0, slash)),
                slash == std::string_view::npos ? std::string() : std::string(rest.substr(slash + 1))};
  if (place.bucket.empty()) return invalid_argument("'" + path + "' has no bucket: s3://BUCKET/KEY");
  return place;
}

struct S3Client::Connection {
  CURL* handle = curl_easy_init();

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { curl_easy_cleanup(handle); }
};

/// The end of one attempt: an answer of any status, or a failure.
struct S3Client::Attempt {
  Result<S3Answer> answer;
  bool passing = false;  ///< another attempt may succeed
};

S3Client::S3Client(S3Options options) : options_(std::move(options)), random_(std::random_device{}()) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialised;
}

S3Client::~S3Client() = default;

void S3Client::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

std::unique_ptr<S3Client::Connection> S3Client::take_connection() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Connection>();
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

bool S3Client::pause(int attempts) {
  std::unique_lock lock(mutex_);
  auto time = options_.first_pause;
  for (int i = 1; i < attempts && time < max_pause; ++i) time *= 2;
  time = std::min(time, max_pause);
  time = time / 2 + std::chrono::milliseconds(random_() % static_cast<uint64_t>(time.count() + 1));
  return !changed_.wait_for(lock, time, [&] { return stopped_.load(); });
}

// libcurl signs the path and the query as they are written here: encoded, and ordered by name, each with '='.
std::string S3Client::url_of(const S3Request& request) const {
  std::string url =
      options_.endpoint.empty() ? "https://s3." + options_.region + ".amazonaws.com" : options_.endpoint;
  while (url.ends_with('/')) url.pop_back();
  url += '/' + encoded(request.place.bucket) + '/' + encoded(request.place.key, "/");
  char separator = '?';
  for (const auto& [name, value] : request.query)
    url += std::exchange(separator, '&') + encoded(name) + '=' + encoded(value);
  return url;
}

S3Client::Attempt S3Client::try_once(const S3Request& request) {
  auto connection = take_connection();
  CURL* const curl = connection->handle;
  if (!curl) return {resource_exhausted("libcurl has no memory for a connection"), false};
  Transfer transfer{request.body, 0, request.max_answer, {}, &stopped_};
  curl_slist* headers = nullptr;
  const auto add_header = [&](const std::string& line) {
    headers = curl_slist_append(headers, line.c_str());
  };
  add_header("Expect:");
  add_header("x-amz-content-sha256: UNSIGNED-PAYLOAD");
  if (!options_.session_token.empty()) add_header("x-amz-security-token: " + options_.session_token);
  for (const auto& header : request.headers) add_header(header);
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owned(headers, curl_slist_free_all);

  char problem[CURL_ERROR_SIZE] = "";
  const std::string url = url_of(request), provider = "aws:amz:" + options_.region + ":s3";
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // the library reads no environment
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.request_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.silence_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  const auto silence = std::chrono::ceil<std::chrono::seconds>(options_.silence_timeout).count();
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(silence));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_answer);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_if_asked);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, &transfer);
  }
  if (request.method != "HEAD") curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (!options_.key_id.empty()) {
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, provider.c_str());
    curl_easy_setopt(curl, CURLOPT_USERNAME, options_.key_id.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, options_.secret_key.c_str());
  }

  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_ABORTED_BY_CALLBACK) return {cancelled(about(request) + " was ended"), false};
  if (code != CURLE_OK)
    return {unavailable(about(request) + " failed: " + (*problem != 0 ? problem : curl_easy_strerror(code))),
            is_passing(code)};
  S3Answer answer;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_off_t length = 0;
  curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  answer.length = length < 0 ? 0 : static_cast<uint64_t>(length);
  if (curl_header* etag = nullptr; curl_easy_header(curl, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK)
    answer.etag = etag->value;
  answer.body = std::move(transfer.answer);
  curl_easy_reset(curl);  // keeps the connection, and forgets what lies on this stack
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < max_idle) idle_.push_back(std::move(connection));
  }
  if (answer.status >= 200 && answer.status < 300) return {std::move(answer), false};
  return {refused(request, answer), is_passing(answer.status)};
}

Result<S3Answer> S3Client::send(const S3Request& request) {
  for (int attempts = 1;; ++attempts) {
    if (stopped_) return cancelled(about(request) + " was ended");
    Attempt attempt = try_once(request);
    if (!attempt.passing) return std::move(attempt.answer);
    const Status& failure = attempt.answer.status();
    if (attempts >= options_.attempts)
      return Status(failure.code(),
                    failure.text() + " (the last of " + std::to_string(attempts) + " attempts)");
    if (!pause(attempts)) return cancelled(about(request) + " was ended");
  }
}

}  // namespace troupe
