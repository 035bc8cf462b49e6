// Handles the events of nlohmann's JSON parser and keeps track of the depth.
#include "recipes/fewshot/annotations/coco_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

using nlohmann::json;

constexpr int largest_extent = 65'535;
// Depths: 1 is in the file's object, 2 in one of its lists, 3 in an entry, and 4 in the bbox of an
// entry.
constexpr int in_file = 1, in_list = 2, in_entry = 3, in_bbox = 4;

enum class List { other, images, categories, annotations };
enum class Field {
  other,
  id,
  file_name,
  width,
  height,
  name,
  supercategory,
  image_id,
  category_id,
  bbox,
  area,
  iscrowd,
  ignore
};

struct FieldName {
  List list;
  const char* name;
  Field field;
};
constexpr std::array<FieldName, 14> field_names{
    {{List::images, "id", Field::id},
     {List::images, "file_name", Field::file_name},
     {List::images, "width", Field::width},
     {List::images, "height", Field::height},
     {List::categories, "id", Field::id},
     {List::categories, "name", Field::name},
     {List::categories, "supercategory", Field::supercategory},
     {List::annotations, "id", Field::id},
     {List::annotations, "image_id", Field::image_id},
     {List::annotations, "category_id", Field::category_id},
     {List::annotations, "bbox", Field::bbox},
     {List::annotations, "area", Field::area},
     {List::annotations, "iscrowd", Field::iscrowd},
     {List::annotations, "ignore", Field::ignore}}};

const char* name_of(List list) {
  switch (list) {
    case List::images:
      return "images";
    case List::categories:
      return "categories";
    case List::annotations:
      return "annotations";
    case List::other:
      break;
  }
  return "";
}

const char* name_of(Field field) {
  const auto found = std::find_if(field_names.begin(), field_names.end(),
                                  [&](const FieldName& one) { return one.field == field; });
  return found == field_names.end() ? "" : found->name;
}

// The fields of an entry in any of the lists.
struct Entry {
  std::optional<std::int64_t> id, image, category;
  std::optional<std::string> text;  // the value of file_name or name
  std::string parent;
  std::int64_t width = 0, height = 0;
  std::array<double, 4> bbox{};
  int bbox_values = 0;
  bool has_bbox = false;
  std::optional<double> area;
  bool crowd = false, ignore = false;
};

class Scan : public nlohmann::json_sax<json> {
 public:
  Scan(std::string_view text, const std::string& name, CocoUse use)
      : text_(text), name_(name), use_(use) {}
  CocoLists take() {
    if (!found_list_)
      throw Error(cat(name_, " is no COCO file: it has none of images, annotations, categories"),
                  "COCO's instances_*.json is an object with these three lists");
    return std::move(lists_);
  }

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override {
    if (depth_ == in_entry && (field_ == Field::iscrowd || field_ == Field::ignore)) {
      flag(value);
      return true;
    }
    return scalar(value ? "true" : "false");
  }
  bool number_integer(json::number_integer_t value) override {
    return number(static_cast<double>(value), value);
  }
  bool number_unsigned(json::number_unsigned_t value) override {
    const bool fits = value <= static_cast<json::number_unsigned_t>(INT64_MAX);
    return number(static_cast<double>(value),
                  fits ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt);
  }
  bool number_float(json::number_float_t value, const json::string_t&) override {
    constexpr double exact = 9007199254740992.0;  // 2^53; Python sometimes writes ids as 17.0
    const bool whole = std::abs(value) <= exact && std::trunc(value) == value;
    return number(value, whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt);
  }
  bool string(json::string_t& value) override {
    if (depth_ == in_entry && (field_ == Field::file_name || field_ == Field::name)) {
      entry_.text = value;
      return true;
    }
    if (depth_ == in_entry && field_ == Field::supercategory) {
      entry_.parent = value;
      return true;
    }
    return scalar("a text");
  }
  bool binary(json::binary_t&) override { return true; }  // JSON text never has this event

