#include "core/base/process/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep {
namespace {

// Whether the kernel was asked for large pages where the byte lies.
bool wants_large_pages(const void* data) {
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = '\0';
    std::istringstream words(line);
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
      is_here = at >= begin && at < end;
    else if (is_here && line.starts_with("VmFlags:"))
      return line.find(" hg") != line.npos;
  }
  return false;
}

TEST(LargePages, AreAskedForWhereWholeOnesFit) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").is_open())
    GTEST_SKIP() << "the kernel has no large pages";
  std::vector<std::uint64_t> large;
  reserve_in_large_pages(large, std::size_t{2} << 20);
  EXPECT_TRUE(wants_large_pages(large.data() + (std::size_t{1} << 20)));
  large.assign(std::size_t{2} << 20, 7);
  EXPECT_EQ(std::count(large.begin(), large.end(), 7U), std::ptrdiff_t{2} << 20);
  std::vector<char> small;
  reserve_in_large_pages(small, 1000);
  EXPECT_EQ(small.capacity(), 1000U);
  prefer_large_pages(nullptr, 0);
}

}  // namespace
}  // namespace lockstep
