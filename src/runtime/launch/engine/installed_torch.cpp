// Asks Python for torch, and reads its version from the package's files.
#include "runtime/launch/engine/installed_torch.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const char* const how_to_install = "pip install 'torch>=2.11,<2.16' in the same environment";

// Prints the folder behind a mark, since a site's own modules may print too. A folder named torch
// in the current directory is not the package.
const char* const where_is_torch =
    "import sys, importlib.util\n"
    "sys.path[:] = [folder for folder in sys.path if folder]\n"
    "found = importlib.util.find_spec('torch')\n"
    "print('torch-is-in:' + (list(found.submodule_search_locations or [''])[0] if found else "
    "''))\n";

std::string python_of(const fs::path& prefix) {
  for (const char* name : {"python3", "python"})
    if (fs::exists(prefix / "bin" / name)) return (prefix / "bin" / name).string();
  return "python3";
}

std::string told_folder(const std::string& python) {
  const ChildOutput answer = [&] {
    try {
      return child_output({python, "-c", where_is_torch});
    } catch (const Error& error) {
      throw Error(
          cat("this command needs torch, and there is no Python to ask for it: ", error.what()),
          how_to_install);
    }
  }();
  constexpr std::string_view mark = "torch-is-in:";
  for (const std::string& line : split(answer.out, '\n'))
    if (line.starts_with(mark)) return trim(line.substr(mark.size()));
  throw Error(cat(python, " could not be asked for torch: it ended with code ", answer.code),
              "its message is above");
}

// The text in the line  __version__ = '2.11.0+cu130'.
std::string version_in(const fs::path& file) {
  for (const std::string& line : split(fs::exists(file) ? read_file(file) : "", '\n')) {
    if (!line.starts_with("__version__")) continue;
    const std::size_t begin = line.find_first_of("'\"");
    const std::size_t end = line.find_first_of("'\"", begin == line.npos ? begin : begin + 1);
    if (end != line.npos) return line.substr(begin + 1, end - begin - 1);
  }
  return "";
}

}  // namespace

std::string minor_version(const std::string& version) {
  const std::vector<std::string> parts = split(version, '.');
  const auto is_number = [](const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (parts.size() < 2 || !is_number(parts[0]) || !is_number(parts[1])) return "";
  return cat(parts[0], ".", parts[1]);
}

InstalledTorch find_torch(const fs::path& prefix) {
  const std::string python = python_of(prefix);
  const fs::path folder = told_folder(python);
  if (folder.empty())
    throw Error(cat("this command needs torch, which ", python, " does not find"), how_to_install);
  InstalledTorch torch{.folder = folder, .version = version_in(folder / "version.py")};
  if (minor_version(torch.version).empty())
    throw Error(
        cat("the torch in ", folder.string(), " is not complete: its version.py says no version"),
        "install torch again");
  return torch;
}

std::optional<WheelEngine> find_engine(const fs::path& prefix) {
  const fs::path engines = prefix / "lib/lockstep";
  const std::string name = "torch-";
  std::vector<std::string> known;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(engines, failed))
    if (const std::string found = entry.path().filename(); found.starts_with(name))
      known.push_back(found.substr(name.size()));
  if (known.empty()) return std::nullopt;
  InstalledTorch torch = find_torch(prefix);
  const std::string wanted = minor_version(torch.version);
  if (std::find(known.begin(), known.end(), wanted) != known.end())
    return WheelEngine{.folder = engines / (name + wanted), .torch = std::move(torch)};
  std::sort(known.begin(), known.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;  // 2.9 comes before 2.11
  });
  throw Error(cat("torch ", torch.version, " in ", torch.folder.string(),
                  " is not a version that this Lockstep was built for: ", join(known, ", ")),
              cat("pip install 'torch==", known.back(), ".*' in the same environment"));
}

}  // namespace lockstep
