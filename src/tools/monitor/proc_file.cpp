#include "tools/monitor/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "core/base/files/fd.h"
#include "core/base/whole_number.h"

namespace lockstep {

ProcFile read_proc_file(const std::filesystem::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {.error = errno};
  ProcFile file;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {.error = errno};
    if (got == 0) return file;
    file.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

ProcStat parse_proc_stat(const std::string& stat) {
  const std::size_t begin = stat.find('('), end = stat.rfind(')');
  if (begin == stat.npos || end == stat.npos || end < begin) return {};
  std::istringstream rest(stat.substr(end + 1));
  return {.name = stat.substr(begin + 1, end - begin - 1),
          .fields = {std::istream_iterator<std::string>(rest), {}}};
}

double ticks_s(const std::string& ticks) {
  return std::strtod(ticks.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::vector<int> process_numbers(const std::filesystem::path& proc) {
  std::vector<int> numbers;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(proc, ignored)) {
    if (const auto number = whole_number<int>(entry.path().filename().native()))
      numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace lockstep
