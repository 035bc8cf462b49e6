// The one error type that users see: what went wrong, and what to do about it.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

// Shortens a message that is too long to read: its middle becomes "…". It keeps 200 characters of a
// word (a value, without blanks), 1024 of a path (a word with a slash), and 2000 of a line. No
// character of UTF-8 is cut.
std::string shortened(std::string_view message);

// Thrown for anything that a user can cause or repair. Only `main` catches it. It prints
//   error: WHAT
//
//   hint: HINT
// and exits with code 2. A broken invariant of Lockstep's own is a LOCKSTEP_CHECK instead.
class Error : public std::exception {
 public:
  // Both texts are shortened: values in them come from users or files and may have any length.
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

// Open files, processes or memory are used up. They may be free again later.
class ShortOfResources : public Error {
 public:
  using Error::Error;
};

// An option needs a file that is not named or does not exist. The options can still be shown.
class MissingFile : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep
