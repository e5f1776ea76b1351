// An HttpServer with small handlers: what clients receive, and what the server survives.
#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
