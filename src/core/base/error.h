// The only type of error that users see: what went wrong, and what to do about it.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

// Shortens a message that is too long to read. It replaces the middle of long parts with "…". It
// keeps 200 characters of a word, 1024 of a path (a word with a slash), and 2000 of a line. UTF-8
// characters are not cut.
std::string shortened(std::string_view message);

// Thrown for anything that a user can cause or fix. Only `main` catches it. It prints
//   error: WHAT
//
//   hint: HINT
// and exits with code 2. A bug of Lockstep itself is a LOCKSTEP_CHECK instead.
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

// The system has no more open files, processes or memory. They may become free later.
class ShortOfResources : public Error {
 public:
  using Error::Error;
};

// An option needs a file that is not named or does not exist. The options can still be displayed.
class MissingFile : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep
