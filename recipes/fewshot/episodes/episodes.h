// Draws episodes: a few classes, a few examples of each, and pictures in which to find them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/philox.h"
#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/episodes/class_pictures.h"

namespace lockstep::fewshot {

struct EpisodeShape {
  int n_way = 0;   // number of classes; 0: five, or all usable ones if they are fewer
  int k_shot = 3;  // supports of each class
  int queries =
      10;  // query pictures in all; 0 (only with a separate query set): all of its pictures
};

// An example of a class: indexes into pictures and boxes of the support set.
struct Support {
  int picture = 0, box = 0;
  friend bool operator==(const Support&, const Support&) = default;
};

struct Episode {
  // [N] indexes of categories; label i in the episode means classes[i]
  std::vector<int> classes;
  std::vector<Support> supports;  // [N x K]; those of label 0 come first
  // Indexes of pictures of the query set, without repetition. There are at most
  // EpisodeShape::queries of them; fewer, but at least one, if the set has no more suitable ones.
  std::vector<int> queries;

  int label_of(int category) const;  // 0 … N - 1; -1: the category is not in this episode
  friend bool operator==(const Episode&, const Episode&) = default;
};

// A class from which no episode can be drawn.
struct LeftOut {
  int category = 0;
  int pictures = 0;  // number of pictures that show it in the support set
  int query_pictures = 0;
};

// Draws episodes. Each is a pure function of (seed, epoch, place), so it is the same on any number
// of ranks and in any order of calls. Any number of threads may call it.
//
// Classes are drawn with equal probability, without repetition. Queries take turns over the
// classes: the i-th query is drawn from the pictures that show class i mod N. So every class is
// shown if there are enough queries. The supports of a class are in K different pictures; in each,
// a box is drawn with equal probability. Different classes share a picture only if there is no
// other. No support picture is a query of the same episode. In training, a picture is no query if
// one of its classes needs it for supports.
// its supports.
//
// In evaluation, classes and queries do not depend on K. As long as the same classes are usable,
// the supports of K shots are among those of K + 1 shots.
class Episodes {
 public:
  // For training: takes supports and queries from one set. A class needs K + 1 pictures, or is left
  // out. classes: indexes of the categories that may be drawn (ClassSplit). names:
  // DetectionData::categories. Throws Error if N exceeds the number of usable classes (it says
  // which are left out and why), or if K, N or queries are out of range.
  Episodes(const ClassPictures& pictures, const std::vector<Category>& names,
           const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed);
  // For evaluation: takes supports from one set (training) and queries from another (validation),
  // with the same categories. A class needs K pictures in the first and one in the second.
  Episodes(const ClassPictures& supports, const ClassPictures& queries,
           const std::vector<Category>& names, const std::vector<int>& classes,
           const EpisodeShape& shape, std::uint64_t seed);

  // place: the place of the episode in its epoch. In training it is the place in the order of
  // samples (epoch and place of the engine's rows); in evaluation it is the episode's number, with
  // epoch 0. Both are at least 0.
  Episode at(std::int64_t epoch, std::int64_t place) const;

  const EpisodeShape& shape() const { return shape_; }          // with the n_way that is used
  const std::vector<int>& classes() const { return classes_; }  // usable ones, ascending
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // A line that names the classes left out and what they lack; "" if there are none.
  std::string note() const;

 private:
  Episodes(std::shared_ptr<const ClassPictures> supports,
           std::shared_ptr<const ClassPictures> queries, const std::vector<Category>& names,
           const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed);
  void choose_classes(const std::vector<int>& classes);
  bool one_set() const { return supports_ == queries_; }
  std::vector<int> draw_queries(const std::vector<int>& classes, Random& random) const;
  std::vector<Support> draw_supports(const std::vector<int>& classes,
                                     const std::vector<int>& queries, std::uint64_t seed) const;

  std::shared_ptr<const ClassPictures> supports_, queries_;  // the same one in training
  std::vector<std::string> names_;
  std::vector<int> classes_;
  std::vector<LeftOut> left_out_;
  EpisodeShape shape_;
  std::uint64_t seed_;
};

}  // namespace lockstep::fewshot
