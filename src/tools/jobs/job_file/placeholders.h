// Fills in the placeholders in the texts of a job: {name}, {1}, {} and {#}. The placeholders of an
// attempt, such as {out}, are filled in when the attempt starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

using JobParameters = std::vector<std::pair<std::string, std::string>>;  // pairs of name and value

// The placeholders that a text may have.
struct PlaceholderScope {
  std::vector<std::string> names;  // names of parameters; {1} stands for the first of them
  // Whether the text is a shell line. If so, values are quoted for the shell, and ${…} is left to
  // the shell.
  bool shell = false;
  bool attempt = true;  // whether {out}, {slot}, {gpu}, {cores} and {attempt} may occur in it
};

// A text with placeholders, which is parsed once and filled for many jobs.
//   {lr}       a parameter by its name
//   {1}        a parameter by its position
//   {}         all parameters, separated by spaces
//   {file/.}   a value without folder and extension: {x.} {x/} {x//} {x/.} work as in GNU parallel
//   {#}        the job's number
//   {{         a literal brace; the closing brace may then be written }}
// Other texts in braces stay unchanged, such as {print $1} and {"a": 1}.
class TextTemplate {
 public:
  // Throws Error, which names a placeholder without a value and suggests the nearest one.
  TextTemplate(std::string_view text, const PlaceholderScope& scope);

  // Returns the filled text, which fill_attempt() can read. Placeholders of an attempt stay.
  // Literal braces that look like such a placeholder are doubled. Throws Error if the job lacks a
  // parameter of the text.
  std::string fill(const JobParameters& parameters, std::int64_t number) const;

  bool uses_parameters() const;  // whether it uses a parameter or the job's number
  bool uses(std::string_view attempt_name) const;
  bool is_all() const;  // whether the whole text is {}

 private:
  enum class Kind { literal, parameter, all, number, attempt };
  struct Piece {
    Kind kind;
    std::string text;       // for `literal`: the text itself; for others: the text in the braces
    std::size_t index = 0;  // for `parameter`: its index in the names
    // ".", "/", "//" or "/." for a part of the value; empty for the whole value
    std::string part{};
  };

  void add_literal(std::string_view text);
  void add_placeholder(std::string_view inner, const PlaceholderScope& scope);
  const std::string& value(const Piece& piece, const JobParameters& parameters) const;
  void append(std::string& text, const std::string& value, const Piece& piece) const;

  std::vector<Piece> pieces_;
  std::vector<std::string> names_;
  bool shell_ = false;
};

// Returns the text as one word of a shell line.
std::string quote_for_shell(std::string_view text);

// The values that are known when an attempt begins.
struct AttemptValues {
  std::string out;  // {out}: the attempt's folder, absolute
  int slot = 0;     // {slot}
  // {gpu}: an index among the devices that the attempt sees; without a value, {gpu} becomes -1
  std::optional<int> gpu;
  int cores = 1;    // {cores}: number of assigned cores, at least 1
  int attempt = 1;  // {attempt}: number among the attempts of this job, from 1
};

// Returns the job with these values filled into command, environment, working folder and outputs.
// Relative outputs become absolute paths in the attempt's folder. In a shell line, the values are
// quoted.
Job fill_attempt(Job job, const AttemptValues& values);

// Fills one text in the same way, but never quotes the values.
std::string fill_attempt(std::string_view text, const AttemptValues& values);

// Whether the text still has a placeholder of an attempt.
bool needs_attempt(std::string_view text);

}  // namespace lockstep
