// Reads a set of VOC's xml files with their pictures.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/annotations/fit_box.h"
#include "recipes/fewshot/annotations/voc.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

std::string without_ending(const std::string& file) {
  return fs::path(file).replace_extension().string();
}

// The names in a list, without file endings.
std::vector<std::string> listed_names(const fs::path& list) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& line : lines_of(read_file(list, list_bytes))) {
    const std::string text = trim(line);
    const std::size_t end = text.find_first_of(" \t");
    const std::string name = text.substr(0, end);
    if (name.empty() || (end != text.npos && trim(text.substr(end)) == "-1")) continue;
    if (!seen.insert(name).second)
      throw Error(cat(list.string(), ": ", printable(name), " comes twice"), "name a picture once");
    names.push_back(name);
  }
  if (names.empty())
    throw Error(cat(list.string(), " names no picture"), "it has one name a line, without ending");
  return names;
}

std::vector<std::string> names_of(const VocFolders& folders) {
  if (folders.list) return listed_names(*folders.list);
  std::vector<std::string> names;
  std::vector<std::string> files = files_ending_in(folders.annotations, {".xml"});
  if (files.empty()) files = files_below_ending_in(folders.annotations, {".xml"});
  for (const std::string& file : files) names.push_back(without_ending(file));
  if (names.empty())
    throw Error(cat(folders.annotations.string(), " has no xml file"),
                "Pascal VOC has one for each picture");
  return names;
}

// The pictures of a folder by their names without ending. If xml files are in subfolders, pictures
// in subfolders are included.
class PictureNames {
 public:
  PictureNames(const fs::path& folder, bool is_deep) : folder_(folder) {
    const std::vector<std::string_view> endings{".jpg", ".jpeg", ".png"};
    for (const std::string& file :
         is_deep ? files_below_ending_in(folder, endings) : files_ending_in(folder, endings)) {
      by_name_[without_ending(file)].push_back(file);
      if (is_deep) by_stem_[fs::path(file).stem().string()].push_back(file);
    }
  }
  // Whether a picture has the name of an xml file. name: relative to the folder of the xml files.
  bool has(const std::string& name) const { return found_file(name, "").has_value(); }
  fs::path find(const std::string& name, const std::string& file_name) const {
    if (const auto file = found_file(name, file_name)) return folder_ / *file;
    return folder_ / (file_name.empty() ? name + ".jpg" : file_name);
  }

 private:
  std::optional<std::string> found_file(const std::string& name,
                                        const std::string& file_name) const {
    if (const auto found = by_name_.find(name); found != by_name_.end())
      return choose(found->second, file_name);
    const auto found = by_stem_.find(fs::path(name).filename().string());
    if (found != by_stem_.end() && found->second.size() == 1) return found->second[0];
    return std::nullopt;
  }
  // Chooses between files that differ only in their endings.
  static const std::string& choose(const std::vector<std::string>& files,
                                   const std::string& file_name) {
    const auto named = std::find_if(files.begin(), files.end(), [&](const std::string& file) {
      return fs::path(file).filename() == file_name;
    });
    return named == files.end() ? files[0] : *named;
  }

  fs::path folder_;
  std::unordered_map<std::string, std::vector<std::string>> by_name_, by_stem_;
};

bool are_deep(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.find('/') != name.npos; });
}

void check_xml_exist(const VocFolders& folders, const std::vector<std::string>& names,
                     const std::string& set) {
  if (!folders.list) return;
  std::size_t missing = 0;
  std::string first;
  for (const std::string& name : names)
    if (const fs::path file = folders.annotations / (name + ".xml");
        !is_file(file) && missing++ == 0)
      first = file.string();
  if (missing > 0)
    throw Error(cat(set, ": ", missing, " of ", names.size(),
                    " xml files are missing, the first is ", first),
                "take their names out of the list, or bring the files");
}

void check_pictures_differ(const DetectionData& data, const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < data.pictures.size(); ++i) {
    const auto [at, is_new] = seen.emplace(data.pictures[i].path.string(), i);
    if (!is_new)
      throw Error(cat(data.name, ": ", names[at->second], ".xml and ", names[i],
                      ".xml are both of ", data.pictures[i].path.string()),
                  "give each picture one xml file, of the picture's own name");
  }
}

RawBox raw_box(const VocObject& object) {
  return {.x = object.x, .y = object.y, .w = object.w, .h = object.h};
}

std::vector<LooseBox> loose_voc_boxes(const std::vector<VocAnnotation>& files) {
  std::vector<LooseBox> boxes;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const VocObject& object : files[i].objects)
      boxes.push_back({.picture = static_cast<int>(i), .box = raw_box(object)});
  return boxes;
}

// Collects the categories, sorted by name, with ids from 1.
void take_voc_categories(const std::vector<VocAnnotation>& files, DetectionData& data) {
  std::set<std::string> names;
  for (const VocAnnotation& file : files)
    for (const VocObject& object : file.objects) names.insert(object.name);
  for (const std::string& name : names)
    data.categories.push_back({.id = std::ssize(data.categories) + 1, .name = name});
}

}  // namespace

VocSet scan_voc(const VocFolders& folders) {
  // assigned by field: g++ 12 destroys parts of an aggregate twice if a later part throws
  VocSet set;
  set.data.name = (folders.list ? *folders.list : folders.annotations).string();
  set.names = names_of(folders);
  check_xml_exist(folders, set.names, set.data.name);
  const PictureNames pictures(folders.pictures, are_deep(set.names));
  for (const std::string& name : set.names) {
    const fs::path xml = folders.annotations / (name + ".xml");
    const VocAnnotation& file = set.files.emplace_back(parse_voc(read_file(xml), xml.string()));
    set.data.pictures.push_back({.id = static_cast<std::int64_t>(set.files.size()),
                                 .path = pictures.find(name, file.file_name),
                                 .width = file.width,
                                 .height = file.height});
  }
  check_pictures_differ(set.data, set.names);
  take_voc_categories(set.files, set.data);
  return set;
}

std::vector<fs::path> voc_picture_paths(const VocFolders& folders) {
  const std::vector<std::string> names = names_of(folders);
  const PictureNames pictures(folders.pictures, are_deep(names));
  std::vector<fs::path> paths;
  for (const std::string& name : names) {
    std::string file_name;
    if (const fs::path xml = folders.annotations / (name + ".xml"); !pictures.has(name))
      file_name = parse_voc(read_file(xml), xml.string()).file_name;
    paths.push_back(pictures.find(name, file_name));
  }
  return paths;
}

DetectionData read_voc(const VocFolders& folders, const PictureRule& rule) {
  VocSet set = scan_voc(folders);
  DetectionData& data = set.data;
  look_at_pictures(data, rule, [&] { return loose_voc_boxes(set.files); });
  std::map<std::string_view, int> categories;
  for (const Category& category : data.categories)
    categories.emplace(category.name, static_cast<int>(category.id) - 1);
  std::int64_t id = 0;
  for (std::size_t i = 0; i < set.files.size(); ++i)
    for (const VocObject& object : set.files[i].objects) {
      const Box box{.picture = static_cast<int>(i),
                    .category = categories.at(object.name),
                    .difficult = object.difficult,
                    .id = ++id};
      if (const auto fitted = fit_box(raw_box(object), box, data.pictures[i], data.repairs))
        data.boxes.push_back(*fitted);
    }
  index_boxes(data);
  check_not_empty(data);
  return std::move(set.data);
}

}  // namespace lockstep::fewshot
