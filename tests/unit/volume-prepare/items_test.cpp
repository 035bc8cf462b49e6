// What is predicted, and what outputs are called.
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Items : public PrepareTest {
 protected:
  Items() { fs::create_directories(data()); }
  std::vector<PredictItem> find(const std::vector<std::string>& inputs = {},
                                const fs::path& run = {}) const {
    return find_items(options, {.inputs = inputs, .run_dir = run, .cache_dir = cache()});
  }
  std::string find_error(const std::vector<std::string>& inputs = {}) const {
    return error_if_any([&] { find(inputs); });
  }
  void write_test(const std::string& name) const {
    write(data() / "test_images" / name, usual, image_of(usual, 1));
  }
  static std::vector<std::string> outputs_of(const std::vector<PredictItem>& items) {
    std::vector<std::string> outputs;
    for (const PredictItem& item : items) {
      EXPECT_EQ(item.fault, "") << item.name;
      outputs.push_back(item.output);
    }
    return outputs;
  }
};

TEST_F(Items, AreThoseOfTheTestTable) {
  write_test("a.tif");
  write_test("b.nii.gz");
  write_test("c.tiff");
  write_text("test.csv", "id\nb\na\n");
  const auto items = find();
  EXPECT_THAT(outputs_of(items), ElementsAre("b.nii.gz", "a.tif"));
  EXPECT_EQ(items[0].path, (data() / "test_images/b.nii.gz").string());
  EXPECT_EQ(items[0].id, "b.nii.gz");
  EXPECT_EQ(items[1].index, 1);
}

TEST_F(Items, AreAllOfTheFolderWithoutATable) {
  write_test("a.tif");
  write_test("b.nii");
  write_test("c.tiff");
  EXPECT_THAT(outputs_of(find()), ElementsAre("a.tif", "b.nii", "c.tif"));
  options.data.path.clear();
  options.predict.images = (data() / "test_images").string();
  EXPECT_THAT(outputs_of(find()), ElementsAre("a.tif", "b.nii", "c.tif"));
  write_text("some.csv", "id\nc\n");
  options.predict.csv = (data() / "some.csv").string();
  EXPECT_THAT(outputs_of(find()), ElementsAre("c.tif"));
}

TEST_F(Items, OfAFolderOfVolumesAreNoSlicesWhereOneCannotBeRead) {
  write_test("b.nii");
  write_text("test_images/a.tif", "no volume");
  write_text("test_images/view.bmp", "BM");
  const auto items = find({(data() / "test_images").string()});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "a.tif");
  EXPECT_EQ(items[1].id, "b.nii");
}

TEST_F(Items, AreReadAsTheOptionsSay) {
  write(data() / "test_images/a.tif", usual, image_of(usual, 1), {.spacing_mm = {{1, 1, 1}}});
  std::string bytes = read_file(data() / "test_images/a.tif");
  write_text("test_images/a.tif", bytes.replace(bytes.find("slices=6\nunit"), 8, "frames=6"));
  EXPECT_THAT(find().at(0).fault, HasSubstr("time series of 6 frames"));
  options.files.as_planes = true;
  EXPECT_EQ(find().at(0).fault, "");
}

TEST_F(Items, NameFoldersOfSlicesThatCannotBeRead) {
  const VolumeShape slice{.depth = 1, .height = 5, .width = 7};
  for (const char* id : {"a", "b"})
    for (int z = 0; z < 6; ++z)
      write(data() / "test_images" / id / cat("z", z, ".tif"), slice, image_of(slice, z));
  write_text("test_images/b/z0.tif", read_file(data() / "test_images/b/z0.tif").substr(0, 20));
  for (const auto& inputs :
       {std::vector<std::string>(), std::vector<std::string>{(data() / "test_images").string()}}) {
    const auto items = find(inputs);
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[0].fault, "");
    EXPECT_EQ(items[1].id, "b");
    if (inputs.empty()) EXPECT_THAT(items[1].fault, HasSubstr("b/z0.tif"));
  }
}

