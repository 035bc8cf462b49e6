// Weights of other programs into a model: files of torch.save read as data, every tensor accounted
// for.
#include "training/checkpoint/first_weights.h"

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "fakes/tied_model.h"
#include "runtime/run/formats/safetensors.h"
#include "training/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <fstream>
#include <limits>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TiedModel;
using testing::TiedRecipe;
using testing::ToyModel;
using testing::ToyRecipe;

const fs::path torch_files =
    fs::path(LOCKSTEP_SOURCE_DIR) / "tests/unit/training/checkpoint/torch_files";

TEST(TorchFile, GivesTheTensorsThatPythonSaved) {
  const auto expected = map_tensors(torch_files / "expected.safetensors");
  for (const char* name : {"zip.pt", "legacy.pt", "nested.pt", "protocol4.pt"}) {
    SCOPED_TRACE(name);
    const TorchFile file = read_torch_file(torch_files / name);
    EXPECT_EQ(file.inside, std::string(name) == "nested.pt" ? "model" : "");
    EXPECT_EQ(file.tensors.size(), expected.size());
    StoredFiles files;
    for (const StoredTensor& stored : file.tensors) {
      const at::Tensor tensor = files.tensor(torch_files / name, stored);
      const at::Tensor& wanted = expected.at(stored.name);
      EXPECT_EQ(tensor.scalar_type(), wanted.scalar_type()) << stored.name;
      EXPECT_EQ(tensor.sizes(), wanted.sizes()) << stored.name;
      EXPECT_TRUE(tensor.equal(wanted)) << stored.name;
    }
  }
}

at::Tensor comparable(const at::Tensor& tensor) {
  return tensor.itemsize() == 1 ? tensor.to(at::kFloat) : tensor;  // ATen compares no FP8
}

// Parameters and tensors with attributes of their own, FP8, and numbers that are kept as their
// negatives.
TEST(TorchFile, GivesWhatPythonReadsOfWeightsAlone) {
  const auto expected = map_tensors(torch_files / "expected_read.safetensors");
  for (const char* name : {"read.pt", "read_legacy.pt"}) {
    SCOPED_TRACE(name);
    const TorchFile file = read_torch_file(torch_files / name);
    EXPECT_EQ(file.tensors.size(), expected.size());
    StoredFiles files;
    for (const StoredTensor& stored : file.tensors) {
      const at::Tensor tensor = files.tensor(torch_files / name, stored);
      const at::Tensor& wanted = expected.at(stored.name);
      EXPECT_EQ(tensor.scalar_type(), wanted.scalar_type()) << stored.name;
      EXPECT_TRUE(comparable(tensor).equal(comparable(wanted))) << stored.name;
    }
  }
}

TEST(TorchFile, LooksForTheKeysOfAStateDictFirst) {
  for (const char* name : {"beside.pt", "beside4.pt"}) {
    SCOPED_TRACE(name);
    const TorchFile file = read_torch_file(torch_files / name);
    EXPECT_EQ(file.inside, "model");
    ASSERT_EQ(file.tensors.size(), 2U);
    EXPECT_EQ(file.tensors[0].name, "w");
    EXPECT_EQ(file.tensors[1].name, "b");
  }
}

TEST(TorchFile, KnowsTheKeyModelState) {
  const TorchFile file = read_torch_file(torch_files / "model_state.pt");
  EXPECT_EQ(file.inside, "model_state");
  EXPECT_EQ(file.tensors.size(), 2U);
}

TEST(TorchFile, NamesTheKeyThatTheTensorsLieUnder) {
  EXPECT_THAT(error_of([] { read_torch_file(torch_files / "other_key.pt"); }),
              AllOf(HasSubstr("no state dict, but a dict of net, acc"),
                    HasSubstr("torch.load(FILE)[\"net\"]")));
}

