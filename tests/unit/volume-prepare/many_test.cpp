// A set of many volumes starts quickly after its first time.
#include <chrono>
#include <cstdlib>

#include "prepare_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A number from the environment, for a set of the size of a competition's:
// LOCKSTEP_MANY_VOLUMES=806 LOCKSTEP_MANY_EXTENT=100.
std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

using ManyVolumes = PrepareTest;

TEST_F(ManyVolumes, AreNotReadAgainAtTheNextStart) {
  const std::int64_t count = from_environment("LOCKSTEP_MANY_VOLUMES", 60);
  const std::int64_t extent = from_environment("LOCKSTEP_MANY_EXTENT", 12);
  for (std::int64_t i = 0; i < count; ++i)
    write_pair(cat("volume-", i), {.depth = extent, .height = extent, .width = extent});
  age();
  const double first_s = seconds_of([&] { prepare(); });
  Prepared prepared;
  const double again_s = seconds_of([&] { prepared = prepare(); });
  EXPECT_THAT(said, Not(HasSubstr("read")));
  EXPECT_EQ(prepared.facts.train_samples / options.data.patches + prepared.facts.valid_samples,
            count);
  EXPECT_LT(again_s, 5);
  RecordProperty("first_s", fixed(first_s, 2));
  RecordProperty("again_s", fixed(again_s, 2));
  std::printf("%s volumes: %s s, then %s s\n", cat(count).c_str(), fixed(first_s, 2).c_str(),
              fixed(again_s, 3).c_str());
}

}  // namespace
}  // namespace lockstep::volume
