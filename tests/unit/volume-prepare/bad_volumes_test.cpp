// What is wrong with single volumes, each with file and reason.
#include <fstream>
#include <limits>

#include "core/media/pictures/picture_file.h"
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using BadVolumes = PrepareTest;

TEST_F(BadVolumes, OfDifferentShapes) {
  write_image("a");
  write_label("a", {.depth = 6, .height = 5, .width = 8});
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("image and label of a differ"),
                    HasSubstr("train_images/a.tif is 6 x 5 x 7, but"), HasSubstr("6 x 5 x 8")));
}

TEST_F(BadVolumes, ThatAreCutOffHaveAWayOut) {
  write_pairs({"a", "b"});
  const std::string bytes = read_file(data() / "train_images/b.tif");
  write_text("train_images/b.tif", bytes.substr(0, 20));
  const Error error = thrown_by([&] { prepare(); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot read"), HasSubstr("train_images/b.tif")));
  EXPECT_THAT(error.hint(), AllOf(HasSubstr("a copy that can be read"), HasSubstr("data.csv")));
}

TEST_F(BadVolumes, ThatLieInDifferentPlaces) {
  write(data() / "train_images" / "a.nii", usual, image_of(usual, 1), {.spacing_mm = {{2, 1, 1}}});
  write(data() / "train_labels" / "a.nii", usual, labels_of(usual));
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("image and label of a lie in different places"),
                    HasSubstr("train_images/a.nii has the affine [-1 0 0 3; 0 1 0 -2; 0 0 2 -5]"),
                    HasSubstr("train_labels/a.nii has the affine [-1 0 0 3; 0 1 0 -2; 0 0 1 -2.5]"),
                    HasSubstr("(it says no place: both codes are 0)")));
}

TEST_F(BadVolumes, WhosePlanesAreTimesAreTakenWhereTheUserSaysSo) {
  const VolumeHeader header{.spacing_mm = {{1, 1, 1}}};  // which ImageJ's description tells
  write(data() / "train_images/a.tif", usual, image_of(usual, 1), header);
  write(data() / "train_labels/a.tif", usual, labels_of(usual), header);
  for (const char* name : {"train_images/a.tif", "train_labels/a.tif"}) {
    std::string bytes = read_file(data() / name);
    const std::size_t at = bytes.find("slices=6\nunit");
    ASSERT_NE(at, bytes.npos);
    write_text(name, bytes.replace(at, 8, "frames=6"));
  }
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train_images/a.tif: it is a time series"),
                                     HasSubstr("files.as_planes=true")));
  options.files.as_planes = true;
  EXPECT_EQ(prepare_error(), "");
  options.files.as_planes = false;
  EXPECT_THAT(prepare_error(), HasSubstr("time series")) << "cached or not";
}

TEST_F(BadVolumes, AreOfOneGridWhereTheUserSaysSo) {
  NiftiSpace scanner;
  scanner.sform_code = 1;
  scanner.srow = {{{1, 0, 0, -100}, {0, 1, 0, -120}, {0, 0, 1, 30}}};
  NiftiSpace identity = scanner;
  identity.srow = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  write(data() / "train_images" / "a.nii", usual, image_of(usual, 1), {.space = scanner});
  write(data() / "train_labels" / "a.nii", usual, labels_of(usual), {.space = identity});
  EXPECT_THAT(thrown_by([&] { prepare(); }).hint(),
              AllOf(HasSubstr("files.same_grid=true"), Not(HasSubstr("resample"))));
  options.files.same_grid = true;
  EXPECT_EQ(prepare_error(), "");
  options.files.same_grid = false;
  EXPECT_THAT(prepare_error(), HasSubstr("lie in different places")) << "cached or not";
  identity.srow[2][3] = 5;
  write(data() / "train_labels" / "a.nii", usual, labels_of(usual), {.space = identity});
  EXPECT_THAT(thrown_by([&] { prepare(); }).hint(), HasSubstr("resample_from_to"));
}

TEST_F(BadVolumes, WithValuesThatAreNoClasses) {
  write_pairs({"a", "b"});
  auto labels = labels_of(usual);
  labels[40] = 255;
  write(data() / "train_labels" / "b.tif", usual, labels);
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("train_labels/b.tif"), HasSubstr("z 1, y 0, x 5 is 255")));
}

