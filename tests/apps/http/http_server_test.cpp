// An HttpServer with small handlers: what clients receive, and what the server survives.
#include <boost/test/unit_test.hpp>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <list>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "apps/http/http_server.h"
#include "messages/records/decompressor.h"
#include "tests/apps/http/http_client.h"
#include "tests/support/comes_true.h"
#include "tests/support/compressed.h"

namespace troupe::test::http_server_test {
namespace {

namespace server = troupe::http;
using Plain = Client<asio::ip::tcp::socket>;

std::unique_ptr<server::HttpServer> started(const server::HttpHandler& handler,
                                            const server::HttpOptions& options = {}) {
  return value_or_throw(server::HttpServer::start(options, [&] { return handler; }));
}

/// Answers with the body of the request.
void echo(const server::HttpRequest& request, const server::HttpReply& reply) { reply({200, request.body}); }

std::string gzip(const std::string& text) { return compressed(text, Compression::Gzip); }

/// Returns what gzip has compressed.
std::string plain(const std::string& bytes) {
  const auto decompressor = make_decompressor(Compression::Gzip);
  decompressor->feed(bytes);
  std::string text, piece(1 << 16, '\0');
  while (const size_t written = value_or_throw(decompressor->decompress(piece)))
    text.append(piece, 0, written);
  BOOST_TEST(decompressor->has_ended());
  return text;
}

/// Returns the size of the address space of this process in bytes.
size_t address_space() {
  std::ifstream status("/proc/self/statm");
  size_t pages = 0;
  status >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns how many bytes this process has allocated and not freed.
size_t allocated() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// Lets this process open no more files while it exists. Those that are open stay open.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {3, before_.rlim_max};  // 0 to 2 are open
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(http_server)

BOOST_AUTO_TEST_CASE(a_handler_that_throws_ends_nothing_but_its_request) {
  const auto serving = started([](const server::HttpRequest& request, const server::HttpReply& reply) {
    if (request.target == "/bad") throw std::out_of_range("no \"such\" number");
    reply({200, "fine"});
  });
  const Answer failed = Plain(serving->port()).get("/bad");
  BOOST_TEST(failed.status == 500u);
  BOOST_TEST(failed.json().at("error") == "no \"such\" number");
  BOOST_TEST(Plain(serving->port()).get("/good").body == "fine");
}

BOOST_AUTO_TEST_CASE(head_is_answered_as_get_is_without_the_body) {
  const auto serving = started([](const server::HttpRequest& request, const server::HttpReply& reply) {
    request.method == "GET" ? reply({200, "fine"}) : reply({405, "only GET is allowed"});
  });
  Plain client(serving->port());
  const auto head = client.head("/");
  BOOST_TEST(head.result_int() == 200u);
  BOOST_TEST(head[http::field::content_length] == "4");
  BOOST_TEST(client.get("/").body == "fine");  // nothing else was sent in between
}

BOOST_AUTO_TEST_CASE(head_of_an_answer_that_goes_on_ends) {
  const auto serving = started([](const server::HttpRequest&, const server::HttpReply& reply) {
    server::HttpAnswer answer;
    answer.more = [] { return std::string("more"); };
    reply(std::move(answer));
  });
  Plain client(serving->port());
  BOOST_TEST(client.head("/").result_int() == 200u);
  char byte = 0;
  boost::system::error_code error;
  client.stream().read_some(asio::buffer(&byte, 1), error);
  BOOST_TEST((error == asio::error::eof));
}

// What follows such a request would be taken for another one.
BOOST_AUTO_TEST_CASE(a_body_in_an_unknown_coding_ends_the_connection) {
  const auto serving = started([](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, "fine"});
  });
  for (const std::string coding : {"xchunked", "gzip", "gzip, chunked"}) {
    Plain client(serving->port());
    asio::write(client.stream(), asio::buffer("POST / HTTP/1.1\r\nTransfer-Encoding: " + coding +
                                              "\r\n\r\nGET /other HTTP/1.1\r\n\r\n"));
    BOOST_TEST(client.read().status == 501u);
    std::string rest(100, '\0');
    boost::system::error_code error;
    BOOST_TEST(client.stream().read_some(asio::buffer(rest), error) == 0u);
    BOOST_TEST(error.failed());
  }
}

BOOST_AUTO_TEST_CASE(a_target_may_have_a_host) {
  const auto serving = started([](const server::HttpRequest& request, const server::HttpReply& reply) {
    reply({200, request.target});
  });
  Plain client(serving->port());
  BOOST_TEST(client.get("http://localhost:1/a/b?c=1").body == "/a/b?c=1");
  BOOST_TEST(client.get("https://localhost").body == "/");
  BOOST_TEST(client.get("/http://a").body == "/http://a");
}

BOOST_AUTO_TEST_CASE(a_server_without_descriptors_waits_for_one) {
  const auto serving = started([](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, "fine"});
  });
  Plain client;
  client.stream().open(asio::ip::tcp::v4());
  {
    const NoMoreFiles full;
    client.connect(serving->port());
    const std::clock_t begin = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double used = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    BOOST_TEST(used < 0.05);  // seconds of processors
    BOOST_TEST(serving->connections() == 0u);
  }
  BOOST_TEST(client.get("/").body == "fine");
}

