#include "recipes/gbdt/lightgbm/library.h"

#include <dlfcn.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_hint =
    "make setup fetches LightGBM; or name a library of one's own, gbdt.library=PATH, as pip "
    "install lightgbm brings it (lightgbm/lib/lib_lightgbm.so)";

template <class Function>
void find(void* library, const fs::path& path, const char* name, Function*& function) {
  void* const address = dlsym(library, name);
  if (address == nullptr)
    throw Error(cat(path.string(), " is no LightGBM 4: it has no ", name), own_hint);
  function = reinterpret_cast<Function*>(address);
}

LightGbmApi find_all(void* library, const fs::path& path) {
  LightGbmApi api{};
  const auto get = [&](const char* name, auto& function) { find(library, path, name, function); };
  get("LGBM_GetLastError", api.last_error);
  get("LGBM_RegisterLogCallback", api.register_log);
  get("LGBM_DumpParamAliases", api.dump_aliases);
  get("LGBM_DatasetCreateFromMat", api.dataset_from_matrix);
  get("LGBM_DatasetSetField", api.dataset_set_field);
  get("LGBM_DatasetSetFeatureNames", api.dataset_set_names);
  get("LGBM_DatasetFree", api.dataset_free);
  get("LGBM_BoosterCreate", api.booster_create);
  get("LGBM_BoosterLoadModelFromString", api.booster_load);
  get("LGBM_BoosterFree", api.booster_free);
  get("LGBM_BoosterAddValidData", api.booster_add_valid);
  get("LGBM_BoosterUpdateOneIter", api.booster_update);
  get("LGBM_BoosterGetCurrentIteration", api.booster_trees);
  get("LGBM_BoosterGetEvalCounts", api.booster_eval_count);
  get("LGBM_BoosterGetEvalNames", api.booster_eval_names);
  get("LGBM_BoosterGetEval", api.booster_eval);
  get("LGBM_BoosterSaveModelToString", api.booster_save);
  get("LGBM_BoosterPredictForMat", api.booster_predict);
  get("LGBM_BoosterFeatureImportance", api.booster_importance);
  get("LGBM_BoosterGetNumFeature", api.booster_features);
  return api;
}

const char* hint_for(const std::string& why) {
  if (why.find("libgomp") != std::string::npos) return "it needs OpenMP: apt-get install libgomp1";
  if (why.find("libnccl") != std::string::npos)
    return "it was built with the NCCL of a LibTorch that is no longer there: make lightgbm-cuda "
           "builds it anew; or name the folder of a libnccl.so.2 in LD_LIBRARY_PATH";
  return own_hint;
}

std::string read_version(const fs::path& library) {
  const fs::path file = library.parent_path().parent_path() / "VERSION.txt";
  std::error_code failed;
  return fs::is_regular_file(file, failed) ? trim(read_file(file)) : "";
}

// LightGBM passes the parts of a line in separate calls.
thread_local std::string line;
thread_local std::function<void(const std::string&)> line_sink;

void collect(const char* text) {
  line += text;
  for (std::size_t end = line.find('\n'); end != std::string::npos; end = line.find('\n')) {
    std::string whole = line.substr(0, end);
    line.erase(0, end + 1);
    if (whole.starts_with("[LightGBM] ")) whole.erase(0, 11);
    if (!whole.empty() && line_sink) line_sink(printable(whole));
  }
}

// An absolute path keeps dlopen from searching other folders.
void* open_library(const fs::path& path) {
  return dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

LightGbm::LightGbm(const fs::path& path) : path_(path) {
  handle_ = open_library(path);
  if (handle_ == nullptr) {
    const std::string why = dlerror();
    // LightGBM needs libgomp. If the system has none, scripts/tarball.sh may have put one into the
    // same folder.
    if (open_library(path.parent_path() / "libgomp.so.1") != nullptr) handle_ = open_library(path);
    if (handle_ == nullptr) throw Error(cat("LightGBM cannot be loaded: ", why), hint_for(why));
  }
  api_ = find_all(handle_, path);
  version_ = read_version(path);
  std::int64_t bytes = 0;
  check(api_.dump_aliases(0, &bytes, nullptr), "listing its parameters");
  std::string json(static_cast<std::size_t>(bytes), '\0');
  check(api_.dump_aliases(bytes, &bytes, json.data()), "listing its parameters");
  const nlohmann::json names = parse_json(json.c_str());
  if (!names.is_object()) throw Error(cat(path.string(), " does not tell its parameters"));
  for (const auto& [name, others] : names.items()) {
    aliases_[name] = name;
    for (const auto& other : others) aliases_[other.get<std::string>()] = name;
  }
}

void LightGbm::check(int result, const char* doing) const {
  if (result != 0) throw Error(cat("LightGBM failed at ", doing, ": ", api_.last_error()));
}

void* LightGbm::symbol(const char* name) const { return dlsym(handle_, name); }

fs::path find_lightgbm(const fs::path& chosen, const std::string& device) {
  std::error_code failed;
  if (!chosen.empty()) {
    if (!fs::exists(chosen, failed))
      throw Error(cat("there is no ", chosen.string()),
                  "gbdt.library is the path of lib_lightgbm.so");
    return chosen;
  }
  const bool cuda = device == "cuda";
  const fs::path program = program_folder();
  for (const fs::path& folder :
       {program, program / "../lib/lockstep", program / "..", program / "../.."})
    if (const fs::path file =
            folder / (cuda ? "lightgbm-cuda" : "lightgbm") / "lib/lib_lightgbm.so";
        fs::exists(file, failed))
      return fs::canonical(file);
  if (cuda)
    throw Error("LightGBM with CUDA is not there",
                "make lightgbm-cuda builds it; or name a library of one's own, gbdt.library=PATH; "
                "gbdt.device=gpu trains by OpenCL with the library that comes along");
  throw Error("LightGBM is not there", own_hint);
}

LightGbmLog::LightGbmLog(const LightGbm& library, std::function<void(const std::string&)> sink) {
  line.clear();
  line_sink = std::move(sink);
  library.check(library.api().register_log(collect), "taking over its messages");
}

LightGbmLog::~LightGbmLog() {
  collect("\n");
  line_sink = nullptr;  // later lines on this thread are dropped
}

}  // namespace lockstep::gbdt
