// Files of a batch that is a stranger's: names and links that lead elsewhere are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "tools/jobs/files/batch_files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BatchFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(batch.path / "logs");
    std::ofstream(folder.path() / "secret.1.log") << "secret\n";
    std::ofstream(batch.log("good", 1)) << "one\ntwo\n";
  }
  std::string text(const BatchFolder& of, const std::string& job) const {
    const std::optional<UniqueFd> log = open_log(of, job, 1);
    if (!log) return "none";
    char bytes[100];
    const ssize_t got = ::read(log->get(), bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  std::string refusal(const std::string& job) const {
    return error_of([&] { open_log(batch, job, 1); });
  }

  TemporaryDirectory folder;
  const BatchFolder batch{folder.path() / "b"};
};

TEST_F(BatchFiles, AreReadWhereTheyLieInTheBatch) {
  EXPECT_EQ(text(batch, "good"), "one\ntwo\n");
  EXPECT_EQ(text(batch, "other"), "none");
  EXPECT_EQ(log_end(batch, "good", 1, 1, 100), "two");
  EXPECT_EQ(log_end(batch, "other", 1, 1, 100), "");
}

TEST_F(BatchFiles, ThatAreNamedElsewhereAreRefused) {
  EXPECT_THAT(refusal("../../secret"), HasSubstr("leads out of the batch's folder"));
  EXPECT_THAT(refusal((folder.path() / "secret").string()),
              HasSubstr("leads out of the batch's folder"));
  EXPECT_EQ(log_end(batch, "../../secret", 1, 1, 100), "");
}

TEST_F(BatchFiles, ThatAreLinksAreRefused) {
  fs::create_symlink(folder.path() / "secret.1.log", batch.log("link", 1));
  EXPECT_THAT(refusal("link"), HasSubstr("leads out of the batch's folder"));
  EXPECT_EQ(log_end(batch, "link", 1, 1, 100), "");
  fs::remove_all(batch.path / "logs");
  fs::create_directory_symlink(folder.path(), batch.path / "logs");
  EXPECT_THAT(refusal("secret"), HasSubstr("leads out of the batch's folder"));
}

TEST_F(BatchFiles, ThatAreNoFilesAreRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(batch.log("pipe", 1).c_str(), 0600), 0);
  EXPECT_THAT(refusal("pipe"), HasSubstr("is no regular file"));
  fs::create_directory(batch.log("folder", 1));
  EXPECT_THAT(refusal("folder"), HasSubstr("is no regular file"));
}

// Its folders are links to those of its batch.
TEST_F(BatchFiles, OfAShareAreThoseOfItsBatch) {
  const BatchFolder share{batch.path / "shares" / "3"};
  fs::create_directories(share.path);
  fs::create_directory_symlink("../../logs", share.path / "logs");
  EXPECT_EQ(text(share, "good"), "one\ntwo\n");
  fs::remove(share.path / "logs");
  fs::create_directory_symlink(folder.path(), share.path / "logs");
  EXPECT_THAT(error_of([&] { open_log(share, "secret", 1); }),
              HasSubstr("leads out of the batch's folder"));
}

}  // namespace
}  // namespace lockstep
