// Where commands write: what is there is kept unless the user says otherwise.
#include "tools/cli/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct OutputTest : ::testing::Test {
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, bool overwrite = false, mode_t mode = 0644) {
    EXPECT_EQ(Output(path(name), overwrite, mode).write("new"), Written::yes);
  }
  static unsigned mode_of(const std::string& file) {
    struct stat info {};
    return stat(file.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  TemporaryDirectory folder;
};

TEST_F(OutputTest, KeepsAFileThatIsThere) {
  write_file_atomic(path("a"), "precious");
  EXPECT_THAT(error_of([&] { Output output(path("a")); }),
              AllOf(HasSubstr("a is there already"), HasSubstr("--force")));
  EXPECT_EQ(read_file(path("a")), "precious");
}

TEST_F(OutputTest, OverwritesItWhereItIsToldTo) {
  write_file_atomic(path("a"), "something longer than the new text");
  {
    Output output(path("a"), true);
    EXPECT_EQ(read_file(path("a")), "something longer than the new text") << "nothing written yet";
    output.write("n");
    output.write("ew");
  }
  EXPECT_EQ(read_file(path("a")), "new");
  { const Output unused(path("a"), true); }
  EXPECT_EQ(read_file(path("a")), "new");
}

TEST_F(OutputTest, LeavesNoNewFileWithoutText) {
  { const Output unused(path("a")); }
  EXPECT_FALSE(fs::exists(path("a")));
  { const Output unused(path("a"), true); }
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(OutputTest, WritesThroughLinks) {
  write_file_atomic(path("target"), "precious");
  fs::create_symlink("target", path("link"));
  EXPECT_THAT(error_of([&] { Output output(path("link")); }), HasSubstr("--force"));
  write("link", true);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(OutputTest, WhatIsPrivateStaysSo) {
  write("new", false, 0600);
  EXPECT_EQ(mode_of(path("new")), 0600u);
  write_file_atomic(path("open"), "");
  fs::permissions(path("open"), fs::perms(0644));
  write("open", true, 0600);
  EXPECT_EQ(mode_of(path("open")), 0600u);
  fs::permissions(path("open"), fs::perms(0664));
  write("open", true);
  EXPECT_EQ(mode_of(path("open")), 0664u);
}

TEST_F(OutputTest, WritesToPipesAndDevicesThatAreThere) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { std::getline(std::ifstream(path("pipe")), got); });
  write("pipe");
  reader.join();
  EXPECT_EQ(got, "new");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(Output("/dev/null").write("new"), Written::yes);
  EXPECT_EQ(Output("/dev/full").write("new"), Written::failed);
}

TEST_F(OutputTest, KnowsTheNamesOfStandardOutput) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    EXPECT_TRUE(names_standard_output(name)) << name;
    EXPECT_TRUE(Output(name).is_standard_output()) << name;
  }
  for (const char* name : {"/dev/stderr", "/dev/fd/12", "/dev/fd/1x", "./-", "stdout"})
    EXPECT_FALSE(names_standard_output(name)) << name;
}

TEST_F(OutputTest, WritesToADescriptorByItsName) {
  const UniqueFd file(open(path("a").c_str(), O_WRONLY | O_CREAT, 0644));
  ASSERT_EQ(::write(file.get(), "head ", 5), 5);
  EXPECT_EQ(Output(cat("/dev/fd/", file.get())).write("tail"), Written::yes);
  EXPECT_EQ(read_file(path("a")), "head tail");
  EXPECT_THAT(error_of([] { Output output("/dev/fd/987"); }), HasSubstr("/dev/fd/987: "));
}

TEST_F(OutputTest, RefusesWhatCannotBeAFile) {
  EXPECT_THAT(error_of([&] { Output output(folder.path().string(), true); }),
              HasSubstr("is a folder | name a file in it"));
  EXPECT_THAT(error_of([&] { Output output(path("no/such"), true); }),
              HasSubstr("no/such: No such file or directory | name a file in a folder"));
}

}  // namespace
}  // namespace lockstep::cli
