// Writes each part to a file of CBOR, which can hold any bytes. The file gets its name when it is
// complete.
#include "runtime/run/predictions/item_results.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* part_prefix = "part-";

nlohmann::json packed(const ItemResult& result) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& [path, name] : result.files) files.push_back({path.string(), name});
  return {{"bytes", result.bytes},     {"files", std::move(files)}, {"fault", result.fault},
          {"in_file", result.in_file}, {"warning", result.warning}, {"left", result.left}};
}

ItemResult unpacked(const nlohmann::json& packed) {
  ItemResult result{.bytes = packed.at("bytes"),
                    .fault = packed.at("fault"),
                    .in_file = packed.at("in_file"),
                    .warning = packed.at("warning"),
                    .left = packed.at("left")};
  for (const nlohmann::json& file : packed.at("files"))
    result.files.emplace_back(file.at(0).get<std::string>(), file.at(1).get<std::string>());
  return result;
}

}  // namespace

fs::path ItemResults::file_of(std::int64_t part) const { return folder_ / cat(part_prefix, part); }

void ItemResults::write(std::int64_t part, const std::vector<ItemResult>& results) const {
  nlohmann::json all = nlohmann::json::array();
  for (const ItemResult& result : results) all.push_back(packed(result));
  std::string bytes;
  nlohmann::json::to_cbor(all, bytes);
  const fs::path file = file_of(part), unfinished = folder_ / cat("begun-", part);
  write_output(unfinished, bytes);
  if (std::rename(unfinished.c_str(), file.c_str()) != 0)
    throw Error(cat("cannot write ", file.string(), ": ", errno_text(errno)));
}

std::vector<std::int64_t> ItemResults::ready() const {
  std::vector<std::int64_t> parts;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(part_prefix)) continue;
    if (const auto part = whole_number<std::int64_t>(name.substr(std::strlen(part_prefix)), 0))
      parts.push_back(*part);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::vector<ItemResult> ItemResults::take(std::int64_t part) const try {
  const fs::path file = file_of(part);
  std::vector<ItemResult> results;
  const nlohmann::json all = nlohmann::json::from_cbor(read_file(file, data_bytes));
  if (!all.is_array()) throw Error("what a rank made of its items cannot be read");
  for (const nlohmann::json& one : all) results.push_back(unpacked(one));
  std::error_code ignored;
  fs::remove(file, ignored);
  return results;
} catch (const nlohmann::json::exception& error) {
  throw Error(cat("what a rank made of its items cannot be read: ", error.what()));
}

}  // namespace lockstep
