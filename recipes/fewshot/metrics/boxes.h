// Boxes around objects: what is there, and what was found.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::fewshot {

// x, y: upper left corner, in pixels of the picture as its annotations count them.
struct TrueBox {
  std::int64_t picture = 0, category = 0;  // ids, any numbers
  double x = 0, y = 0, width = 0, height = 0;
  double area = 0;      // of the object, in square pixels: which area range it belongs to
  bool crowd = false;   // a region with many objects: neither missed nor wrong, any number of times
  bool ignore = false;  // one object that does not count: neither missed nor wrong, once
};

struct Detection {
  std::int64_t picture = 0, category = 0;
  double x = 0, y = 0, width = 0, height = 0;
  double score = 0;  // any finite number; higher is surer
};

// How a class is shown. Its place in a list of them chooses its colour.
struct NamedClass {
  std::int64_t category = 0;
  std::string name;  // UTF-8
  bool novel = false;
};

// "class 7" if the list does not have it.
std::string class_name(std::span<const NamedClass> classes, std::int64_t category);

// Intersection over union. With a crowd it is intersection over the detection's area. 0 where they
// do not overlap.
double box_iou(const Detection& detection, const TrueBox& truth);

}  // namespace lockstep::fewshot