BOOST_AUTO_TEST_CASE(a_length_that_is_announced_takes_no_memory) {
  const auto serving = started([](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, "fine"});
  });
  const size_t before = address_space();
  std::list<Plain> clients;
  for (int i = 0; i < 20; ++i)
    asio::write(clients.emplace_back(serving->port()).stream(),
                asio::buffer(std::string("POST / HTTP/1.1\r\nContent-Length: 67000000\r\n\r\nx")));
  for (int i = 0; i < 2; ++i) BOOST_TEST(Plain(serving->port()).get("/").body == "fine");  // after the others
  BOOST_TEST(address_space() < before + (size_t{256} << 20));
}

BOOST_AUTO_TEST_CASE(all_requests_together_have_a_limit) {
  server::HttpOptions options;
  options.max_body = options.max_bodies = 1000;
  std::promise<server::HttpReply> waiting;
  const auto serving = started(
      [&](const server::HttpRequest& request, const server::HttpReply& reply) {
        if (request.target == "/wait") return waiting.set_value(reply);
        reply({200, std::to_string(request.body.size())});
      },
      options);
  const auto post = [&] { return Plain(serving->port()).post("/", std::string(600, 'x')); };
  BOOST_TEST(post().body == "600");
  BOOST_TEST(post().body == "600");  // what was answered counts no longer
  Plain slow(serving->port());
  slow.send(http::verb::post, "/wait", std::string(700, 'x'));
  const server::HttpReply reply = waiting.get_future().get();
  const Answer refused = post();
  BOOST_TEST(refused.status == 503u);
  BOOST_TEST(refused.json().at("error") ==
             "the requests in progress leave no room for this one: together they may have 1000 bytes");
  reply({200, "late"});
  BOOST_TEST(slow.read().body == "late");
  BOOST_TEST(post().body == "600");
}

BOOST_AUTO_TEST_CASE(idle_connections_keep_no_answers) {
  constexpr size_t large = size_t{7} << 20, clients_with_answers = 8;
  const auto serving = started([](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, std::string(large, 'x')});
  });
  std::list<Plain> clients;
  const size_t before = allocated();
  for (size_t i = 0; i < clients_with_answers; ++i)
    BOOST_TEST(clients.emplace_back(serving->port()).get("/").body.size() == large);
  BOOST_TEST(comes_true([&] { return allocated() < before + large; }));
  BOOST_TEST(serving->connections() == clients_with_answers);
}

BOOST_AUTO_TEST_CASE(bodies_of_gzip_are_decompressed) {
  const auto serving = started(echo);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
  for (const char* const encoding : {"gzip", "GZip", "x-gzip"}) {
    Plain client(serving->port());
    client.set(http::field::content_encoding, encoding);
    BOOST_TEST((client.post("/", gzip(text)).body == text));
    BOOST_TEST(client.post("/", gzip("one ") + gzip("two")).body == "one two");  // on the same connection
    BOOST_TEST(client.post("/", gzip("")).body == "");
  }
  Plain client(serving->port());
  client.set(http::field::content_encoding, "identity");
  BOOST_TEST(client.post("/", "as it is").body == "as it is");
}

