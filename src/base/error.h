// The one error type that users see: what went wrong, and what to do about it.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace lockstep {

// Thrown for anything a user can cause or mend; caught in `main` only, which prints
//   error: WHAT
//
//   hint: HINT
// and exits with code 2. A broken invariant of ours is LOCKSTEP_CHECK instead.
class Error : public std::exception {
 public:
  explicit Error(std::string what, std::string hint = {})
      : what_(std::move(what)), hint_(std::move(hint)) {
    std::replace(what_.begin(), what_.end(), '\0', '?');  // from a file: what() would end there
  }
  const char* what() const noexcept override { return what_.c_str(); }
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string what_;
  std::string hint_;
};

// Files, processes or memory were used up: the same may go later.
class ShortOfResources : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep
