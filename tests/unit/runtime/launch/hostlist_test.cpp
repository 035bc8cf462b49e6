#include "runtime/launch/world/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using Hosts = std::vector<std::string>;

TEST(Hostlist, ExpandsWhatSlurmWrites) {
  EXPECT_EQ(expand_hostlist("n1"), (Hosts{"n1"}));
  EXPECT_EQ(expand_hostlist("node[003-005,9],x1"),
            (Hosts{"node003", "node004", "node005", "node9", "x1"}));
  EXPECT_EQ(expand_hostlist("a-b.c,d[1]-ib"), (Hosts{"a-b.c", "d1-ib"}));
  EXPECT_EQ(expand_hostlist("r[1-2]n[08-10]"),
            (Hosts{"r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"}));
  EXPECT_EQ(expand_hostlist("n[7-7]"), (Hosts{"n7"}));
}

TEST(Hostlist, ExpandsAnyRangeAtAnyWidthInOrder) {
  for (int width = 1; width <= 4; ++width) {
    for (int first = 0; first <= 120; first += 7) {
      for (int count = 1; count <= 30; count += 3) {
        auto padded = [&](int number) {
          std::string text = std::to_string(number);
          return std::string(std::max(0, width - static_cast<int>(text.size())), '0') + text;
        };
        Hosts expected;
        for (int i = 0; i < count; ++i) expected.push_back("n" + padded(first + i));
        const std::string list = cat("n[", padded(first), "-", padded(first + count - 1), "]");
        EXPECT_EQ(expand_hostlist(list), expected) << list;
      }
    }
  }
}

TEST(Hostlist, RefusesMalformedLists) {
  for (const char* list : {"", "a,", ",a", "a[1", "a1]", "a[]", "a[2-1]", "a[x]", "a[1-]", "a[1,]",
                           "a[-1]", "a[1-99999999]", "a[1-1000]b[1-1001]", "a[[1]]"}) {
    EXPECT_THAT(error_of([&] { expand_hostlist(list); }), HasSubstr("malformed list")) << list;
  }
}

TEST(Hostlist, TakesTheLargestNumber) {
  EXPECT_EQ(expand_hostlist("n[9223372036854775806-9223372036854775807]"),
            (Hosts{"n9223372036854775806", "n9223372036854775807"}));
}

// A few characters must not ask for gigabytes.
TEST(Hostlist, RefusesListsThatWouldFillTheMemory) {
  std::string ranges = "0-65534", lists = "a[0-65534]";
  for (int i = 0; i < 400; ++i) {
    ranges += ",0-65534";
    lists += ",a[0-65534]";
  }
  for (const std::string& list :
       {"a[" + ranges + "]", lists, "a[" + std::string(4000, '0') + "1-60000]",
        std::string(4000, 'a') + "[1-60000]", "a[1-60000]" + std::string(4000, 'a')})
    EXPECT_THAT(error_of([&] { expand_hostlist(list); }), HasSubstr("too long"));
}

TEST(TasksPerNode, RefusesListsThatWouldFillTheMemory) {
  std::string list = "1(x65536)";
  for (int i = 0; i < 400; ++i) list += ",1(x65536)";
  EXPECT_THAT(error_of([&] { expand_tasks_per_node(list); }), HasSubstr("too long"));
}

TEST(TasksPerNode, ExpandsCounts) {
  EXPECT_EQ(expand_tasks_per_node("4"), (std::vector<int>{4}));
  EXPECT_EQ(expand_tasks_per_node("2(x3),1"), (std::vector<int>{2, 2, 2, 1}));
}

TEST(TasksPerNode, RefusesMalformedCounts) {
  for (const char* list : {"", "x", "2(x3", "2(x)", "2(3)", "2,", "-1", "2(x99999999)"}) {
    EXPECT_THAT(error_of([&] { expand_tasks_per_node(list); }), HasSubstr("malformed list"))
        << list;
  }
}

}  // namespace
}  // namespace lockstep