TEST(TorchFile, SaysWhyATensorCannotBeTaken) {
  std::map<std::string, std::string> faults;
  for (const StoredTensor& tensor : read_torch_file(torch_files / "faults.pt").tensors)
    faults[tensor.name] = tensor.fault == nullptr ? "" : tensor.fault->what;
  EXPECT_EQ(faults.at("w"), "");
  EXPECT_EQ(faults.at("sparse"), "is sparse");
  EXPECT_EQ(faults.at("csr"), "is sparse");
  EXPECT_EQ(faults.at("quantized"), "is quantized");
  EXPECT_THAT(faults.at("meta"), HasSubstr("meta"));
  EXPECT_THAT(faults.at("complex"), HasSubstr("complex"));
  EXPECT_THAT(faults.at("conjugate"), HasSubstr("conjugate"));
  EXPECT_THAT(faults.at("ragged"), HasSubstr("nested"));
}

TEST(TorchFile, SaysWhatOtherFilesAre) {
  EXPECT_THAT(error_of([] { read_torch_file(torch_files / "shard.pt"); }),
              AllOf(HasSubstr("the shard of one rank"), HasSubstr("full_state_dict=True")));
  EXPECT_THAT(error_of([] { read_torch_file(torch_files / "script.pt"); }),
              AllOf(HasSubstr("a TorchScript archive"), HasSubstr("torch.jit.load")));
}

TEST(TorchFile, RefusesByNameWhatIsNoTensor) {
  const auto fault = [](const char* name) {
    return error_of([&] { read_torch_file(torch_files / name); });
  };
  EXPECT_THAT(fault("module.pt"), HasSubstr("the Python object torch.nn.modules.linear.Linear"));
  EXPECT_THAT(fault("module.pt"), HasSubstr("torch.save(model.state_dict(), FILE)"));
  EXPECT_THAT(fault("evil.pt"), HasSubstr("the Python object posix.system"));
  EXPECT_THAT(fault("evil_legacy.pt"), HasSubstr("the Python object posix.system"));
  EXPECT_THAT(fault("no_tensors.pt"), HasSubstr("no state dict, but a dict of epoch"));
  EXPECT_FALSE(fs::exists("/tmp/executed-by-pickle"));
}

// Nothing is read beyond the end, wherever that is.
TEST(TorchFile, ThatIsCutOffIsRefused) {
  const TemporaryDirectory folder;
  for (const char* name : {"zip.pt", "legacy.pt", "read.pt", "read_legacy.pt"}) {
    const std::string whole = read_file(torch_files / name);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
      write_file_atomic(folder.path() / "cut.pt", whole.substr(0, bytes));
      EXPECT_NE(error_of([&] { read_torch_file(folder.path() / "cut.pt"); }), "") << bytes;
    }
  }
}

using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

class FirstWeights : public ::testing::Test {
 protected:
  WeightSource save(const Tensors& tensors,
                    const std::map<std::string, std::string>& metadata = {}) const {
    const fs::path file = folder_.path() / "weights.safetensors";
    std::vector<TensorEntry> entries;
    for (const auto& [name, tensor] : tensors)
      entries.push_back(
          {.name = name, .dtype = dtype_name(tensor.scalar_type()), .shape = tensor.sizes().vec()});
    std::ofstream out(file, std::ios::binary);
    out << make_header(entries, metadata);
    for (const auto& [name, tensor] : tensors)
      out.write(static_cast<const char*>(tensor.contiguous().const_data_ptr()),
                static_cast<std::streamsize>(tensor.nbytes()));
    return {.what = "the file", .files = {file}};
  }
  // All that the toy model has, of its own values plus one.
  static Tensors toy(const std::string& prefix = "") {
    ToyModel model(2);
    Tensors tensors;
    for (const Parameter& parameter : model.parameters())
      tensors.emplace_back(prefix + parameter.name, parameter.tensor.detach() + 1);
    tensors.emplace_back(prefix + "seen", at::full({1}, 5.0));
    return tensors;
  }
  nlohmann::json load(Model& model, const WeightSource& source) const {
    return load_first_weights(model, recipe_, options, source);
  }
  std::string fault(const WeightSource& source) const {
    ToyModel model(1);
    return error_of([&] { load(model, source); });
  }
  TemporaryDirectory folder_;
  TrainOptions options;
  ToyRecipe recipe_;
};

