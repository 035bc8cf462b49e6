// Shared by all fuzzers: the input as a text or as a file, and the check that a parser accepts or
// rejects it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"

// Defined by every *_fuzz.cpp: hands the bytes to one parser. A crash, a finding of a sanitizer, an
// exception and a LOCKSTEP_CHECK that does not hold are findings.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lockstep::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Removes and returns the text before the first separator. The separator is removed too.
inline std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

// Whether the parser accepted its input. It rejects an input by an Error with a message. Any other
// exception ends the program.
template <class Action>
bool accepts(Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    LOCKSTEP_CHECK(*error.what() != '\0');
    return false;
  }
}

// A file in memory for readers that take a path.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    LOCKSTEP_CHECK(fd_);
    path_ = cat("/proc/self/fd/", fd_.get());
  }
  void write(std::string_view text) const {
    LOCKSTEP_CHECK(ftruncate(fd_.get(), 0) == 0);
    LOCKSTEP_CHECK(pwrite(fd_.get(), text.data(), text.size(), 0) ==
                   static_cast<ssize_t>(text.size()));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::filesystem::path path_;
};

}  // namespace lockstep::fuzz
