#include "recipes/fewshot/sets/truth.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/coco_scan.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {
namespace {

template <class Entry>
std::vector<std::int64_t> sorted_ids(const std::vector<Entry>& entries, const std::string& name,
                                     const char* what) {
  std::vector<std::int64_t> ids;
  for (const Entry& entry : entries) ids.push_back(entry.id);
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    throw Error(cat(name, ": the ", what, " with id ", *twice, " comes twice"),
                "was the file made of two? Each entry of a list needs an id of its own");
  return ids;
}

bool has_id(const std::vector<std::int64_t>& ids, std::int64_t id) {
  return std::binary_search(ids.begin(), ids.end(), id);
}

// The number of annotations with some property, and the id of the first one.
struct Noted {
  std::int64_t count = 0, first = 0;
  void add(std::int64_t id) {
    if (count++ == 0) first = id;
  }
  void note(GroundTruth& truth, const char* what) const {
    if (count > 0)
      truth.notes.push_back(cat(truth.name, ": ", count,
                                count == 1 ? " annotation " : " annotations ", what, " (first: id ",
                                first, ")"));
  }
};

void take_truth_boxes(const std::vector<CocoAnnotation>& annotations, GroundTruth& truth,
                      const std::vector<std::int64_t>& pictures,
                      const std::vector<std::int64_t>& categories) {
  Noted of_other_pictures, of_other_categories, ignored, without_area;
  bool has_zero = false;
  for (const CocoAnnotation& one : annotations) {
    if (!has_id(pictures, one.image)) {
      of_other_pictures.add(one.id);
      continue;
    }
    if (!has_id(categories, one.category)) {
      of_other_categories.add(one.id);
      continue;
    }
    if (one.ignore && !one.crowd) ignored.add(one.id);
    if (!one.area) without_area.add(one.id);
    has_zero = has_zero || one.id == 0;
    truth.boxes.push_back({.picture = one.image,
                           .category = one.category,
                           .x = one.box.x,
                           .y = one.box.y,
                           .width = one.box.w,
                           .height = one.box.h,
                           .area = one.area.value_or(one.box.w * one.box.h),
                           .crowd = one.crowd});
  }
  of_other_pictures.note(truth, "of images that it does not list: skipped");
  of_other_categories.note(truth, "of categories that it does not list: skipped");
  ignored.note(truth, "with \"ignore\", which plays no part: as in pycocotools, they count");
  without_area.note(truth, "without area, for which pycocotools raises: width x height is taken");
  if (has_zero)
    truth.notes.push_back(cat(truth.name,
                              ": the annotation with id 0 counts like any other; pycocotools takes "
                              "a detection that finds it for wrong"));
}

// Only existing pictures show which of them an xml file describes. If the picture is missing, its
// name is assumed to be that of the xml file.
GroundTruth voc_truth(const VocFolders& folders, bool needs_pictures = false) {
  VocSet set = scan_voc(folders);
  if (needs_pictures) check_pictures_exist(set.data);
  GroundTruth truth{.name = set.data.name,
                    .categories = std::move(set.data.categories),
                    .pictures = {},
                    .boxes = {},
                    .notes = {}};
  std::map<std::string_view, std::int64_t> ids;
  for (const Category& category : truth.categories) ids.emplace(category.name, category.id);
  for (std::size_t i = 0; i < set.files.size(); ++i) {
    const Picture& picture = set.data.pictures[i];
    truth.pictures.push_back(
        {picture.id, is_file(picture.path)
                         ? picture.path.lexically_relative(folders.pictures).generic_string()
                         : set.names[i] + ".jpg"});
    for (const VocObject& object : set.files[i].objects)
      truth.boxes.push_back({.picture = picture.id,
                             .category = ids.at(object.name),
                             .x = object.x,
                             .y = object.y,
                             .width = object.w,
                             .height = object.h,
                             .area = object.w * object.h,
                             .ignore = object.difficult});
  }
  return truth;
}

// Category ids by name. If two categories have the same name, the one with boxes is used. Roboflow
// lists a root category without boxes that may have such a name.
std::map<std::string, std::int64_t> ids_by_name(const GroundTruth& truth) {
  std::set<std::int64_t> with_boxes;
  for (const TrueBox& box : truth.boxes) with_boxes.insert(box.category);
  std::map<std::string, std::int64_t> ids;
  for (const bool has_boxes : {true, false})
    for (const Category& category : truth.categories)
      if (with_boxes.contains(category.id) == has_boxes) ids.emplace(category.name, category.id);
  return ids;
}

// Replaces the categories of `truth` by those of `model`, matched by name.
void take_categories_of(const GroundTruth& model, GroundTruth& truth) {
  const std::map<std::string, std::int64_t> ids = ids_by_name(model);
  std::map<std::int64_t, std::string> names;
  for (const Category& category : truth.categories) names.emplace(category.id, category.name);
  bool noted = false;
  for (TrueBox& box : truth.boxes) {
    const std::string& name = names.at(box.category);
    const auto found = ids.find(name);
    if (found == ids.end())
      throw Error(cat(truth.name, " has boxes of the category \"", printable(name), "\" (id ",
                      box.category, "), which ", model.name, " does not have"),
                  "to score the set alone, name it with truth=FILE");
    if (box.category != found->second && !noted) {
      noted = true;
      truth.notes.push_back(cat(truth.name, ": ids of categories differ from those of ", model.name,
                                ", which are taken, by name (first: \"", printable(name), "\", ",
                                box.category, " and ", found->second, ")"));
    }
    box.category = found->second;
  }
  truth.categories = model.categories;
}

void keep_held_back(GroundTruth& truth, double share, std::uint64_t seed) {
  DetectionData names{.name = truth.name};
  for (const NamedPicture& picture : truth.pictures)
    names.pictures.push_back({.id = picture.picture, .path = picture.file_name});
  const std::vector<bool> chosen = choose_valid(names, share, seed);
  std::vector<NamedPicture> pictures;
  std::set<std::int64_t> ids;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) {
      pictures.push_back(truth.pictures[i]);
      ids.insert(truth.pictures[i].picture);
    }
  truth.pictures = std::move(pictures);
  std::erase_if(truth.boxes, [&](const TrueBox& box) { return !ids.contains(box.picture); });
}

}  // namespace