TEST_F(FirstWeights, FillParametersAndBuffersInPlace) {
  ToyModel model(1);
  const auto report = load(model, save(toy()));
  EXPECT_TRUE(model.first.equal(ToyModel(2).first.detach() + 1));
  EXPECT_TRUE(model.first.requires_grad());
  EXPECT_EQ(model.seen.item<float>(), 5);
  EXPECT_EQ(report.at("tensors"), 6);
  EXPECT_EQ(report.at("converted").size(), 0U);
}

TEST_F(FirstWeights, NameAllThatDoesNotFitInOneMessage) {
  Tensors tensors = toy();
  tensors[0].second = at::ones({4, 5});  // first.weight
  tensors.erase(tensors.begin() + 1);    // first.bias
  tensors.emplace_back("fc.weight", at::ones({2}));
  const std::string message = fault(save(tensors));
  EXPECT_THAT(message, HasSubstr("1 of the model's 6 tensors are missing: first.bias"));
  EXPECT_THAT(message, HasSubstr("1 are unexpected: fc.weight"));
  EXPECT_THAT(message,
              HasSubstr("1 have another shape: first.weight [4, 5], in the model [16, 5]"));
  for (int i = 0; i < 100; ++i) tensors.emplace_back("more." + std::to_string(i), at::ones({1}));
  const std::string bounded = fault(save(tensors));
  EXPECT_THAT(bounded, HasSubstr("101 are unexpected"));
  EXPECT_THAT(bounded, HasSubstr("and 93 more"));
  EXPECT_LT(bounded.size(), 1000U);
}

TEST_F(FirstWeights, MayLackAndHaveWhatPatternsAllow) {
  Tensors tensors = toy();
  tensors[0].second = at::ones({4, 5});
  tensors.erase(tensors.begin() + 1);
  tensors.emplace_back("fc.weight", at::ones({2}));
  options.init.missing = {"first.*"};
  options.init.unexpected = {"fc.*", "rare"};
  ToyModel model(1);
  EXPECT_THAT(error_of([&] { load(model, save(tensors)); }), HasSubstr("missing: rare"))
      << "what is passed over is not taken";
  options.init.missing.emplace_back("rare");
  const auto report = load(model, save(tensors));
  EXPECT_TRUE(model.first.equal(ToyModel(1).first));
  EXPECT_TRUE(model.bias.equal(ToyModel(1).bias));
  EXPECT_TRUE(model.rare.equal(ToyModel(1).rare));
  EXPECT_TRUE(model.second.equal(ToyModel(2).second.detach() + 1));
  EXPECT_THAT(report.at("missing").get<std::vector<std::string>>(),
              ElementsAre("first.bias", "rare"));
  EXPECT_THAT(report.at("other_shape").get<std::vector<std::string>>(),
              ElementsAre("first.weight"));
}

