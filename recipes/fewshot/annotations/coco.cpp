// Looks up what the lists of a COCO json refer to.
#include "recipes/fewshot/annotations/coco.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "recipes/fewshot/annotations/coco_scan.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
// No hash tables: ids that fall into one place of them would take for ever.
using Places = std::map<std::int64_t, int>;

[[noreturn]] void twice(const std::string& name, const char* what, const std::string& value) {
  throw Error(cat(name, ": ", what, " ", value, " comes twice"),
              "was the file made of two? Each entry of a list needs an id of its own");
}

// Ids to places in their list.
template <class Entry>
Places places_of(const std::vector<Entry>& entries, const std::string& name, const char* what) {
  Places places;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!places.emplace(entries[i].id, static_cast<int>(i)).second)
      twice(name, what, cat("with id ", entries[i].id));
  return places;
}

void take_categories(std::vector<Category> categories, DetectionData& data) {
  std::sort(categories.begin(), categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });
  std::map<std::string_view, std::int64_t> names;
  for (const Category& category : categories) {
    const auto [at, is_new] = names.emplace(category.name, category.id);
    if (!is_new)
      throw Error(cat(data.name, ": the categories ", at->second, " and ", category.id,
                      " are both named \"", printable(category.name), "\""),
                  "give each category a name of its own");
  }
  data.categories = std::move(categories);
}

void take_images(std::vector<CocoImage> images, const fs::path& folder, DetectionData& data) {
  std::map<std::string_view, std::int64_t> names;
  data.pictures.reserve(images.size());
  for (const CocoImage& image : images) {
    const auto [at, is_new] = names.emplace(image.file_name, image.id);
    if (!is_new)
      throw Error(cat(data.name, ": the images ", at->second, " and ", image.id, " are both ",
                      printable(image.file_name)),
                  "put the annotations of a picture under one image");
    data.pictures.push_back({.id = image.id,
                             .path = folder / image.file_name,
                             .width = image.width,
                             .height = image.height});
  }
}

// "unknown image 7": the id, and what there is.
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

// missing_size: what to do with a picture of which the json says no size.
template <class MissingSize>
DetectionData build(CocoLists lists, const std::string& name, const fs::path& folder,
                    const MissingSize& missing_size) {
  DetectionData data{.name = name};
  const Places images = places_of(lists.images, name, "the image");
  places_of(lists.categories, name, "the category");
  take_categories(std::move(lists.categories), data);
  const Places categories = places_of(data.categories, name, "the category");
  take_images(std::move(lists.images), folder, data);
  missing_size(data);
  take_annotations(std::move(lists.annotations), images, categories, data);
  index_boxes(data);
  check_not_empty(data);
  return data;
}

// The first folder that has the first picture; the first of all where none has.
fs::path folder_of(const CocoLists& lists, std::span<const fs::path> folders) {
  std::error_code ignored;
  if (!lists.images.empty())
    for (const fs::path& folder : folders)
      if (fs::is_regular_file(folder / lists.images[0].file_name, ignored)) return folder;
  return folders.empty() ? fs::path() : folders[0];
}

}  // namespace

DetectionData read_coco(const fs::path& json, std::span<const fs::path> folders) {
  CocoLists lists;
  {
    const std::string text = read_file(json, data_bytes);
    lists = scan_coco(text, json.string());
  }
  const fs::path folder = folder_of(lists, folders);
  return build(std::move(lists), json.string(), folder, [](DetectionData& data) {
    check_pictures_exist(data);
    for (Picture& picture : data.pictures) fill_size(picture);
  });
}

DetectionData read_coco(const fs::path& json, const fs::path& folder) {
  const std::array folders{folder};
  return read_coco(json, folders);
}

DetectionData parse_coco(std::string_view text, const std::string& name, const fs::path& folder) {
  return build(scan_coco(text, name), name, folder, [](DetectionData& data) {
    for (const Picture& picture : data.pictures)
      if (picture.width == 0 || picture.height == 0)
        throw Error(cat(data.name, ": the image with id ", picture.id, " has no width and height"));
  });
}

}  // namespace lockstep::fewshot
