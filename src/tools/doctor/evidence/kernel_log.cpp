#include "tools/doctor/evidence/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "core/base/files/fd.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

// Calls take_line(line) for each line. /dev/kmsg returns one record per read, and an error if
// records were overwritten. A regular file is read in blocks.
void read_lines(const std::filesystem::path& path, auto take_line) {
  constexpr std::size_t longest_line = 1 << 16;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return;
  std::string rest;
  std::array<char, 8192> buffer{};
  for (;;) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (got <= 0) break;
    rest.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1)
      take_line(std::string_view(rest).substr(begin, end - begin));
    rest.erase(0, rest.size() - begin > longest_line ? rest.npos : begin);
  }
}

struct Entry {
  std::string pci;
  int xid = 0;
  double at_s = 0;
};

// Parses lines such as "6,1234,5678901,-;NVRM: Xid (PCI:0000:65:00): 79, pid=…". The PCI address
// may also be "(PCI:0000:65:00 GPU-I:01)".
std::optional<Entry> entry_of(std::string_view line) {
  constexpr std::string_view mark = "NVRM: Xid (PCI:";
  const std::size_t head = line.find(';');
  if (head == line.npos || line.substr(head + 1, mark.size()) != mark) return std::nullopt;
  const std::vector<std::string> fields = split(line.substr(0, head), ',');
  const std::optional<long long> at_us =
      fields.size() < 3 ? std::nullopt : whole_number<long long>(fields[2]);
  line.remove_prefix(head + 1 + mark.size());
  const std::size_t end = line.find("): ");
  if (!at_us || end == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(end + 3);
  const auto xid = whole_number<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!xid) return std::nullopt;
  const std::string_view address = line.substr(0, std::min(end, line.find(' ')));
  return Entry{cat(address, ".0"), *xid, static_cast<double>(*at_us) * 1e-6};
}

}  // namespace

std::map<std::string, std::vector<GpuFault>> gpu_faults(const std::filesystem::path& log) {
  std::map<std::string, std::map<int, GpuFault>> found;
  read_lines(log, [&](std::string_view line) {
    const std::optional<Entry> entry = entry_of(line);
    if (!entry) return;
    GpuFault& fault = found[entry->pci][entry->xid];  // later lines are newer
    fault = {entry->xid, fault.times + 1, entry->at_s};
  });
  std::map<std::string, std::vector<GpuFault>> faults;
  for (const auto& [pci, by_xid] : found)
    for (const auto& [xid, fault] : by_xid) faults[pci].push_back(fault);
  return faults;
}

std::string xid_meaning(int xid) {
  switch (xid) {
    case 48:
      return "a memory error that ECC could not correct";
    case 62:
      return "its power controller stopped";
    case 64:
      return "bad memory could not be replaced";
    case 74:
      return "an NVLink failed";
    case 79:
      return "it fell off the bus";
    case 92:
      return "ECC has many errors to correct";
    case 94:
      return "a memory error that ECC could not correct, in one program's memory";
    case 95:
      return "a memory error that ECC could not correct or contain";
    case 119:
    case 120:
      return "its system processor did not answer";
    default:
      return "";
  }
}

}  // namespace lockstep
