#include "tools/report/logs/log_times.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(LogTimes, DatesAreSecondsSince1970) {
  constexpr double morning = 1769851800;  // 2026-01-31 09:30:00 UTC
  for (const char* text :
       {"2026-01-31T09:30:00Z", "2026-01-31 09:30:00", "2026-01-31 09:30:00 UTC",
        "2026-01-31 09:30", "2026-01-31T10:30:00+01:00", "2026-01-31 04:30:00-0500",
        "2026/01/31 09:30:00", "31.01.2026 09:30:00", " 2026-01-31T09:30:00.000Z "})
    EXPECT_EQ(seconds_of_text(text), morning) << text;
  EXPECT_NEAR(*seconds_of_text("2026-01-31 09:30:00,250"), morning + 0.25, 1e-6);
  EXPECT_NEAR(*seconds_of_text("2026-01-31T09:30:00.123456Z"), morning + 0.123456, 1e-6);
  EXPECT_EQ(seconds_of_text("2024-02-29"), 1709164800);
}

TEST(LogTimes, DurationsAreSeconds) {
  EXPECT_EQ(seconds_of_text("1:02:03"), 3723);
  EXPECT_EQ(seconds_of_text("100:00:00.5"), 360000.5);
  EXPECT_EQ(seconds_of_text("0 days 00:01:30"), 90);
  EXPECT_EQ(seconds_of_text("1 day, 0:00:01"), 86401);
}

TEST(LogTimes, AllElseIsNone) {
  for (const char* text :
       {"", "monday", "01/02/2026 09:30:00", "2026-02-30", "2026-01-31T", "12:60:00",
        "2026-01-31 25:00", "12:30", "2026-01-31 09:30:00 CET", "2026-13-01", "-",
        "2026-01-31T09:30:00Zx", "99999999999999999999:00:00", "31.01.26"})
    EXPECT_EQ(seconds_of_text(text), std::nullopt) << text;
}

}  // namespace
}  // namespace lockstep
