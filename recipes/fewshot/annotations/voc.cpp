// Handles the events of expat and keeps the path of the current element.
#include "recipes/fewshot/annotations/voc.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/annotations/xml_encoding.h"

namespace lockstep::fewshot {
namespace {

constexpr int largest_voc_extent = 65'535;
constexpr std::size_t most_objects = 100'000, deepest = 50;

std::optional<double> finite_number(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

struct Corners {
  std::optional<double> left, top, right, bottom;
};

// Exceptions must not pass through expat, because it is C. So the first error is stored and the
// parser is stopped.
class VocParser {
 public:
  // encoding: replaces the encoding that the text declares; null to use the declared one.
  VocParser(const std::string& name, const char* encoding)
      : name_(name), parser_(XML_ParserCreate(encoding), &XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char**) {
          static_cast<VocParser*>(self)->start(element);
        },
        [](void* self, const XML_Char*) { static_cast<VocParser*>(self)->end(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int length) {
      static_cast<VocParser*>(self)->text_.append(text, static_cast<std::size_t>(length));
    });
    // A document type is accepted. Entities are never expanded; one that is declared or undefined
    // is an error.
    XML_SetEntityDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                          const XML_Char*, const XML_Char*, const XML_Char*) {
          static_cast<VocParser*>(self)->stop("it declares an entity, which VOC's files do not");
        });
    XML_SetSkippedEntityHandler(parser_.get(), [](void* self, const XML_Char* entity, int) {
      static_cast<VocParser*>(self)->stop(cat("undefined entity &", printable(entity), ";"));
    });
  }

  VocAnnotation parse(std::string_view text) {
    constexpr std::size_t largest = std::numeric_limits<int>::max();
    if (text.size() > largest) throw Error(cat(name_, " is too large for one picture's xml"));
    const XML_Status status =
        XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), /*isFinal=*/1);
    if (!fault_.empty()) throw Error(cat(name_, ":", fault_line_, ": ", fault_), fault_hint);
    if (status != XML_STATUS_OK)
      throw Error(cat(name_, ":", XML_GetCurrentLineNumber(parser_.get()),
                      ": this is no xml: ", XML_ErrorString(XML_GetErrorCode(parser_.get()))),
                  "the file may be cut off");
    return std::move(annotation_);
  }

 private:
  static constexpr const char* fault_hint =
      "Pascal VOC has annotation/size/{width,height} and annotation/object/{name,bndbox}";

  void stop(std::string fault) {
    if (!fault_.empty()) return;
    fault_ = std::move(fault);
    fault_line_ = static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_.get()));
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  // A parser that was stopped may still call handlers, for example for the end of an element.
  void start(const char* element) {
    if (!fault_.empty()) return;
    if (path_.empty() && std::string_view(element) != "annotation")
      return stop(cat("the file is <", printable(element), ">, not <annotation>"));
    if (path_.size() >= deepest) return stop(cat("elements are nested deeper than ", deepest));
    path_.emplace_back(element);
    text_.clear();
    if (!is_at({"annotation", "object"})) {
      if (is_at({"annotation", "object", "bndbox"})) start_box();
      return;
    }
    if (annotation_.objects.size() >= most_objects)
      return stop(cat("it has more than ", most_objects, " objects"));
    object_ = {};
    corners_ = {};
    has_box_ = false;
  }
  void start_box() {
    if (has_box_) stop(cat("the object ", object_text(), " has two bndbox"));
    has_box_ = true;
  }

  void end() {
    if (!fault_.empty()) return;
    const std::string value = trim(text_);
    text_.clear();
    if (is_at({"annotation", "object"}))
      finish_object();
    else if (is_at({"annotation", "filename"}))
      annotation_.file_name = value;
    else if (is_at({"annotation", "size", "width"}))
      read_extent(value, annotation_.width);
    else if (is_at({"annotation", "size", "height"}))
      read_extent(value, annotation_.height);
    else if (is_at({"annotation", "object", "name"}))
      object_.name = value;
    else if (is_at({"annotation", "object", "difficult"}))
      read_flag(value);
    else if (path_.size() == 4 && path_[2] == "bndbox" && path_[1] == "object")
      read_corner(path_[3], value);
    path_.pop_back();
  }

  bool is_at(std::initializer_list<std::string_view> path) const {
    return std::equal(path_.begin(), path_.end(), path.begin(), path.end());
  }

  // If the size is unknown, tools write 0, nothing, or Python's None.
  void read_extent(const std::string& value, int& extent) {
    if (value.empty() || in_small_letters(value) == "none") return;
    const std::optional<double> number = finite_number(value);
    if (!number || *number < 0 || *number > largest_voc_extent || std::trunc(*number) != *number)
      return stop(cat(path_.back(), " must be a whole number up to ", largest_voc_extent,
                      ", but is ", shown(value)));
    extent = static_cast<int>(*number);
  }
  void read_flag(const std::string& value) {
    // Programs in Python write True, False and None.
    const std::string word = in_small_letters(value);
    const bool is_set = word == "1" || word == "true";
    if (!is_set && !word.empty() && word != "0" && word != "false" && word != "none" &&
        word != "unspecified")
      return stop(cat("difficult must be 0 or 1, but is ", shown(value)));
    object_.difficult = is_set;
  }
  void read_corner(const std::string& corner, const std::string& value) {
    std::optional<double>* const at = corner == "xmin"   ? &corners_.left
                                      : corner == "ymin" ? &corners_.top
                                      : corner == "xmax" ? &corners_.right
                                      : corner == "ymax" ? &corners_.bottom
                                                         : nullptr;
    if (at == nullptr) return;
    *at = finite_number(value);
    if (!*at)
      stop(cat(corner, " of the object ", object_text(), " must be a number, but is ",
               shown(value)));
  }
  void finish_object() {
    const auto& [left, top, right, bottom] = corners_;
    if (object_.name.empty()) return stop(cat("object ", number(), " has no name"));
    if (!has_box_) return stop(cat("the object ", object_text(), " has no bndbox"));
    if (!left || !top || !right || !bottom)
      return stop(
          cat("the bndbox of the object ", object_text(), " needs xmin, ymin, xmax and ymax"));
    object_.x = *left - 1;
    object_.y = *top - 1;
    object_.w = *right - *left + 1;
    object_.h = *bottom - *top + 1;
    annotation_.objects.push_back(object_);
  }

  std::size_t number() const { return annotation_.objects.size() + 1; }
  std::string object_text() const {
    return cat(number(),
               object_.name.empty() ? "" : " (" + printable(object_.name.substr(0, 60)) + ")");
  }
  static std::string shown(const std::string& value) {
    return "\"" + printable(value.substr(0, 60)) + "\"";
  }

  const std::string& name_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
  std::vector<std::string> path_;
  std::string text_;
  VocAnnotation annotation_;
  VocObject object_;
  Corners corners_;
  bool has_box_ = false;
  std::string fault_;
  std::int64_t fault_line_ = 0;
};

}  // namespace

VocAnnotation parse_voc(std::string_view text, const std::string& name) {
  const auto converted = xml_as_utf8(text, name);
  if (!converted) return VocParser(name, nullptr).parse(text);
  return VocParser(name, "UTF-8").parse(*converted);
}

}  // namespace lockstep::fewshot