// A file of the field has a classifier of its own, and lacks what the recipe puts in its place; a
// file with the model's own names is taken at its word.
TEST_F(FirstWeights, OfTheFieldMayHaveAndLackWhatTheRecipeSays) {
  struct Named : ToyRecipe {
    std::vector<std::pair<std::string, std::string>> weight_names() const override {
      return {{"dense1.*", "first.*"}, {"fc.*", ""}, {"", "ra*"}};
    }
  };
  const auto all_but = [](Tensors tensors, const std::string& left_out) {
    std::erase_if(tensors, [&](const auto& one) { return one.first == left_out; });
    return tensors;
  };
  Tensors own = all_but(toy(), "rare");
  EXPECT_THAT(error_of([&] {
                ToyModel model(1);
                load_first_weights(model, Named(), options, save(own));
              }),
              HasSubstr("missing: rare"));
  Tensors of_field = own;
  of_field[0].first = "dense1.weight";
  of_field.emplace_back("fc.weight", at::ones({2}));
  ToyModel model(1);
  const auto report = load_first_weights(model, Named(), options, save(of_field));
  EXPECT_TRUE(model.first.equal(ToyModel(2).first.detach() + 1));
  EXPECT_TRUE(model.rare.equal(ToyModel(1).rare));
  EXPECT_THAT(report.at("missing").get<std::vector<std::string>>(), ElementsAre("rare"));
  EXPECT_THAT(report.at("unexpected").get<std::vector<std::string>>(), ElementsAre("fc.weight"));
  of_field.emplace_back("fd.weight", at::ones({2}));
  EXPECT_THAT(error_of([&] { load_first_weights(model, Named(), options, save(of_field)); }),
              HasSubstr("unexpected: fd.weight"));
}

TEST_F(FirstWeights, AreRenamedByTheUsersMapThenByTheRecipes) {
  struct Named : ToyRecipe {
    std::vector<std::pair<std::string, std::string>> weight_names() const override {
      return {{"dense1.*", "first.*"}};
    }
  };
  Tensors tensors = toy("net.");
  tensors[0].first = "net.dense1.weight";
  EXPECT_THAT(
      fault(save(tensors)),
      HasSubstr("init.map=\"net.*=*\" init.unexpected=\"net.dense1.*\" init.missing=\"first.*\""));
  options.init.map = {"net.*=*"};
  ToyModel model(1);
  load_first_weights(model, Named(), options, save(tensors));
  EXPECT_TRUE(model.first.equal(ToyModel(2).first.detach() + 1));
  options.init.map = {"net.*=*", "nat.*=*"};
  EXPECT_THAT(fault(save(toy("net."))), HasSubstr("no tensor of the file is renamed by"));
}

TEST_F(FirstWeights, AreTakenOutOfTheirWrappers) {
  for (const char* prefix : {"module.", "_orig_mod.", "module._orig_mod."}) {
    ToyModel model(1);
    EXPECT_EQ(load(model, save(toy(prefix))).at("tensors"), 6) << prefix;
    EXPECT_TRUE(model.first.equal(ToyModel(2).first.detach() + 1)) << prefix;
  }
  options.init.map = {"module.*=*"};
  ToyModel model(1);
  EXPECT_EQ(load(model, save(toy("module."))).at("tensors"), 6);
  Tensors some = toy("module.");
  some[0].first = "first.weight";
  options.init.map = {};
  EXPECT_THAT(fault(save(some)), HasSubstr("unexpected: module."));
}

// A detector's checkpoint has the backbone of the field under a name of its own, and heads that the
// model lacks.
TEST_F(FirstWeights, TheHintOfAWrappedModelWorksAsItIsTyped) {
  struct Named : ToyRecipe {
    std::vector<std::pair<std::string, std::string>> weight_names() const override {
      return {{"*", "first.*"}, {"fc.*", ""}, {"", "second.*"}, {"", "ra*"}, {"", "seen"}};
    }
  };
  const Tensors whole{{"module.back.body.weight", at::ones({16, 5})},
                      {"module.back.body.bias", at::ones({16})},
                      {"module.back.fc.weight", at::ones({2})},
                      {"module.detector.box.weight", at::ones({3})}};
  std::vector<ModelTensor> model{{.names = {"first.body.weight"}, .tensor = at::zeros({16, 5})},
                                 {.names = {"first.body.bias"}, .tensor = at::zeros({16})},
                                 {.names = {"second.weight"}, .tensor = at::zeros({2, 2})}};
  const std::vector<SourceTensor> source = read_source(save(whole));
  const auto match = [&] {
    return match_weights(model, source, options, Named().weight_names(), "the file");
  };
  EXPECT_THAT(error_of(match),
              HasSubstr("if back.body.weight is first.body.weight: init.map=\"back.*=first.*\" "
                        "init.unexpected=\"detector.*\""));
  options.init.map = {"back.*=first.*"};
  options.init.unexpected = {"detector.*"};
  const WeightMatch found = match();
  EXPECT_EQ(found.pairs.size(), 2U);
  EXPECT_THAT(found.missing, ElementsAre("second.weight"));
}

