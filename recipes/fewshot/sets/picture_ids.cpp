#include "recipes/fewshot/sets/picture_ids.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "recipes/fewshot/annotations/coco_scan.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/sets/sets.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
using Id = std::optional<std::int64_t>;

std::string normal(const fs::path& path) { return path.lexically_normal().generic_string(); }

// Replaces backslashes in paths of Windows, as read_coco does.
std::string with_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

// Several lists of pictures. If more than one names a picture, the first one applies.
class PictureLists {
 public:
  PictureLists() = default;
  explicit PictureLists(std::vector<std::shared_ptr<const PictureList>> lists)
      : lists_(std::move(lists)) {
    for (const auto& list : lists_)
      list->visit_names([&](const std::string& name) { by_name_[name].push_back(list.get()); });
  }

  Id id_of(const fs::path& path) const {
    return first(path.filename().string(),
                 [&](const PictureList& list) { return list.id_of(path); });
  }
  Id id_of_ending(const fs::path& path) const {
    return first(path.filename().string(),
                 [&](const PictureList& list) { return list.id_of_ending(path); });
  }
  Id id_of_name(const std::string& name) const {
    return first(name, [&](const PictureList& list) { return list.id_of_name(name); });
  }

 private:
  template <class Ask>
  Id first(const std::string& name, const Ask& ask) const {
    if (const auto found = by_name_.find(name); found != by_name_.end())
      for (const PictureList* const list : found->second)
        if (const Id id = ask(*list)) return id;
    return std::nullopt;
  }

  std::vector<std::shared_ptr<const PictureList>> lists_;
  std::unordered_map<std::string, std::vector<const PictureList*>> by_name_;
};

// COCO's JSON files near folders of pictures. Each place is listed once, and each file is read
// once.
class NearJsons {
 public:
  // Lists the JSON files in or near the folder whose pictures may be in it, the nearest first.
  // Other JSON files are skipped.
  PictureLists of(const fs::path& folder) {
    const fs::path above = folder.parent_path(), top = above.parent_path();
    std::vector<Found> all;
    for (const fs::path& place :
         {folder, folder / "annotations", above, above / "annotations", top, top / "annotations"}) {
      const Jsons& jsons = jsons_in(place);
      if (const auto found = jsons.find(folder.string()); found != jsons.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Found& a, const Found& b) { return a.rank < b.rank; });
    std::vector<std::shared_ptr<const PictureList>> lists;
    for (const Found& one : all)
      if (auto list = list_of(one.json)) lists.push_back(std::move(list));
    return PictureLists(std::move(lists));
  }

 private:
  struct Found {
    // position of the folder among those in which the file's pictures may be
    std::ptrdiff_t rank = 0;
    fs::path json;
  };
  using Jsons = std::unordered_map<std::string, std::vector<Found>>;  // keyed by such a folder

  const Jsons& jsons_in(const fs::path& place) {
    const auto [known, is_new] = places_.try_emplace(place.string());
    if (!is_new || !is_folder(place)) return known->second;
    try {
      for (const std::string& name : files_ending_in(place, {".json"}))
        add(place / name, known->second);
    } catch (const Error&) {  // a folder that cannot be listed has no lists
    }
    return known->second;
  }

  static void add(const fs::path& json, Jsons& jsons) {
    const DetectionFiles files = name_detection_files(json, {});
    const std::vector<fs::path>& folders = std::get<CocoFiles>(files).folders;
    for (std::size_t i = 0; i < folders.size(); ++i)
      jsons[folders[i].string()].push_back({static_cast<std::ptrdiff_t>(i), json});
  }

  std::shared_ptr<const PictureList> list_of(const fs::path& json) {
    const auto [known, is_new] = lists_.try_emplace(json.string());
    if (is_new) try {
        known->second = std::make_shared<const PictureList>(name_detection_files(json, {}));
      } catch (const Error&) {  // the file has another format
      }
    return known->second;
  }

  std::unordered_map<std::string, Jsons> places_;
  std::unordered_map<std::string, std::shared_ptr<const PictureList>> lists_;
};

// The lists of a run: its validation set, then its training set. An export has only the names that
// it kept.
PictureLists lists_of_run(const nlohmann::json& extra) {
  std::vector<std::shared_ptr<const PictureList>> lists;
  const auto take = [&](const DetectionFiles& files) {
    try {
      lists.push_back(std::make_shared<const PictureList>(files));
    } catch (const Error&) {  // the files are missing now
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
    lists.push_back(std::make_shared<const PictureList>(kept));
  }
  return PictureLists(std::move(lists));
}

// Finds the id of a picture. The first of these applies: a JSON file near the picture, the run, the
// number in the picture's own name.
class WantedIds {
 public:
  explicit WantedIds(const nlohmann::json& extra) : extra_(extra) {}

  // name: PredictItem::id, or "". is_only: no other picture has the same name without folders.
  Id operator()(const fs::path& path, const fs::path& name, bool is_only) {
    fs::path folder = path.parent_path();
    for (fs::path below = name.parent_path();; below = below.parent_path()) {
      if (const Id id = beside(folder).id_of(path)) return id;
      if (below.empty()) break;
      folder = folder.parent_path();
    }
    if (!of_run_) of_run_ = lists_of_run(extra_);
    if (const Id id = of_run_->id_of(path)) return id;
    if (const Id id = of_run_->id_of_ending(path)) return id;
    if (is_only)
      if (const Id id = of_run_->id_of_name(path.filename().string())) return id;
    return number_of(path.stem().string());
  }

 private:
  static Id number_of(const std::string& stem) {
    std::int64_t number = 0;
    const char* const end = stem.data() + stem.size();
    const auto [rest, error] = std::from_chars(stem.data(), end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
    return std::nullopt;
  }

  const PictureLists& beside(const fs::path& folder) {
    const auto [lists, is_new] = beside_.try_emplace(folder.string());
    if (is_new) lists->second = near_.of(folder);
    return lists->second;
  }

  const nlohmann::json& extra_;
  NearJsons near_;
  std::optional<PictureLists> of_run_;                    // read when a picture needs it
  std::unordered_map<std::string, PictureLists> beside_;  // keyed by folder
};

}  // namespace

PictureList::PictureList(const DetectionFiles& files) {
  if (const auto* const voc = std::get_if<VocFolders>(&files)) {
    folders_ = {voc->pictures};
    std::int64_t id = 0;
    for (const fs::path& path : voc_picture_paths(*voc))
      add(path.lexically_relative(voc->pictures), ++id);
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

Id PictureList::id_of_ending(const fs::path& path) const {
  Id id;
  fs::path ending = path.filename();
  for (fs::path above = path.parent_path(); above.has_filename(); above = above.parent_path()) {
    ending = above.filename() / ending;
    if (const auto found = by_file_name_.find(normal(ending)); found != by_file_name_.end())
      id = found->second;
  }
  return id;
}

Id PictureList::id_of_name(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : found->second;
}

void PictureList::visit_names(const std::function<void(const std::string&)>& visit) const {
  for (const auto& [name, id] : by_name_) visit(name);
}

std::vector<std::int64_t> picture_ids(const std::vector<fs::path>& paths,
                                      const nlohmann::json& extra,
                                      const std::vector<std::string>& names) {
  WantedIds wanted(extra);
  std::unordered_map<std::string, int> counts;
  for (const fs::path& path : paths) ++counts[path.filename().string()];
  std::vector<Id> ids;
  std::set<std::int64_t> taken;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Id id = wanted(paths[i].lexically_normal(), names.empty() ? "" : names.at(i),
                         counts[paths[i].filename().string()] == 1);
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
