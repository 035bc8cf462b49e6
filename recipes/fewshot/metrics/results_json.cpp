// Reads detections in COCO's results format.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json_text.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/metrics/named_pictures.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {
namespace {

enum class Member { other, image_id, category_id, bbox, score, file_name, category_name };
constexpr std::array member_names{"other", "image_id",  "category_id",  "bbox",
                                  "score", "file_name", "category_name"};
bool is_name(Member member) {
  return member == Member::file_name || member == Member::category_name;
}

struct Number {
  double value = 0;
  std::optional<std::int64_t> whole;
};

struct Entry {
  std::optional<Number> image_id, category_id, score;
  std::vector<double> bbox;
  bool has_bbox = false;
  std::optional<std::string> file_name, category_name;
};

// Finds an id in a list that is sorted by ids; null if it is missing.
template <class Named>
const Named* find_id(const std::vector<Named>& list, std::int64_t Named::*id, std::int64_t wanted) {
  const auto found =
      std::lower_bound(list.begin(), list.end(), wanted,
                       [&](const Named& one, std::int64_t to) { return one.*id < to; });
  return found != list.end() && (*found).*id == wanted ? &*found : nullptr;
}

// Converts an id such as 5.0 to 5, as Python does. Nothing if the number is not whole.
std::optional<std::int64_t> whole_of(double value) {
  constexpr double exact = 9007199254740992;  // doubles up to 2^53 represent every whole number
  if (std::abs(value) > exact || std::floor(value) != value) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Handles the events of the JSON parser. Memory is needed only for the detections, not for the
// whole file.
class ResultsHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  ResultsHandler(const std::string& name, const KnownIds& known)
      : name_(name),
        pictures_(known.pictures),
        named_pictures_(known.pictures),
        classes_(known.classes) {
    std::sort(pictures_.begin(), pictures_.end(),
              [](const NamedPicture& a, const NamedPicture& b) { return a.picture < b.picture; });
    std::sort(classes_.begin(), classes_.end(),
              [](const NamedClass& a, const NamedClass& b) { return a.category < b.category; });
    for (const NamedClass& one : classes_) class_ids_.emplace(one.name, one.category);
  }

  ReadDetections take() {
    read_.notes = named_pictures_.notes();
    return std::move(read_);
  }

  bool null() override { return no_number("null"); }
  bool boolean(bool) override { return no_number("a truth value"); }
  bool string(string_t& value) override {
    if (depth_ == 2 && is_name(member_)) {
      (member_ == Member::file_name ? entry_.file_name : entry_.category_name) = value;
      return true;
    }
    return no_number("a text");
  }
  bool binary(binary_t&) override { return no_number("bytes"); }
  bool number_integer(number_integer_t value) override {
    return number({static_cast<double>(value), value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    std::optional<std::int64_t> whole;
    if (std::in_range<std::int64_t>(value)) whole = static_cast<std::int64_t>(value);
    return number({static_cast<double>(value), whole});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return number({value, whole_of(value)});
  }

  bool start_object(std::size_t) override {
    if (depth_ == 0) no_list();
    if (depth_ == 1)
      entry_ = {};
    else
      no_number("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (--depth_ != 1) return true;
    finish_entry();
    ++index_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 2 && member_ == Member::bbox)
      entry_.has_bbox = true;
    else if (depth_ > 0)
      no_number("a list");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ != 2) return true;
    member_ = Member::other;
    for (std::size_t i = 1; i < member_names.size(); ++i)
      if (text == member_names[i]) member_ = static_cast<Member>(i);
    if (member_ == Member::bbox) entry_.bbox.clear();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& fault) override {
    constexpr int number_overflow = 406;
    if (fault.id == number_overflow) fail("has a number that is not finite", "");
    throw Error(cat(place(), ": the file is no JSON at byte ", position),
                "NaN and Infinity are none either; a file that was cut off must be written again");
  }

 private:
  std::string place() const { return cat(name_, ", entry ", index_); }

  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    throw Error(cat(place(), " ", what), hint);
  }
  [[noreturn]] void no_list() const {
    throw Error(cat(name_, " holds no list of detections"),
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [x, y, width, height], "
                "\"score\": 0.5}, …]");
  }

  // Fails if a value that is no number is in a place that needs a number.
  bool no_number(const char* what) {
    if (depth_ == 0) no_list();
    if (depth_ == 1) fail(cat("is ", what, ", not an object"), "");
    const bool in_bbox = depth_ == 3 && member_ == Member::bbox;
    if ((depth_ == 2 && member_ != Member::other && !is_name(member_)) || in_bbox)
      fail(cat("has ", what, " as ", in_bbox ? "a number of its " : "",
               member_names[static_cast<std::size_t>(member_)]),
           member_ == Member::bbox ? "bbox is [x, y, width, height]" : "it must be a number");
    return true;
  }

  bool number(const Number& value) {
    if (depth_ < 2) return no_number("a number");
    if (depth_ == 3 && member_ == Member::bbox) {
      entry_.bbox.push_back(value.value);
      if (entry_.bbox.size() > 4) fail("has a bbox of more than 4 numbers", bbox_hint);
    }
    if (depth_ != 2) return true;
    if (member_ == Member::image_id) entry_.image_id = value;
    if (member_ == Member::category_id) entry_.category_id = value;
    if (member_ == Member::score) entry_.score = value;
    if (member_ == Member::bbox) no_number("a number");
    return true;
  }

  std::int64_t whole_id(const std::optional<Number>& number, const char* what) const {
    if (!number) fail(cat("has no ", what), "");
    if (!number->whole)
      fail(cat("has the unknown ", what, " ", general(number->value, 17)), ids_hint);
    return *number->whole;
  }

  std::int64_t picture() {
    const std::int64_t id = whole_id(entry_.image_id, "image_id");
    const NamedPicture* const known = find_id(pictures_, &NamedPicture::picture, id);
    if (known == nullptr && entry_.file_name)
      fail(cat("has the unknown image_id ", id, " (", printable(*entry_.file_name), ")"),
           others_hint);
    if (known == nullptr) fail(cat("has the unknown image_id ", id), ids_hint);
    if (entry_.file_name && !known->file_name.empty()) check_file_name(*known);
    return id;
  }

  void check_file_name(const NamedPicture& known) {
    const std::string& name = *entry_.file_name;
    const auto has_it = [&](const std::vector<std::int64_t>& fitting) {
      return std::find(fitting.begin(), fitting.end(), known.picture) != fitting.end();
    };
    if (!has_it(named_pictures_.find(name)) && !has_it(named_pictures_.find_by_file(name)))
      fail(cat("is of the picture ", printable(name), ", but image_id ", known.picture,
               " of the ground truth is ", printable(known.file_name)),
           others_hint);
    if (const std::string other = named_pictures_.take(name, known.picture); !other.empty())
      fail(cat("is of the picture ", printable(name), ", but an entry before it has image_id ",
               known.picture, " for ", printable(other)),
           others_hint);
  }

  // The class of an entry; null if the ground truth does not have it.
  const NamedClass* known_class() const {
    const std::int64_t id = whole_id(entry_.category_id, "category_id");
    const NamedClass* const known = find_id(classes_, &NamedClass::category, id);
    if (!entry_.category_name) return known;
    if (known != nullptr && (known->name.empty() || known->name == *entry_.category_name))
      return known;
    const auto named = class_ids_.find(*entry_.category_name);
    const std::string name = printable(*entry_.category_name);
    if (named != class_ids_.end())
      fail(cat("is of the class ", name, " with category_id ", id,
               ", but the ground truth has it as ", named->second),
           others_hint);
    return nullptr;
  }

  void finish_entry() {
    Detection one{.picture = picture()};
    const NamedClass* const of_class = known_class();
    if (!entry_.score) fail("has no score", "");
    if (!entry_.has_bbox) fail("has no bbox", bbox_hint);
    if (entry_.bbox.size() != 4)
      fail(cat("has a bbox of ", entry_.bbox.size(), " numbers"), bbox_hint);
    if (entry_.bbox[2] < 0 || entry_.bbox[3] < 0)
      fail(cat("has a bbox of ", general(entry_.bbox[2], 6), " x ", general(entry_.bbox[3], 6)),
           bbox_hint);
    one.x = entry_.bbox[0];
    one.y = entry_.bbox[1];
    one.width = entry_.bbox[2];
    one.height = entry_.bbox[3];
    one.score = entry_.score->value;
    if (of_class == nullptr) {
      if (read_.of_other_classes++ == 0)
        read_.first_other_class =
            cat("category_id ", *entry_.category_id->whole,
                entry_.category_name ? cat(", ", printable(*entry_.category_name)) : "");
      return;
    }
    one.category = of_class->category;
    read_.detections.push_back(one);
  }

  static constexpr const char* bbox_hint = "bbox is [x, y, width, height]";
  static constexpr const char* ids_hint = "ids are those of the ground truth's json";
  static constexpr const char* others_hint =
      "these are ids of another json: score against that one, or score detections.csv, which goes "
      "by names";

  std::string name_;
  std::vector<NamedPicture> pictures_;  // sorted by id
  NamedPictures named_pictures_;
  std::vector<NamedClass> classes_;  // sorted by id
  std::map<std::string, std::int64_t> class_ids_;
  ReadDetections read_;
  std::int64_t index_ = 0;  // index of the entry
  Entry entry_;
  Member member_ = Member::other;
  std::size_t depth_ = 0;  // 1 = in the list, 2 = in an entry
};

}  // namespace

