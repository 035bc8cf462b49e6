// Training by OpenCL, on the driver for CPUs (pocl): the path of GPUs, with LightGBM's own kernels.
#include "gbdt_rig.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::ToolResult;

class GbdtByOpenCl : public GbdtRig {
 protected:
  // The driver of the system's packages; "" where it is not there.
  static std::string pocl() {
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
      for (const char* name : {"libpocl.so.2", "libpocl.so.2.10.0rc"})
        if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
    return "";
  }
  void SetUp() override {
    GbdtRig::SetUp();
    if (IsSkipped()) return;
    if (pocl().empty()) GTEST_SKIP() << "pocl, an OpenCL driver for CPUs, is not installed";
    fs::create_directory(folder() / "vendors");
    environment_["OCL_ICD_VENDORS"] = (folder() / "vendors").string() + "/";
  }
  void register_driver() const { write_file_atomic(folder() / "vendors/pocl.icd", pocl() + "\n"); }
  ToolResult train(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "train",           "gbdt",           "--name",       "g",
        "gbdt.device=gpu", "n_estimators=5", "num_leaves=7", "max_depth=4"};
    words.insert(words.end(), more.begin(), more.end());
    fs::remove_all(folder() / "runs");
    return testing::run_tool(words, folder(), environment_);
  }
  nlohmann::json metadata() const { return nlohmann::json::parse(text("runs/g/metadata.json")); }

  std::map<std::string, std::string> environment_;
};

TEST_F(GbdtByOpenCl, TrainsOnThePlatformAndRecordsIt) {
  register_driver();
  const ToolResult result = train({"gbdt.gpu_platform=portable"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto library = metadata().at("library");
  EXPECT_EQ(library.at("device"), "gpu");
  EXPECT_THAT(library.at("gpu_name").get<std::string>(),
              HasSubstr("Portable Computing Language: "));
  EXPECT_THAT(library.at("messages").dump(),
              HasSubstr("Using requested OpenCL platform 0 device 0"));
  EXPECT_EQ(metadata().at("parameters").at("used").at("gpu_platform_id"), "0");
  EXPECT_GT(metadata().at("model").at("trees"), 0);
}

TEST_F(GbdtByOpenCl, SaysWhichPlatformsAndDevicesThereAre) {
  const ToolResult none = train({});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no OpenCL platform on this machine"));
  register_driver();
  const ToolResult other = train({"gbdt.gpu_platform=nvidia"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("there are: 0 Portable Computing Language"));
  const ToolResult ninth = train({"gbdt.device_id=9"});
  EXPECT_EQ(ninth.code, 2);
  EXPECT_THAT(ninth.err, HasSubstr("there is no device 9 on the OpenCL platform Portable"));
}

TEST_F(GbdtByOpenCl, RefusesADeviceThatIsNoGpuUnlessItsPlatformIsNamed) {
  register_driver();
  const ToolResult result = train({});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("gbdt.device=gpu needs a GPU, but the OpenCL device "));
  EXPECT_THAT(result.err, HasSubstr("gbdt.gpu_platform='Portable Computing Language'"));
}

// A container has NVIDIA's driver without a file that names it.
TEST_F(GbdtByOpenCl, FindsTheDriverOfNvidiaWhereNoFileNamesIt) {
  const fs::path from = fs::path(pocl()).parent_path(), driver = folder() / "lib/driver";
  fs::create_directories(driver);
  fs::create_symlink(pocl(), driver / "libnvidia-opencl.so.1");
  fs::create_symlink(from / "pocl", driver / "pocl");
  fs::create_symlink(from / "../../share", folder() / "share");  // its headers, where it looks
  environment_["LD_LIBRARY_PATH"] = driver;
  const ToolResult result = train({"gbdt.gpu_platform=portable"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(metadata().at("library").at("device"), "gpu");
}

class GbdtByCuda : public GbdtRig {};

TEST_F(GbdtByCuda, NeedsTheLibraryThatIsBuiltForIt) {
  if (fs::exists(fs::path(LOCKSTEP_BUILD_DIR) / "lightgbm-cuda")) GTEST_SKIP() << "it is there";
  const ToolResult result =
      tool({"train", "gbdt", "gbdt.device=cuda", "max_depth=-1", "is_unbalance=false"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("make lightgbm-cuda"));
}

}  // namespace
}  // namespace lockstep