TEST_F(BadVolumes, WithNaN) {
  std::vector<float> values(voxels(usual), 0.5F);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  write(data() / "train_images" / "a.tif", usual, values);
  write_label("a");
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("train_images/a.tif"), HasSubstr("z 0, y 1, x 0 is NaN")));
}

TEST_F(BadVolumes, WhoseLabelsAreAllIgnored) {
  write_pairs({"a"});
  write(data() / "train_labels" / "a.tif", usual, std::vector<std::uint8_t>(voxels(usual), 2));
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("nothing to learn from"), HasSubstr("train_labels/a.tif"),
                    HasSubstr("all of its labels are 2"), HasSubstr("data.csv")));
}

TEST_F(BadVolumes, WithoutForegroundAreAllowedWhereOthersHaveSome) {
  options.data.valid_share = 0;
  write_pairs({"a", "b"});
  const std::vector<std::uint8_t> empty(voxels(usual), 0);
  write(data() / "train_labels" / "b.tif", usual, empty);
  EXPECT_EQ(volumes().train.size(), 2U);
  EXPECT_THAT(said, HasSubstr("warning: 1 volume for training has no foreground: b"));
  write(data() / "train_labels" / "a.tif", usual, empty);
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("there is nothing to learn: no label of the 2 training "
                              "volumes is foreground"),
                    HasSubstr("a.tif")));
}

TEST_F(BadVolumes, SmallerThanAPatch) {
  write_pairs({"a"});
  options.data.patch = {"4", "4", "8"};
  options.data.valid_share = 0;
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("a.tif is 6 x 5 x 7, smaller than data.patch, 4 x 4 x 8"),
                    HasSubstr("data.pad=true")));
  EXPECT_EQ(said.find("reading"), std::string::npos) << "before anything is decoded";
  options.data.pad = true;
  EXPECT_EQ(prepare_error(), "");
}

TEST_F(BadVolumes, WithoutASpacingWhereOneIsNeeded) {
  write_pairs({"a"});
  options.data.spacing = {"1"};
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("data.spacing is set, but"),
                                     HasSubstr("train_images/a.tif does not say its own")));
}

TEST_F(BadVolumes, WithOtherChannels) {
  VolumeShape two = usual;
  two.channels = 2;
  write(data() / "images" / "a.nii", usual, image_of(usual, 1));
  write(data() / "images" / "b.nii", two, image_of(two, 2));
  for (const char* id : {"a", "b"})
    write(data() / "labels" / (std::string(id) + ".nii"), usual, labels_of(usual));
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("different numbers of channels: 1 in"),
                                     HasSubstr("a.nii, but 2 in"), HasSubstr("b.nii")));
  options.data.channels = 2;
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("a.nii has 1 channel, but data.channels is 2")));
}

TEST_F(BadVolumes, InFilesThatAreNone) {
  write_pairs({"a"});
  write_text("train_images/a.tif", "");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train_images/a.tif"), HasSubstr("empty")));
  write_image("a");
  const std::string whole = read_file(data() / "train_images/a.tif");
  write_text("train_images/a.tif", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(prepare_error(), HasSubstr("train_images/a.tif"));
  write_image("a", {.depth = 1, .height = 5, .width = 7});
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train_images/a.tif"), HasSubstr("one page")));
}

TEST_F(BadVolumes, TheFirstOfThemIsNamedAndTheOthersAreKept) {
  write_pairs({"a", "b", "c", "d"});
  age();
  write(data() / "train_labels" / "d.tif", usual, std::vector<std::uint8_t>(voxels(usual), 9));
  EXPECT_THAT(prepare_error(), HasSubstr("train_labels/d.tif"));
  std::size_t cached = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache() / "volumes"))
    cached += entry.path().extension() == ".vox";
  EXPECT_EQ(cached, 3U);
  write_label("d");
  EXPECT_EQ(prepare_error(), "");
  EXPECT_THAT(said, HasSubstr("reading 1 volume into"));
}

}  // namespace
}  // namespace lockstep::volume
