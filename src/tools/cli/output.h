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

// Writes to standard output, an existing pipe or device, or a file, which it overwrites only on
// request. A new file is removed if nothing was written to it. An overwritten file stays unchanged
// until the first write. If the reader has gone, the program ends silently.
class Output {
 public:
  // path: "-" is standard output. overwrite: replaces an existing file in place (links stay links).
  // mode: for a new file. Throws Error if the file exists and may not be overwritten, or cannot be
  // opened.
  explicit Output(const std::string& path, bool overwrite = false, mode_t mode = 0644);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  // On a terminal, writes the text as `printable` makes it, but keeps newlines and tabs; elsewhere
  // writes it byte for byte. Returns `unread` if the reader has gone, and `failed` if writing
  // failed; the reason was then printed.
  Written write(std::string_view text);
  bool is_standard_output() const { return !file_; }

 private:
  bool begin();  // false: see errno

  std::string path_;
  mode_t mode_;
  UniqueFd file_;  // none for standard output
  bool is_new_ = false, overwrites_ = false, begun_ = false;
};

// Whether the path is "-", /dev/stdout or another name of it.
bool names_standard_output(const std::string& path);

// Call it before long work that finally writes its whole result to a file. Throws Error if the file
// exists already, or cannot be created there. overwrite: accepts an existing file.
void check_new_file(const std::filesystem::path& file, bool overwrite);

Flag overwrite_flag();  // --force, for each command that writes a file
bool may_overwrite(const Parsed& parsed);

// The value of a flag in seconds; `otherwise` if the flag is absent. Throws Error if it is below
// `least`.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least);

// The number of an existing process. Throws Error that names `what`, the use of the number.
int pid_of(const std::string& text, const std::string& what);

}  // namespace lockstep::cli
