#include "tools/cli/plan/trusted_plugins.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "runtime/run/events/json_cache.h"
#include "runtime/run/events/json_lines.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace lockstep::cli {
namespace {

// Workers read this environment variable.
constexpr const char* told_to_workers = "LOCKSTEP_PLUGIN";

// The file that remembers plugins. Empty if there is no home folder.
std::filesystem::path state_file() {
  const char* const xdg = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  if (xdg != nullptr && *xdg == '/') return std::filesystem::path(xdg) / "lockstep/plugins.json";
  if (home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".local/state/lockstep/plugins.json";
  return {};
}

std::string library_of(const std::string& plugin) {
  return std::filesystem::absolute(plugin).lexically_normal().string();
}

bool is_remembered(const std::string& library) {
  const std::filesystem::path file = state_file();
  return !file.empty() && read_json_cache(file).contains(library);
}

}  // namespace

std::string trust_plugin(const std::string& plugin) {
  const std::string library = library_of(plugin);
  if (invalid_bytes(library) > 0)
    throw Error(cat("the plugin's path must be UTF-8, as a run's record is, but is ", library),
                "rename the file or its folder");
  setenv(told_to_workers, library.c_str(), 1);
  const std::filesystem::path file = state_file();
  if (file.empty() || is_remembered(library)) return library;
  try {
    remember_in_cache(file, library, true);
  } catch (const Error&) {
    // The plugin is not remembered, so other commands will ask for --plugin again.
  }
  return library;
}

void remember_recipes(const std::string& library, const nlohmann::json& described) {
  const nlohmann::json kept{{"recipes", described}};
  try {
    const std::filesystem::path file = state_file();
    if (!is_remembered(library) || read_json_cache(file).at(library) == kept) return;
    remember_in_cache(file, library, kept);
  } catch (const Error&) {
    // The recipes are not remembered, so completion offers less.
  }
}

nlohmann::json remembered_recipes(const std::string& plugin) {
  if (plugin.empty() || state_file().empty()) return nlohmann::json::array();
  const nlohmann::json all = read_json_cache(state_file());
  const auto entry = all.find(library_of(plugin));
  if (entry == all.end() || !entry->is_object()) return nlohmann::json::array();
  return entry->value("recipes", nlohmann::json::array());
}

std::string used_plugin(const std::string& file_name, const std::string& recipe) {
  if (state_file().empty()) return "";
  const nlohmann::json all = read_json_cache(state_file());
  std::vector<std::string> found;
  for (const auto& [library, known] : all.items()) {
    const std::filesystem::path path = library;
    std::error_code ignored;
    if (path.filename() != file_name || !std::filesystem::exists(path, ignored)) continue;
    for (const nlohmann::json& described : remembered_recipes(library))
      if (text_or(described, "name", "") == recipe) found.push_back(library);
  }
  return found.size() == 1 ? found[0] : "";
}

void require_trusted_plugin(const std::string& library) {
  const char* const told = std::getenv(told_to_workers);
  if ((told == nullptr || told != library) && !is_remembered(library))
    throw Error(cat("the run's record names the plugin ", printable(library),
                    ", which you have not used on this machine; its code would run in your name"),
                cat("if you trust it: --plugin ", shell_word(printable(library))));
  setenv(told_to_workers, library.c_str(), 1);
}

}  // namespace lockstep::cli