std::string_view stem_of(std::string_view file_name) {
  if (const std::size_t slash = file_name.find_last_of("/\\"); slash != file_name.npos)
    file_name.remove_prefix(slash + 1);
  const std::size_t dot = file_name.rfind('.');
  return dot == file_name.npos || dot == 0 ? file_name : file_name.substr(0, dot);
}

std::string results_json(std::span<const Detection> detections) {
  std::string text = "[";
  for (const Detection& one : detections) {
    for (const double number : {one.x, one.y, one.width, one.height, one.score})
      if (!std::isfinite(number))
        throw Error(cat("a detection of picture ", one.picture, " and category ", one.category,
                        " has a number that is not finite"));
    text += cat(text.size() > 1 ? ",\n" : "\n", "{\"image_id\": ", one.picture,
                ", \"category_id\": ", one.category, ", \"bbox\": [");
    append_json_number(text, one.x);
    for (const double number : {one.y, one.width, one.height}) {
      text += ", ";
      append_json_number(text, number);
    }
    text += "], \"score\": ";
    append_json_number(text, one.score);
    text += "}";
  }
  return text + "\n]\n";
}

ReadDetections parse_results_json(std::string_view text, const std::string& name,
                                  const KnownIds& known) {
  ResultsHandler handler(name, known);
  nlohmann::json::sax_parse(text, &handler);
  return handler.take();
}

ReadDetections read_results_json(const std::filesystem::path& path, const KnownIds& known) {
  return parse_results_json(read_file(path, data_bytes), path.string(), known);
}

}  // namespace lockstep::fewshot
