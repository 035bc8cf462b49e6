#include "runtime/run/checkpoint/weight_source.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/export_file.h"
#include "runtime/run/checkpoint/manifest.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/formats/safetensors.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// File names in a checkpoint (training/checkpoint/contents.h).
constexpr const char *own_model = "model.safetensors", *own_average = "ema.safetensors";
constexpr std::array torch_endings{".bin", ".pt", ".pth"};

bool is_weights_file(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".safetensors" ||
         std::find(torch_endings.begin(), torch_endings.end(), ending) != torch_endings.end();
}

WeightSource of_checkpoint(const fs::path& folder, std::string what, bool average) {
  WeightSource source{.what = std::move(what), .files = {folder / own_model}};
  if (average && fs::exists(folder / own_average)) source.average = folder / own_average;
  return source;
}

WeightSource of_run(const fs::path& run, bool best, bool average) {
  const std::string name = run.filename().string();
  std::vector<CheckpointInfo> damaged;
  std::optional<CheckpointInfo> found;
  if (best) found = best_good(run / "checkpoints", damaged);
  if (best && !found)
    throw Error(cat("run ", name, " has no good checkpoint with an evaluation"),
                "take the newest: init.checkpoint=newest");
  if (!found)
    found = newest_good(run / "checkpoints",
                        [&](const CheckpointInfo& bad) { damaged.push_back(bad); });
  if (!found)
    throw Error(damaged.empty()
                    ? cat("run ", name, " has no checkpoint yet")
                    : cat("run ", name, " has damaged checkpoints only: ", damaged[0].damage),
                cat("see: lockstep runs ", shell_word(name)));
  return of_checkpoint(found->path,
                       cat("checkpoint ", found->path.filename().string(), " of the run ", name),
                       average);
}

WeightSource of_checkpoint_folder(const fs::path& folder, bool average) {
  const Manifest manifest = parse_manifest(read_file(folder / manifest_name));
  if (const std::string damage = damage_of_files(folder, manifest, true); !damage.empty())
    throw Error(cat("the checkpoint ", folder.string(), " is damaged: ", damage),
                "use another checkpoint");
  return of_checkpoint(folder, cat("checkpoint ", folder.string()), average);
}

// Reads an index {"weight_map": {name: file}}, which lies beside the files.
WeightSource of_index(const fs::path& index) {
  const nlohmann::json json = parse_object(read_file(index, list_bytes));
  if (json.is_discarded() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw Error(cat(index.string(), " is no index of weights: it has no weight_map"));
  std::set<std::string> names;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..")
      throw Error(
          cat(index.string(), " names \"", printable(name), "\", which is no file beside it"));
    names.insert(name);
  }
  WeightSource source{.what = index.parent_path().string()};
  for (const std::string& name : names) source.files.push_back(index.parent_path() / name);
  return source;
}

// Whether the folder was written by torch.distributed.checkpoint, in which tensors are sharded by
// rank.
bool is_distributed_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_regular_file(folder / ".metadata", ignored)) return true;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".distcp") return true;
  return false;
}

[[noreturn]] void refuse_distributed_checkpoint(const fs::path& folder) {
  throw Error(
      cat("init.from: ", folder.string(),
          " is a distributed checkpoint (torch.distributed.checkpoint), which holds tensors "
          "in pieces"),
      cat("make one file of it: python3 -m torch.distributed.checkpoint.format_utils "
          "dcp_to_torch ",
          shell_word(folder.string()), " weights.pt, then init.from=weights.pt"));
}

// Checks the folder and its subfolders, because trainers put distributed checkpoints beside other
// files.
void refuse_distributed_checkpoints(const fs::path& folder) {
  if (is_distributed_checkpoint(folder)) refuse_distributed_checkpoint(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (std::error_code ignored;
        entry.is_directory(ignored) && is_distributed_checkpoint(entry.path()))
      refuse_distributed_checkpoint(entry.path());
}

// The folder's only index, or "" if it has none or several. diffusers names an index after its own
// files.
fs::path only_index(const fs::path& folder) {
  fs::path found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().ends_with(".index.json")) {
      if (!found.empty()) return {};
      found = entry.path();
    }
  return found;
}

WeightSource of_folder(const fs::path& folder, bool best, bool average) {
  if (fs::exists(folder / "run.json") && fs::exists(folder / "checkpoints"))
    return of_run(folder, best, average);
  if (fs::exists(folder / manifest_name) && fs::exists(folder / own_model))
    return of_checkpoint_folder(folder, average);
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const fs::path index = folder / cat(name, ".index.json");
    if (fs::exists(index)) return of_index(index);
    if (fs::exists(folder / name))
      return {.what = (folder / name).string(), .files = {folder / name}};
  }
  if (const fs::path index = only_index(folder); !index.empty()) return of_index(index);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (is_weights_file(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.size() == 1) return {.what = files[0].string(), .files = files};
  if (files.empty()) refuse_distributed_checkpoints(folder);
  if (files.empty())
    throw Error(cat("init.from: the folder ", folder.string(), " holds no weights"),
                "it may be a run, a checkpoint, or have model.safetensors or pytorch_model.bin");
  throw Error(cat("init.from: the folder ", folder.string(), " holds ", files.size(),
                  " files of weights and no index of them"),
              cat("name one: ", shell_word(cat("init.from=", files[0].string()))));
}

