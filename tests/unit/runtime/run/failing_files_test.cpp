// File systems that fail: lines are never shortened because something about them could not be
// learnt, and runs are made where folders with open files cannot be renamed.
#include "runtime/run/events/json_lines.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "run_fixtures.h"
#include "runtime/run/folder/run_dir.h"

namespace {

bool fstat_fails = false, pread_fails = false;
int renames_that_fail = 0;

}  // namespace

// In place of the C library's: a file server that has lost the file says ESTALE.
extern "C" int fstat(int fd, struct stat* info) noexcept {
  if (fstat_fails) {
    errno = ESTALE;
    return -1;
  }
  return fstatat(fd, "", info, AT_EMPTY_PATH);
}

extern "C" ssize_t pread(int fd, void* data, size_t bytes, off_t at) {
  if (pread_fails) {
    errno = EIO;
    return -1;
  }
  using Pread = ssize_t (*)(int, void*, size_t, off_t);
  static const auto real = reinterpret_cast<Pread>(dlsym(RTLD_NEXT, "pread"));
  return real(fd, data, bytes, at);
}

// As newer headers and compilers that check sizes call it.
extern "C" ssize_t pread64(int fd, void* data, size_t bytes, off64_t at) {
  return pread(fd, data, bytes, at);
}
extern "C" ssize_t __pread_chk(int fd, void* data, size_t bytes, off_t at, size_t) {
  return pread(fd, data, bytes, at);
}
extern "C" ssize_t __pread64_chk(int fd, void* data, size_t bytes, off64_t at, size_t) {
  return pread(fd, data, bytes, at);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  if (renames_that_fail > 0) {
    --renames_that_fail;
    errno = EACCES;
    return -1;
  }
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class LinesThatFail : public ::testing::Test {
 protected:
  LinesThatFail() { put(file, history); }
  ~LinesThatFail() override { fstat_fails = pread_fails = false; }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "events.jsonl";
  // Longer than what is read at once, with a torn end that is too.
  std::string history = std::string(5000, 'a') + "\n" + std::string(9000, 'b');
};

TEST_F(LinesThatFail, ASizeThatCannotBeLearntShortensNothing) {
  fstat_fails = true;
  const std::string error = error_if_any([&] { open_lines(file); });
  fstat_fails = false;
  EXPECT_THAT(error, HasSubstr("Stale file handle"));
  EXPECT_THAT(error, HasSubstr("events.jsonl"));
  EXPECT_EQ(read_file(file), history);
}

TEST_F(LinesThatFail, AnEndThatCannotBeReadShortensNothing) {
  pread_fails = true;
  EXPECT_THAT(error_if_any([&] { open_lines(file); }), HasSubstr("cannot read the end of"));
  pread_fails = false;
  EXPECT_EQ(read_file(file), history);
  open_lines(file);
  EXPECT_EQ(read_file(file), history.substr(0, 5001));
}

TEST_F(LinesThatFail, ALinkInPlaceOfTheFileIsNotFollowed) {
  const std::filesystem::path other = file.parent_path() / "other";
  std::filesystem::rename(file, other);
  std::filesystem::create_symlink(other, file);
  const std::string before = read_file(other);
  try {
    open_lines(file);
    FAIL() << "opened through a link";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("but is a link"));
    EXPECT_EQ(error.hint(), "put the file itself in its place");
  }
  EXPECT_EQ(read_file(other), before);
}

TEST_F(LinesThatFail, APipeInPlaceOfTheFileIsRefusedAtOnce) {
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(error_if_any([&] { open_lines(file); }), HasSubstr("must be a regular file"));
  EXPECT_THAT(error_if_any([&] { for_each_line(file, [](const std::string&) {}); }),
              HasSubstr("but is a pipe"));
}

// As on a share of Windows.
TEST(RunsThatCannotBeRenamedWhileTheyAreLocked, AreMadeAndLockedAllTheSame) {
  const TemporaryDirectory folder;
  const auto fill = [](RunDir& run) {
    run.write_record({{"recipe", "toy"}});
    run.lock();
    renames_that_fail = 1;
  };
  const RunDir run = RunDir::create(folder.path(), "first", "toy", fill);
  EXPECT_TRUE(run.holds_lock());
  EXPECT_TRUE(RunDir::open("first", folder.path()).locked_by_other());
  renames_that_fail = 0;
  const auto always = [&](RunDir& run) {
    fill(run);
    renames_that_fail = 9;
  };
  EXPECT_THAT(error_if_any([&] { RunDir::create(folder.path(), "second", "toy", always); }),
              HasSubstr("cannot make the run directory"));
  renames_that_fail = 0;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace lockstep
