#include "runtime/run/checkpoint/hub_name.h"

#include "core/base/text/text.h"

#include <iterator>
#include <system_error>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool is_part_of_name(const std::string& part) {
  constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !part.empty() && !part.starts_with('.') && part.find_first_not_of(letters) == part.npos;
}

// Whether the name ends like a file, which is not the name of a model.
bool has_ending_of_file(const fs::path& name) {
  for (const char* ending : {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".json", ".model"})
    if (name.extension() == ending) return true;
  return false;
}

// "model" or "owner/model" as the user typed it. Empty if the path cannot be such a name.
std::string typed_name(const fs::path& missing) {
  std::error_code error;
  const fs::path place = missing.has_filename() ? missing : missing.parent_path();
  const fs::path name =
      place.is_absolute() ? place.lexically_relative(fs::current_path(error)) : place;
  const auto parts = std::distance(name.begin(), name.end());
  if (error || parts < 1 || parts > 2) return "";
  for (const fs::path& part : name)
    if (!is_part_of_name(part.string())) return "";
  return name.string();
}

}  // namespace

std::string hub_hint(const std::string& key, const fs::path& missing) {
  const std::string name = typed_name(missing);
  if (name.empty() || has_ending_of_file(name)) return "";
  const std::string folder = fs::path(name).filename().string();
  return cat("nothing is downloaded from the Hugging Face hub; if ", name,
             " is a model of it, fetch it first: hf download ", name, " --local-dir ", folder,
             "; and write ", key, "=", folder);
}

std::string hub_data_hint(const fs::path& missing) {
  const std::string name = typed_name(missing);
  if (name.empty() || fs::path(name).has_extension()) return "";
  return cat("check the path; nothing is downloaded: if ", name,
             " is a data set of the Hugging Face hub, make a file of it first "
             "(`lockstep help download a data set` says how)");
}

}  // namespace lockstep
