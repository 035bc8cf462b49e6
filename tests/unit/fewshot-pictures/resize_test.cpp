#include "recipes/fewshot/pictures/resize.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;

Image picture(int height, int width) {
  Image image({.height = height, .width = width, .channels = 3});
  std::uint8_t* value = image.u8().data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        *value++ =
            static_cast<std::uint8_t>(x * 7 + y * 13 + c * 29 + x * y * 3 + x * x / 5 * (c + 1));
  return image;
}

// What Pillow 13.0.0 makes of picture(17, 23): Image.resize((width, height), BILINEAR, box).
struct PillowCase {
  const char* name;
  int height, width;
  Region region;
  const char* hex;
};
const PillowCase pillow_cases[] = {
    {"smaller",
     6,
     9,
     {0, 0, 23, 17},
     "1a375534537255789b769dad93a4939d78678e6a856c6e9e898b8f44617f708fab9fa89ea2735e6d687c"
     "6d7e957e7e827d7286767c76718ea8a4ab957e645d62708e88867c89727b78788a86897d8f82879cb3ac"
     "857a5659738f8c87796b687c7d94707c7881878979857c7aa7a0715e657192978f646b7a869691818180"
     "85737c8383818a9087906d6a738394776d6f7b917d767778957d6f916b7a8c6a8f817c9e"},
    {"larger",
     10,
     12,
     {2, 1, 9, 7},
     "1b3855213f5c2845632e4d6c3555753b5d7e426487496c904f7499567ca25d85ad648eb82643602d4b68"
     "3452703c5b7a4464844b6d8e5376995b7ea26287ac6b91b7729ac27ba5cf314e6b395774415f7d4a6988"
     "5373935c7d9e6487aa6d91b5769bc07fa5cb88b0d892bbe53c59764563804e6c8a5877966283a36c8daf"
     "7598bb80a4c789aed393b9d99ec68ea8d262486582516f8c5b79976786a57192b27c9dbf87aacc92b6d9"
     "9dc2cfa8ccb8b3bb50bfb512526f8c5e7b986987a57493b381a1c18daed098bbdda4c8ecb0d59cbcd939"
     "c9712cd533295d7a976a87a47694b283a2c190b0d09dbee0aacdd1b6daa5c4ba61d18a1dde402ed7163f"
     "6885a27693b083a1bf91b0cf9fbfe0adcef0bbdeb5c9ed31d78721e50b31f41c43cd2c567390ad829fbd"
     "90aecc9fbeddaecfdcbddf94ccc25adc7930a44734601f457031596a436d7f9cb98eabc99dbbd9aecdd0"
     "bdd8b1cdcb4ccf9123c12b356d23480e345a1f466e305983"},
    {"part",
     8,
     8,
     {3.25, 2.5, 18.75, 14},
     "5e7e9d80a3c4a2bf90bc96509151596452924985b764a48381a0c0aac2b0ca694274406040669d5e98b1"
     "8f945ea55376a4c2c8bd9255763a58496c9b73a79aa89d69a5417b637595bdaa6b6d434b40648c79a2a8"
     "b274518351785381af7c9f64866c383650747098afa6946182446a57858e8f9d74aa4983624f4f577a9e"
     "9d9f80764f564877998db14f826c785c8c8742586e82a5b98b7775425e8b84b0b0a28674567e9b8e8f64"
     "577291a9aa817464626995a7ac98726b73928b7f6c9d558e"},
};

class Pillow : public ::testing::TestWithParam<PillowCase> {};

TEST_P(Pillow, MakesTheSameToOneLevel) {
  const PillowCase& wanted = GetParam();
  const Image made = resize(picture(17, 23), wanted.height, wanted.width, wanted.region);
  const std::string hex = wanted.hex;
  const std::span<const std::uint8_t> values = made.u8();
  ASSERT_EQ(hex.size(), 2 * values.size());
  int differ = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int expected = std::stoi(hex.substr(2 * i, 2), nullptr, 16);
    ASSERT_LE(std::abs(values[i] - expected), 1) << i;
    differ += values[i] != expected ? 1 : 0;
  }
  EXPECT_LE(differ, static_cast<int>(values.size() / 50));
}

INSTANTIATE_TEST_SUITE_P(Resize, Pillow, ::testing::ValuesIn(pillow_cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Resize, ToItsOwnSizeIsThePictureItself) {
  EXPECT_EQ(resize(picture(17, 23), 17, 23), picture(17, 23));
  EXPECT_EQ(resize(picture(1, 1), 1, 1), picture(1, 1));
}

TEST(Resize, OneColourStaysAtAnySize) {
  Image grey({.height = 31, .width = 5, .channels = 3});
  for (std::uint8_t& value : grey.u8()) value = 201;
  for (const int size : {1, 3, 64}) {
    const Image made = resize(grey, size, size);
    for (const std::uint8_t value : made.u8()) ASSERT_EQ(value, 201);
  }
}

TEST(Resize, RefusesRegionsOutsideAndOtherPictures) {
  const Image image = picture(17, 23);
  const auto fault = [&](const Region& region) {
    return error_of([&] { resize(image, 4, 4, region); });
  };
  EXPECT_THAT(fault({-1, 0, 5, 5}), HasSubstr("is not within a picture of 23 x 17"));
  EXPECT_THAT(fault({0, 0, 5, 18}), HasSubstr("is not within"));
  EXPECT_THAT(fault({5, 0, 5, 5}), HasSubstr("is not within"));
  EXPECT_THAT(error_of([&] { resize(image, 0, 4); }), HasSubstr("cannot be resized to 4 x 0"));
  EXPECT_THAT(error_of([] { resize(Image({.height = 2, .width = 2, .channels = 1}), 4, 4); }),
              HasSubstr("needs an RGB picture"));
}

}  // namespace
}  // namespace lockstep::fewshot