TEST_F(FirstWeights, OfAnotherSizeAreSaidToBe) {
  Tensors tensors = toy();
  tensors[0].second = at::ones({4, 5});
  EXPECT_THAT(fault(save(tensors)),
              AllOf(HasSubstr("init.missing=\"first.*\" leaves 1 tensor as built"),
                    Not(HasSubstr("head"))));
  tensors.pop_back();
  tensors.emplace_back("other.body", at::ones({3}));
  const std::string together = fault(save(tensors));
  EXPECT_THAT(together, HasSubstr("init.unexpected=\"other.*\" leaves 2 tensors as built"));
  for (auto& [name, tensor] : tensors) tensor = at::ones({3, 1, 2});
  EXPECT_THAT(fault(save(tensors)),
              AllOf(HasSubstr("the file is of a model of other sizes"),
                    HasSubstr("set the options of model.*"), Not(HasSubstr("init.missing="))));
  options.init.missing = {"*"};
  options.init.unexpected = {"other.*"};
  EXPECT_THAT(fault(save(tensors)),
              AllOf(HasSubstr("no tensor of the file is one of the model"),
                    HasSubstr("5 tensors of the model's names, but of another shape: set the "
                              "options of model.*")));
}

// The options of the hint are enough.
TEST_F(FirstWeights, OfAnotherSizeAreTakenWithTheOptionsOfTheHint) {
  Tensors tensors = toy();
  tensors[0].second = at::ones({4, 5});
  tensors.erase(tensors.begin() + 1);  // first.bias
  EXPECT_THAT(fault(save(tensors)),
              HasSubstr("init.missing=\"first.*\" leaves 2 tensors as built"));
  options.init.missing = {"first.*"};
  ToyModel model(1);
  EXPECT_EQ(load(model, save(tensors)).at("tensors"), 4);
}

// Nearly every tensor is named "weight" or "bias".
TEST_F(FirstWeights, AreNotGuessedByTheirShapesAlone) {
  Tensors tensors = toy();
  tensors[0].first = "h.c_proj.weight";  // first.weight
  EXPECT_THAT(fault(save(tensors)),
              AllOf(HasSubstr("unexpected: h.c_proj.weight"), Not(HasSubstr("init.map=\""))));
  tensors[0].first = "net.first.weight";
  EXPECT_THAT(fault(save(tensors)), HasSubstr("init.map=\"net.*=*\""));
}

TEST_F(FirstWeights, ThatAreSparseAreNamedUnlessTheyArePassedOver) {
  const fs::path file = torch_files / "faults.pt";
  options.init.map = {"sparse=first.weight"};
  options.init.missing = {"*"};
  options.init.unexpected = {"w", "csr", "quantized", "meta", "complex", "conjugate", "ragged"};
  EXPECT_THAT(
      fault({.what = "the file", .files = {file}}),
      AllOf(HasSubstr("1 cannot be read: first.weight is sparse"), HasSubstr("value.to_dense()")));
}

