// Placeholders in the texts of a job: {name}, {1}, {}, {#}; and those of an attempt, which are
// filled in later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

using JobParameters = std::vector<std::pair<std::string, std::string>>;  // name, value

// The placeholders that a text may have.
struct PlaceholderScope {
  std::vector<std::string> names;  // of parameters; {1} is the first of them
  // The text is a shell line: values are quoted for it, and ${…} belongs to the shell.
  bool shell = false;
  bool attempt = true;  // {out}, {slot}, {gpu}, {cores} and {attempt} may occur in it
};

// A text with placeholders, parsed once and filled for many jobs.
//   {lr} {1} {}     a parameter by name, by place; all of them, with spaces between
//   {file/.}        without folder and extension: {x.} {x/} {x//} {x/.} work as in GNU parallel
//   {#}             the job's number
//   {{              a literal brace; a }} that closes it is one too
// Braces around anything else stay unchanged: {print $1}, {"a": 1}.
class TextTemplate {
 public:
  // Throws Error for a placeholder without a value; it names it, and suggests the nearest one.
  TextTemplate(std::string_view text, const PlaceholderScope& scope);

  // Returns the filled text, for fill_attempt. Placeholders of an attempt stay, and literal braces
  // that look like one are doubled. Throws Error if the job lacks a parameter of the text.
  std::string fill(const JobParameters& parameters, std::int64_t number) const;

  bool uses_parameters() const;  // or the job's number
  bool uses(std::string_view attempt_name) const;
  bool is_all() const;  // whether it is just {}

 private:
  enum class Kind { literal, parameter, all, number, attempt };
  struct Piece {
    Kind kind;
    std::string text;       // for `literal`: itself; otherwise the text in the braces
    std::size_t index = 0;  // for `parameter`
    std::string part{};     // ".", "/", "//" or "/.": a part of the value
  };

  void add_literal(std::string_view text);
  void add_placeholder(std::string_view inner, const PlaceholderScope& scope);
  const std::string& value(const Piece& piece, const JobParameters& parameters) const;
  void append(std::string& text, const std::string& value, const Piece& piece) const;

  std::vector<Piece> pieces_;
  std::vector<std::string> names_;
  bool shell_ = false;
};

// `text` as one word of a shell's line.
std::string quote_for_shell(std::string_view text);

// Values known when an attempt begins.
struct AttemptValues {
  std::string out;         // {out}: its folder, absolute
  int slot = 0;            // {slot}
  std::optional<int> gpu;  // {gpu}: index among the devices that the attempt sees; -1 without one
  int cores = 1;           // {cores}: those assigned, at least 1
  int attempt = 1;         // {attempt}: from 1
};

// Returns the job with these values filled into command, environment, working folder and outputs.
// Relative outputs become absolute paths in the attempt's folder.
Job fill_attempt(Job job, const AttemptValues& values);

// Fills one text of a job in the same way, but never quotes.
std::string fill_attempt(std::string_view text, const AttemptValues& values);

// Whether the text still has a placeholder of an attempt.
bool needs_attempt(std::string_view text);

}  // namespace lockstep
