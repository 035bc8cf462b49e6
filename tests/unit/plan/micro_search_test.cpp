// Few tries, and the largest micro-batch that fits.
#include "plan/micro_search.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct Found {
  std::int64_t micro = 0;
  int tries = 0;
};

// A device that runs out of memory above `oom` bytes, of which `available` may be used.
Found search(std::int64_t share, std::int64_t first, double guess_fixed, double fixed,
             double per_sample, double available, double oom) {
  MicroSearch search(share, first, guess_fixed, available);
  Found found;
  while (const auto micro = search.next()) {
    EXPECT_EQ(share % *micro, 0);
    if (++found.tries > 20) break;
    const double peak = fixed + per_sample * static_cast<double>(*micro);
    search.tried(*micro, peak > oom ? std::nullopt : std::optional(peak));
  }
  found.micro = search.largest();
  return found;
}

TEST(MicroSearch, FindsTheLargestDivisorThatFits) {
  for (const std::int64_t share : {1, 7, 12, 64, 96, 360, 1024})
    for (const double available : {5.0, 20.0, 100.0, 333.0, 5000.0})
      for (const std::int64_t first : {1, 8, 1000}) {
        const Found found = search(share, first, 10, 10, 3, available, available * 1.2);
        std::int64_t best = 0;
        for (std::int64_t divisor = 1; divisor <= share; ++divisor)
          if (share % divisor == 0 && 10 + 3.0 * static_cast<double>(divisor) <= available)
            best = divisor;
        EXPECT_EQ(found.micro, best) << share << " " << available << " " << first;
        EXPECT_LE(found.tries, 6) << share << " " << available << " " << first;
      }
}

TEST(MicroSearch, AWrongGuessOfTheFixedPartCostsTriesAtMost) {
  // Memory beside the estimate makes small micro-batches look dear, so that it tries again.
  const Found found = search(1024, 4, 0, 100, 1, 400, 480);
  EXPECT_EQ(found.micro, 256);
  EXPECT_LE(found.tries, 6);
}

TEST(MicroSearch, TriesOneWhereTheGuessIsThatItFitsAtOnce) {
  EXPECT_EQ(search(64, 64, 10, 10, 1, 1000, 2000).tries, 1);
  EXPECT_EQ(search(64, 64, 10, 10, 1, 1000, 2000).micro, 64);
}

TEST(MicroSearch, FindsNothingWhereNotEvenOneFits) {
  EXPECT_EQ(search(64, 8, 10, 1000, 1, 100, 100).micro, 0);
  EXPECT_EQ(search(64, 8, 10, 1000, 1, 100, 1e9).micro, 0);
}

}  // namespace
}  // namespace lockstep
