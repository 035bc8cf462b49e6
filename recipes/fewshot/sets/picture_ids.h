// Ids of pictures in results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep::fewshot {

// An id for each picture, all different, in the order of `paths`: the one that `known` has for its
// file name; else the number that its name is, as COCO's are (000000000139.jpg); else the smallest
// that is free, from 1. An id that an earlier picture has by one of the first two rules is not
// free.
std::vector<std::int64_t> picture_ids(const std::vector<std::filesystem::path>& paths,
                                      const std::map<std::string, std::int64_t>& known);

}  // namespace lockstep::fewshot
