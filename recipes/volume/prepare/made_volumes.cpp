// Creates synthetic volumes with curved sheets and blobs.
#include "recipes/volume/prepare/made_volumes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <system_error>
#include <vector>

#include "core/base/files/file_lock.h"
#include "core/base/files/files.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/volume_writer.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t seed = 20'260'101;
constexpr std::int64_t depth = 64, height = 80, width = 80;
constexpr const char* version = "1\n";  // version of the synthetic data

using Place = std::array<double, 3>;  // order: z, y, x

double squared_distance(const Place& a, const Place& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

Place random_place(Random& random, double margin) {
  const auto within = [&](std::int64_t extent) {
    return margin + random.uniform() * (static_cast<double>(extent) - 2 * margin);
  };
  const double z = within(depth), y = within(height);
  return {z, y, within(width)};
}

// A surface over two axes: a plane with waves.
class Sheet {
 public:
  Sheet(Random& random, double middle) : middle_(middle), over_y_(random.uniform() < 0.4) {
    for (Wave& wave : waves_)
      wave = {.height = 2 + 3 * random.uniform(),
              .along = (random.uniform() - 0.5) * 0.16,
              .across = (random.uniform() - 0.5) * 0.16,
              .phase = random.uniform() * 2 * std::numbers::pi};
  }
  // The distance to the surface in voxels, as a first-order approximation.
  double distance(const Place& place) const {
    const auto [z, y, x] = place;
    const double up = over_y_ ? y : z, along = over_y_ ? z : y;
    double at = middle_ * static_cast<double>(over_y_ ? height : depth);
    double slope_along = 0, slope_across = 0;
    for (const Wave& wave : waves_) {
      const double angle = wave.along * along + wave.across * x + wave.phase;
      at += wave.height * std::sin(angle);
      slope_along += wave.height * wave.along * std::cos(angle);
      slope_across += wave.height * wave.across * std::cos(angle);
    }
    return std::abs(up - at) /
           std::sqrt(1 + slope_along * slope_along + slope_across * slope_across);
  }

 private:
  struct Wave {
    double height, along, across, phase;
  };
  double middle_;
  bool over_y_;
  std::array<Wave, 2> waves_{};
};

struct Ball {
  Place centre;
  double radius;
};

// The objects in a volume.
struct Scene {
  std::vector<Sheet> sheets;
  std::vector<Ball> blobs, clouds;
  double band_phase = 0;
};

Scene draw_scene(std::int64_t index) {
  Random random(seed, RandomStream::sample, static_cast<std::uint64_t>(index), 0);
  Scene scene;
  const bool two = random.uniform() < 0.6;
  scene.sheets.emplace_back(random, two ? 0.3 : 0.5);
  if (two) scene.sheets.emplace_back(random, 0.7);
  for (int i = 0; i < 6; ++i)
    scene.blobs.push_back({random_place(random, 6), 3 + 2.5 * random.uniform()});
  for (int i = 0; i < 5; ++i)
    scene.clouds.push_back({random_place(random, 0), 10 + 8 * random.uniform()});
  scene.band_phase = random.uniform() * 2 * std::numbers::pi;
  return scene;
}

constexpr double half_thickness = 1.2;

struct Voxel {
  double brightness;
  std::uint8_t label;
};

// The share of a voxel that is inside, for a centre at `distance` outside the border. It falls from
// 1 to 0 over one voxel.
double soft(double distance) { return std::clamp(0.5 - distance, 0.0, 1.0); }

Voxel voxel_at(const Scene& scene, const Place& place) {
  double within = 0, cloud = 0;
  for (const Sheet& sheet : scene.sheets)
    within = std::max(within, soft(sheet.distance(place) - half_thickness));
  for (const Ball& blob : scene.blobs)
    within = std::max(within, soft(std::sqrt(squared_distance(place, blob.centre)) - blob.radius));
  for (const Ball& ball : scene.clouds)
    cloud += std::exp(-squared_distance(place, ball.centre) / (ball.radius * ball.radius));
  const double band = 5 + 3 * std::sin(place[0] * 0.1 + scene.band_phase);
  const bool ignored = place[2] >= static_cast<double>(width) - band;
  const std::uint8_t label = ignored ? 2 : within >= 0.5 ? 1 : 0;
  return {70 + 70 * within + 30 * std::min(cloud, 1.5), label};
}

// Noise with standard deviation 1, nearly normal: the sum of four bytes.
double noise_of(std::uint32_t word) {
  const std::uint32_t sum = (word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24);
  return (static_cast<double>(sum) - 510) / 147.8;
}

struct Plane {
  std::vector<std::uint8_t> image, labels;
};

Plane draw_plane(const Scene& scene, std::int64_t index, std::int64_t z) {
  constexpr double noise = 16;
  const std::uint64_t key = stream_key(seed, RandomStream::augment);
  Plane plane;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::array<std::uint32_t, 4> counter{
          static_cast<std::uint32_t>(x / 4), static_cast<std::uint32_t>(y),
          static_cast<std::uint32_t>(z), static_cast<std::uint32_t>(index)};
      const std::uint32_t word = philox(counter, key)[static_cast<std::size_t>(x % 4)];
      const Voxel voxel =
          voxel_at(scene, {static_cast<double>(z), static_cast<double>(y), static_cast<double>(x)});
      plane.image.push_back(static_cast<std::uint8_t>(
          std::clamp(std::lround(voxel.brightness + noise * noise_of(word)), 0L, 255L)));
      plane.labels.push_back(voxel.label);
    }
  return plane;
}

