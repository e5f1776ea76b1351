// An HttpServer with small handlers: what clients receive, and what the server survives.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <list>
#include <memory>
#include <stdexcept>
#include <thread>

#include "apps/http/http_server.h"
#include "tests/apps/http/http_client.h"

namespace troupe::test::http_server_test {
namespace {

namespace server = troupe::http;
using Plain = Client<asio::ip::tcp::socket>;

std::unique_ptr<server::HttpServer> started(const server::HttpHandler& handler,
                                            const server::HttpOptions& options = {}) {
  return value_or_throw(server::HttpServer::start(options, [&] { return handler; }));
}

/// Returns the size of the address space of this process in bytes.
size_t address_space() {
  std::ifstream status("/proc/self/statm");
  size_t pages = 0;
  status >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::http_server_test