bool looks_like_safetensors(const fs::path& file) {
  if (file.extension() == ".safetensors") return true;
  char begin[9] = {};
  std::ifstream in(file, std::ios::binary);
  in.read(begin, sizeof begin);
  return in.gcount() == sizeof begin && begin[8] == '{';
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t next = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = next;
    next *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

std::vector<SourceTensor> read_safetensors(const fs::path& file) {
  const SafetensorsHeader header = read_header(file);
  std::vector<SourceTensor> tensors;
  std::map<std::string, std::size_t> places;
  for (const TensorEntry& entry : header.tensors) {
    places[entry.name] = tensors.size();
    tensors.push_back({.stored = {.name = entry.name,
                                  .dtype = entry.dtype,
                                  .shape = entry.shape,
                                  .strides = row_major(entry.shape),
                                  .begin = header.data_start + entry.begin,
                                  .bytes = entry.end - entry.begin},
                       .file = file});
  }
  // Adds further names of tensors, as checkpoints and safetensors.torch.save_model write them.
  for (const auto& [name, of] : header.metadata)
    if (const auto place = places.find(of); place != places.end() && !places.contains(name)) {
      SourceTensor alias = tensors[place->second];
      alias.stored.name = name;
      alias.is_alias = true;
      tensors.push_back(std::move(alias));
    }
  return tensors;
}

std::vector<SourceTensor> read_weights(const fs::path& file) {
  if (looks_like_safetensors(file)) return read_safetensors(file);
  std::vector<SourceTensor> tensors;
  for (StoredTensor& stored : read_torch_file(file).tensors)
    tensors.push_back({.stored = std::move(stored), .file = file});
  return tensors;
}

std::string hash_of(const fs::path& file) {
  Hasher hasher;
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    hasher.update(piece.data(), static_cast<std::size_t>(in.gcount()));
  return hasher.hex();
}

nlohmann::json file_json(const fs::path& file, bool hashed) {
  nlohmann::json json{{"path", fs::absolute(file).string()}, {"bytes", fs::file_size(file)}};
  if (hashed) json["xxh3"] = hash_of(file);
  return json;
}

fs::path file_from_json(const nlohmann::json& json) {
  const fs::path file = json.at("path").get<std::string>();
  std::error_code fault;
  if (const auto bytes = fs::file_size(file, fault);
      fault || bytes != json.at("bytes").get<std::uintmax_t>())
    throw Error(cat("the first weights of the run were to come from ", file.string(),
                    fault ? ", which is not there any more" : ", which has changed since"),
                "start a new run");
  if (json.contains("xxh3") && json["xxh3"] != hash_of(file))
    throw Error(cat("the first weights of the run were to come from ", file.string(),
                    ", whose content has changed since"),
                "start a new run");
  return file;
}

}  // namespace

WeightSource find_weight_source(const fs::path& from, bool best, bool average) {
  std::error_code fault;
  const fs::file_status status = fs::status(from, fault);
  if (!fs::exists(status)) throw Error(cat("init.from: there is no ", from.string()));
  WeightSource source;
  if (fs::is_directory(status))
    source = of_folder(from, best, average);
  else if (from.filename().string().ends_with(".index.json"))
    source = of_index(from);
  else if (from.extension() == ".distcp" || from.filename() == ".metadata")
    refuse_distributed_checkpoint(from.has_parent_path() ? from.parent_path() : ".");
  else
    source = {.what = from.string(), .files = {from}};
  for (const fs::path& file : source.files)
    if (!fs::is_regular_file(file))
      throw Error(cat("init.from: ", file.string(), " is missing or is no file"));
  // Throws Error for each that is not a regular file.
  for (const fs::path& file : source.files) open_regular_file(file);
  for (const fs::path& file : source.files)
    if (looks_like_safetensors(file)) check_export(file);
  return source;
}

nlohmann::json to_json(const WeightSource& source, bool hashed) {
  nlohmann::json files = nlohmann::json::array();
  for (const fs::path& file : source.files) files.push_back(file_json(file, hashed));
  nlohmann::json json{{"what", source.what}, {"files", files}};
  if (!source.average.empty()) json["average"] = file_json(source.average, hashed);
  return json;
}

WeightSource weight_source_from_json(const nlohmann::json& json) {
  WeightSource source{.what = json.at("what")};
  for (const nlohmann::json& file : json.at("files")) source.files.push_back(file_from_json(file));
  if (json.contains("average")) source.average = file_from_json(json["average"]);
  return source;
}

std::vector<SourceTensor> read_source(const WeightSource& source) {
  std::vector<SourceTensor> all;
  std::map<std::string, std::size_t> places;
  for (const fs::path& file : source.files)
    for (SourceTensor& tensor : read_weights(file)) {
      const std::string& name = tensor.stored.name;
      if (!places.emplace(name, all.size()).second)
        throw Error(cat("the tensor ", printable(name), " is in two files: ",
                        all[places[name]].file.string(), " and ", file.string()));
      all.push_back(std::move(tensor));
    }
  if (source.average.empty()) return all;
  for (SourceTensor& tensor : read_weights(source.average))
    if (const auto place = places.find(tensor.stored.name); place != places.end()) {
      tensor.is_alias = all[place->second].is_alias;
      all[place->second] = std::move(tensor);
    }
  return all;
}

}  // namespace lockstep
