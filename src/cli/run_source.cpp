#include "cli/run_source.h"

#include "cli/run_root.h"
#include "run/export_file.h"

#include <utility>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

RunSource open_export(const fs::path& file) {
  const Exported exported = read_export(file);
  auto folder = std::make_unique<TemporaryDirectory>();
  const fs::path run = folder->path() / file.stem();
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

RunSource operand_source(const Parsed& parsed) {
  const std::string& operand = parsed.positionals.at(0);
  std::error_code ignored;
  const bool is_run = fs::exists(fs::path(run_root(parsed)) / operand / "run.json", ignored);
  if (!is_run && fs::is_regular_file(operand, ignored)) return open_export(operand);
  RunDir run = operand_run(parsed);
  const fs::path path = run.path();
  return {.folder = nullptr, .run = std::move(run), .weights = {}, .outputs = path};
}

}  // namespace lockstep::cli