std::string made_id(std::int64_t index) { return cat("made-", index < 9 ? "0" : "", index + 1); }

void write_volume(const fs::path& folder, const std::string& part, std::int64_t index) {
  const VolumeHeader header{.shape = {.depth = depth, .height = height, .width = width}};
  const std::string file = made_id(index) + ".tif";
  const auto image = create_tiff(folder / (part + "_images") / file, header);
  const auto labels = create_tiff(folder / (part + "_labels") / file, header);
  const Scene scene = draw_scene(index);
  for (std::int64_t z = 0; z < depth; ++z) {
    const Plane plane = draw_plane(scene, index, z);
    image->write_plane(std::as_bytes(std::span(plane.image)));
    labels->write_plane(std::as_bytes(std::span(plane.labels)));
  }
  image->finish();
  labels->finish();
}

void write_part(const fs::path& folder, const std::string& part, std::int64_t begin,
                std::int64_t end) {
  make_directories(folder / (part + "_images"));
  make_directories(folder / (part + "_labels"));
  std::string table = "id\n";
  for (std::int64_t index = begin; index < end; ++index) {
    write_volume(folder, part, index);
    table += made_id(index) + "\n";
  }
  write_file_atomic(folder / (part + ".csv"), table);
}

bool is_made(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "version", ignored) && read_file(folder / "version") == version;
}

}  // namespace

fs::path made_volumes(const fs::path& cache_dir, const Say& say) {
  const fs::path folder = fs::absolute(cache_dir / "made-volumes").lexically_normal();
  if (is_made(folder)) return folder;
  make_directories(cache_dir);
  const UniqueFd held = lock_file(cache_dir / "made-volumes.lock",
                                  [&] { say("waiting for another run that makes volumes"); });
  if (is_made(folder)) return folder;
  say(cat("making ", made_train_volumes + made_test_volumes, " volumes in ", folder.string()));
  const fs::path part = cache_dir / "made-volumes.part";
  fs::remove_all(part);
  fs::remove_all(folder);
  write_part(part, "train", 0, made_train_volumes);
  write_part(part, "test", made_train_volumes, made_train_volumes + made_test_volumes);
  write_file_atomic(part / "version", version);
  fs::rename(part, folder);
  return folder;
}

}  // namespace lockstep::volume
