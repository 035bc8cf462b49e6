// A list of JSON read in parts, as lines: each element becomes a line, whatever it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Blanks around and within elements may change, texts never do. Linear, and in memory that does not
// grow. It reads only the brackets and quotes of elements. The parser of the lines finds other
// faults in them.
class JsonListLines {
 public:
  // Adds the lines of the next part. Throws Error, which says what is wrong with the list: "has no
  // ] at its end".
  void push(std::string_view part, std::string& lines);
  void finish() const;  // there is no more; throws likewise

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
