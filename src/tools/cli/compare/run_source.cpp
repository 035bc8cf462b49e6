#include "tools/cli/compare/run_source.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/export_file.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/trusted_plugins.h"
#include "tools/cli/run_root.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// Finds the plugin, because the record has only its file name. The plugin lies beside the export,
// or at a path that the user used before.
void find_plugin(nlohmann::json& record, const fs::path& file, const Parsed& parsed) {
  const std::string name = fs::path(text_or(record, "plugin", "")).filename().string();
  if (name.empty() || parsed.has("--plugin")) return;
  const fs::path beside = fs::absolute(file).parent_path() / name;
  std::error_code ignored;
  const std::string library = fs::is_regular_file(beside, ignored)
                                  ? beside.string()
                                  : used_plugin(name, text_or(record, "recipe", ""));
  if (library.empty())
    throw Error(
        cat(file.string(), " needs the plugin ", printable(name), ", which is not beside it"),
        cat("say where it is: --plugin FOLDER/", printable(name)));
  record["plugin"] = library;
}

using ChangeRecord = std::function<void(nlohmann::json&)>;

RunSource open_export(const fs::path& file, const ChangeRecord& change) {
  Exported exported = read_export(file);
  change(exported.record);
  auto folder = std::make_unique<TemporaryDirectory>();
  const fs::path run = folder->path() / "export";
  make_directories(run / "recipe");
  for (const auto& [name, content] : exported.files) {
    make_directories((run / "recipe" / name).parent_path());
    write_file_atomic(run / "recipe" / name, content);
  }
  write_file_atomic(run / "run.json", exported.record.dump());
  return {.folder = std::move(folder),
          .run = RunDir::open(run.string(), ""),
          .weights = fs::absolute(file),
          .outputs = fs::current_path()};
}

}  // namespace

namespace {

bool is_export(const std::string& operand, const std::string& root) {
  std::error_code ignored;
  return !fs::exists(fs::path(root) / operand / "run.json", ignored) &&
         fs::is_regular_file(operand, ignored);
}

void note_missing_best(const RunDir& run) {
  std::vector<CheckpointInfo> damaged;
  const bool has_any = !list_checkpoints(run.checkpoints(), /*thorough=*/false).empty();
  if (has_any && !best_good(run.checkpoints(), damaged)) say(no_best_note(damaged));
}

RunSource open_run(const std::string& operand, const std::string& root) {
  RunDir run = RunDir::open(operand, root);
  const fs::path path = run.path();
  return {.folder = nullptr, .run = std::move(run), .weights = {}, .outputs = path};
}

}  // namespace

std::string no_best_note(const std::vector<CheckpointInfo>& damaged) {
  const bool was_evaluated = std::any_of(damaged.begin(), damaged.end(), is_evaluated);
  return cat(was_evaluated ? "each checkpoint of the run that was evaluated is damaged"
                           : "no checkpoint of the run was evaluated",
             ": taking the newest in place of the best");
}

RunSource operand_source(const Parsed& parsed) {
  const std::string& operand = parsed.positionals.at(0);
  const std::string root = run_root(parsed);
  if (!is_export(operand, root)) {
    RunSource source = open_run(operand, root);
    if (parsed.has("--best")) note_missing_best(source.run);
    return source;
  }
  if (parsed.has("--best"))
    throw Error(cat(operand, " is an export, which holds one checkpoint"),
                "leave out --best, and give it to lockstep export");
  return open_export(operand,
                     [&](nlohmann::json& record) { find_plugin(record, operand, parsed); });
}

RunSource further_source(const std::string& operand, const std::string& root) {
  if (!is_export(operand, root)) return open_run(operand, root);
  return open_export(operand, [](nlohmann::json&) {});
}

}  // namespace lockstep::cli
