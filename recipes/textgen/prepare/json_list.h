// Reads a JSON list in parts, and turns each element into a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Elements may be of any JSON type. Whitespace around and within elements may change, but not
// within strings. Takes linear time and constant memory. Only the brackets and quotes of elements
// are examined. Other faults are found later, when the lines are parsed.
class JsonListLines {
 public:
  // Appends the lines of the next part to `lines`. Throws Error if the list has a fault. The Error
  // names the fault, for example "has no ] at its end".
  void push(std::string_view part, std::string& lines);
  void finish() const;  // call it after the last part; throws Error as push() does

 private:
  enum class Place { before, within, behind };
  void within_text(char c, std::string& lines);
  void outside_text(char c, std::string& lines);
  void end_element(char c, std::string& lines);

  Place place_ = Place::before;
  bool in_text_ = false, escaped_ = false;
  bool has_content_ = false;  // whether the element has any character
  bool after_comma_ = false;
  std::int64_t depth_ = 0, element_ = 1;
};

}  // namespace lockstep::textgen
