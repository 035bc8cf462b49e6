#include "pictures.h"

#include <lockstep/core/base/error.h>
#include <lockstep/core/base/files/files.h>
#include <lockstep/core/base/text/text.h>
#include <lockstep/core/media/pictures/draw.h>
#include <lockstep/core/media/pictures/picture_file.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

bool is_picture(const fs::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), ::tolower);
  return suffix == ".jpg" || suffix == ".jpeg" || suffix == ".png";
}

Image draw_shape(std::int64_t kind, Random& random) {
  const int size = 48;
  Image image(ImageShape{.height = size, .width = size, .channels = 3});
  for (std::uint8_t& value : image.u8()) value = static_cast<std::uint8_t>(random.below(80));
  const double radius = 8 + 8 * random.uniform();
  const double x = radius + random.uniform() * (size - 2 * radius),
               y = radius + random.uniform() * (size - 2 * radius);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(size * size));
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const double dx = std::abs(column - x), dy = row - y;
      const bool inside = kind == 0   ? dx * dx + dy * dy < radius * radius
                          : kind == 1 ? dx < radius && std::abs(dy) < radius
                                      : std::abs(dy) < radius && dx < (dy + radius) / 2;
      mask[static_cast<std::size_t>(row * size + column)] = inside;
    }
  const auto channel = [&] { return static_cast<std::uint8_t>(120 + random.below(136)); };
  draw_mask(image, mask, Colour{channel(), channel(), channel()}, 1);
  return image;
}

}  // namespace

PictureFolder list_pictures(const fs::path& folder, const std::vector<std::string>& classes) {
  if (!fs::is_directory(folder)) throw Error(cat(folder.string(), " is no folder"));
  PictureFolder found{.classes = classes, .files = {}};
  if (classes.empty())
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory()) found.classes.push_back(entry.path().filename().string());
  std::sort(found.classes.begin(), found.classes.end());
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const auto at = std::find(found.classes.begin(), found.classes.end(), name);
    if (at == found.classes.end())
      throw Error(
          cat(folder.string(), " holds a folder ", name, ", but the model knows no such class"),
          cat("it knows ", join(found.classes, ", ")));
    for (const auto& file : fs::recursive_directory_iterator(entry.path()))
      if (file.is_regular_file() && is_picture(file.path()))
        found.files.push_back({file.path(), at - found.classes.begin()});
  }
  std::sort(found.files.begin(), found.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  if (found.classes.size() < 2 || found.files.empty())
    throw Error(cat(folder.string(), " does not hold pictures in folders of two or more classes"),
                "it must look like FOLDER/cat/1.jpg, FOLDER/dog/2.png");
  return found;
}

void draw_shapes(const fs::path& folder, std::int64_t count) {
  if (fs::exists(folder)) return;
  const fs::path own = folder.string() + cat(".", ::getpid());
  const std::vector<std::string> names{"circle", "square", "triangle"};
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    make_directories(own / names[kind]);
    for (std::int64_t i = 0; i < count; ++i) {
      Random random(kind, RandomStream::sample, i, 0);
      write_picture(own / names[kind] / cat(i, ".png"),
                    draw_shape(static_cast<std::int64_t>(kind), random));
    }
  }
  // Somebody else may have drawn the same meanwhile.
  std::error_code there;
  fs::rename(own, folder, there);
  if (there) fs::remove_all(own);
}

at::Tensor read_square(const fs::path& path, std::int64_t size, Random* random) {
  Image picture = convert(read_picture(path), 3, 8);
  const at::Tensor pixels =
      torch::from_blob(picture.u8().data(), {1, picture.height(), picture.width(), 3}, torch::kByte)
          .permute({0, 3, 1, 2});
  const std::int64_t height = picture.height(), width = picture.width();
  std::int64_t side = std::min(height, width), top = (height - side) / 2, left = (width - side) / 2;
  if (random) {
    side = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(side) * std::sqrt(0.5 + 0.5 * random->uniform())));
    top = static_cast<std::int64_t>(random->below(height - side + 1));
    left = static_cast<std::int64_t>(random->below(width - side + 1));
  }
  return at::_upsample_bilinear2d_aa(pixels.narrow(2, top, side)
                                         .narrow(3, left, side)
                                         .contiguous(at::MemoryFormat::ChannelsLast),
                                     {size, size}, /*align_corners=*/false)
      .contiguous(at::MemoryFormat::ChannelsLast)
      .squeeze(0);
}
