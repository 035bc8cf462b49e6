// The manifest of a checkpoint: its files with their sizes and checksums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

inline constexpr const char* manifest_name = "manifest.json";

struct FileRecord {
  std::uint64_t bytes = 0;
  std::string checksum;  // XXH3-128
};

struct Manifest {
  std::int64_t step = 0;
  double time = 0;  // unix seconds
  nlohmann::json metrics = nullptr;
  std::map<std::string, FileRecord> files{};
};

// The text contains its own checksum, so that every changed byte is detected.
std::string to_text(const Manifest& manifest);
// Returns the JSON text of the object, with a checksum of its other members under "checksum".
std::string sealed(nlohmann::json object);
// Throws Error if the text is not a manifest, or if its checksum differs. The message is a phrase
// such as "checksum differs".
Manifest parse_manifest(const std::string& text);

// Compares the files in `folder` with the manifest, and describes every difference. Empty if all
// files are undamaged. Compares sizes, and if `thorough` is true, also checksums, for which it
// reads the files.
std::string damage_of_files(const std::filesystem::path& folder, const Manifest& manifest,
                            bool thorough);

}  // namespace lockstep