std::vector<std::int64_t> GroundTruth::category_ids() const {
  std::vector<std::int64_t> ids;
  for (const Category& category : categories) ids.push_back(category.id);
  return ids;
}

GroundTruth parse_truth(std::string_view text, const std::string& name) {
  CocoLists lists = scan_coco(text, name, CocoUse::scores);
  if (lists.images.empty())
    throw Error(cat(name, " has no pictures"), "COCO lists them under images");
  if (lists.categories.empty())
    throw Error(cat(name, " has no categories"), "COCO lists them under categories");
  const std::vector<std::int64_t> pictures = sorted_ids(lists.images, name, "image"),
                                  categories = sorted_ids(lists.categories, name, "category");
  sorted_ids(lists.annotations, name, "annotation");
  GroundTruth truth{.name = name,
                    .categories = std::move(lists.categories),
                    .pictures = {},
                    .boxes = {},
                    .notes = {}};
  std::sort(truth.categories.begin(), truth.categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });
  for (CocoImage& image : lists.images)
    truth.pictures.push_back({image.id, std::move(image.file_name)});
  take_truth_boxes(lists.annotations, truth, pictures, categories);
  return truth;
}

GroundTruth read_truth(const DetectionFiles& files) {
  if (const auto* const voc = std::get_if<VocFolders>(&files)) return voc_truth(*voc);
  const std::filesystem::path& json = std::get<CocoFiles>(files).json;
  return parse_truth(read_file(json, data_bytes), json.string());
}

GroundTruth read_valid_truth(const FoundData& found, double share, std::uint64_t seed) {
  if (!found.valid) {
    const auto* const voc = std::get_if<VocFolders>(&found.train);
    GroundTruth all =
        voc != nullptr ? voc_truth(*voc, /*needs_pictures=*/true) : read_truth(found.train);
    keep_held_back(all, share, seed);
    return all;
  }
  const GroundTruth train = read_truth(found.train);
  GroundTruth valid = read_truth(*found.valid);
  take_categories_of(train, valid);
  return valid;
}

}  // namespace lockstep::fewshot
