#include "tools/report/exports/mlflow_writer.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/new_file.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/trackers/mlflow_files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_value = 5000, most_metrics = 1000;
constexpr const char* default_database = "mlflow.db";  // used by MLflow 3.x

// Replaces characters that MLflow does not allow in names of metrics, parameters and tags. The
// result cannot lead out of the folder.
std::string mlflow_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("_-./ ", c)) c = '_';
  for (std::size_t at; (at = name.find("..")) != name.npos;) name.replace(at, 2, "__");
  for (std::size_t at; (at = name.find("/.")) != name.npos;) name.replace(at, 2, "/_");
  for (std::size_t at; (at = name.find("//")) != name.npos;) name.replace(at, 2, "/_");
  while (!name.empty() && (name.front() == '/' || name.front() == '.')) name.front() = '_';
  if (!name.empty() && name.back() == '/') name.back() = '_';
  return name.substr(0, 240);
}

// The text as YAML, which accepts JSON strings.
std::string yaml_text(const std::string& text) { return to_line(nlohmann::json(text)); }

std::int64_t to_ms(double seconds) {
  return std::isfinite(seconds) ? std::llround(std::clamp(seconds, 0.0, 1e11) * 1000) : 0;
}

// Writes a file of a folder that is renamed once it is complete. Single files are not synced.
void write_part(const fs::path& file, std::string_view text) {
  NewFile part(file);
  part.append(text);
  part.commit(/*durable=*/false);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

[[noreturn]] void throw_database(const fs::path& database, const fs::path& store) {
  const std::string other = shell_word((store.parent_path() / "lockstep-mlruns").string());
  throw Error(cat("MLflow keeps its runs in ", database.string(),
                  ", which it would no longer read once ", store.string(), " held runs"),
              cat("export into another folder, and look at that:\n  --mlflow ", other,
                  "\n  MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri ", other));
}

}  // namespace

void check_mlflow_folder(const fs::path& store) {
  if (is_file(store))
    throw Error(cat(store.string(), " is a file, but runs are written into MLflow's file store"),
                "name its folder, or a new one; mlflow migrate-filestore makes a database of it");
  if (is_mlflow_store(store)) return;  // this store is in use
  const fs::path folder = (store / "").lexically_normal().parent_path();
  if (is_file(folder / default_database)) throw_database(folder / default_database, folder);
  if (folder.filename() == "mlruns" && is_file(folder.parent_path() / default_database))
    throw_database(folder.parent_path() / default_database, folder);
}

fs::path mlflow_experiment_folder(const fs::path& store, const std::string& name, double time) {
  const std::uint64_t wanted = 1 + (hash64(name) >> 2);
  std::set<std::string> taken;
  const MlflowExperiment* deleted = nullptr;
  const std::vector<MlflowExperiment> experiments = mlflow_experiments(store);
  for (const MlflowExperiment& one : experiments) {
    if (one.name == name && !one.deleted) return one.folder;
    if (one.name == name) deleted = &one;
    taken.insert(one.id);
  }
  if (deleted != nullptr)
    throw Error(
        cat("the experiment ", printable(name), " was deleted in MLflow, which keeps its name"),
        cat("mlflow experiments restore --experiment-id ", printable(deleted->id),
            ", or export into another folder"));
  std::uint64_t number = wanted;
  while (taken.contains(cat(number))) ++number;
  const std::string id = cat(number);
  const fs::path folder = store / id;
  make_directories(folder);
  write_file_atomic(folder / "meta.yaml",
                    cat("artifact_location: ", yaml_text("file://" + fs::absolute(folder).string()),
                        "\ncreation_time: ", to_ms(time), "\nexperiment_id: '", id,
                        "'\nlast_update_time: ", to_ms(time),
                        "\nlifecycle_stage: active\nname: ", yaml_text(name), "\n"));
  return folder;
}

const std::string& MlflowNames::of(const std::string& name) {
  const auto [known, is_new] = names_.try_emplace(name);
  if (is_new) known->second = free_name(mlflow_name(name));
  return known->second;
}

std::string MlflowNames::free_name(const std::string& wanted) {
  if (take(wanted)) return wanted;
  std::string flat = wanted;
  std::replace(flat.begin(), flat.end(), '/', '_');
  for (int number = 2;; ++number)
    for (const std::string& base : {wanted, flat})
      if (std::string name = cat(base, "_", number); take(name)) return name;
}

bool MlflowNames::take(const std::string& name) {
  std::vector<std::string> folders;
  for (std::size_t at = name.find('/'); at != name.npos; at = name.find('/', at + 1))
    folders.push_back(name.substr(0, at));
  if (files_.contains(name) || folders_.contains(name) ||
      std::any_of(folders.begin(), folders.end(),
                  [&](const std::string& folder) { return files_.contains(folder); }))
    return false;
  files_.insert(name);
  folders_.insert(folders.begin(), folders.end());
  return true;
}

MlflowRunWriter::MlflowRunWriter(fs::path experiment, std::string id, bool replace)
    : experiment_(std::move(experiment)),
      place_(experiment_ / id),
      fresh_(experiment_ / cat(".", id)),
      id_(std::move(id)) {
  std::error_code ignored;
  if (fs::exists(place_, ignored) && !replace)
    throw Error(cat(place_.string(), " is there already"), "replace it with --force");
  fs::remove_all(fresh_, ignored);
  for (const char* part : {"metrics", "params", "tags", "artifacts"})
    make_directories(fresh_ / part);
}

void MlflowRunWriter::add(const std::string& metric, double time, std::int64_t step, double value) {
  auto found = files_.find(metric);
  if (found == files_.end()) {
    if (files_.size() >= most_metrics) {
      left_out_.insert(metric);
      return;
    }
    const fs::path file = fresh_ / "metrics" / names_.of(metric);
    found = files_.emplace(metric, std::make_unique<ExportFile>(file)).first;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  found->second->write(cat(to_ms(time), " ", std::isnan(value) ? "NaN" : text, " ", step, "\n"));
}

void MlflowRunWriter::write_values(const fs::path& folder,
                                   const std::map<std::string, std::string>& values) const {
  MlflowNames names;
  for (const auto& [name, value] : values) {
    const fs::path file = folder / names.of(name);
    std::error_code ignored;
    if (!fs::is_directory(file.parent_path(), ignored)) make_directories(file.parent_path());
    write_part(file, first_bytes(mend_utf8(value), longest_value));
  }
}

std::string MlflowRunWriter::meta_of(const MlflowRunFacts& facts) const {
  return cat(
      "artifact_uri: ", yaml_text(cat("file://", fs::absolute(place_).string(), "/artifacts")),
      "\nend_time: ", std::isnan(facts.ended) ? "null" : cat(to_ms(facts.ended)),
      "\nentry_point_name: ''\nexperiment_id: '", experiment_.filename().string(),
      "'\nlifecycle_stage: active\nrun_id: ", id_, "\nrun_name: ", yaml_text(facts.name),
      "\nrun_uuid: ", id_,
      "\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: ", to_ms(facts.started),
      "\nstatus: ", static_cast<int>(facts.status), "\ntags: []\nuser_id: ''\n");
}

void MlflowRunWriter::finish(const MlflowRunFacts& facts) {
  for (auto& [name, file] : files_) file->finish();
  write_values(fresh_ / "params", facts.parameters);
  write_values(fresh_ / "tags", facts.tags);
  write_part(fresh_ / "meta.yaml", meta_of(facts));
  std::error_code ignored;
  fs::remove_all(place_, ignored);
  fs::rename(fresh_, place_);
}

}  // namespace lockstep