BOOST_AUTO_TEST_CASE(what_bodies_of_gzip_become_has_the_same_limits) {
  server::HttpOptions options;
  options.max_body = options.max_bodies = 200'000;
  std::promise<server::HttpReply> waiting;
  const auto serving = started(
      [&](const server::HttpRequest& request, const server::HttpReply& reply) {
        if (request.target == "/wait") return waiting.set_value(reply);
        reply({200, std::to_string(request.body.size())});
      },
      options);
  const auto post = [&](size_t size) {
    Plain client(serving->port());
    client.set(http::field::content_encoding, "gzip");
    return client.post("/", gzip(std::string(size, 'x')));
  };
  BOOST_TEST(post(200'000).body == "200000");
  for (const size_t size :
       {size_t{200'001}, size_t{64} << 20}) {  // the latter has 65 kB when it is compressed
    const Answer refused = post(size);
    BOOST_TEST(refused.status == 413u);
    BOOST_TEST(refused.json().at("error") == "the body has more than 200000 bytes when it is decompressed");
  }
  BOOST_TEST(post(200'000).body == "200000");  // what was refused counts no longer
  Plain slow(serving->port());
  slow.set(http::field::content_encoding, "gzip");
  slow.send(http::verb::post, "/wait", gzip(std::string(100'000, 'x')));
  const server::HttpReply reply = waiting.get_future().get();
  BOOST_TEST(post(100'001).status == 503u);
  BOOST_TEST(post(100'000).body == "100000");
  reply({200, "late"});
  BOOST_TEST(slow.read().body == "late");
}

BOOST_AUTO_TEST_CASE(bodies_that_cannot_be_decompressed_are_refused) {
  const auto serving = started(echo);
  const auto post = [&](const std::string& encoding, const std::string& body) {
    Plain client(serving->port());
    client.set(http::field::content_encoding, encoding);
    return client.post("/", body);
  };
  const std::string good = gzip(std::string(1000, 'x'));
  std::string changed = good;
  changed[changed.size() - 8] ^= 1;  // the first byte of the checksum
  const std::vector<std::pair<std::string, std::string>> damaged = {
      {"{}", "incorrect header check"},
      {good.substr(0, good.size() - 1), "it is cut off"},
      {good + good.substr(0, 12), "it is cut off"},
      {changed, "incorrect data check"}};
  for (const auto& [body, why] : damaged) {
    const Answer refused = post("gzip", body);
    BOOST_TEST(refused.status == 400u);
    BOOST_TEST(refused.json().at("error") ==
               "the body is no gzip, as its Content-Encoding says, or it is damaged: " + why);
  }
  for (const char* const encoding : {"br", "gzip, gzip", "deflate"}) {
    const Answer refused = post(encoding, good);
    BOOST_TEST(refused.status == 415u);
    BOOST_TEST(refused.json().at("error") == "the body has the Content-Encoding '" + std::string(encoding) +
                                                 "'; it must be gzip, or identity: none");
    BOOST_TEST(refused.headers[http::field::accept_encoding] == "gzip, identity");
  }
}

BOOST_AUTO_TEST_CASE(long_answers_are_compressed_for_clients_that_take_gzip) {
  const std::string text(1025, 'x');
  const auto serving = started([&](const server::HttpRequest& request, const server::HttpReply& reply) {
    reply({200, request.target == "/long" ? text : text.substr(1)});
  });
  const auto ask = [&](const std::string& accepted, const std::string& target = "/long") {
    Plain client(serving->port());
    if (!accepted.empty()) client.set(http::field::accept_encoding, accepted);
    return client.get(target);
  };
  for (const char* const accepted : {"gzip", "br, GZIP;q=0.5", "x-gzip", "*", "identity;q=0, *;q=0.001"}) {
    const Answer answer = ask(accepted);
    BOOST_TEST(answer.headers[http::field::content_encoding] == "gzip", accepted);
    BOOST_TEST(answer.headers[http::field::vary] == "Accept-Encoding");
    BOOST_TEST(answer.body.size() < 100u);
    BOOST_TEST(plain(answer.body) == text);
  }
  for (const char* const accepted : {"", "br", "identity", "gzip;q=0", "*, gzip; q=0.000", "*;q=0"}) {
    const Answer answer = ask(accepted);
    BOOST_TEST(answer.headers[http::field::content_encoding] == "", accepted);
    BOOST_TEST(answer.headers[http::field::vary] == "Accept-Encoding");
    BOOST_TEST(answer.body == text);
  }
  const Answer small = ask("gzip", "/short");
  BOOST_TEST(small.headers[http::field::content_encoding] == "");
  BOOST_TEST(small.headers[http::field::vary] == "");
  BOOST_TEST(small.body == text.substr(1));
  Plain client(serving->port());
  client.set(http::field::accept_encoding, "gzip");
  const auto head = client.head("/long");
  BOOST_TEST(head[http::field::content_length] == std::to_string(client.get("/long").body.size()));
}

BOOST_AUTO_TEST_CASE(answers_that_would_not_become_shorter_are_not_compressed) {
  std::mt19937 random(1);
  std::string noise(100'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  const auto serving = started([&](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, noise});
  });
  Plain client(serving->port());
  client.set(http::field::accept_encoding, "gzip");
  const Answer answer = client.get("/");
  BOOST_TEST(answer.headers[http::field::content_encoding] == "");
  BOOST_TEST((answer.body == noise));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::http_server_test
