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

// Files are no models.
bool has_ending_of_file(const fs::path& name) {
  for (const char* ending : {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".json", ".model"})
    if (name.extension() == ending) return true;
  return false;
}

}  // namespace

std::string hub_hint(const std::string& key, const fs::path& missing) {
  std::error_code error;
  const fs::path place = missing.has_filename() ? missing : missing.parent_path();
  const fs::path name =
      place.is_absolute() ? place.lexically_relative(fs::current_path(error)) : place;
  const auto parts = std::distance(name.begin(), name.end());
  if (error || parts < 1 || parts > 2 || has_ending_of_file(name)) return "";
  for (const fs::path& part : name)
    if (!is_part_of_name(part.string())) return "";
  const std::string folder = name.filename().string();
  return cat("nothing is downloaded from the Hugging Face hub; if ", name.string(),
             " is a model of it, fetch it first: hf download ", name.string(), " --local-dir ",
             folder, "; and write ", key, "=", folder);
}

}  // namespace lockstep
