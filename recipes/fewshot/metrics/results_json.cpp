// Detections as COCO's results json.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/text.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {
namespace {

enum class Member { other, image_id, category_id, bbox, score };
constexpr std::array member_names{"other", "image_id", "category_id", "bbox", "score"};

struct Number {
  double value = 0;
  std::optional<std::int64_t> whole;
};

struct Entry {
  std::optional<Number> image_id, category_id, score;
  std::vector<double> bbox;
  bool has_bbox = false;
};

// 5.0 is an id like 5, as in Python.
std::optional<std::int64_t> whole_of(double value) {
  constexpr double exact = 9007199254740992;  // doubles up to here hold every whole number
  if (std::abs(value) > exact || std::floor(value) != value) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Takes the parser's events. A file of any size needs no more memory than its detections.
class ResultsHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  ResultsHandler(const std::string& name, const KnownIds& known)
      : name_(name), pictures_(known.pictures), categories_(known.categories) {
    std::sort(pictures_.begin(), pictures_.end());
    std::sort(categories_.begin(), categories_.end());
  }

  std::vector<Detection> take() { return std::move(detections_); }

  bool null() override { return no_number("null"); }
  bool boolean(bool) override { return no_number("a truth value"); }
  bool string(string_t&) override { return no_number("a text"); }
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
    if (--depth_ == 1) finish_entry();
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
  std::string place() const { return cat(name_, ", entry ", detections_.size()); }

  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    throw Error(cat(place(), " ", what), hint);
  }
  [[noreturn]] void no_list() const {
    throw Error(cat(name_, " holds no list of detections"),
                "[{\"image_id\": 1, \"category_id\": 1, \"bbox\": [x, y, width, height], "
                "\"score\": 0.5}, …]");
  }

  // A value that may not stand for one of the members.
  bool no_number(const char* what) {
    if (depth_ == 0) no_list();
    if (depth_ == 1) fail(cat("is ", what, ", not an object"), "");
    const bool in_bbox = depth_ == 3 && member_ == Member::bbox;
    if ((depth_ == 2 && member_ != Member::other) || in_bbox)
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

  std::int64_t id(const std::optional<Number>& number, const char* what,
                  const std::vector<std::int64_t>& known) const {
    if (!number) fail(cat("has no ", what), "");
    const std::optional<std::int64_t> whole = number->whole;
    if (!whole || !std::binary_search(known.begin(), known.end(), *whole))
      fail(cat("has the unknown ", what, " ",
               whole ? std::to_string(*whole) : general(number->value, 17)),
           "ids are those of the ground truth's json");
    return *whole;
  }

  void finish_entry() {
    Detection one{.picture = id(entry_.image_id, "image_id", pictures_),
                  .category = id(entry_.category_id, "category_id", categories_)};
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
    detections_.push_back(one);
  }

  static constexpr const char* bbox_hint = "bbox is [x, y, width, height]";

  std::string name_;
  std::vector<std::int64_t> pictures_, categories_;
  std::vector<Detection> detections_;
  Entry entry_;
  Member member_ = Member::other;
  std::size_t depth_ = 0;  // 1: in the list, 2: in an entry
};

}  // namespace

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

std::vector<Detection> parse_results_json(std::string_view text, const std::string& name,
                                          const KnownIds& known) {
  ResultsHandler handler(name, known);
  nlohmann::json::sax_parse(text, &handler);
  return handler.take();
}

std::vector<Detection> read_results_json(const std::filesystem::path& path, const KnownIds& known) {
  return parse_results_json(read_file(path, data_bytes), path.string(), known);
}

}  // namespace lockstep::fewshot