TEST_F(FirstWeights, MayBeFp8) {
  Tensors tensors = toy();
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "fp8.safetensors";
  std::vector<TensorEntry> entries;
  for (auto& [name, tensor] : tensors) {
    tensor = at::full(tensor.sizes(), 1.5).to(at::kFloat8_e4m3fn);
    entries.push_back({.name = name, .dtype = "F8_E4M3", .shape = tensor.sizes().vec()});
  }
  std::ofstream out(file, std::ios::binary);
  out << make_header(entries, {});
  for (const auto& [name, tensor] : tensors)
    out.write(static_cast<const char*>(tensor.const_data_ptr()),
              static_cast<std::streamsize>(tensor.nbytes()));
  out.close();
  ToyModel model(1);
  const auto report = load(model, {.what = "the file", .files = {file}});
  EXPECT_EQ(report.at("converted"), (nlohmann::json{{"F8_E4M3 to F32", 6}}));
  EXPECT_TRUE(model.first.equal(at::full(model.first.sizes(), 1.5)));
}

TEST_F(FirstWeights, AreConvertedWhereNothingIsLostOfTheirKind) {
  Tensors tensors = toy();
  for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kBFloat16);
  tensors.back().second = at::full({1}, 3, at::kLong);  // into a buffer of f32
  ToyModel model(1);
  const auto report = load(model, save(tensors));
  EXPECT_EQ(report.at("converted"), (nlohmann::json{{"BF16 to F32", 5}, {"I64 to F32", 1}}));
  EXPECT_EQ(model.first.scalar_type(), at::kFloat);
  EXPECT_EQ(model.seen.item<float>(), 3);
}

TEST_F(FirstWeights, MustBeFiniteAndOfTheirKind) {
  Tensors tensors = toy();
  tensors[2].second[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(fault(save(tensors)), HasSubstr("second.weight of the file are not finite"));
  TiedModel model(1);
  Tensors tied = toy();
  tied.emplace_back("scale", at::ones({5}));
  tied.emplace_back("places", at::ones({3}));  // i64 in the model
  EXPECT_THAT(error_of([&] { load(model, save(tied)); }),
              HasSubstr("numbers of another kind: places F32, in the model I64"));
}

TEST_F(FirstWeights, TiedParametersComeUnderAnyOfTheirNames) {
  for (const char* name : {"second.weight", "tied"}) {
    Tensors tensors = toy();
    tensors[2].first = name;
    tensors.emplace_back("scale", at::ones({5}));
    tensors.emplace_back("places", at::full({3}, 1, at::kLong));
    TiedModel model(1);
    load(model, save(tensors));
    EXPECT_TRUE(model.tied.equal(ToyModel(2).second.detach() + 1));
    EXPECT_TRUE(model.scale.equal(at::ones({5})));  // frozen
    tensors.emplace_back(std::string(name) == "tied" ? "second.weight" : "tied",
                         ToyModel(2).second.detach() + 1);
    load(model, save(tensors));  // both, and equal
    tensors.back().second = at::ones({3, 16});
    EXPECT_THAT(error_of([&] { load(model, save(tensors)); }),
                HasSubstr("differ in the file, but are one tensor in the model"));
  }
}

TEST_F(FirstWeights, AnotherNameInTheFileIsNotUnexpected) {
  ToyModel model(1);
  EXPECT_EQ(load(model, save(toy(), {{"tied", "second.weight"}})).at("tensors"), 6);
}

TEST_F(FirstWeights, ACountOfBatchesMayBeMissingOrTooMuch) {
  struct Norm : ToyModel {
    using ToyModel::ToyModel;
    std::vector<NamedTensor> buffers() override {
      return {{"seen", seen}, {"norm.num_batches_tracked", batches}};
    }
    at::Tensor batches = at::full({}, 7, at::kLong);
  };
  Norm model(1);
  load(model, save(toy()));
  EXPECT_EQ(model.batches.item<std::int64_t>(), 7);
  Tensors with = toy();
  with.emplace_back("norm.num_batches_tracked", at::full({1}, 9.0));
  load(model, save(with));
  EXPECT_EQ(model.batches.item<std::int64_t>(), 9);
  ToyModel without(1);
  load(without, save(with));
}

}  // namespace
}  // namespace lockstep
