#include "apps/observe/run_handler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/http/known_host.h"
#include "apps/observe/page.h"
#include "apps/observe/run_metrics.h"
#include "apps/observe/status_json.h"
#include "apps/text/prometheus.h"
#include "messages/values/json_text.h"

namespace troupe::observe {
namespace {

using http::HttpAnswer;
using http::HttpReply;
using http::HttpRequest;

/// Returns the answer with the headers that keep other sites and caches away from it.
HttpAnswer guarded(HttpAnswer answer) {
  answer.headers.insert(answer.headers.end(),
                        {{"Cache-Control", "no-store"},
                         {"Content-Security-Policy", "default-src 'self'; img-src 'self' data:"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"}});
  return answer;
}

/// Answers at one thread of a server.
class RunHandler {
 public:
  RunHandler(RunMonitor& monitor, RunControl& control, const Offer& offer)
      : monitor_(monitor), control_(control), offer_(offer) {}

  void handle(const HttpRequest& request, const HttpReply& reply) const {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (!http::is_known_host(request.host, offer_.hosts))
      return reply(guarded(http::error_answer(403, "this server is not known as '" + request.host +
                                                       "'; observe.hosts of the run file may name it")));
    if (offer_.control && path.starts_with("/ctl/")) return act(request.method, path.substr(5), reply);
    if (request.method != "GET") return reply(guarded(http::wrong_method(request.method, "GET")));
    reply(guarded(get(path)));
  }

 private:
  HttpAnswer get(const std::string& path) const {
    if (path == "/metrics") return {200, run_metrics(monitor_.snapshot()), prometheus_type};
    if (!offer_.page && !offer_.control)
      return http::error_answer(404, "there is nothing at " + path + "; known: /metrics");
    if (path == "/status") return {200, json_line(status_json(monitor_.snapshot())) + '\n'};
    if (path == "/events") return events();
    if (path == "/graph.svg") {
      const std::string drawing = monitor_.drawing();
      return drawing.empty() ? http::error_answer(404, "there is no drawing of the model")
                             : HttpAnswer{200, drawing, "image/svg+xml"};
    }
    if (const auto file = page_content(path)) return {200, std::string(file->text), file->type};
    return http::error_answer(
        404, "there is nothing at " + path + "; known: /, /status, /events, /graph.svg and /metrics");
  }

  HttpAnswer events() const {
    HttpAnswer answer{200, {}, "text/event-stream"};
    answer.more = [&monitor = monitor_] {
      return "data: " + json_line(status_json(monitor.snapshot())) + "\n\n";
    };
    return answer;
  }

  /// `words`: an action, or an action and its argument: "drain/worker/1".
  void act(const std::string& method, const std::string& words, const HttpReply& reply) const {
    if (method != "POST") return reply(http::wrong_method(method, "POST"));
    const std::string action = words.substr(0, words.find('/'));
    const std::string argument = words.substr(std::min(words.size(), action.size() + 1));
    control_.ask(action, argument, [reply, action](const Result<std::string>& saved) {
      if (!saved)
        return reply(
            http::error_answer(saved.status().code() == Code::NotFound ? 404 : 409, saved.status().text()));
      nlohmann::ordered_json done = {{"done", action}};
      if (!saved->empty()) done["checkpoint"] = *saved;
      reply({200, json_line(done) + '\n'});
    });
  }

  RunMonitor& monitor_;
  RunControl& control_;
  const Offer offer_;
};

}  // namespace

http::HttpHandler run_handler(RunMonitor& monitor, RunControl& control, const Offer& offer) {
  return [handler = RunHandler(monitor, control, offer)](const HttpRequest& request, const HttpReply& reply) {
    handler.handle(request, reply);
  };
}

}  // namespace troupe::observe
