#include "recipes/fewshot/shapes/made_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <system_error>
#include <utility>

#include "core/base/files/file_lock.h"
#include "core/base/files/files.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "core/media/pictures/draw.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/shapes/outlines.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

constexpr const char* version = "1\n";  // version of the synthetic data
constexpr const char* description =
    "Made by lockstep: drawn shapes, not photographs. For trying things out.";

struct Shape {
  int category = 0;
  std::vector<std::vector<Point>> contours;
  Rectangle bounds;
  Colour colour;
};
struct Scene {
  Colour background;
  double slope_x = 0, slope_y = 0;  // change of brightness from one side to the other
  std::vector<std::pair<std::vector<Point>, Colour>> distractors;
  std::vector<Shape> shapes;
};

double between(Random& random, double least, double most) {
  return least + (most - least) * random.uniform();
}
Colour any_colour(Random& random, int least, int most) {
  const auto value = [&] {
    return static_cast<std::uint8_t>(
        least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1))));
  };
  const std::uint8_t red = value(), green = value();
  return {red, green, value()};
}
int difference(Colour a, Colour b) {
  return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue);
}

// The share of the smaller rectangle that is inside the other one.
double overlap(const Rectangle& a, const Rectangle& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const Rectangle& one) {
    return (one.right - one.left) * (one.bottom - one.top);
  };
  return width * height / std::min(area(a), area(b));
}

// Adds a thin line or a small dot that is about as bright as the background.
void add_distractor(const MadeShapes& set, Random& random, Scene& scene) {
  const double x = between(random, 0, set.width), y = between(random, 0, set.height);
  const double angle = between(random, 0, 2 * std::numbers::pi);
  const bool is_dot = random.uniform() < 0.4;
  const double length = is_dot ? 2 : between(random, 15, 60), half = is_dot ? 2 : 0.8;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  scene.distractors.push_back(
      {{{x - half * sine, y + half * cosine},
        {x + length * cosine - half * sine, y + length * sine + half * cosine},
        {x + length * cosine + half * sine, y + length * sine - half * cosine},
        {x + half * sine, y - half * cosine}},
       any_colour(random, 60, 190)});
}

// Returns false and adds nothing if the shape would overlap another one.
bool add_shape(const MadeShapes& set, Random& random, Scene& scene) {
  const auto all = outlines();
  Shape shape{.category = static_cast<int>(random.below(all.size()))};
  const double side = std::min(set.height, set.width);
  const double radius = side * between(random, 0.11, 0.24);
  const double angle = between(random, -std::numbers::pi / 4, std::numbers::pi / 4);
  const Point centre{.x = between(random, radius, set.width - radius),
                     .y = between(random, radius, set.height - radius)};
  shape.contours = placed(all[static_cast<std::size_t>(shape.category)], centre, radius, angle);
  shape.bounds = bounds_of(shape.contours);
  constexpr int clear = 200;  // least difference from the background, out of 765
  do shape.colour = any_colour(random, 0, 255);
  while (difference(shape.colour, scene.background) < clear);
  constexpr double allowed = 0.05;
  for (const Shape& other : scene.shapes)
    if (overlap(shape.bounds, other.bounds) > allowed) return false;
  scene.shapes.push_back(std::move(shape));
  return true;
}

Scene draw_scene(const MadeShapes& set, int i) {
  Random random(set.seed, RandomStream::sample, static_cast<std::uint64_t>(set.first + i), 0);
  Scene scene{.background = any_colour(random, 70, 180)};
  scene.slope_x = between(random, -40, 40);
  scene.slope_y = between(random, -40, 40);
  for (std::uint64_t k = 3 + random.below(6); k > 0; --k) add_distractor(set, random, scene);
  constexpr int tries = 40;
  const std::size_t wanted = 1 + random.below(4);
  for (int k = 0; k < tries && scene.shapes.size() < wanted; ++k) add_shape(set, random, scene);
  return scene;
}

// Noise with standard deviation 1, nearly normal: the sum of four bytes.
double noise_of(std::uint32_t word) {
  const std::uint32_t sum = (word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24);
  return (static_cast<double>(sum) - 510) / 147.8;
}

void add_noise(const MadeShapes& set, int i, Image& image) {
  constexpr double deviation = 8;
  const std::uint64_t key = stream_key(set.seed, RandomStream::augment);
  const std::span<std::uint8_t> values = image.u8();
  for (std::size_t block = 0; 4 * block < values.size(); ++block) {
    const std::array<std::uint32_t, 4> words = philox(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(set.first + i), 0, 0}, key);
    for (std::size_t k = 0; k < 4 && 4 * block + k < values.size(); ++k) {
      std::uint8_t& value = values[4 * block + k];
      value = static_cast<std::uint8_t>(
          std::clamp(std::lround(value + deviation * noise_of(words[k])), 0L, 255L));
    }
  }
}