TEST_F(Items, SayHowManyDevicesCanShareThem) {
  write(data() / "test_images/a.tif", {.depth = 40, .height = 16, .width = 16},
        std::vector<std::uint8_t>(40 * 16 * 16));
  write_text("test_images/b.tif", "no volume");
  options.data.patch = {"16"};
  options.predict.overlap = 0.5;
  const std::vector<std::string> inputs{(data() / "test_images/a.tif").string(),
                                        (data() / "test_images/b.tif").string()};
  EXPECT_EQ(find(inputs).at(0).pieces, 4) << "tiles begin at planes 0, 8, 16 and 24";
  EXPECT_EQ(find(inputs).at(1).pieces, 1);
  options.predict.overlap = 0;
  EXPECT_EQ(find(inputs).at(0).pieces, 3);
  options.data.patch = {"64"};
  EXPECT_EQ(find(inputs).at(0).pieces, 1);
}

TEST_F(Items, NameAllMissingIdsBeforeAnyWork) {
  write_test("scan-1.tif");
  write_text("test.csv", "id\nscan-1\nscan-2\nscan-3\nscan-4\nscan-5\nscan-6\nscan-7\n");
  EXPECT_THAT(find_error(), AllOf(HasSubstr("test.csv names 6 volumes that are not in"),
                                  HasSubstr("scan-2, scan-3, scan-4, scan-5, scan-6 and 1 more"),
                                  HasSubstr("the nearest id is scan-1")));
}

TEST_F(Items, HaveTheirChannelsInFilesOfTheirOwn) {
  const fs::path images = data() / "imagesTs";
  for (const char* name : {"a_0000.nii", "a_0001.nii", "b_0000.nii", "b_0001.nii"})
    write(images / name, usual, image_of(usual, 1));
  options.data.channels = 2;
  EXPECT_THAT(outputs_of(find()), ElementsAre("a.nii", "b.nii"));
  EXPECT_EQ(find()[0].id, "a.nii");
  EXPECT_THAT(find()[0].further, ElementsAre((images / "a_0001.nii").string()));
  EXPECT_THAT(outputs_of(find({(images / "*.nii").string()})), ElementsAre("a.nii", "b.nii"));
  write_text("test.csv", "id\nb\n");
  EXPECT_THAT(outputs_of(find()), ElementsAre("b.nii"));
  fs::remove(images / "b_0001.nii");
  EXPECT_THAT(find_error(), AllOf(HasSubstr("test.csv names a volume that cannot be predicted"),
                                  HasSubstr("the volume b has no channel 1")));
  fs::remove(images / "a_0000.nii");
  fs::remove(data() / "test.csv");
  const auto items = find();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_THAT(items[0].fault, HasSubstr("the volume a has no channel 0"));
  options.data.channels = 0;
  EXPECT_EQ(find().size(), 2U);  // nothing is known
  const fs::path run = path("run");
  fs::create_directories(run);
  write_file_atomic(run / "run.json", R"({"extra": {"channels": 2, "normalization": {}}})");
  EXPECT_THAT(find({}, run)[0].fault, HasSubstr("has no channel 0"));
}

TEST_F(Items, OfNnUNetDropTheChannelHoweverTheyAreNamed) {
  const fs::path images = data() / "imagesTs";
  write(images / "case_0000.nii.gz", usual, image_of(usual, 1));
  write(images / "other.nii.gz", usual, image_of(usual, 2));
  EXPECT_THAT(outputs_of(find()), ElementsAre("case.nii.gz", "other.nii.gz"));
  EXPECT_THAT(outputs_of(find({images.string()})), ElementsAre("case.nii.gz", "other.nii.gz"));
  EXPECT_THAT(outputs_of(find({(images / "*_0000*").string()})), ElementsAre("case.nii.gz"));
  EXPECT_THAT(outputs_of(find({(images / "case_0000.nii.gz").string()})),
              ElementsAre("case.nii.gz"));
  EXPECT_EQ(find({(images / "case_0000.nii.gz").string()}).at(0).id, "case.nii.gz");
}

TEST_F(Items, KeepNumbersThatAreNoChannels) {
  options.data.channels = 1;
  for (const char* name : {"scan_0000.tif", "scan_0001.tif", "b_0000.tif", "b.nii"})
    write_test(name);
  EXPECT_THAT(outputs_of(find()),
              ElementsAre("b.nii", "b_0000.tif", "scan_0000.tif", "scan_0001.tif"));
  EXPECT_THAT(outputs_of(find({(data() / "test_images/scan_0000.tif").string()})),
              ElementsAre("scan_0000.tif"));
  write_test("c_0000.tif");
  write_text("test.csv", "id\nc_0000\n");
  EXPECT_THAT(outputs_of(find()), ElementsAre("c_0000.tif")) << "the id is the table's";
}

