#include "runtime/run/names.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>

namespace lockstep {

std::string name_by_time(const std::string& what) {
  const std::time_t now = static_cast<std::time_t>(system_clock().wall_s());
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "-%Y%m%d-%H%M%S", &local);
  return what + text;
}

std::string make_folder_by_time(const std::filesystem::path& root, const std::string& what) {
  make_directories(root);
  const std::string base = name_by_time(what);
  std::string name = base;
  for (int i = 2;; ++i) {
    std::error_code ignored;
    if (!std::filesystem::exists(root / (name + ".toml"), ignored)) {
      if (mkdir((root / name).c_str(), 0777) == 0) return name;
      if (errno != EEXIST)
        throw Error(cat("cannot make ", (root / name).string(), ": ", errno_text(errno)),
                    "set run.root to a folder that you can write to");
    }
    name = cat(base, "-", i);
  }
}

}  // namespace lockstep
