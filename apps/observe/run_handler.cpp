#include "apps/observe/run_handler.h"

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

HttpAnswer failure(unsigned status, const std::string& text) {
  return {status, json_line({{"error", text}}) + '\n'};
}

/// Returns the answer with the headers that keep other sites and caches away from it.
HttpAnswer guarded(HttpAnswer answer) {
  answer.headers = {{"Cache-Control", "no-store"},
                    {"Content-Security-Policy", "default-src 'self'; img-src 'self' data:"},
                    {"X-Content-Type-Options", "nosniff"},
                    {"X-Frame-Options", "DENY"}};
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
      return reply(guarded(failure(403, "this server is not known as '" + request.host +
                                            "'; observe.hosts of the run file may name it")));
    if (offer_.control && path.starts_with("/ctl/")) return act(request.method, path.substr(5), reply);
    if (request.method != "GET") return reply(guarded(failure(405, "only GET is allowed")));
    reply(guarded(get(path)));
  }

 private:
  HttpAnswer get(const std::string& path) const {
    if (path == "/metrics") return {200, run_metrics(monitor_.snapshot()), prometheus_type};
    if (!offer_.page && !offer_.control)
      return failure(404, "there is nothing at " + path + "; known: /metrics");
    if (path == "/status") return {200, json_line(status_json(monitor_.snapshot())) + '\n'};
    if (path == "/events") return events();
    if (path == "/graph.svg") {
      const std::string drawing = monitor_.drawing();
      return drawing.empty() ? failure(404, "there is no drawing of the model")
                             : HttpAnswer{200, drawing, "image/svg+xml"};
    }
    if (const auto file = page_content(path)) return {200, std::string(file->text), file->type};
    return failure(404,
                   "there is nothing at " + path + "; known: /, /status, /events, /graph.svg and /metrics");
  }

  HttpAnswer events() const {
    HttpAnswer answer{200, {}, "text/event-stream"};
    answer.more = [&monitor = monitor_] {
      return "data: " + json_line(status_json(monitor.snapshot())) + "\n\n";
    };
    return answer;
  }

  void act(const std::string& method, const std::string& action, const HttpReply& reply) const {
    if (method != "POST") return reply(failure(405, "only POST is allowed"));
    const auto done = [&](const Status& status) {
      reply(status.ok() ? HttpAnswer{200, json_line({{"done", action}}) + '\n'}
                        : failure(409, status.text()));
    };
    if (action == "pause") return done(control_.pause());
    if (action == "resume") return done(control_.resume());
    if (action == "stop") {
      control_.stop();
      return done({});
    }
    if (action == "drain" || action == "add") return reply(failure(501, action + " is not available yet"));
    if (action != "checkpoint")
      return reply(failure(404, "'" + action + "' is unknown; known: pause, resume, checkpoint, stop"));
    control_.save([reply](const Result<std::string>& saved) {
      reply(saved ? HttpAnswer{200, json_line({{"done", "checkpoint"}, {"checkpoint", *saved}}) + '\n'}
                  : failure(409, saved.status().text()));
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