  bool start_object(std::size_t) override {
    enter();
    if (list_ != List::other && depth_ == in_list)
      throw Error(cat(name_, ": ", name_of(list_), " must be a list, but is an object"),
                  "is this a COCO file?");
    if (list_ != List::other && depth_ == in_entry) {
      entry_ = {};
      field_ = Field::other;
    } else if (depth_ == in_bbox) {
      check_no_value("an object");
    }
    return true;
  }
  bool end_object() override {
    if (list_ != List::other && depth_ == in_entry) finish_entry();
    return leave();
  }
  bool start_array(std::size_t) override {
    enter();
    if (depth_ == in_file)
      throw Error(
          cat(name_, " is a list, which is what results of a detector are, not annotations"),
          "COCO's instances_*.json is an object with images, annotations and categories");
    if (list_ != List::other && depth_ == in_list) {
      found_list_ = true;
      index_ = 0;
    } else if (list_ != List::other && depth_ == in_entry) {
      throw_entry("must be an object, but is a list");
    } else if (depth_ == in_bbox && field_ == Field::bbox) {
      entry_.has_bbox = true;
      entry_.bbox_values = 0;
    } else if (depth_ == in_bbox) {
      check_no_value("a list");
    } else if (depth_ == in_bbox + 1 && field_ == Field::bbox) {
      throw_entry("bbox must be four numbers, but has a list in it");
    }
    return true;
  }
  bool end_array() override { return leave(); }
  bool key(json::string_t& value) override {
    if (depth_ == in_file) {
      list_ = List::other;
      for (const List list : {List::images, List::categories, List::annotations})
        if (value == name_of(list)) list_ = list;
    } else if (depth_ == in_entry && list_ != List::other) {
      const auto found = std::find_if(
          field_names.begin(), field_names.end(),
          [&](const FieldName& one) { return one.list == list_ && value == one.name; });
      field_ = found == field_names.end() ? Field::other : found->field;
      if (use_ == CocoUse::scores && (field_ == Field::width || field_ == Field::height))
        field_ = Field::other;
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& reason) override {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    std::string why = reason.what();
    if (const std::size_t at = why.find("syntax error"); at != why.npos) why = why.substr(at);
    throw Error(
        cat(name_, ":", line, entry_place(), ": this is no JSON: ", printable(why.substr(0, 200))),
        "the file may be cut off; NaN and Infinity are no numbers in JSON");
  }

 private:
  void enter() {
    if (++depth_ > deepest_json)
      throw Error(cat(name_, ": lists and objects are nested deeper than ", deepest_json),
                  "is this a COCO file?");
  }
  bool leave() {
    --depth_;
    if (depth_ == in_list) ++index_;
    if (depth_ == in_file) list_ = List::other;
    return true;
  }

  // Returns "" or ", in annotations[12] (id 7)".
  std::string entry_place() const {
    if (list_ == List::other || depth_ < in_list) return "";
    return ", in " + entry_name();
  }
  std::string entry_name() const {
    std::string place = cat(name_of(list_), "[", index_, "]");
    if (depth_ >= in_entry && entry_.id) place += cat(" (id ", *entry_.id, ")");
    return place;
  }
  [[noreturn]] void throw_entry(const std::string& what, const std::string& hint = "") const {
    throw Error(cat(name_, ": ", entry_name(), ": ", what), hint);
  }

  // Throws Error if the current field is used and cannot have a value of that kind.
  void check_no_value(const char* kind) const {
    if (list_ == List::other || field_ == Field::other || field_ == Field::supercategory) return;
    throw_entry(cat(name_of(field_), " must be ", wanted(), ", but is ", kind));
  }
  const char* wanted() const {
    switch (field_) {
      case Field::file_name:
      case Field::name:
        return "a text";
      case Field::bbox:
        return "a list of four numbers: x, y, width, height";
      case Field::area:
        return "a number";
      case Field::iscrowd:
      case Field::ignore:
        return "0 or 1";
      default:
        return "a whole number";
    }
  }
  // Handles a value that is no number. A null is treated as a missing field.
  bool scalar(const char* kind) {
    if (list_ == List::other) return true;
    const bool is_null = std::string_view(kind) == "null";
    if (depth_ == in_file)
      throw Error(cat(name_, ": ", name_of(list_), " must be a list, but is ", kind),
                  "is this a COCO file?");
    if (depth_ == in_list) throw_entry(cat("must be an object, but is ", kind));
    if (depth_ == in_entry && !is_null) check_no_value(kind);
    if (depth_ == in_bbox && field_ == Field::bbox)
      throw_entry(cat("bbox must be four numbers, but has ", kind, " in it"));
    return true;
  }
  void flag(bool value) { (field_ == Field::iscrowd ? entry_.crowd : entry_.ignore) = value; }

  bool number(double value, std::optional<std::int64_t> whole) {
    if (list_ == List::other) return true;
    if (depth_ == in_bbox && field_ == Field::bbox) {
      if (entry_.bbox_values < 4) entry_.bbox[static_cast<std::size_t>(entry_.bbox_values)] = value;
      ++entry_.bbox_values;
      return true;
    }
    if (depth_ > in_entry) return true;
    if (depth_ < in_entry) return scalar("a number");
    entry_number(value, whole);
    return true;
  }
  void entry_number(double value, std::optional<std::int64_t> whole) {
    if (field_ == Field::other || field_ == Field::supercategory) return;
    if (field_ == Field::area) {
      entry_.area = value;
      return;
    }
    if (field_ == Field::file_name || field_ == Field::name || field_ == Field::bbox || !whole)
      check_no_value(whole ? "a number" : general(value, 6).c_str());
    switch (field_) {
      case Field::id:
        entry_.id = whole;
        break;
      case Field::image_id:
        entry_.image = whole;
        break;
      case Field::category_id:
        entry_.category = whole;
        break;
      case Field::width:
        entry_.width = *whole;
        break;
      case Field::height:
        entry_.height = *whole;
        break;
      case Field::iscrowd:
      case Field::ignore:
        if (*whole != 0 && *whole != 1) check_no_value(cat(*whole).c_str());
        flag(*whole == 1);
        break;
      default:
        break;
    }
  }

  void finish_entry() {
    if (!entry_.id) throw_entry("id is missing", "each entry has a whole number of its own");
    switch (list_) {
      case List::images:
        finish_image();
        break;
      case List::categories:
        if (use_ == CocoUse::scores && !entry_.text)
          entry_.text.emplace();
        else
          check_text("name");
        lists_.categories.push_back({*entry_.id, std::move(*entry_.text)});
        lists_.parents.push_back(std::move(entry_.parent));
        break;
      case List::annotations:
        finish_annotation();
        break;
      case List::other:
        break;
    }
  }
  void check_text(const char* field) const {
    if (!entry_.text) throw_entry(cat(field, " is missing"));
    if (trim(*entry_.text).empty()) throw_entry(cat(field, " is empty"));
    if (entry_.text->find('\0') != std::string::npos)
      throw_entry(cat(field, " holds a zero character"));
  }
  void finish_image() {
    if (use_ == CocoUse::scores && !entry_.text) {
      lists_.images.push_back({.id = *entry_.id, .file_name = {}});
      return;
    }
    check_text("file_name");
    for (const auto& [what, value] : {std::pair("width", entry_.width), {"height", entry_.height}})
      if (value < 0 || value > largest_extent)
        throw_entry(cat(what, " must be from 1 to ", largest_extent, ", but is ", value));
    lists_.images.push_back({.id = *entry_.id,
                             .file_name = std::move(*entry_.text),
                             .width = static_cast<int>(entry_.width),
                             .height = static_cast<int>(entry_.height)});
  }
  void finish_annotation() {
    if (!entry_.image) throw_entry("image_id is missing");
    if (!entry_.category)
      throw_entry("category_id is missing", "annotations of captions have none: boxes are needed");
    if (!entry_.has_bbox)
      throw_entry("bbox is missing", "each annotation has a box: x, y, width, height in pixels");
    if (entry_.bbox_values != 4 && entry_.bbox_values != 0)
      throw_entry(cat("bbox must be four numbers, but has ", entry_.bbox_values),
                  "x, y, width, height in pixels");
    const auto& [x, y, w, h] = entry_.bbox;
    lists_.annotations.push_back({.id = *entry_.id,
                                  .image = *entry_.image,
                                  .category = *entry_.category,
                                  .box = {.x = x, .y = y, .w = w, .h = h},
                                  .area = entry_.area,
                                  .crowd = entry_.crowd,
                                  .ignore = entry_.ignore});
  }

  std::string_view text_;
  const std::string& name_;
  CocoUse use_;
  CocoLists lists_;
  int depth_ = 0;
  List list_ = List::other;
  Field field_ = Field::other;
  std::int64_t index_ = 0;  // index of the entry in its list
  Entry entry_;
  bool found_list_ = false;
};

}  // namespace

CocoLists scan_coco(std::string_view text, const std::string& name, CocoUse use) {
  Scan scan(text, name, use);
  json::sax_parse(text.begin(), text.end(), &scan);
  return scan.take();
}

}  // namespace lockstep::fewshot
