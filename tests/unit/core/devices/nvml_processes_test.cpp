// Rows of processes of every size that a driver may write.
#include "core/devices/nvml/nvml_processes.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep {
namespace {

struct Row {
  unsigned pid;
  unsigned long long memory;
};

// As a driver whose rows have so many bytes writes them, field by field.
void write(ProcessRows& rows, std::size_t bytes, const std::vector<Row>& all) {
  auto* at = static_cast<unsigned char*>(rows.data());
  for (const Row& row : all) {
    std::memcpy(at, &row.pid, sizeof row.pid);
    std::memcpy(at + 8, &row.memory, sizeof row.memory);
    if (bytes > 16) std::memset(at + 16, 0xff, 8);  // no instances of MIG
    if (bytes > 24) std::memset(at + 24, 0, bytes - 24);
    at += bytes;
  }
}

const std::vector<Row> three{{1234, 7ull << 30}, {99, nvml::memory_not_available}, {4000000, 1}};

TEST(ProcessRows, AreReadWhateverTheirSizeIs) {
  for (const std::size_t bytes : {16, 24, 32, 40, 64})
    for (const std::size_t documented : {16, 24})
      for (std::size_t count = 0; count <= three.size(); ++count) {
        ProcessRows rows(11);
        write(rows, bytes, {three.begin(), three.begin() + static_cast<std::ptrdiff_t>(count)});
        const auto found = rows.read(count, documented);
        ASSERT_TRUE(found) << bytes;
        ASSERT_EQ(found->size(), count);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ((*found)[i].pid, three[i].pid) << bytes;
          EXPECT_EQ((*found)[i].used_memory, three[i].memory) << bytes;
        }
      }
}

// A driver that clears all of the buffer first leaves no trace of how long its rows are.
TEST(ProcessRows, AreReadAsDocumentedWhereTheirSizeDoesNotShow) {
  ProcessRows rows(8);
  std::memset(rows.data(), 0, 8 * 24);
  write(rows, 24, three);
  const auto found = rows.read(3, nvml::process_info_v2_bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[1].pid, 99u);
  EXPECT_EQ((*found)[2].pid, 4000000u);
}

TEST(ProcessRows, AreNothingWhereNoSizeMakesSense) {
  ProcessRows rows(8);
  std::memset(rows.data(), 0, 100);
  EXPECT_FALSE(rows.read(3, nvml::process_info_v2_bytes));
}

TEST(ProcessRows, AreNoMoreThanThereIsRoomFor) {
  ProcessRows rows(2);
  write(rows, 32, {three[0], three[1]});
  EXPECT_EQ(rows.read(1000, nvml::process_info_v2_bytes)->size(), 2u);
}

}  // namespace
}  // namespace lockstep
