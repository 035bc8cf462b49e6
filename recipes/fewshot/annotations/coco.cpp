// Resolves the ids in the lists of a COCO file.
#include "recipes/fewshot/annotations/coco.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/coco_scan.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/annotations/fit_box.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
// A map, because ids can be chosen so that a hash table becomes very slow.
using Places = std::map<std::int64_t, int>;

[[noreturn]] void twice(const std::string& name, const char* what, const std::string& value) {
  throw Error(cat(name, ": ", what, " ", value, " comes twice"),
              "was the file made of two? Each entry of a list needs an id of its own");
}

// Maps ids to indices in their list.
template <class Entry>
Places places_of(const std::vector<Entry>& entries, const std::string& name, const char* what) {
  Places places;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!places.emplace(entries[i].id, static_cast<int>(i)).second)
      twice(name, what, cat("with id ", entries[i].id));
  return places;
}

void check_category_ids(const CocoLists& lists, const std::string& name) {
  std::set<std::int64_t> ids;
  for (const Category& one : lists.categories)
    if (!ids.insert(one.id).second) twice(name, "the category", cat("with id ", one.id));
}

// Chooses which of two categories with the same name is skipped. Nothing if both have annotations.
// a, b and the result are indices into the list.
std::optional<std::size_t> passed_over(const CocoLists& lists, std::size_t a, std::size_t b,
                                       const std::set<std::int64_t>& used) {
  const bool uses_a = used.contains(lists.categories[a].id),
             uses_b = used.contains(lists.categories[b].id);
  if (uses_a && uses_b) return std::nullopt;
  if (uses_a != uses_b) return uses_a ? b : a;
  const std::string& name = lists.categories[a].name;
  return lists.parents[b] == name && lists.parents[a] != name ? a : b;
}

void take_categories(const CocoLists& lists, DetectionData& data) {
  std::set<std::int64_t> used;
  for (const CocoAnnotation& annotation : lists.annotations) used.insert(annotation.category);
  std::map<std::string_view, std::size_t> kept;
  for (std::size_t i = 0; i < lists.categories.size(); ++i) {
    const auto [at, is_new] = kept.emplace(lists.categories[i].name, i);
    if (is_new) continue;
    const auto less = passed_over(lists, at->second, i, used);
    if (!less)
      throw Error(cat(data.name, ": the categories ", lists.categories[at->second].id, " and ",
                      lists.categories[i].id, " are both named \"",
                      printable(lists.categories[i].name), "\" and both have annotations"),
                  "give each category a name of its own");
    if (*less == at->second) at->second = i;
  }
  for (const auto& [name, place] : kept) data.categories.push_back(lists.categories[place]);
  std::sort(data.categories.begin(), data.categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });
}

// The ways to interpret a file_name; read_coco describes them.
enum class NameForm { written, slashes, last_part };
constexpr std::array name_forms{NameForm::written, NameForm::slashes, NameForm::last_part};

std::string in_form(std::string name, NameForm form) {
  if (form == NameForm::written) return name;
  std::replace(name.begin(), name.end(), '\\', '/');
  if (form == NameForm::slashes) return name;
  return name.substr(name.rfind('/') + 1);
}

struct PicturePlace {
  fs::path folder;
  NameForm form = NameForm::written;
  fs::path path(const std::string& name) const { return folder / in_form(name, form); }
};

std::optional<PicturePlace> find_place(std::span<const fs::path> folders, const std::string& name) {
  for (const NameForm form : name_forms)
    for (const fs::path& folder : folders) {
      PicturePlace place{folder, form};
      if (const fs::path path = place.path(name); path.has_filename() && is_file(path))
        return place;
    }
  return std::nullopt;
}

// Adds the pictures. Their paths follow the rule that fits the first picture. Throws Error if two
// have the same name.
void take_images(const std::vector<CocoImage>& images, const PicturePlace& place,
                 DetectionData& data) {
  std::map<std::string_view, std::int64_t> names;
  data.pictures.reserve(images.size());
  for (const CocoImage& image : images) {
    const auto [at, is_new] = names.emplace(image.file_name, image.id);
    if (!is_new)
      throw Error(cat(data.name, ": the images ", at->second, " and ", image.id, " are both ",
                      printable(image.file_name)),
                  "put the annotations of a picture under one image");
    data.pictures.push_back({.id = image.id,
                             .path = place.path(image.file_name),
                             .width = image.width,
                             .height = image.height});
  }
}