Image draw_background(const MadeShapes& set, const Scene& scene) {
  Image image({.height = set.height, .width = set.width, .channels = 3});
  const std::array<int, 3> colour{scene.background.red, scene.background.green,
                                  scene.background.blue};
  std::uint8_t* value = image.u8().data();
  for (int row = 0; row < set.height; ++row)
    for (int column = 0; column < set.width; ++column) {
      const double brighter = scene.slope_x * (static_cast<double>(column) / set.width - 0.5) +
                              scene.slope_y * (static_cast<double>(row) / set.height - 0.5);
      for (const int one : colour)
        *value++ = static_cast<std::uint8_t>(std::clamp(std::lround(one + brighter), 0L, 255L));
    }
  return image;
}

std::string file_name(int number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "made-%05d.png", number);
  return text.data();
}

void write_set(const fs::path& folder, const std::string& name, const MadeShapes& set) {
  make_directories(folder / name);
  const DetectionData data = describe_shapes(set);
  for (int i = 0; i < set.pictures; ++i)
    write_picture(folder / name / data.pictures[static_cast<std::size_t>(i)].path,
                  draw_shapes(set, i));
  write_file_atomic(folder / (name + ".json"), coco_json(data, description));
}

bool is_made(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "version", ignored) && read_file(folder / "version") == version;
}

}  // namespace

const std::vector<Category>& made_categories() {
  static const std::vector<Category> categories = [] {
    std::vector<Category> all;
    for (const Outline& outline : outlines())
      all.push_back({.id = static_cast<std::int64_t>(all.size()) + 1, .name = outline.name});
    return all;
  }();
  return categories;
}

std::vector<std::string> made_novel_classes() { return {"star", "ring", "arrow", "heart"}; }

DetectionData describe_shapes(const MadeShapes& set) {
  constexpr std::int64_t most_shapes = 10;  // shapes per picture, for ids
  DetectionData data{.name = "made shapes", .categories = made_categories()};
  for (int i = 0; i < set.pictures; ++i) {
    const std::int64_t number = set.first + i;
    data.pictures.push_back({.id = number + 1,
                             .path = file_name(set.first + i),
                             .width = set.width,
                             .height = set.height});
    std::int64_t id = number * most_shapes;
    for (const Shape& shape : draw_scene(set, i).shapes) {
      const auto& [left, top, right, bottom] = shape.bounds;
      data.boxes.push_back({.picture = i,
                            .category = shape.category,
                            .x = static_cast<float>(left),
                            .y = static_cast<float>(top),
                            .w = static_cast<float>(right - left),
                            .h = static_cast<float>(bottom - top),
                            .area = (right - left) * (bottom - top),
                            .id = ++id});
    }
  }
  index_boxes(data);
  return data;
}

Image draw_shapes(const MadeShapes& set, int i) {
  const Scene scene = draw_scene(set, i);
  Image image = draw_background(set, scene);
  for (const auto& [contour, colour] : scene.distractors)
    fill_polygon(image, std::span(&contour, 1), colour);
  for (const Shape& shape : scene.shapes) fill_polygon(image, shape.contours, shape.colour);
  add_noise(set, i, image);
  return image;
}

fs::path made_shapes(const fs::path& cache_dir,
                     const std::function<void(const std::string&)>& say) {
  const fs::path folder = fs::absolute(cache_dir / "made-shapes").lexically_normal();
  if (is_made(folder)) return folder;
  make_directories(cache_dir);
  const UniqueFd held = lock_file(cache_dir / "made-shapes.lock",
                                  [&] { say("waiting for another run that makes pictures"); });
  if (is_made(folder)) return folder;
  say(cat("making ", made_train_pictures + made_valid_pictures, " pictures of shapes in ",
          folder.string()));
  const fs::path part = cache_dir / "made-shapes.part";
  fs::remove_all(part);
  fs::remove_all(folder);
  write_set(part, "train", {.pictures = made_train_pictures});
  write_set(part, "valid", {.pictures = made_valid_pictures, .first = made_train_pictures});
  write_file_atomic(part / "version", version);
  fs::rename(part, folder);
  return folder;
}

}  // namespace lockstep::fewshot
