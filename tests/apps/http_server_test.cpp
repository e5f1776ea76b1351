// An HttpServer with small handlers: what clients receive, and what the server survives.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <thread>

#include "apps/http/http_server.h"
#include "tests/apps/http_client.h"

namespace troupe::test {
namespace {

namespace server = troupe::http;
using Plain = Client<asio::ip::tcp::socket>;

std::unique_ptr<server::HttpServer> started(const server::HttpHandler& handler,
                                            const server::HttpOptions& options = {}) {
  return value_or_throw(server::HttpServer::start(options, [&] { return handler; }));
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
