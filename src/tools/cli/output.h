// Output files of commands, and flags that several commands share.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"
#include "tools/cli/arguments.h"

namespace lockstep::cli {

enum class Written { yes, unread, failed };

// Standard output, an existing pipe or device, or a file, which is overwritten only on request. A
// new file is removed if nothing was written to it; an overwritten file stays unchanged until the
// first write. If the reader has gone, the program ends silently.
class Output {
 public:
  // path: "-" is standard output. overwrite: replaces an existing file in place (links stay links).
  // mode: for a new file. Throws Error if such a file exists already, or cannot be opened.
  explicit Output(const std::string& path, bool overwrite = false, mode_t mode = 0644);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  // On a terminal as `printable` with newlines and tabs kept, elsewhere byte for byte. unread: the
  // reader has gone. failed: the reason was printed.
  Written write(std::string_view text);
  bool is_standard_output() const { return !file_; }

 private:
  bool begin();  // false: see errno

  std::string path_;
  mode_t mode_;
  UniqueFd file_;  // none for standard output
  bool is_new_ = false, overwrites_ = false, begun_ = false;
};

// "-", /dev/stdout and its other names.
bool names_standard_output(const std::string& path);

// Call it before long work whose result is finally written to a file as a whole. Throws Error if
// the file exists already, or cannot be created there. overwrite: accepts an existing file.
void check_new_file(const std::filesystem::path& file, bool overwrite);

Flag overwrite_flag();  // --force, for each command that writes a file
bool may_overwrite(const Parsed& parsed);

// The value of a flag in seconds; `otherwise` without it. Throws Error if it is below `least`.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least);

// The number of an existing process. Throws Error that names its purpose.
int pid_of(const std::string& text, const std::string& what);

}  // namespace lockstep::cli
