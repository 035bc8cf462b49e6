// Cached volumes, written and mapped, and the record of what was prepared.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "recipes/volume/voxels/cache_writer.h"
#include "recipes/volume/voxels/prepared_volumes.h"
#include "voxels_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;

constexpr VolumeShape shape{.depth = 3, .height = 4, .width = 5, .channels = 2};

using Cached = VoxelsTest;

std::vector<std::uint8_t> some_labels() {
  std::vector<std::uint8_t> labels(60);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i * i % 7 % 3;
  return labels;
}

TEST_F(Cached, HoldsWhatWasWritten) {
  const auto voxels = voxels_from(shape, counted<std::uint16_t>(120));
  const auto labels = some_labels();
  const std::vector<ChannelStatistics> channels = statistics_of(voxels, labels, 2);
  CachedHeader header{.ignore = 2, .spacing_mm = {3, 0.1, 1}, .spacing_known = true};
  header.channels = channels;
  write_cached(path("a.vox"), voxels, labels, header);
  const CachedVolume volume(path("a.vox"));
  EXPECT_EQ(volume.shape(), shape);
  EXPECT_EQ(volume.header().type, VoxelType::u16);
  EXPECT_TRUE(volume.header().labelled);
  EXPECT_EQ(volume.header().ignore, 2);
  EXPECT_EQ(volume.header().spacing_mm, (std::array<double, 3>{3, 0.1, 1}));
  EXPECT_TRUE(volume.header().spacing_known);
  EXPECT_EQ(volume.header().channels, channels);
  EXPECT_TRUE(std::ranges::equal(volume.image(), voxels.values));
  EXPECT_TRUE(std::ranges::equal(volume.labels(), labels));
  EXPECT_EQ(std::filesystem::file_size(path("a.vox")), cached_bytes(volume.header()));
}

TEST_F(Cached, FindsEveryVoxelOfForeground) {
  const auto labels = some_labels();
  write_cached(path("a.vox"), voxels_from(shape, counted<std::uint8_t>(120)), labels,
               {.ignore = 2});
  const CachedVolume volume(path("a.vox"));
  for (std::int64_t begin = 0; begin <= 3; ++begin)
    for (std::int64_t end = begin; end <= 3; ++end) {
      std::int64_t k = 0;
      for (std::int64_t i = begin * 20; i < end * 20; ++i)
        if (labels[static_cast<std::size_t>(i)] == 1) {
          EXPECT_EQ(volume.positive(begin, end, k),
                    (std::array<std::int64_t, 3>{i / 20, i / 5 % 4, i % 5}));
          ++k;
        }
      EXPECT_EQ(volume.positives(begin, end), k);
    }
}

TEST_F(Cached, WithoutAnIgnoredLabelCountsAllThatIsNotBackground) {
  const std::vector<std::uint8_t> labels{0, 1, 2, 255};
  write_cached(path("a.vox"), voxels_from<float>({1, 2, 2, 1}, {0, 0, 0, 0}), labels, {});
  const CachedVolume volume(path("a.vox"));
  EXPECT_EQ(volume.positives(0, 1), 3);
  EXPECT_EQ(volume.positive(0, 1, 2), (std::array<std::int64_t, 3>{0, 1, 1}));
}

TEST_F(Cached, NeedsNoLabels) {
  write_cached(path("a.vox"), voxels_from(shape, counted<std::uint8_t>(120)), {}, {});
  const CachedVolume volume(path("a.vox"));
  EXPECT_FALSE(volume.header().labelled);
  EXPECT_TRUE(volume.labels().empty());
  EXPECT_EQ(volume.positives(0, 3), 0);
}