void check_paths_differ(const DetectionData& data) {
  std::map<fs::path, std::int64_t> ids;
  for (const Picture& picture : data.pictures)
    if (const auto [at, is_new] = ids.emplace(picture.path, picture.id); !is_new)
      throw Error(cat(data.name, ": the images ", at->second, " and ", picture.id, " are both ",
                      picture.path.string(), ", by the last part of their file_name"),
                  "write file_name relative to the folder of the pictures");
}

// The index of an id. Throws Error if the list does not contain it.
int place_in(const Places& places, std::int64_t id, const CocoAnnotation& annotation,
             const std::string& name, const char* what) {
  const auto found = places.find(id);
  if (found != places.end()) return found->second;
  throw Error(cat(name, ": annotation ", annotation.id, " is of ", what, " ", id,
                  ", which the file does not have"),
              cat("there are ", places.size(), " in its list; take the annotation out, or add it"));
}

void take_annotations(std::vector<CocoAnnotation> annotations, const Places& images,
                      const Places& categories, DetectionData& data) {
  std::set<std::int64_t> ids;
  data.boxes.reserve(annotations.size());
  for (const CocoAnnotation& annotation : annotations) {
    if (!ids.insert(annotation.id).second)
      twice(data.name, "the annotation", cat("with id ", annotation.id));
    const Box box{
        .picture = place_in(images, annotation.image, annotation, data.name, "image"),
        .category = place_in(categories, annotation.category, annotation, data.name, "category"),
        .area = annotation.area.value_or(0),
        .crowd = annotation.crowd,
        .difficult = annotation.ignore && !annotation.crowd,
        .id = annotation.id};
    const Picture& picture = data.pictures[static_cast<std::size_t>(box.picture)];
    if (const auto fitted = fit_box(annotation.box, box, picture, data.repairs))
      data.boxes.push_back(*fitted);
  }
  data.boxes.shrink_to_fit();
}

std::vector<LooseBox> loose_boxes(const CocoLists& lists, const Places& images) {
  std::vector<LooseBox> boxes;
  for (const CocoAnnotation& one : lists.annotations)
    if (const auto found = images.find(one.image); found != images.end())
      boxes.push_back({.picture = found->second, .box = one.box});
  return boxes;
}

// finish_pictures: called before the boxes are clipped to the pictures.
template <class FinishPictures>
DetectionData build(CocoLists lists, const std::string& name, const PicturePlace& place,
                    const FinishPictures& finish_pictures) {
  DetectionData data{.name = name};
  const Places images = places_of(lists.images, name, "the image");
  check_category_ids(lists, name);
  take_categories(lists, data);
  const Places categories = places_of(data.categories, name, "the category");
  take_images(lists.images, place, data);
  finish_pictures(data, lists, images);
  take_annotations(std::move(lists.annotations), images, categories, data);
  index_boxes(data);
  check_not_empty(data);
  return data;
}

}  // namespace

DetectionData read_coco(const fs::path& json, std::span<const fs::path> folders,
                        const PictureRule& rule) {
  CocoLists lists;
  {
    const std::string text = read_file(json, data_bytes);
    lists = scan_coco(text, json.string());
  }
  PicturePlace place{.folder = folders.empty() ? fs::path() : folders[0]};
  if (!lists.images.empty()) place = find_place(folders, lists.images[0].file_name).value_or(place);
  return build(std::move(lists), json.string(), place,
               [&](DetectionData& data, const CocoLists& read, const Places& images) {
                 bool by_last_part = place.form == NameForm::last_part;
                 // A file that was merged from several files may have names of different kinds.
                 const auto elsewhere = [&](std::size_t i) -> std::optional<fs::path> {
                   const std::string& file = read.images[i].file_name;
                   const auto found = find_place(folders, file);
                   if (!found) return std::nullopt;
                   by_last_part = by_last_part || found->form == NameForm::last_part;
                   return found->path(file);
                 };
                 look_at_pictures(
                     data, rule, [&] { return loose_boxes(read, images); }, elsewhere);
                 if (by_last_part) check_paths_differ(data);
               });
}

DetectionData read_coco(const fs::path& json, const fs::path& folder, const PictureRule& rule) {
  const std::array folders{folder};
  return read_coco(json, folders, rule);
}

DetectionData parse_coco(std::string_view text, const std::string& name, const fs::path& folder) {
  return build(scan_coco(text, name), name, {.folder = folder},
               [](DetectionData& data, const CocoLists&, const Places&) {
                 for (const Picture& picture : data.pictures)
                   if (picture.width == 0 || picture.height == 0)
                     throw Error(cat(data.name, ": the image with id ", picture.id,
                                     " has no width and height"));
               });
}

}  // namespace lockstep::fewshot
