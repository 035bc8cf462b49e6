// Writes and checks manifests of checkpoints.
#include "runtime/run/checkpoint/manifest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/hash.h"
#include "core/base/json/json_number.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

constexpr int format_version = 1;

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

FileRecord parse_file(const std::string& name, const nlohmann::json& value) {
  if (!is_plain_name(name) || !value.is_object() || !value.contains("bytes") ||
      !value["bytes"].is_number_unsigned() || text_or(value, "xxh3_128", "").empty())
    throw Error("does not describe its files");
  return {value["bytes"].get<std::uint64_t>(), text_or(value, "xxh3_128", "")};
}

// Throws Error if the file cannot be read to the end.
std::string checksum_of(int fd) {
  Hasher hasher;
  std::vector<char> buffer(1 << 20);
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got == 0) return hasher.hex();
    if (got < 0 && errno != EINTR) throw Error(cat("cannot be read: ", errno_text(errno)));
    if (got > 0) hasher.update(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string damage_of_file(const std::filesystem::path& path, const FileRecord& expected,
                           bool thorough) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? "missing" : cat("cannot be read: ", errno_text(errno));
  if (!S_ISREG(info.st_mode)) return "not a file";
  if (static_cast<std::uint64_t>(info.st_size) != expected.bytes)
    return cat(info.st_size, " bytes instead of ", expected.bytes);
  if (!thorough) return "";
  // Does not wait for a pipe.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return cat("cannot be read: ", errno_text(errno));
  try {
    return checksum_of(fd.get()) == expected.checksum ? "" : "checksum differs";
  } catch (const Error& problem) {
    return problem.what();
  }
}

}  // namespace

std::string sealed(nlohmann::json object) {
  object.erase("checksum");
  Hasher hasher;
  hasher.update(to_line(object));
  object["checksum"] = hasher.hex();
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_text(const Manifest& manifest) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [name, file] : manifest.files)
    files[name] = {{"bytes", file.bytes}, {"xxh3_128", file.checksum}};
  return sealed({{"format", format_version},
                 {"step", manifest.step},
                 {"time", manifest.time},
                 {"metrics", manifest.metrics},
                 {"files", files}});
}

Manifest parse_manifest(const std::string& text) {
  const nlohmann::json value = parse_object(text);
  if (value.is_discarded()) throw Error("is not a JSON object");
  if (sealed(value) != text) throw Error("checksum differs");
  if (integer_or(value, "format", 0) != format_version)
    throw Error(cat("has format ", integer_or(value, "format", 0), ", but this version reads ",
                    format_version));
  const auto step = value.contains("step") ? whole_number_of(value["step"]) : std::nullopt;
  if (!step || !value.contains("files") || !value["files"].is_object())
    throw Error("has no step or no files");
  Manifest manifest;
  manifest.step = *step;
  manifest.time = number_or(value, "time", 0);
  if (value.contains("metrics")) manifest.metrics = value["metrics"];
  for (const auto& [name, file] : value["files"].items())
    manifest.files[name] = parse_file(name, file);
  return manifest;
}

std::string damage_of_files(const std::filesystem::path& folder, const Manifest& manifest,
                            bool thorough) {
  std::vector<std::string> damages;
  for (const auto& [name, file] : manifest.files) {
    const std::string damage = damage_of_file(folder / name, file, thorough);
    if (!damage.empty()) damages.push_back(cat(name, ": ", damage));
  }
  return join(damages, "; ");
}

}  // namespace lockstep
