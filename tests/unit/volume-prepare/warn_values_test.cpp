// What is said of sets whose values are odd.
#include "prepare_test.h"
#include "recipes/volume/voxels/value_range.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using WarnValues = PrepareTest;

TEST_F(WarnValues, OfFloatsThatAreDividedByOne) {
  write_pairs({"a", "b"});
  write(data() / "train_images" / "a.tif", usual, std::vector<float>(voxels(usual), 700.0F));
  volumes();
  EXPECT_THAT(said, HasSubstr("warning: values of"));
  EXPECT_THAT(said, HasSubstr("train_images/a.tif go from 700 to 700"));
}

TEST_F(WarnValues, OfImagesWhoseZeroIsWhite) {
  write_pairs({"a", "b"});
  volumes();
  EXPECT_THAT(said, Not(HasSubstr("WhiteIsZero")));
  // PhotometricInterpretation, a number of 16 bits, from 1 to 0 on every page.
  std::string bytes = read_file(data() / "train_images/a.tif");
  const std::string entry("\x06\x01\x03\0\1\0\0\0\1", 9);
  for (std::size_t at = bytes.find(entry); at != bytes.npos; at = bytes.find(entry))
    bytes[at + 8] = '\0';
  write_text("train_images/a.tif", bytes);
  volumes();
  EXPECT_THAT(said, HasSubstr("warning: 1 of 2 images says that 0 is white"));
  write_text("train_images/b.tif", bytes);
  volumes();
  EXPECT_THAT(said, HasSubstr("2 of 2 images say that 0 is white"));
  EXPECT_THAT(said, Not(HasSubstr("warning: 2 of 2")));
}

TEST_F(WarnValues, OfALabelThatIsIgnoredByDefault) {
  write_pairs({"a", "b"});
  volumes();
  // Of 210 voxels each, 42 are 1, and 24 of the others are 2.
  EXPECT_THAT(said,
              HasSubstr("label 2 (data.ignore) is on 11.4 % of the voxels, in 2 of 2 volumes: "
                        "it counts neither in the loss nor in a score; if it is a class of "
                        "its own, set data.classes=3 data.ignore=-1"));
  EXPECT_THAT(said, Not(HasSubstr("warning")));
  options.table.set("data.ignore", "2", {.kind = ValueSource::Kind::argument});
  volumes();
  EXPECT_THAT(said, HasSubstr("label 2 (data.ignore) is on 11.4 %"));
  EXPECT_THAT(said, Not(HasSubstr("class of its own")));
}

TEST_F(WarnValues, OfLabelsThatAreNearlyAllIgnored) {
  write_image("a");
  std::vector<std::uint8_t> labels(voxels(usual), 2);
  labels[0] = labels[50] = 1;
  write(data() / "train_labels/a.tif", usual, labels);
  options.data.patch = {"1"};
  options.data.valid_share = 0;
  volumes();
  EXPECT_THAT(said,
              HasSubstr("warning: label 2 (data.ignore) is on 99.0 % of the voxels, in 1 of 1 "
                        "volume:"));
}

TEST_F(WarnValues, AreKeptForPrediction) {
  write_pairs({"a", "b"});
  const Prepared prepared = prepare();
  const ValueRange range = value_range_from_json(prepared.extra.at("values"));
  const auto run = make_run(prepared);
  EXPECT_EQ(prepare(Purpose::predict, run).extra.at("values"), prepared.extra.at("values"));
  ASSERT_EQ(range.channels.size(), 1U);
  EXPECT_NEAR(range.channels[0].mean_low, 125, 10);
  ChannelStatistics alike{.mean = 128, .deviation = 70};
  const Normalization divide;
  EXPECT_EQ(odd_values(range, divide, VoxelType::u8, {alike}), "");
  EXPECT_THAT(odd_values(range, divide, VoxelType::u16, {alike}),
              HasSubstr("its voxels are u16, those of the training were u8"));
  ChannelStatistics far{.mean = 400, .deviation = 70};
  EXPECT_THAT(odd_values(range, divide, VoxelType::u8, {far}),
              HasSubstr("its values have mean 400 and deviation 70, those of the training had"));
  EXPECT_EQ(odd_values(range, {.kind = Normalize::zscore}, VoxelType::u8, {far}), "");
  EXPECT_EQ(odd_values(value_range_from_json(nullptr), divide, VoxelType::u16, {far}), "");
}

TEST_F(WarnValues, NotOfBytes) {
  write_pairs({"a", "b"});
  volumes();
  EXPECT_THAT(said, Not(HasSubstr("warning")));
  EXPECT_THAT(said, HasSubstr("to train on"));
}

}  // namespace
}  // namespace lockstep::volume
