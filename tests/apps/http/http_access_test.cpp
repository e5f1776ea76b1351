// Access to an HttpServer: requests with and without tokens, and pages of other sites.
#include "apps/http/access.h"

#include <boost/test/unit_test.hpp>

#include "tests/apps/http/http_client.h"
#include "tests/support/simulation/simulated_disk.h"

namespace troupe::test::http_access_test {
namespace {

namespace server = troupe::http;
using Plain = Client<asio::ip::tcp::socket>;

/// A server whose handler answers every request it gets with "fine".
std::unique_ptr<server::HttpServer> started(server::AccessOptions options) {
  const auto access = std::make_shared<const server::AccessOptions>(std::move(options));
  const server::HttpHandler fine = [](const server::HttpRequest&, const server::HttpReply& reply) {
    reply({200, "fine"});
  };
  return value_or_throw(server::HttpServer::start({}, [&] { return server::with_access(access, fine); }));
}

Answer answer_to(const server::HttpServer& serving, const std::string& authorization,
                 const std::string& target = "/models") {
  Plain client(serving.port());
  if (!authorization.empty()) client.set(http::field::authorization, authorization);
  return client.get(target);
}

Result<std::vector<std::string>> tokens_in(const std::string& content) {
  SimulatedDisk disk(1);
  auto file = value_or_throw(NewFile::create(disk, "/tokens"));
  throw_if_failed(file.write(std::string_view(content)));
  throw_if_failed(file.commit());
  return server::read_tokens(disk, "/tokens");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_access)

BOOST_AUTO_TEST_CASE(a_request_needs_one_of_the_tokens) {
  const auto serving = started({.tokens = {"first", "second"}, .origins = {}, .open_paths = {"/healthz"}});
  for (const char* token : {"Bearer first", "Bearer second", "bearer first"})
    BOOST_TEST(answer_to(*serving, token).body == "fine", token);
  for (const char* token :
       {"", "first", "Basic first", "Bearer", "Bearer ", "Bearer firs", "Bearer firsT", "Bearer first2"}) {
    const Answer refused = answer_to(*serving, token);
    BOOST_TEST(refused.status == 401u, token);
    BOOST_TEST(refused.headers[http::field::www_authenticate] == "Bearer");
    BOOST_TEST(refused.body.find("fine") == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(open_paths_need_no_token) {
  const auto serving = started({.tokens = {"first"}, .origins = {}, .open_paths = {"/healthz"}});
  for (const char* target : {"/healthz", "/healthz?now", "/%68ealthz"})
    BOOST_TEST(answer_to(*serving, {}, target).status == 200u, target);
  for (const char* target : {"/healthz/", "/health", "/?/healthz"})
    BOOST_TEST(answer_to(*serving, {}, target).status == 401u, target);
}

BOOST_AUTO_TEST_CASE(without_tokens_every_request_has_access) {
  BOOST_TEST(answer_to(*started({}), {}).body == "fine");
}

BOOST_AUTO_TEST_CASE(pages_of_allowed_sites_may_read_answers) {
  const auto serving = started({.tokens = {"first"}, .origins = {"https://a.example"}, .open_paths = {}});
  const auto allowed_for = [&](const std::string& origin, const std::string& token) {
    Plain client(serving->port());
    client.set(http::field::origin, origin);
    if (!token.empty()) client.set(http::field::authorization, "Bearer " + token);
    return std::string(client.get("/models").headers[http::field::access_control_allow_origin]);
  };
  BOOST_TEST(allowed_for("https://a.example", "first") == "https://a.example");
  BOOST_TEST(allowed_for("https://a.example", "") ==
             "https://a.example");  // the page can read why it is refused
  BOOST_TEST(allowed_for("https://b.example", "first") == "");
  BOOST_TEST(allowed_for("http://a.example", "first") == "");
}

BOOST_AUTO_TEST_CASE(browsers_ask_without_a_token) {
  const auto serving = started({.tokens = {"first"}, .origins = {"https://a.example"}, .open_paths = {}});
  Plain client(serving->port());
  client.set(http::field::origin, "https://a.example");
  client.set(http::field::access_control_request_method, "POST");
  const Answer permission = client.ask(http::verb::options, "/models");
  BOOST_TEST(permission.status == 200u);
  BOOST_TEST(permission.body.empty());
  BOOST_TEST(permission.headers[http::field::access_control_allow_methods] == "GET, POST");
  BOOST_TEST(permission.headers[http::field::access_control_allow_headers] ==
             "Authorization, Content-Encoding, Content-Type, Inference-Header-Content-Length");
  BOOST_TEST(client.get("/models").status == 401u);  // on the same connection
  client.set(http::field::origin, "https://b.example");
  BOOST_TEST(client.ask(http::verb::options, "/models").status == 401u);
}

BOOST_AUTO_TEST_CASE(all_sites_can_be_allowed) {
  const auto serving = started({.tokens = {}, .origins = {"*"}, .open_paths = {}});
  Plain client(serving->port());
  BOOST_TEST(client.get("/").headers[http::field::access_control_allow_origin] == "");
  client.set(http::field::origin, "null");
  const Answer answer = client.get("/");
  BOOST_TEST(answer.headers[http::field::access_control_allow_origin] == "*");
  BOOST_TEST(answer.headers[http::field::access_control_expose_headers] == "Inference-Header-Content-Length");
}

BOOST_AUTO_TEST_CASE(tokens_are_the_lines_of_a_file) {
  BOOST_TEST(value_or_throw(tokens_in("one\n\ntwo==\r\nthree")) ==
                 (std::vector<std::string>{"one", "two==", "three"}),
             boost::test_tools::per_element());
  BOOST_TEST(tokens_in("\n\n").status().text() == "/tokens has no token; it must have one in each line");
  BOOST_TEST(tokens_in("one\ntwo words\n").status().text() ==
             "/tokens, line 2: a token must consist of visible ASCII characters, without spaces");
  SimulatedDisk disk(1);
  BOOST_TEST((server::read_tokens(disk, "/tokens").status().code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(origins_are_sites) {
  for (const char* site : {"*", "https://example.org", "http://localhost:3000", "http://[::1]:80"})
    BOOST_TEST(server::check_origin(site).ok(), site);
  for (const char* site :
       {"", "example.org", "https://", "https://example.org/", "https://example.org/a", "://a"})
    BOOST_TEST((server::check_origin(site).code() == Code::InvalidArgument), site);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::http_access_test
