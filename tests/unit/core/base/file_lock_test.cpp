// A file's lock: one owner at a time.
#include "core/base/files/file_lock.h"

#include "core/base/error.h"
#include "core/base/files/files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace lockstep {
namespace {

TEST(FileLock, KeepsTheSecondWaitingUntilTheFirstIsGone) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "a.lock";
  std::atomic<bool> waits = false, has = false;
  UniqueFd first = lock_file(path, [] { ADD_FAILURE() << "nobody else has it"; });
  std::thread other([&] {
    const UniqueFd second = lock_file(path, [&] { waits = true; });
    has = true;
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(has);
  first = UniqueFd();
  other.join();
  EXPECT_TRUE(has);
}

TEST(FileLock, SaysWhereItCannotBe) {
  EXPECT_THROW(lock_file("/there/is/no/such/folder/a.lock", [] {}), Error);
}

}  // namespace
}  // namespace lockstep
