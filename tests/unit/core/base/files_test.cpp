// Files are read and replaced whole, and failures name path and reason.
#include "core/base/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "core/base/error.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Files, AreReadAsTheyWereWritten) {
  TemporaryDirectory folder;
  const fs::path path = folder.path() / "data";
  for (const std::size_t size : {0, 1, 4096, 65536, 65537, 300000}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + size);
    write_file_atomic(path, text);
    EXPECT_TRUE(read_file(path) == text) << size;
  }
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Files, ThatGitDidNotFetchAreRefusedWithTheCommandThatHelps) {
  TemporaryDirectory folder;
  const fs::path path = folder.path() / "data.jsonl";
  const std::string line = "version https://git-lfs.github.com/spec/v1\n";
  write_file_atomic(path, line + "oid sha256:00\nsize 1\n");
  for (const auto read : {+[](const fs::path& file) { read_file(file); },
                          +[](const fs::path& file) { read_input(file); },
                          +[](const fs::path& file) { open_regular_file(file); }})
    EXPECT_THAT(error_of([&] { read(path); }),
                AllOf(HasSubstr(path.string()), HasSubstr("a pointer of Git LFS")));
  // A text about one is longer than any, or begins otherwise.
  write_file_atomic(path, line + std::string(2000, 'x'));
  EXPECT_EQ(read_file(path).size(), line.size() + 2000);
  write_file_atomic(path, " " + line);
  EXPECT_EQ(read_file(path).size(), line.size() + 1);
}

TEST(Files, WithoutAKnownSizeAreReadToTheirEnd) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:"));
}

TEST(Files, OfTheLargestSizeAreReadAndLargerOnesAreRefusedUnread) {
  TemporaryDirectory folder;
  const fs::path path = folder.path() / "data";
  write_file_atomic(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_THAT(error_of([&] { read_file(path, 4); }),
              AllOf(HasSubstr(path.string()), HasSubstr("5 B"), HasSubstr("limit of 4 B")));
  // Without blocks on the disk; whoever reads it fills the memory with zeros.
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_THAT(error_of([&] { read_file(path); }),
              AllOf(HasSubstr("1 TiB"), HasSubstr("limit of 16 MiB")));
  EXPECT_THAT(error_of([&] { read_input(path, data_bytes); }), HasSubstr("1 TiB"));
}

TEST(Files, WithoutAnEndAreReadToTheLimit) {
  EXPECT_THAT(error_of([] { read_input("/dev/zero"); }),
              AllOf(HasSubstr("/dev/zero"), HasSubstr("limit of 16 MiB")));
  EXPECT_THAT(error_of([] { read_file("/proc/self/status", 20); }), HasSubstr("limit of 20 B"));
}

TEST(Files, StreamsAreReadToTheLimit) {
  std::istringstream whole("12345"), again("12345");
  EXPECT_EQ(read_stream(whole, "standard input", 5), "12345");
  EXPECT_THAT(error_of([&] { read_stream(again, "standard input", 4); }),
              HasSubstr("cannot read standard input: it has more than the limit of 4 B"));
}

TEST(Files, ThatAreMissingAreNamed) {
  EXPECT_THAT(error_of([] { read_file("/nowhere/at/all"); }),
              AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("No such file")));
}

TEST(Files, ThatAreFoldersCannotBeRead) {
  TemporaryDirectory folder;
  EXPECT_THAT(error_of([&] { read_file(folder.path()); }), HasSubstr("Is a directory"));
}

// A pipe without a writer would hold the reader up for ever.
TEST(Files, ThatAreNoRegularFilesAreRefusedAtOnce) {
  TemporaryDirectory folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_file(pipe); }),
              AllOf(HasSubstr(pipe.string()), HasSubstr("must be a regular file, but is a pipe")));
  EXPECT_THAT(error_of([] { read_file("/dev/zero"); }), HasSubstr("but is a device"));
}

TEST(Files, ThatTheUserNamesMayBePipes) {
  TemporaryDirectory folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "seed = 7\n"; });
  EXPECT_EQ(read_input(pipe), "seed = 7\n");
  writer.join();
}

TEST(WriteFileAtomic, LeavesNothingBehindWhenItFails) {
  TemporaryDirectory folder;
  const fs::path target = folder.path() / "taken";
  fs::create_directories(target / "inside");
  EXPECT_THAT(error_of([&] { write_file_atomic(target, "text"); }), HasSubstr(target.string()));
  EXPECT_EQ(entries(folder.path()), 1u);
  EXPECT_THAT(error_of([&] { write_file_atomic(folder.path() / "no" / "file", "text"); }),
              HasSubstr("No such file"));
}

TEST(WriteFileAtomic, ShowsReadersTheOldOrTheNewTextOnly) {
  TemporaryDirectory folder;
  const fs::path path = folder.path() / "state.json";
  const std::string a(20000, 'a'), b(30000, 'b');
  write_file_atomic(path, a);
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) write_file_atomic(path, i % 2 ? a : b);
  });
  for (int i = 0; i < 200; ++i) {
    const std::string text = read_file(path);
    EXPECT_TRUE(text == a || text == b) << text.size();
  }
  writer.join();
}

TEST(WriteFileAtomic, TakesAPathWithoutAFolder) {
  TemporaryDirectory folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomic("plain", "text");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder.path() / "plain"), "text");
}

TEST(WriteFileAtomic, HonoursTheUmask) {
  TemporaryDirectory folder;
  const mode_t before = ::umask(027);
  write_file_atomic(folder.path() / "file", "text");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.path() / "file").permissions(), fs::perms(0640));
}

TEST(MakeDirectories, MakesAllParentsAndAcceptsExistingOnes) {
  TemporaryDirectory folder;
  make_directories(folder.path() / "a" / "b" / "c");
  make_directories(folder.path() / "a" / "b" / "c");
  EXPECT_TRUE(fs::is_directory(folder.path() / "a" / "b" / "c"));
}

TEST(MakeDirectories, NamesAFileInTheWay) {
  TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "x";
  const fs::path path = folder.path() / "file" / "below";
  EXPECT_THAT(error_of([&] { make_directories(path); }), HasSubstr("file"));
}

TEST(SyncDirectory, NamesAMissingFolder) {
  EXPECT_THAT(error_of([] { sync_directory("/nowhere/at/all"); }), HasSubstr("/nowhere/at/all"));
}

TEST(TemporaryDirectory, IsRemovedWithAllInIt) {
  fs::path path;
  {
    TemporaryDirectory folder;
    path = folder.path();
    make_directories(path / "a");
    write_file_atomic(path / "a" / "file", "text");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryDirectory, IsADifferentOneEachTime) {
  TemporaryDirectory a, b;
  EXPECT_NE(a.path(), b.path());
}

}  // namespace
}  // namespace lockstep
