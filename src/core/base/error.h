// The exception type for all errors that users see: what went wrong, and what to do about it.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

// Shortens a message that is too long to read, by replacing the middle of long words and lines with
// "…". Keeps 200 characters of a word, 1024 of a path (a word with a slash), and 2000 of a line.
// UTF-8 characters are not cut.
std::string shortened(std::string_view message);

// Thrown for anything that a user can cause or fix. `main` catches it, prints
//   error: WHAT
//
//   hint: HINT
// and exits with code 2. For a bug in Lockstep itself, LOCKSTEP_CHECK is used instead.
class Error : public std::exception {
 public:
  // Both texts are shortened, because values from users or files may have any length.
  explicit Error(const std::string& what, const std::string& hint = {})
      : what_(shortened(what)), hint_(shortened(hint)) {
    // A zero byte, for example from a file, would end the text of what().
    std::replace(what_.begin(), what_.end(), '\0', '?');
  }
  const char* what() const noexcept override { return what_.c_str(); }
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string what_;
  std::string hint_;
};

// A system limit is reached: open files, processes or memory. A later attempt may succeed.
class ShortOfResources : public Error {
 public:
  using Error::Error;
};

// An option must name a file, but its value is empty or the file does not exist. A caller that only
// displays the options may ignore this error.
class MissingFile : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep
