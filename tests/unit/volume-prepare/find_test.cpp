// Which volumes are found, and what is said of those that are not.
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Find : public PrepareTest {
 protected:
  Find() { options.data.patch = {"2"}; }
};

TEST_F(Find, TakesTheIdsOfTheTable) {
  write_pairs({"a", "b", "c"});
  write_text("train.csv", "id,scroll_id\nc,1\na,2\n");
  options.data.valid_share = 0;
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a", "c"));
  write_text("other.csv", "scroll_id;id\n1;b\n2;c\n");
  options.data.csv = (data() / "other.csv").string();
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("b", "c"));
}

TEST_F(Find, TakesAllPairsByNameWithoutATable) {
  write_pairs({"b", "a"});
  write_label("lonely");
  options.data.valid_share = 0;
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a", "b"));
  EXPECT_THAT(said, HasSubstr("passed over 1 label"));
}

TEST_F(Find, KnowsTheLayoutOfNnUNet) {
  write(data() / "imagesTr" / "case_1_0000.nii.gz", usual, image_of(usual, 1));
  write(data() / "labelsTr" / "case_1.nii.gz", usual, labels_of(usual));
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("case_1"));
}

TEST_F(Find, TakesChannelsFromFilesOfTheirOwn) {
  const std::filesystem::path images = data() / "imagesTr";
  for (const char* id : {"case_1", "case_2"}) {
    for (int channel : {0, 1, 2})
      write(images / cat(id, "_000", channel, ".nii.gz"), usual, image_of(usual, channel));
    write(data() / "labelsTr" / cat(id, ".nii.gz"), usual, labels_of(usual));
  }
  options.data.valid_share = 0;
  const PreparedVolumes found = volumes();
  EXPECT_THAT(ids_of(found.train), ElementsAre("case_1", "case_2"));
  EXPECT_EQ(found.channels, 3);
  const CachedVolume cached(found.train[0].cached);
  const auto second = cached.image().subspan(voxels(usual), voxels(usual));
  const auto wanted = image_of(usual, 1);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), std::as_bytes(std::span(wanted)).begin()));
  // Another content of the second channel alone is another volume.
  write(images / "case_1_0001.nii.gz", usual, image_of(usual, 9));
  EXPECT_NE(volumes().train[0].cached, found.train[0].cached);
  EXPECT_EQ(volumes().train[1].cached, found.train[1].cached);
}

TEST_F(Find, SaysWhichChannelIsMissing) {
  const std::filesystem::path images = data() / "imagesTr";
  for (const char* id : {"case_1", "case_2"}) {
    for (int channel : {0, 1, 2})
      write(images / cat(id, "_000", channel, ".nii"), usual, image_of(usual, channel));
    write(data() / "labelsTr" / cat(id, ".nii"), usual, labels_of(usual));
  }
  std::filesystem::remove(images / "case_2_0002.nii");
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("the volume case_2 has no channel 2: case_2_0002 is not in"),
                    HasSubstr("other volumes have 3 channels")));
  std::filesystem::remove(images / "case_1_0001.nii");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("the volume case_1 has no channel 1"),
                                     HasSubstr("case_1_0001 is not beside")));
  std::filesystem::remove(images / "case_2_0000.nii");
  write(images / "case_1_0001.nii", usual, image_of(usual, 1));
  EXPECT_THAT(prepare_error(), HasSubstr("the volume case_2 has no channel 0"));
}

TEST_F(Find, AnIdThatEndsInZeroesStaysWhereItsLabelIsCalledSo) {
  for (const char* id : {"scan_0000", "scan_0001"}) {
    write(data() / "images" / (std::string(id) + ".tif"), usual, image_of(usual, id[8]));
    write(data() / "labels" / (std::string(id) + ".tif"), usual, labels_of(usual));
  }
  options.data.valid_share = 0;
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("scan_0000", "scan_0001"));
}

TEST_F(Find, AnImageWhoseOwnLabelIsThereIsNoOthers) {
  write_pairs({"scan_0000"});
  write_label("scan");
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("scan_0000"));
  EXPECT_THAT(said, HasSubstr("passed over 1 label"));
}

TEST_F(Find, TakesNamedFoldersBelowThePathOrAnywhere) {
  write(data() / "scans" / "a.tiff", usual, image_of(usual, 1));
  write(path("elsewhere") / "a.nii", usual, labels_of(usual));
  options.data.images = "scans";
  options.data.labels = path("elsewhere").string() + "/";
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a"));
  options.data.path.clear();
  options.data.images = (data() / "scans").string();
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a"));
}

TEST_F(Find, TakesTheTestSetWhereItsImagesAreNamed) {
  write_pairs({"a"});
  write_text("train.csv", "id\na\n");
  for (const char* id : {"b", "c", "d"}) {
    write(data() / "test_images" / (std::string(id) + ".tif"), usual, image_of(usual, id[0]));
    write(data() / "test_labels" / (std::string(id) + ".tif"), usual, labels_of(usual));
  }
  options.data.valid_share = 0;
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a"));
  options.data.images = (data() / "test_images").string();
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("b", "c", "d"));
  write_text("test.csv", "id\nc\n");
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("c"));
}

TEST_F(Find, TakesFoldersOfSlices) {
  const VolumeShape slice{.depth = 1, .height = 5, .width = 7};
  for (int z = 0; z < 6; ++z) {
    write(data() / "images" / "a" / cat("z", z, ".tif"), slice, image_of(slice, z));
    write(data() / "labels" / "a" / cat("z", z, ".tif"), slice, labels_of(slice));
  }
  const PreparedVolumes found = volumes();
  ASSERT_THAT(ids_of(found.train), ElementsAre("a"));
  EXPECT_EQ(found.train[0].shape, usual);
}

