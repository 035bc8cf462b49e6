#include "recipes/fewshot/sets/picture_ids.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "recipes/fewshot/annotations/coco_scan.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/sets/sets.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
using Id = std::optional<std::int64_t>;

std::string normal(const fs::path& path) { return path.lexically_normal().generic_string(); }

// As read_coco takes paths of Windows.
std::string with_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

// The jsons near a folder, of which one may list its pictures.
std::vector<fs::path> jsons_near(const fs::path& folder) {
  const fs::path above = folder.parent_path(), top = above.parent_path();
  std::vector<fs::path> jsons;
  for (const fs::path& place :
       {folder, folder / "annotations", above, above / "annotations", top, top / "annotations"}) {
    if (!is_folder(place)) continue;
    try {
      for (const std::string& name : files_ending_in(place, {".json"}))
        jsons.push_back(place / name);
    } catch (const Error&) {  // one that cannot be listed says nothing
    }
  }
  return jsons;
}

// Of a json beside the picture, of the run, or of its own name.
class WantedIds {
 public:
  explicit WantedIds(const nlohmann::json& extra) : extra_(extra) {}

  Id operator()(const fs::path& path) {
    const auto [beside, is_new] = beside_.try_emplace(path.parent_path().string());
    if (is_new) beside->second = lists_beside(path.parent_path());
    for (const PictureList& list : beside->second)
      if (const Id id = list.id_of(path)) return id;
    if (!of_run_) of_run_ = lists_of_run(extra_);
    for (const PictureList& list : *of_run_)
      if (const Id id = list.id_of(path)) return id;
    for (const PictureList& list : *of_run_)
      if (const Id id = list.id_of_name(path.filename().string())) return id;
    const std::string stem = path.stem().string();
    std::int64_t number = 0;
    const char* const end = stem.data() + stem.size();
    const auto [rest, error] = std::from_chars(stem.data(), end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
    return std::nullopt;
  }

 private:
  const nlohmann::json& extra_;
  std::optional<std::vector<PictureList>> of_run_;          // read when a picture needs it
  std::map<std::string, std::vector<PictureList>> beside_;  // by folder
};

}  // namespace

PictureList::PictureList(const DetectionFiles& files) {
  if (const auto* const voc = std::get_if<VocFolders>(&files)) {
    folders_ = {voc->pictures};
    std::int64_t id = 0;
    for (const fs::path& path : voc_picture_paths(*voc)) add(path.filename(), ++id);
    return;
  }
  const CocoFiles& coco = std::get<CocoFiles>(files);
  folders_ = coco.folders;
  const std::string text = read_file(coco.json, data_bytes);
  for (const CocoImage& image : scan_coco(text, coco.json.string(), CocoUse::scores).images)
    if (!image.file_name.empty()) add(with_slashes(image.file_name), image.id);
}

PictureList::PictureList(const std::map<std::string, std::int64_t>& ids) {
  for (const auto& [name, id] : ids) add(name, id);
}

void PictureList::add(const fs::path& file_name, std::int64_t id) {
  by_file_name_.emplace(normal(file_name), id);
  const auto [at, is_new] = by_name_.emplace(file_name.filename().string(), id);
  if (!is_new) at->second.reset();
}

Id PictureList::id_of(const fs::path& path) const {
  bool lies_here = false;
  for (const fs::path& folder : folders_) {
    const std::string inside = normal(path.lexically_relative(folder));
    if (const auto found = by_file_name_.find(inside); found != by_file_name_.end())
      return found->second;
    lies_here = lies_here || inside == path.filename().string();
  }
  return lies_here ? id_of_name(path.filename().string()) : std::nullopt;
}

Id PictureList::id_of_name(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : found->second;
}

std::vector<PictureList> lists_beside(const fs::path& folder) {
  std::vector<std::pair<std::ptrdiff_t, PictureList>> lists;  // by the place of the folder
  for (const fs::path& json : jsons_near(folder)) try {
      const DetectionFiles files = name_detection_files(json, {});
      const std::vector<fs::path>& folders = std::get<CocoFiles>(files).folders;
      const auto place = std::find(folders.begin(), folders.end(), folder);
      if (place != folders.end()) lists.emplace_back(place - folders.begin(), PictureList(files));
    } catch (const Error&) {  // another json
    }
  std::stable_sort(lists.begin(), lists.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PictureList> sorted;
  for (auto& [place, list] : lists) sorted.push_back(std::move(list));
  return sorted;
}

std::vector<PictureList> lists_of_run(const nlohmann::json& extra) {
  std::vector<PictureList> lists;
  const auto take = [&](const DetectionFiles& files) {
    try {
      lists.emplace_back(files);
    } catch (const Error&) {  // gone since
    }
  };
  if (extra.is_object() && extra.contains("sets")) {
    const SetsRecord record = sets_record_from_json(extra.at("sets"));
    if (record.has_files && record.files.valid) take(*record.files.valid);
    if (record.has_files) take(record.files.train);
  }
  if (extra.is_object() && extra.contains("picture_ids")) {
    std::map<std::string, std::int64_t> kept;
    for (const auto& [name, id] : extra.at("picture_ids").items())
      if (id.is_number_integer()) kept.emplace(name, id);
    lists.emplace_back(kept);
  }
  return lists;
}

std::vector<std::int64_t> picture_ids(const std::vector<fs::path>& paths,
                                      const nlohmann::json& extra) {
  WantedIds wanted(extra);
  std::vector<Id> ids;
  std::set<std::int64_t> taken;
  for (const fs::path& path : paths) {
    const Id id = wanted(path.lexically_normal());
    ids.push_back(id && taken.insert(*id).second ? id : std::nullopt);
  }
  std::vector<std::int64_t> result;
  std::int64_t next = 1;
  for (const Id& id : ids) {
    if (!id)
      while (!taken.insert(next).second) ++next;
    result.push_back(id.value_or(next));
  }
  return result;
}

}  // namespace lockstep::fewshot
