// Checkpoints are listed with their damage, and damaged ones are never used.
#include "runtime/run/checkpoint/checkpoint_index.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include "checkpoint_fixtures.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/checkpoint/manifest.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckpointIndex : public CheckpointsTest {
 protected:
  CheckpointIndex() {
    write(1);
    write(2);
  }
  std::string damage(bool thorough) const {
    return list_checkpoints(folder, thorough).back().damage;
  }
  std::filesystem::path second = folder / "step-000000002";
};

TEST_F(CheckpointIndex, ListsTheOldestFirst) {
  write(1'000'000'000);
  write(30);
  std::vector<std::int64_t> steps;
  for (const CheckpointInfo& info : list_checkpoints(folder, false)) {
    steps.push_back(info.step);
    EXPECT_EQ(info.damage, "");
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 30, 1'000'000'000}));
}

TEST_F(CheckpointIndex, AMissingFolderHasNone) {
  EXPECT_TRUE(list_checkpoints(folder / "none", true).empty());
  EXPECT_EQ(newest_good(folder / "none"), std::nullopt);
  remove_leftovers(folder / "none");
}

TEST_F(CheckpointIndex, PassesOverOtherFilesAndFolders) {
  std::filesystem::create_directories(folder / "notes");
  std::filesystem::create_directories(folder / "step-3");
  put(folder / "readme", "");
  EXPECT_EQ(list_checkpoints(folder, true).size(), 2u);
}

TEST_F(CheckpointIndex, EveryTruncationOfEveryFileIsFoundBySizesAlone) {
  for (const char* file : checkpoint_files) {
    const std::string text = read_file(second / file);
    for (std::size_t size = 0; size < text.size(); size += 1 + size / 5) {
      put(second / file, text.substr(0, size));
      EXPECT_THAT(damage(false), StartsWith(cat(file, ": "))) << size;
      EXPECT_EQ(newest(), 1);
    }
    put(second / file, text);
    ASSERT_EQ(damage(true), "");
  }
}

TEST_F(CheckpointIndex, EveryFlippedBitOfEveryFileIsFound) {
  std::mt19937 random(10);
  for (const char* file : checkpoint_files) {
    const std::string text = read_file(second / file);
    for (int round = 0; round < 60; ++round) {
      std::string flipped = text;
      flipped[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
      put(second / file, flipped);
      EXPECT_THAT(damage(true), StartsWith(cat(file, ": ")));
      EXPECT_EQ(newest(), 1);
    }
    put(second / file, text);
    ASSERT_EQ(damage(true), "");
  }
}

TEST_F(CheckpointIndex, FilesOfAnotherCheckpointAreFoundWhereverTheyAreMixedIn) {
  for (const char* const file : {"model.safetensors", "manifest.json"}) {
    write(3, 1);
    write(4, 2);
    const std::filesystem::path older = folder / checkpoint_name(3) / file;
    const std::filesystem::path newer = folder / checkpoint_name(4) / file;
    std::filesystem::copy_file(older, newer, std::filesystem::copy_options::overwrite_existing);
    std::vector<std::string> damages;
    const auto good =
        newest_good(folder, [&](const CheckpointInfo& bad) { damages.push_back(bad.damage); });
    ASSERT_TRUE(good) << file;
    EXPECT_EQ(good->step, 3) << file;
    ASSERT_EQ(damages.size(), 1u) << file;
    EXPECT_EQ(damages[0].rfind(file, 0), 0u) << damages[0];
  }
}

TEST_F(CheckpointIndex, DamageIsSaidInWords) {
  const std::string weights = content(2, 0);
  put(second / "model.safetensors", weights.substr(0, 1024));
  EXPECT_EQ(damage(false), cat("model.safetensors: 1024 bytes instead of ", weights.size()));
  put(second / "model.safetensors", weights);
  put(second / "optimizer.safetensors", "stats");
  EXPECT_EQ(damage(false), "");
  EXPECT_EQ(damage(true), "optimizer.safetensors: checksum differs");
  std::filesystem::remove(second / "state.json");
  EXPECT_EQ(damage(true), "optimizer.safetensors: checksum differs; state.json: missing");
  std::filesystem::create_directory(second / "state.json");
  EXPECT_EQ(damage(false), "state.json: not a file");
  put(second / "manifest.json", "junk");
  EXPECT_EQ(damage(false), "manifest.json: is not a JSON object");
  std::filesystem::remove(second / "manifest.json");
  EXPECT_EQ(damage(false), "manifest.json: missing");
}

TEST_F(CheckpointIndex, AFileThatCannotBeReadIsDamageToo) {
  chmod(temporary.path().c_str(), 0755);
  chmod((second / "model.safetensors").c_str(), 0);
  OrdinaryUser user;
  EXPECT_EQ(damage(true), "model.safetensors: cannot be read: Permission denied");
}

TEST_F(CheckpointIndex, AFolderWithoutAManifestIsNeverGood) {
  std::filesystem::create_directories(folder / "step-000000009");
  std::vector<std::string> skipped;
  const auto found = newest_good(folder, [&](const CheckpointInfo& info) {
    skipped.push_back(cat(info.step, " ", info.damage));
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 2);
  EXPECT_EQ(skipped, (std::vector<std::string>{"9 manifest.json: missing"}));
}

TEST_F(CheckpointIndex, AManifestOfAnotherStepIsDamage) {
  std::filesystem::copy(second, folder / "step-000000007");
  EXPECT_EQ(damage(false), "manifest.json: is of step 2");
}

TEST_F(CheckpointIndex, AllDamagedMeansNone) {
  put(folder / "step-000000001" / "state.json", "");
  put(second / "state.json", "");
  int skipped = 0;
  EXPECT_EQ(newest_good(folder, [&](const CheckpointInfo&) { ++skipped; }), std::nullopt);
  EXPECT_EQ(skipped, 2);
}

TEST_F(CheckpointIndex, RemovingTakesTheWholeFolder) {
  remove_checkpoint(list_checkpoints(folder, false).front());
  EXPECT_EQ(names(), std::vector<std::string>{"step-000000002"});
  EXPECT_THROW(remove_checkpoint({.path = folder / "step-000000001", .step = 1}), Error);
}

TEST_F(CheckpointIndex, ARemovalThatWasKilledHalfwayIsALeftover) {
  std::filesystem::rename(second, folder / ".tmp-removed-step-000000002-999999");
  EXPECT_EQ(list_checkpoints(folder, false).size(), 1u);
  remove_leftovers(folder);
  EXPECT_EQ(names(), std::vector<std::string>{"step-000000001"});
}

std::string fault_of_manifest(const Manifest& manifest) {
  return error_if_any([&] { parse_manifest(to_text(manifest)); });
}

TEST(NoCheckpoint, NamesTheRunAsAShellTakesIt) {
  try {
    throw_no_checkpoint("task2&3", {});
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "run task2&3 has no checkpoint yet");
    EXPECT_EQ(error.hint(), "see: lockstep runs 'task2&3'");
  }
}

TEST(Manifests, RoundTrip) {
  const Manifest manifest{.step = 7,
                          .time = 1763690000.123456,
                          .metrics = {{"loss", 0.1 + 0.2}, {"big", 1ull << 63}},
                          .files = {{"a", {5, "00ff"}}, {"b \xc3\xbc\"", {1ull << 50, "11"}}}};
  const Manifest read = parse_manifest(to_text(manifest));
  EXPECT_EQ(read.step, 7);
  EXPECT_EQ(read.time, manifest.time);
  EXPECT_EQ(read.metrics, manifest.metrics);
  ASSERT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.files.at("a").checksum, "00ff");
  EXPECT_EQ(read.files.at("b \xc3\xbc\"").bytes, 1ull << 50);
}

TEST(Manifests, DoNotLeadOutOfTheirFolder) {
  for (const char* name : {"../run.json", "/etc/passwd", "..", ".", ""})
    EXPECT_THAT(fault_of_manifest({.metrics = {}, .files = {{name, {1, "00"}}}}),
                HasSubstr("does not describe its files"))
        << name;
}

TEST(Manifests, RandomBytesNeverCrash) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round)
    EXPECT_NE(error_if_any([&] { parse_manifest(random_bytes(random, random() % 80)); }), "");
}

}  // namespace
}  // namespace lockstep