TEST_F(Find, NamesTheSliceThatCannotBeRead) {
  const VolumeShape slice{.depth = 1, .height = 5, .width = 7};
  for (const char* id : {"a", "b"})
    for (int z = 0; z < 6; ++z) {
      write(data() / "images" / id / cat("z", z, ".tif"), slice, image_of(slice, z));
      write(data() / "labels" / id / cat("z", z, ".tif"), slice, labels_of(slice));
    }
  const auto cut = [&](const char* name) {
    const std::string whole = read_file(data() / name);
    write_text(name, whole.substr(0, 20));
    EXPECT_THAT(prepare_error(), AllOf(HasSubstr(name), HasSubstr("truncated")));
    write_text(name, whole);
  };
  cut("images/b/z0.tif");
  cut("labels/b/z0.tif");
  for (int z = 1; z < 6; ++z) write_text(cat("labels/b/z", z, ".tif"), "cut");
  cut("labels/b/z0.tif");
  std::filesystem::remove_all(data() / "images/b");
  write_text("images/b/z0.bmp", "BM");
  EXPECT_THAT(prepare_error(), HasSubstr("images/b: the folder holds no slices"));
}

TEST_F(Find, SaysWhichImageHasNoLabel) {
  write_pairs({"scan-1", "scan-2"});
  write_image("scan-3");
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("the volume scan-3 has no label in"), HasSubstr("train_labels"),
                    HasSubstr("the nearest id is scan-")));
  write_image("22");
  std::filesystem::remove(data() / "train_images/scan-3.tif");
  EXPECT_EQ(thrown_by([&] { prepare(); }).hint(),
            "add the file, or leave the volume out by a table of the others (data.csv)");
  write_text("train.csv", "id\n22\n");
  EXPECT_EQ(thrown_by([&] { prepare(); }).hint(),
            "add the file, or remove the line from the table");
}

TEST_F(Find, SaysWhichLineOfATableHasNoVolume) {
  write_pairs({"scan-1", "scan-2"});
  write_text("train.csv", "id\nscan-1\nscam-2\n");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train.csv, line 3: the volume scam-2 has no image"),
                                     HasSubstr("the nearest id is scan-2")));
  std::filesystem::remove(data() / "train_labels/scan-1.tif");
  write_text("train.csv", "id\nscan-1\n");
  EXPECT_THAT(prepare_error(), HasSubstr("train.csv, line 2: the volume scan-1 has no label"));
}

TEST_F(Find, RefusesTablesThatAreNone) {
  write_pairs({"a"});
  write_text("train.csv", "ids\na\n");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train.csv has no column id"),
                                     HasSubstr("the nearest of its columns is ids")));
  write_text("train.csv", "id\na\na\n");
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("line 3: the id a is there already"), HasSubstr("line 2")));
  write_text("train.csv", "id,n\n,1\n");
  EXPECT_THAT(prepare_error(), HasSubstr("line 2: the id is empty"));
  write_text("train.csv", "id\n");
  EXPECT_THAT(prepare_error(), HasSubstr("train.csv has no rows"));
  options.data.csv = path("absent.csv").string();
  EXPECT_THAT(prepare_error(), HasSubstr("absent.csv"));
}

TEST_F(Find, RefusesTwoFilesOfOneId) {
  write_pairs({"a"});
  write(data() / "train_images" / "a.nii", usual, image_of(usual, 1));
  EXPECT_THAT(prepare_error(), HasSubstr("have the id a: a.nii and a.tif"));
}

TEST_F(Find, ProposesAFolderOfLabelsForLabels) {
  write_pairs({"a"});
  std::filesystem::rename(data() / "train_labels", data() / "train_masks");
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("there is no folder " + (data() / "train_labels").string()),
                    HasSubstr("did you mean data.labels=" + (data() / "train_masks").string()),
                    Not(HasSubstr("train_images"))));
  std::filesystem::rename(data() / "train_masks", data() / "annotation");
  EXPECT_THAT(prepare_error(),
              HasSubstr("did you mean data.labels=" + (data() / "annotation").string()));
  std::filesystem::rename(data() / "annotation", data() / "other");
  EXPECT_THAT(prepare_error(), HasSubstr("name the folder of the labels with data.labels"));
}

// The tool has made the name absolute before.
TEST_F(Find, TakesAFolderOfThePathThoughItsNameIsTakenFromTheCurrentFolder) {
  write_pairs({"a"});
  std::filesystem::rename(data() / "train_labels", data() / "train_masks");
  const std::filesystem::path here = std::filesystem::current_path();
  options.data.labels = (here / "train_masks").string();
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("a"));
  EXPECT_EQ(options.data.labels, (data() / "train_masks").string()) << "as the run records it";
  options.data.labels = (here / "train_marks").string();
  EXPECT_THAT(prepare_error(),
              AllOf(HasSubstr("there is no folder " + (here / "train_marks").string()),
                    HasSubstr("and none called train_marks in " + data().string()),
                    HasSubstr("did you mean data.labels=" + (data() / "train_masks").string())));
}

TEST_F(Find, SaysWhatFolderIsMissing) {
  options.data.path = path("dataa").string();
  std::filesystem::create_directories(data());
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("there is no folder"), HasSubstr("data.path"),
                                     HasSubstr("did you mean")));
  options.data.path = data().string();
  std::filesystem::create_directories(data() / "pictures");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("there are no images in"), HasSubstr("pictures")));
  write_image("a");
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("train_labels"), HasSubstr("there is no folder")));
  options.data.images = "pictures";
  EXPECT_THAT(prepare_error(), HasSubstr("data.labels is empty"));
  options.data.labels = "pictures";
  EXPECT_THAT(prepare_error(), HasSubstr("holds no volumes"));
}

}  // namespace
}  // namespace lockstep::volume
