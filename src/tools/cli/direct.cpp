#include "tools/cli/direct.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/words/foreign_names.h"

#include <array>
#include <filesystem>

namespace lockstep::cli {

namespace {

// Throws Error for flags of the engine. The error explains why the recipe does not have them.
void refuse_flags_of_engine(const DirectRecipe& recipe, const Parsed& parsed) {
  if (parsed.has("--seeds"))
    throw Error(cat(recipe.name, " trains in one process without the engine: it has no --seeds"),
                cat("lockstep batch ", recipe.name,
                    " seed=1,2,3 trains with each of them, and lockstep compare --groups takes "
                    "them as repeats"));
  if (parsed.has("--devices") && recipe.gather)
    throw Error(cat(recipe.name, " trains in one process without the engine: it has no --devices"),
                cat("leave it out: one training runs on the CPU, or on one GPU that its options "
                    "choose (lockstep config ",
                    recipe.name, "); lockstep batch ", recipe.name, " --devices ",
                    parsed.value("--devices"), " spreads many over these GPUs"));
  for (const char* flag : {"--devices", "--then", "--force", "--world", "--resume", "--plugin"})
    if (parsed.has(flag))
      throw Error(cat(recipe.name, " trains in one process without the engine: it has no ", flag));
}

}  // namespace

bool is_pair(const DirectOptions& options, const std::string& key) {
  return !options.pairs.empty() && key.starts_with(options.pairs + ".") &&
         key.size() > options.pairs.size() + 1;
}

std::string train_again_hint(const DirectRecipe& recipe) {
  return cat("train again under another --name",
             recipe.gather
                 ? cat("; a batch (lockstep batch ", recipe.name, ") resumes with the jobs left")
                 : "");
}

std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed,
                                              const FlagsHere& flags) {
  std::unique_ptr<DirectOptions> options = recipe.make_options();
  refuse_flags_of_engine(recipe, parsed);
  std::vector<std::string> assignments, pairs;
  for (const std::string& word : parsed.assignments)
    if (is_pair(*options, word.substr(0, word.find('='))))
      pairs.push_back(word.substr(options->pairs.size() + 1));
    else
      assignments.push_back(word);
  const std::vector<std::string> files = parsed.all("--config");
  const std::array tables = {&options->table};
  apply_config(tables, std::vector<std::filesystem::path>(files.begin(), files.end()), assignments,
               with_name_of(recipe.name, explain_keys(recipe.name, assignments, {}, flags, files)));
  if (!pairs.empty()) {
    if (const std::string before = options->table.get(options->pairs); !before.empty())
      pairs.insert(pairs.begin(), before);
    options->table.set(options->pairs, join(pairs, ","), {.kind = ValueSource::Kind::argument});
  }
  options->check();
  options->table.make_paths_absolute(std::filesystem::current_path());
  return options;
}

}  // namespace lockstep::cli
