// Where a command writes what it was asked to keep, and flags that several commands read alike.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cli/arguments.h"

namespace lockstep::cli {

enum class Written { yes, unread, failed };

// Standard output, a pipe or device that is there, or a file, which nothing overwrites unless it is
// told to. A new file is gone again where nothing was written to it; one that is overwritten is as
// it was until then. A reader that has seen enough ends the program without a word.
class Output {
 public:
  // path: "-" is standard output. overwrite: a file that is there, in its place (links stay links).
  // mode: of a new file. Throws Error if there is such a file already, or it cannot be opened.
  explicit Output(const std::string& path, bool overwrite = false, mode_t mode = 0644);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  // On a terminal as `printable` with newlines and tabs kept, elsewhere byte for byte. unread:
  // nobody reads it any more. failed: it says why.
  Written write(std::string_view text);
  bool is_standard_output() const { return !file_; }

 private:
  bool begin();  // false: errno says why

  std::string path_;
  mode_t mode_;
  UniqueFd file_;  // none for standard output
  bool is_new_ = false, overwrites_ = false, begun_ = false;
};

// "-", /dev/stdout and the other names of it.
bool names_standard_output(const std::string& path);

// Before long work whose result goes to a file, written whole in the end. Throws Error if there is
// something already, or it cannot be made there. overwrite: a file that is there.
void check_new_file(const std::filesystem::path& file, bool overwrite);

Flag overwrite_flag();  // --force, of each command that writes a file
bool may_overwrite(const Parsed& parsed);

// Of a flag, in seconds; `otherwise` without it. Throws Error if it is below `least`.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least);

// A process that is there. Throws Error, naming what it is for.
int pid_of(const std::string& text, const std::string& what);

}  // namespace lockstep::cli