TEST_F(Items, AreFilesAndFoldersThatWereTyped) {
  write_test("a.tif");
  write_test("b.nii.gz");
  write(data() / "other" / "c.tif", usual, image_of(usual, 1));
  EXPECT_THAT(
      outputs_of(find({(data() / "test_images").string() + "/", (data() / "other/c.tif").string(),
                       (data() / "test_images/a.tif").string()})),
      ElementsAre("a.tif", "b.nii.gz", "c.tif"));
  EXPECT_THAT(outputs_of(find({data().string()})),
              ElementsAre("other/c.tif", "test_images/a.tif", "test_images/b.nii.gz"));
  EXPECT_THAT(outputs_of(find({(data() / "test_images/*.nii.gz").string()})),
              ElementsAre("b.nii.gz"));
}

// Before hours of work, not at its end.
TEST_F(Items, ThatWouldBeOneInTheArchiveOrHaveNoNameThereHaveFaults) {
  for (const char* name : {"x/a.tif", "y/a.tif", "y/b\\a.tif"})
    write(data() / name, usual, image_of(usual, 1));
  EXPECT_THAT(outputs_of(find({data().string()})), ElementsAre("x/a.tif", "y/a.tif", "y/b\\a.tif"));
  options.predict.submission = "all.zip";
  const auto items = find({data().string()});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].fault, "");
  EXPECT_THAT(items[1].fault, HasSubstr("it would become a.tif in all.zip, as "));
  EXPECT_THAT(items[2].fault, HasSubstr("cannot be a name in all.zip"));
}

TEST_F(Items, MayBeFoldersOfSlices) {
  const VolumeShape slice{.depth = 1, .height = 5, .width = 7};
  for (int z = 0; z < 3; ++z)
    write(data() / "test_images" / "s" / cat("z", z, ".tif"), slice, image_of(slice, z));
  EXPECT_THAT(outputs_of(find({(data() / "test_images/s").string()})), ElementsAre("s.tif"));
  EXPECT_THAT(outputs_of(find({(data() / "test_images").string()})), ElementsAre("s.tif"));
  EXPECT_THAT(outputs_of(find()), ElementsAre("s.tif"));
}

TEST_F(Items, HaveFaultsWhereTheyCannotBe) {
  write_test("a.tif");
  const auto items =
      find({(data() / "test_images/a.tif").string(), (data() / "test_images/absent.tif").string()});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].fault, "");
  EXPECT_THAT(items[1].fault, HasSubstr("absent.tif"));
  write(data() / "other" / "a.tif", usual, image_of(usual, 2));
  const auto same =
      find({(data() / "test_images/a.tif").string(), (data() / "other/a.tif").string()});
  EXPECT_THAT(same.at(1).fault, HasSubstr("it would become a.tif"));
  EXPECT_NE(same[0].id, same[1].id);
  fs::create_directories(data() / "none");
  EXPECT_THAT(find_error({(data() / "none").string()}), HasSubstr("holds no volumes"));
}

TEST_F(Items, OfMadeDataAreItsTestVolumes) {
  options.data.path.clear();
  options.data.patch = {"32"};
  const fs::path run = make_run(prepare());
  EXPECT_THAT(outputs_of(find({}, run)), ElementsAre("made-09.tif", "made-10.tif"));
}

TEST_F(Items, MustBeNamedWhereOnlyAnExportIsThere) {
  write_pairs({"a", "b"});
  const fs::path run = make_run(prepare());
  options.data.path.clear();  // as an export has it
  EXPECT_THAT(error_if_any([&] { find({}, run); }),
              AllOf(HasSubstr("there is nothing to predict"), HasSubstr("images=FOLDER")));
}

TEST_F(Items, NeedAFolderThatIsThere) {
  EXPECT_THAT(find_error(), HasSubstr("has no folder test_images"));
  options.predict.images = path("absent").string();
  EXPECT_THAT(find_error(), AllOf(HasSubstr("absent"), HasSubstr("predict.images")));
  fs::create_directories(data() / "test_images");
  options.predict.images.clear();
  EXPECT_THAT(find_error(), HasSubstr("holds no volumes"));
}

}  // namespace
}  // namespace lockstep::volume
