// Placeholders in the texts of a job: {name}, {1}, {}, {#}; and those of an attempt, filled later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/job.h"

namespace lockstep {

using JobParameters = std::vector<std::pair<std::string, std::string>>;  // name, value

// Which placeholders a text may have.
struct PlaceholderScope {
  std::vector<std::string> names;  // of parameters; {1} is the first of them
  // The text is a line for the shell: values are quoted for it, and ${…} is its own.
  bool shell = false;
  bool attempt = true;  // {out}, {slot}, {gpu}, {cores} and {attempt} may stand in it
};

// A text with placeholders, parsed once and filled for many jobs.
//   {lr} {1} {}     a parameter by name, by place; all of them, with spaces between
//   {file/.}        without folder and extension: {x.} {x/} {x//} {x/.} as in GNU parallel
//   {#}             the job's number
//   {{              a brace; so is a }} that closes it
// Braces around anything else stay as they are: {print $1}, {"a": 1}.
class TextTemplate {
 public:
  // Throws Error for a placeholder that has no value: names it, and the nearest that has one.
  TextTemplate(std::string_view text, const PlaceholderScope& scope);

  // The text with the placeholders of an attempt left in it, and literal braces that look like one
  // doubled, for fill_attempt. Throws Error if a parameter of the text is none of this job.
  std::string fill(const JobParameters& parameters, std::int64_t number) const;

  bool uses_parameters() const;  // or the number
  bool uses(std::string_view attempt_name) const;
  bool is_all() const;  // just {}

 private:
  enum class Kind { literal, parameter, all, number, attempt };
  struct Piece {
    Kind kind;
    std::string text;       // of `literal`: itself; else what stands in the braces
    std::size_t index = 0;  // of `parameter`
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

// What is known once an attempt begins.
struct AttemptValues {
  std::string out;         // {out}: its folder, absolute
  int slot = 0;            // {slot}
  std::optional<int> gpu;  // {gpu}: index among the devices that the attempt sees; -1 without one
  int cores = 1;           // {cores}: that it is given, at least 1
  int attempt = 1;         // {attempt}: from 1
};

// The job with these filled in: command, environment, working folder, outputs. Outputs become
// absolute: relative ones lie in the folder of the attempt.
Job fill_attempt(Job job, const AttemptValues& values);

// One text of a job, filled in the same way; never quoted.
std::string fill_attempt(std::string_view text, const AttemptValues& values);

// Whether the text still has a placeholder of an attempt.
bool needs_attempt(std::string_view text);

}  // namespace lockstep
