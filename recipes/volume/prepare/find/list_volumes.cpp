// Lists the volumes in a folder and the ids in a table.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

bool is_hidden(const std::string& name) { return name.starts_with('.') || name.starts_with("__"); }

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!is_hidden(entry->path().filename().string())) entries.push_back(entry->path());
  if (error)
    throw Error(cat("cannot list the folder ", folder.string(), ": ", error.message()),
                "check the path; it is taken from the current folder if relative");
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool has_ending(const fs::path& path, std::initializer_list<std::string_view> endings) {
  const std::string name = lower_case(path.filename().string());
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Pictures in formats that are not supported. A folder with them is listed as a volume, so that an
// error reports them.
bool is_other_picture(const fs::path& path) {
  return has_ending(path, {".bmp", ".gif", ".webp", ".jp2", ".pgm", ".dcm"});
}

// Whether a TIFF file is a slice and not a volume. Nothing if the file is too damaged to tell.
std::optional<bool> is_one_plane(const fs::path& path) try {
  const VolumeShape shape = open_volume(path, {.allow_2d = true})->header().shape;
  return shape.depth * shape.channels == 1;
} catch (const Error&) {
  return has_one_page(path);
}

}  // namespace

bool is_slice(const fs::path& path) {
  return has_ending(path, {".tif", ".tiff", ".png", ".jpg", ".jpeg"});
}

bool is_slice_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  bool holds_unreadable = false, holds_others = false;
  for (const fs::path& entry : entries_of(path)) {
    holds_others |= has_ending(entry, {".nii", ".nii.gz"}) || fs::is_directory(entry, ignored);
    holds_unreadable |= is_other_picture(entry);
    if (!is_slice(entry)) continue;
    if (volume_suffix(entry).empty()) return true;
    if (const auto slice = is_one_plane(entry)) return *slice;
    holds_unreadable = true;
  }
  // If only unreadable slices were found, opening the folder reports the error.
  return holds_unreadable && !holds_others;
}

std::map<std::string, fs::path> list_volumes(const fs::path& folder, const std::string& ending) {
  std::map<std::string, fs::path> volumes;
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string(), suffix = volume_suffix(entry);
    if (suffix.empty() && !is_slice_folder(entry)) continue;
    if (!name.ends_with(ending)) continue;
    const std::string id =
        fs::is_directory(entry, ignored) ? name : name.substr(0, name.size() - suffix.size());
    const auto [before, is_new] = volumes.emplace(id, fs::absolute(entry).lexically_normal());
    if (!is_new)
      throw Error(cat("two volumes in ", folder.string(), " have the id ", id, ": ",
                      before->second.filename().string(), " and ", name),
                  "keep one of them, or give them different names");
  }
  return volumes;
}

std::vector<TableId> read_ids(const fs::path& csv) {
  const CsvTable table = read_csv(csv);
  const std::size_t column = table.column("id");
  std::vector<TableId> ids;
  std::map<std::string, std::string> places;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string id = trim(table.rows[row][column]);
    if (id.empty()) throw Error(cat(table.place(row), ": the id is empty"));
    const auto [before, is_new] = places.emplace(id, table.place(row));
    if (!is_new)
      throw Error(cat(table.place(row), ": the id ", id, " is there already, in ", before->second),
                  "an id names one volume; remove one of the lines");
    ids.push_back({id, table.place(row)});
  }
  if (ids.empty()) throw Error(cat(table.name, " has no rows"), "it holds a line for each volume");
  return ids;
}

std::string nearest_hint(const std::string& id, const std::map<std::string, fs::path>& volumes) {
  std::vector<std::string> names;
  for (const auto& [name, path] : volumes) names.push_back(name);
  const std::string near = nearest(id, names);
  return near.empty() ? "" : cat("the nearest id is ", near);
}

std::string first_five(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text = join(std::span(names).first(std::min(names.size(), most)), ", ");
  if (names.size() > most) text += cat(" and ", names.size() - most, " more");
  return text;
}

fs::path first_folder(const fs::path& path, std::span<const std::string_view> names) {
  std::error_code ignored;
  for (const std::string_view name : names)
    if (fs::is_directory(path / name, ignored)) return path / name;
  return {};
}

}  // namespace lockstep::volume
