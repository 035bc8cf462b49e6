// Reads the elements of a JSON list as lines, one part of the file after another.
#include "recipes/textgen/prepare/json_list.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {
namespace {

bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

void JsonListLines::push(std::string_view part, std::string& lines) {
  for (const char c : part) {
    if (in_text_)
      within_text(c, lines);
    else if (place_ == Place::within)
      outside_text(c, lines);
    else if (place_ == Place::before && c == '[')
      place_ = Place::within;
    else if (!is_json_blank(c))
      throw Error(place_ == Place::before ? "is no list" : "goes on behind the list's end");
  }
}

void JsonListLines::within_text(char c, std::string& lines) {
  if (c == '\n')
    throw Error(cat("document ", element_, " has a line break within a text, which must be \\n"));
  lines += c;
  if (!escaped_ && c == '"') in_text_ = false;
  escaped_ = !escaped_ && c == '\\';
}

void JsonListLines::outside_text(char c, std::string& lines) {
  if (is_json_blank(c)) {
    if (has_content_) lines += ' ';
  } else if (depth_ == 0 && (c == ',' || c == ']')) {
    end_element(c, lines);
  } else {
    has_content_ = true;
    in_text_ = c == '"';
    if (c == '[' || c == '{') ++depth_;
    if (depth_ > 0 && (c == ']' || c == '}')) --depth_;
    lines += c;
  }
}

void JsonListLines::end_element(char c, std::string& lines) {
  if (!has_content_ && (c == ',' || after_comma_))
    throw Error(cat("document ", element_, " is nothing but a comma"));
  if (has_content_) lines += '\n';
  if (c == ']') place_ = Place::behind;
  after_comma_ = c == ',';
  has_content_ = false;
  ++element_;
}

void JsonListLines::finish() const {
  if (place_ != Place::behind) throw Error("breaks off: the list has no ] at its end");
}

}  // namespace lockstep::textgen
