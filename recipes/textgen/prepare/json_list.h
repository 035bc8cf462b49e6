// Reads a list of JSON in parts, and turns each element, whatever it is, into a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Blanks around and within elements may change, but texts do not. Takes linear time and constant
// memory. It examines only the brackets and quotes of elements; the parser of the lines finds other
// faults.
class JsonListLines {
 public:
  // Adds the lines of the next part. Throws Error, which says what is wrong with the list, for
  // example "has no ] at its end".
  void push(std::string_view part, std::string& lines);
  void finish() const;  // says that no further part comes; throws the same

 private:
  enum class Place { before, within, behind };
  void within_text(char c, std::string& lines);
  void outside_text(char c, std::string& lines);
  void end_element(char c, std::string& lines);

  Place place_ = Place::before;
  bool in_text_ = false, escaped_ = false;
  bool has_content_ = false;  // of the element
  bool after_comma_ = false;
  std::int64_t depth_ = 0, element_ = 1;
};

}  // namespace lockstep::textgen
