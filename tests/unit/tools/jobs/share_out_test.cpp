#include "tools/jobs/files/share_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "ledger_fixtures.h"

namespace lockstep {
namespace {

using Shares = std::vector<std::vector<std::size_t>>;

// "c<a,b" is a job c that waits for a and b.
std::vector<Job> jobs_of(const std::vector<std::string>& texts) {
  std::vector<Job> jobs;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('<');
    jobs.push_back(small_job(text.substr(0, sign)));
    std::istringstream needs(sign == text.npos ? "" : text.substr(sign + 1));
    for (std::string need; std::getline(needs, need, ',');) jobs.back().after.push_back(need);
  }
  return jobs;
}

TEST(ShareOut, MakesSharesThatAreEvenAndInOrder) {
  EXPECT_EQ(share_out(jobs_of({"a", "b", "c", "d", "e", "f", "g"}), 3),
            (Shares{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(share_out(jobs_of({"a", "b", "c", "d"}), 3), (Shares{{0, 1}, {2, 3}}));
  EXPECT_EQ(share_out(jobs_of({"a"}), 100), (Shares{{0}}));
  EXPECT_EQ(share_out({}, 100), Shares{});
}

TEST(ShareOut, KeepsJobsThatWaitForEachOtherTogether) {
  EXPECT_EQ(share_out(jobs_of({"a", "b", "c", "d<a", "e<b", "f<c"}), 2),
            (Shares{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(share_out(jobs_of({"c<b", "x", "b<a", "a", "y"}), 3), (Shares{{0, 2, 3}, {1, 4}}));
}

TEST(ShareOut, CutsLargeGroupsByLevel) {
  EXPECT_EQ(share_out(jobs_of({"end<a,b,c,d", "a<s", "b<s", "c<s", "d<s", "s"}), 3),
            (Shares{{5}, {1, 2}, {3, 4}, {0}}));
}

TEST(ShareOut, WaitsForJobsThatAreNotThereDoNotCount) {
  EXPECT_EQ(share_out(jobs_of({"a<gone", "b<gone"}), 1), (Shares{{0}, {1}}));
}

TEST(ShareOut, EachJobIsInOneShareAndSharesNeverWaitAroundACircle) {
  unsigned state = 1;
  const auto random = [&](unsigned below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % below;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Job> jobs;
    const unsigned count = 1 + random(40);
    for (unsigned i = 0; i < count; ++i) {
      jobs.push_back(small_job(std::to_string(i)));
      for (unsigned needs = random(3); i > 0 && needs > 0; --needs)
        if (random(3) == 0) jobs.back().after.push_back(std::to_string(random(i)));
    }
    const std::size_t most = 1 + random(8);
    const Shares shares = share_out(jobs, most);
    std::map<std::string, std::size_t> share_of;
    for (std::size_t share = 0; share < shares.size(); ++share) {
      EXPECT_LE(shares[share].size(), most);
      EXPECT_FALSE(shares[share].empty());
      for (const std::size_t job : shares[share])
        EXPECT_TRUE(share_of.emplace(jobs[job].key, share).second);
    }
    ASSERT_EQ(share_of.size(), jobs.size());
    // Shares begin one by one, each once those that it waits for have ended.
    std::set<std::size_t> ended;
    for (bool more = true; more && ended.size() < shares.size();) {
      more = false;
      for (std::size_t share = 0; share < shares.size(); ++share) {
        bool waits = ended.contains(share);
        for (const std::size_t job : shares[share])
          for (const std::string& need : jobs[job].after)
            waits |= share_of[need] != share && !ended.contains(share_of[need]);
        if (!waits) more = ended.insert(share).second;
      }
    }
    EXPECT_EQ(ended.size(), shares.size()) << "round " << round;
  }
}

}  // namespace
}  // namespace lockstep
