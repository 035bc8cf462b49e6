// The speed of all-reduces: measured once, the same on every rank, whatever lies in the cache.
#include "training/trainer/output/link_speed.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/thread_ranks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

std::vector<KnownLink> links_of(int ranks, const std::filesystem::path& file,
                                const std::string& key) {
  std::vector<KnownLink> links(static_cast<std::size_t>(ranks));
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    links[static_cast<std::size_t>(group.rank())] = link_speed(group, cpu_backend(), file, key);
  });
  for (const KnownLink& link : links) {
    EXPECT_EQ(link.speed.latency_s, links[0].speed.latency_s);
    EXPECT_EQ(link.speed.bytes_per_s, links[0].speed.bytes_per_s);
    EXPECT_EQ(link.remembered, links[0].remembered);
  }
  return links;
}

TEST(LinkSpeedTest, IsMeasuredOnceAKey) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "cache" / "links.json";
  const auto first = links_of(2, file, "two GPUs");
  EXPECT_FALSE(first[0].remembered);
  EXPECT_GT(first[0].speed.bytes_per_s, 0);
  EXPECT_GE(first[0].speed.latency_s, 0);
  const auto again = links_of(2, file, "two GPUs");
  EXPECT_TRUE(again[0].remembered);
  EXPECT_EQ(again[1].speed.bytes_per_s, first[0].speed.bytes_per_s);
  EXPECT_FALSE(links_of(3, file, "three GPUs")[0].remembered);
  EXPECT_TRUE(links_of(2, file, "two GPUs")[0].remembered);
}

TEST(LinkSpeedTest, DoesWithoutACacheThatIsDamagedOrCannotBeWritten) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "links.json";
  std::size_t number = 0;
  for (const char* damaged :
       {"{", "[]", R"({"k": 3})", R"({"k": {"latency_s": -1, "bytes_per_s": 1}})",
        R"({"k": {"latency_s": 0, "bytes_per_s": "x"}})"}) {
    if (!testing::has_turn_twice(number++)) continue;
    write_file_atomic(file, damaged);
    EXPECT_FALSE(links_of(2, file, "k")[0].remembered) << damaged;
    EXPECT_TRUE(links_of(2, file, "k")[0].remembered) << damaged;
  }
  EXPECT_FALSE(links_of(2, "/proc/nowhere/links.json", "k")[0].remembered);
}

}  // namespace
}  // namespace lockstep
