#include "apps/draw/graph_page.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "apps/draw/graphviz.h"
#include "apps/draw/scope_drawing.h"
#include "apps/report/assets.h"
#include "apps/report/html.h"

namespace troupe::draw {
namespace {

/// The most scopes that have a drawing of their own. The others stay folded.
constexpr size_t most_pictures = 200;

struct Pictures {
  std::vector<Path> scopes;  ///< the first one is the whole graph
  std::vector<std::string> drawings;
};

/// Draws the whole graph, then what its folded scopes contain, and so on.
Pictures draw_all(const GraphView& view, size_t depth, ScopeNumbers& numbers) {
  Pictures pictures{{{}}, {}};
  std::set<Path> known = {{}};
  for (size_t i = 0; i < pictures.scopes.size(); ++i) {
    auto drawing = draw_scope(view, pictures.scopes[i], i == 0 ? depth : 0, numbers);
    pictures.drawings.push_back(std::move(drawing.dot));
    for (const auto& [scope, name] : drawing.folded)
      if (pictures.scopes.size() < most_pictures && known.insert(scope).second)
        pictures.scopes.push_back(scope);
  }
  return pictures;
}

std::string name_of(const Path& scope) {
  std::string text;
  for (const std::string& part : scope) text += (text.empty() ? "" : "/") + part;
  return text;
}

}  // namespace

Result<std::string> graph_page(const GraphView& view, const std::string& title, size_t depth) {
  ScopeNumbers numbers;
  const Pictures pictures = draw_all(view, depth, numbers);
  TROUPE_ASSIGN(const auto svgs, svgs_of(pictures.drawings));
  std::string body = fmt::format("<header><h1>{}</h1></header>\n", report::html(title)) +
                     R"(<nav><span class="trail"></span><span class="zoom"></span></nav>)"
                     "\n";
  for (size_t i = 0; i < svgs.size(); ++i)
    body += fmt::format("<div class=\"picture\" id=\"{}\" data-scope=\"{}\"{}>{}</div>\n",
                        i == 0 ? "whole" : fmt::format("scope-{}", numbers.at(pictures.scopes[i])),
                        report::html(name_of(pictures.scopes[i])), i == 0 ? "" : " hidden", svgs[i]);
  body += fmt::format("<script>\n{}</script>\n", report::graph_script_text);
  return fmt::format(report::page_text, fmt::arg("title", report::html(title)),
                     fmt::arg("style", std::string(report::style_text) + report::graph_style_text),
                     fmt::arg("body", body));
}

}  // namespace troupe::draw
