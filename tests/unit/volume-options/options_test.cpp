// What the options of the volume recipe allow, and the numbers that follow from them.
#include "recipes/volume/options/volume_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void(VolumeOptions&)>& change) {
  VolumeOptions options;
  change(options);
  try {
    options.check(TrainOptions());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(VolumeOptions, TheStatedModelHasItsParameters) {
  EXPECT_EQ(parameter_count({.width = 32, .depth = 4}), 22'934'201);
}

TEST(VolumeOptions, DefaultsAndPresetsAreAllowed) {
  EXPECT_EQ(error_of([](VolumeOptions&) {}), "");
  VolumeOptions options;
  TrainOptions train;
  for (const Preset& preset : options.table.presets())
    for (const auto& [key, value] : preset.values) {
      EXPECT_TRUE(options.table.has(key) || train.table.has(key)) << preset.name << " " << key;
      OptionTable& table = options.table.has(key) ? options.table : train.table;
      EXPECT_NO_THROW(table.set(key, value)) << preset.name << " " << key;
    }
}

TEST(VolumeOptions, APatchIsOneNumberOrThree) {
  VolumeOptions options;
  options.table.set("data.patch", "48");
  EXPECT_EQ(options.patch(), (std::array<std::int64_t, 3>{48, 48, 48}));
  options.table.set("data.patch", "16,32,64");
  EXPECT_EQ(options.patch(), (std::array<std::int64_t, 3>{16, 32, 64}));
  for (const char* bad : {"0", "a", "16,32", "1.5", "-16", "2048"}) {
    options.table.set("data.patch", bad);
    EXPECT_THROW(options.patch(), Error) << bad;
  }
}

TEST(VolumeOptions, NumbersWrittenOtherwiseAreInTheHint) {
  const auto hint = [](const char* key, const char* value) {
    VolumeOptions options;
    options.table.set(key, value);
    try {
      options.patch();
      options.spacing();
    } catch (const Error& error) {
      return error.hint();
    }
    return std::string();
  };
  for (const char* value : {"64x32x16", "(64,32,16)", "[64, 32, 16]"})
    EXPECT_THAT(hint("data.patch", value), ::testing::EndsWith("data.patch=64,32,16")) << value;
  EXPECT_THAT(hint("data.spacing", "3x0.5x0.5"), ::testing::EndsWith("data.spacing=3,0.5,0.5"));
  EXPECT_THAT(hint("data.patch", "-16"), HasSubstr("for example data.patch=64"));
}

TEST(VolumeOptions, APatchMustBeHalvedAsOftenAsTheModelIsDeep) {
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.patch = {"40"}; }),
              HasSubstr("multiples of 16"));
  EXPECT_EQ(error_of([](VolumeOptions& options) {
              options.data.patch = {"40"};
              options.model.depth = 3;
            }),
            "");
}

TEST(VolumeOptions, TheIgnoredLabelIsNoClass) {
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.ignore = 1; }),
              HasSubstr("one of the classes"));
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.classes = 4; }),
              HasSubstr("data.ignore=2"));
  EXPECT_EQ(error_of([](VolumeOptions& options) {
              options.data.classes = 4;
              options.data.ignore = 255;
            }),
            "");
}

TEST(VolumeOptions, WhatContradictsItselfIsRefused) {
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.folds = 1; }),
              HasSubstr("data.folds=1"));
  EXPECT_THAT(error_of([](VolumeOptions& options) {
                options.data.folds = 3;
                options.data.fold = 3;
              }),
              HasSubstr("data.fold=3"));
  EXPECT_THAT(error_of([](VolumeOptions& options) {
                options.data.folds = 3;
                options.data.valid = {"a"};
              }),
              HasSubstr("both say"));
  EXPECT_THAT(
      error_of([](VolumeOptions& options) { options.loss = {.dice = 0, .focal = 0, .bce = 0}; }),
      HasSubstr("all 0"));
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.images = "/images"; }),
              HasSubstr("belong together"));
  EXPECT_THAT(error_of([](VolumeOptions& options) { options.data.spacing = {"0"}; }),
              HasSubstr("data.spacing"));
}

// Images go with labels, and a fold with the number of folds; one alone is refused.
TEST(VolumeNames, HaveAPlaceForTheOptionThatGoesWithThem) {
  const std::vector<Synonym> all = synonyms();
  const auto in_our_words = [&](const char* name) {
    std::vector<std::string> words;
    for (const OurWord& word : written_here(*find_synonym(all, name), "1", {}))
      words.push_back(cat(word.name, "=", word.value));
    return join(words, " ");
  };
  EXPECT_EQ(in_our_words("train_images"), "data.images=1 data.labels=DIR");
  EXPECT_EQ(in_our_words("masks_dir"), "data.images=DIR data.labels=1");
  EXPECT_EQ(in_our_words("fold"), "data.fold=1 data.folds=VALUE");
}

// 2 FLOPs a product forward and twice as many backward: by hand for one level.
TEST(VolumeOptions, FlopsAreThoseOfTheConvolutions) {
  VolumeOptions options;
  options.model = {.width = 2, .depth = 1, .attention = false};
  options.data.patch = {"4"};
  const double fine = 64, coarse = 8;
  const double products = fine * (27 * 1 * 2 + 27 * 2 * 2 + 1 * 2) +
                          coarse * (27 * 2 * 4 + 27 * 4 * 4 + 2 * 4) + coarse * 8 * 4 * 2 +
                          fine * (27 * 4 * 2 + 27 * 2 * 2 + 4 * 2) + fine * 2;
  EXPECT_DOUBLE_EQ(options.flops_per_sample({}).value_or(0), 6 * products);
}

// Along each axis by half a window, the last moved back to the end.
TEST(VolumeOptions, AVolumeTakesAPassForEachTileAndFlip) {
  VolumeOptions options;
  options.data.patch = {"64"};
  EXPECT_EQ(options.passes_over({128, 192, 161}), 3 * 5 * 5);
  EXPECT_EQ(options.passes_over({64, 10, 65}), 2) << "what is smaller than a window has one";
  options.predict.overlap = 0;
  EXPECT_EQ(options.passes_over({128, 192, 161}), 2 * 3 * 3);
  options.predict.flips = true;
  EXPECT_EQ(options.passes_over({128, 192, 161}), 8 * 2 * 3 * 3);
}

TEST(VolumeOptionsBuiltIn, IsTheDataWhereNoneAreNamed) {
  VolumeOptions options;
  EXPECT_EQ(options.built_in().value().what, "synthetic volumes");
  options.data.path = "mine";
  EXPECT_FALSE(options.built_in());
}

}  // namespace
}  // namespace lockstep::volume
