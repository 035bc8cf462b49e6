// A folder of pictures, a folder in it per class.
#pragma once

#include <ATen/core/Tensor.h>
#include <lockstep/core/base/philox.h>

#include <filesystem>
#include <string>
#include <vector>

struct PictureFolder {
  std::vector<std::string> classes;  // names of the folders, sorted
  struct File {
    std::filesystem::path path;
    std::int64_t label = 0;
  };
  std::vector<File> files;  // sorted
};

// classes: those that are known; empty: what is there. Throws Error for a folder of another name,
// and where there are no pictures.
PictureFolder list_pictures(const std::filesystem::path& folder,
                            const std::vector<std::string>& classes);

// Draws circles, squares and triangles, `count` of each, below `folder`, whole or not at all.
void draw_shapes(const std::filesystem::path& folder, std::int64_t count);

// The part of a picture that the model sees, u8 [3, size, size], channels last in memory: the
// middle square, or with `random` one of 0.5 to 1 of its area from anywhere. Throws Error.
at::Tensor read_square(const std::filesystem::path& path, std::int64_t size,
                       lockstep::Random* random);
