#include "recipes/dimabsa/prepare/same_model.h"

#include <system_error>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/prepare/model_folder.h"
#include "runtime/run/checkpoint/weight_source.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(cat("model.path cannot change when a run goes on: ", why),
              "leave out model.path, because the run has its own tokenizer and weights, or start a "
              "new run");
}

json record_of(const fs::path& run_dir) {
  const fs::path file = run_dir / "run.json";
  std::error_code ignored;
  json record = fs::exists(file, ignored) ? parse_json(read_file(file)) : json::object();
  return record.is_object() ? record : json::object();
}

// The sizes and hashes of the files in to_json(WeightSource), without their paths.
json contents_of(const json& weights) {
  json contents = json::array();
  for (const json& file : weights.value("files", json::array()))
    contents.push_back({file.value("bytes", json()), file.value("xxh3", json())});
  return contents;
}

bool has_tokenizer_of(const fs::path& folder, const fs::path& recipe) {
  const std::vector<std::string> names = model_files(recipe);
  return model_files(folder) == names &&
         hash_of_files(folder, names) == hash_of_files(recipe, names);
}

}  // namespace

json first_weights_of(const DimabsaOptions& options, const fs::path& run_dir) {
  const json record = record_of(run_dir);
  const json before = record.value("extra", json::object()).value("weights", json());
  if (!options.is_asked_for("model.path")) return before;
  const fs::path folder = options.model.path;
  const std::string began_with = record.value("config", json::object()).value("model.path", "?");
  if (began_with.empty()) refuse("the run began without one");
  if (folder.empty()) refuse("the run began with the weights of a folder");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) refuse(cat("there is no folder ", folder.string()));
  const std::string others = cat(folder.string(), " holds other ");
  if (!has_tokenizer_of(folder, run_dir / "recipe"))
    refuse(cat(others, "files of a tokenizer or another config.json than the run began with"));
  if (!before.is_object()) return before;
  if (!holds_weights(folder)) refuse(cat(folder.string(), " holds no weights"));
  json now = to_json(find_weight_source(folder, false, false), /*hashed=*/true);
  if (contents_of(now) != contents_of(before))
    refuse(cat(others, "weights than the run began with"));
  return now;
}

}  // namespace lockstep::dimabsa