TEST_F(Cached, RefusesWhatIsNotWholeByName) {
  const auto file = path("a.vox");
  EXPECT_THAT(error_of([&] { CachedVolume{file}; }), HasSubstr("a.vox"));
  write_cached(file, voxels_from(shape, counted<std::uint8_t>(120)), some_labels(), {.ignore = 2});
  const std::string whole = read_file(file);
  const auto refused = [&](std::string bytes) {
    write_file_atomic(file, bytes);
    return error_if_any([&] { CachedVolume{file}; });
  };
  EXPECT_EQ(refused(whole), "");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{10}, std::size_t{100}, whole.size() - 1})
    EXPECT_THAT(refused(whole.substr(0, length)), HasSubstr("a.vox is not a whole cached volume"))
        << length;
  EXPECT_NE(refused(whole + "x"), "");
  std::string other = whole;
  other[8] = 9;  // the version
  EXPECT_NE(refused(other), "");
  other = whole;
  const std::size_t at = other.find("[2,3,4,5]");
  ASSERT_NE(at, std::string::npos);
  other.replace(at, 9, "[2,3,4,9]");
  EXPECT_NE(refused(other), "");
  other.replace(at, 9, "[0,3,4,9]");
  EXPECT_NE(refused(other), "");
}

TEST_F(Cached, NoticesEveryByteThatDiffers) {
  const auto file = path("a.vox");
  write_cached(file, voxels_from(shape, counted<std::uint8_t>(120)), some_labels(), {.ignore = 2});
  const std::string whole = read_file(file);
  EXPECT_TRUE(CachedVolume{file}.has_its_content());
  EXPECT_EQ(CachedVolume{file}.header().ignored,
            std::ranges::count(some_labels(), std::uint8_t{2}));
  const std::size_t json = whole.find('{'), end = whole.rfind('}');
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file_atomic(file, bytes);
    bool good = false;
    const std::string refused = error_if_any([&] { good = CachedVolume{file}.has_its_content(); });
    const bool gap = at > end && at < (end + 64) / 64 * 64;  // behind the header
    EXPECT_EQ(!refused.empty() || !good, !gap) << at << " of " << json << " and " << end;
  }
}

TEST_F(Cached, SaysWhatIsNeededWhereTheDiskIsFull) {
  // A file that may not grow stands for a disk that is full.
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 1 << 16;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const VolumeShape large{.depth = 32, .height = 64, .width = 64};
  const std::string error = error_of([&] {
    write_cached(path("a.vox"), voxels_from(large, std::vector<std::uint8_t>(32 * 64 * 64)), {},
                 {});
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_action);
  EXPECT_THAT(error, HasSubstr(folder_.path().string()));
  EXPECT_THAT(error, HasSubstr("a volume takes 128"));
  EXPECT_THAT(error, HasSubstr("is free"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << "what was begun is removed";
}

TEST_F(Cached, RecordOfWhatWasPreparedComesBack) {
  PreparedVolumes volumes;
  volumes.train.push_back({.id = "a",
                           .cached = "/cache/1.vox",
                           .image = "/data/a.tif",
                           .label = "/data/b.tif",
                           .begin = 2,
                           .end = 9,
                           .shape = {.depth = 9, .height = 8, .width = 7, .channels = 2}});
  volumes.valid = {volumes.train[0], volumes.train[0]};
  volumes.valid[1].id = "b";
  volumes.channels = 2;
  volumes.type = VoxelType::u16;
  volumes.normalization = {.kind = Normalize::ct, .set = {{.mean = 0.1}, {.mean = 3}}};
  write_prepared(path("volumes.json"), volumes);
  const PreparedVolumes back = read_prepared(path("volumes.json"));
  EXPECT_EQ(back.train, volumes.train);
  EXPECT_EQ(back.valid, volumes.valid);
  EXPECT_EQ(back.channels, 2);
  EXPECT_EQ(back.type, VoxelType::u16);
  EXPECT_EQ(back.normalization.kind, Normalize::ct);
  EXPECT_EQ(back.normalization.set, volumes.normalization.set);
}

TEST_F(Cached, RecordThatIsDamagedIsNamed) {
  const auto file = path("volumes.json");
  write_prepared(file, {});
  for (const std::string text : {"", "{}", "[1]", "{\"version\": 99}"}) {
    write_file_atomic(file, text);
    EXPECT_THAT(error_of([&] { read_prepared(file); }), HasSubstr("volumes.json")) << text;
  }
}

}  // namespace
}  // namespace lockstep::volume
