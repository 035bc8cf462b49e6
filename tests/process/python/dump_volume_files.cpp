// Writes what recipes/volume/files reads, for volume_files_test.py to compare.
//   dump-volume-files image FILE OUT: values [C, D, H, W] as f32; labels FILE OUT: [D, H, W] as u8
//   dump-volume-files place FILE FILE: whether they lie in one place: 0 yes, 1 unknown, 2 no
// Prints a name and numbers per line: shape (C, D, H, W), spacing (z, y, x in mm), affine. Exits 1
// with the Error as "error WHAT | HINT" where a file is refused.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "recipes/volume/files/same_place.h"
#include "recipes/volume/voxels/voxels.h"

namespace {

using namespace lockstep::volume;

template <typename Value>
void append(std::FILE* file, const std::vector<Value>& values) {
  if (std::fwrite(values.data(), sizeof(Value), values.size(), file) != values.size()) std::exit(2);
}

void print(const VolumeHeader& header) {
  const VolumeShape& shape = header.shape;
  std::printf("shape %lld %lld %lld %lld\n", static_cast<long long>(shape.channels),
              static_cast<long long>(shape.depth), static_cast<long long>(shape.height),
              static_cast<long long>(shape.width));
  if (header.spacing_mm)
    std::printf("spacing %.17g %.17g %.17g\n", (*header.spacing_mm)[0], (*header.spacing_mm)[1],
                (*header.spacing_mm)[2]);
  if (!header.space) return;
  std::printf("affine");
  for (const auto& row : affine_of(header))
    for (const double number : row) std::printf(" %.17g", number);
  std::printf("\n");
}

int dump(const std::string& kind, const char* path, const char* other) {
  const bool labels = kind == "labels";
  const auto reader = open_volume(path, {.labels = labels});
  if (kind == "place") {
    std::printf("place %d\n",
                static_cast<int>(same_place(reader->header(), open_volume(other)->header())));
    return 0;
  }
  std::FILE* const file = std::fopen(other, "wb");
  if (file == nullptr) return 2;
  const VolumeShape& shape = reader->header().shape;
  std::vector<float> plane(static_cast<std::size_t>(shape.height * shape.width));
  if (labels) append(file, read_labels(*reader, 255, std::nullopt));
  for (std::int64_t c = 0; !labels && c < shape.channels; ++c)
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      reader->read_values(z, c, plane);
      append(file, plane);
    }
  std::fclose(file);
  print(reader->header());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return argc == 4 ? dump(argv[1], argv[2], argv[3]) : 2;
} catch (const lockstep::Error& error) {
  std::printf("error %s | %s\n", error.what(), error.hint().c_str());
  return 1;
}
