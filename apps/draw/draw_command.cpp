#include "apps/draw/draw_command.h"

#include <array>

#include "apps/draw/dot.h"
#include "apps/draw/draw_subject.h"
#include "apps/draw/graph_page.h"
#include "apps/draw/graphviz.h"
#include "apps/draw/scope_drawing.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::draw {
namespace {

constexpr std::array forms = {"dot", "svg", "html"};

/// The files to write: the names of all begin with `prefix`.
struct Target {
  std::string prefix, form;  ///< an empty form: dot and, if possible, svg
  bool is_single = false;    ///< whether the user named one file
};

Target target_of(const DrawArguments& arguments) {
  for (const std::string form : forms)
    if (arguments.out.ends_with('.' + form))
      return {arguments.out.substr(0, arguments.out.size() - form.size() - 1),
              arguments.form.empty() ? form : arguments.form, true};
  return {arguments.out, arguments.form, false};
}

using Files = std::vector<std::pair<std::string, std::string>>;  ///< paths and contents

/// Adds the files of a drawing in the dot language.
Status add_drawing(const std::string& path, const Target& target, const std::string& drawing, Files& files) {
  if (target.form != "svg") files.emplace_back(path + ".dot", drawing);
  if (target.form == "dot") return {};
  const auto svgs = svgs_of({drawing});
  if (svgs) files.emplace_back(path + ".svg", svgs->front());
  const bool may_lack = target.form.empty() && svgs.status().code() == Code::Unavailable;
  return svgs || may_lack ? Status() : svgs.status();
}

Status add_built(const DrawArguments& arguments, const Subject& subject, const Target& target, Files& files) {
  if (arguments.all && target.form != "html")
    return add_drawing(target.prefix, target, dot(subject.graph), files);
  const GraphView view(subject.graph, {arguments.all ? std::vector<Output>() : subject.results,
                                       arguments.gradients || arguments.all});
  const size_t depth = arguments.depth.value_or(default_depth(view));
  if (target.form == "html") {
    TROUPE_ASSIGN(std::string page, graph_page(view, subject.title, depth));
    files.emplace_back(target.prefix + ".html", std::move(page));
    return {};
  }
  ScopeNumbers numbers;
  return add_drawing(target.prefix, target, draw_scope(view, {}, depth, numbers).dot, files);
}

Status write(Disk& disk, const std::string& path, const std::string& text) {
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  return file.commit();
}

/// Writes all files, or none if the disk refuses one.
Result<std::vector<std::string>> write_all(Disk& disk, const Files& files) {
  std::vector<std::string> written;
  for (const auto& [path, text] : files) {
    if (Status status = write(disk, path, text); !status.ok()) {
      for (const auto& file : written) (void)disk.remove(file);
      return status;
    }
    written.push_back(path);
  }
  return written;
}

}  // namespace

Result<std::vector<std::string>> draw(const DrawArguments& arguments) {
  RealDisk disk;
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  TROUPE_ASSIGN(const Subject subject, read_subject(disk, arguments, *library));
  const Target target = target_of(arguments);
  Files files;
  TROUPE_RETURN_IF_FAILED(add_built(arguments, subject, target, files));
  const bool has_step = !subject.step.fetches.empty() || !subject.step.targets.empty();
  if (has_step && target.form != "html" && (!target.is_single || !arguments.tasks.empty())) {
    TROUPE_ASSIGN(const auto placed,
                  place_step(subject.placed_graph(), subject.step, *library, workers_of(subject.tasks), {}));
    TROUPE_RETURN_IF_FAILED(add_drawing(target.prefix + ".placed", target, dot(placed), files));
  }
  return write_all(disk, files);
}

}  // namespace troupe::draw
