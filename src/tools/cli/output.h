// Writes the output files of commands, and reads flags that several commands share.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"
#include "tools/cli/arguments.h"

namespace lockstep::cli {

enum class Written { yes, unread, failed };

// Writes to standard output, to an existing pipe or device, or to a file. An existing file is
// overwritten only on request, and stays unchanged until the first write. The destructor removes a
// new file to which nothing was written.
class Output {
 public:
  // path: "-" is standard output. overwrite: whether to overwrite an existing file in place;
  // symbolic links stay. mode: permissions of a new file. If `mode` gives other users no
  // permissions, they also lose their permissions of an overwritten file. Throws Error if the file
  // exists and may not be overwritten, or cannot be opened.
  explicit Output(const std::string& path, bool overwrite = false, mode_t mode = 0644);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  // On a terminal, writes the text as `printable` returns it, but keeps newlines and tabs.
  // Elsewhere, writes the bytes unchanged. Returns `unread` if the reader of a pipe has gone; the
  // command should then end silently. Returns `failed` if writing failed in another way; the reason
  // was then printed.
  Written write(std::string_view text);
  bool is_standard_output() const { return !file_; }

 private:
  bool begin();  // returns false if it fails; errno has the reason

  std::string path_;
  mode_t mode_;
  UniqueFd file_;  // empty for standard output
  bool is_new_ = false, overwrites_ = false, begun_ = false;
};

// Whether the path is "-", /dev/stdout or another name of standard output.
bool names_standard_output(const std::string& path);

// Call it before long work whose result is written to a file at the end. Throws Error if the file
// exists already, or cannot be created. overwrite: whether an existing regular file is accepted.
void check_new_file(const std::filesystem::path& file, bool overwrite);

Flag overwrite_flag();  // --force, for each command that writes a file
bool may_overwrite(const Parsed& parsed);

// Returns the value of a flag in seconds, or `otherwise` if the flag is absent. Throws Error if the
// value is not a duration, or is below `least`.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least);

// Parses the number of an existing process. Throws Error for any other text. what: the name of the
// value in messages.
int pid_of(const std::string& text, const std::string& what);

}  // namespace lockstep::cli
