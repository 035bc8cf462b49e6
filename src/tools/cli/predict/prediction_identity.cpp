// Identifies a prediction. Weights are identified by checksums, files by their bytes, and options
// by their values.
#include "tools/cli/predict/prediction_identity.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/export_file.h"
#include "runtime/run/checkpoint/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string hash_of(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return hash128_hex(bytes);
}

std::string hash_of_file(const fs::path& file) try {
  return hash128_hex(read_file(file, list_bytes));
} catch (const Error&) {
  return "";  // code that needs the file reports the error
}

// The files in a folder and its subfolders, sorted by name, without links.
json files_in(const fs::path& folder) {
  json files = json::object();
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (fs::is_regular_file(entry->symlink_status(ignored)))
      files[entry->path().lexically_relative(folder).string()] = hash_of_file(entry->path());
  }
  return files;
}

// A hash of the weights and their average. The optimizer's state is not included.
std::string hash_of_weights(const CheckpointInfo& checkpoint) {
  std::string checksums;
  const Manifest manifest = parse_manifest(read_file(checkpoint.path / manifest_name));
  for (const auto& [name, file] : manifest.files)
    if (name == "model.safetensors" || name == "ema.safetensors") checksums += file.checksum;
  return hash128_hex(checksums);
}

// Replaces paths. A path inside the run becomes relative to it. Any other file becomes its name,
// size and time.
json without_places(const json& value, const std::string& run) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!run.empty() && text.starts_with(run)) return text.substr(run.size());
    struct stat info {};
    if (!text.starts_with('/') || stat(text.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      return value;
    return {fs::path(text).filename().string(), info.st_size, info.st_mtim.tv_sec,
            info.st_mtim.tv_nsec};
  }
  if (!value.is_structured()) return value;
  json all = value;
  for (json& one : all) one = without_places(one, run);
  return all;
}

}  // namespace

ChosenWeights choose_weights(const RunDir& run, const fs::path& weights, bool best) {
  if (!weights.empty())
    return {.checkpoint = nullptr,
            .identity = {{"step", step_of_export(weights)},
                         {"id", checksum_of_export(weights)}}};  // checksum of the whole file
  std::vector<CheckpointInfo> skipped;
  const auto checkpoint = checkpoint_to_read(run.checkpoints(), best, skipped);
  if (!checkpoint) throw_no_checkpoint(run.name(), skipped);
  ChosenWeights chosen{
      .checkpoint = checkpoint->step,
      .identity = {{"step", checkpoint->step}, {"id", hash_of_weights(*checkpoint)}}};
  for (const CheckpointInfo& bad : skipped)
    chosen.warnings.push_back(
        cat("passed over a damaged checkpoint: ", bad.path.filename().string(), ": ", bad.damage));
  return chosen;
}

json run_identity(const fs::path& run, const ChosenWeights& weights, const json& found) {
  return {{"weights", weights.identity},
          {"files of the recipe", hash_of(files_in(run / "recipe"))},
          {"preparation", hash_of(without_places(found, fs::absolute(run).string()))}};
}

json prediction_identity(const RunSetup& setup, json first, const json& also) {
  json identity = std::move(first);
  const json values = setup.options->table.to_json();
  for (const OptionInfo& option : setup.options->table.options()) {
    const bool predicts = option.key.starts_with("predict.");
    if (option.spec.is_path && !predicts) continue;  // a path of training data
    json value = values.at(option.key);
    identity[option.key] = option.spec.is_path ? without_places(value, "") : std::move(value);
  }
  const json train = setup.train->table.to_json();
  identity["recipe"] = setup.recipe;
  identity["plugin"] = setup.plugin.empty() ? "" : hash_of_file(setup.plugin);
  identity["precision"] = train.at("precision");
  identity["ema.evaluate"] = train.at("ema.evaluate");
  identity["version of Lockstep"] = version();
  identity["average of runs"] = also;
  return identity;
}

}  // namespace lockstep::cli
