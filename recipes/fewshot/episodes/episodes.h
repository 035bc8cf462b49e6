// Draws episodes. An episode has a few classes, and a few examples (supports) of each class. It
// also has pictures (queries) in which objects of these classes are to be found.
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
  int n_way = 0;   // number of classes; 0: five, or all with enough pictures if these are fewer
  int k_shot = 3;  // supports of each class
  // Number of query pictures. 0: all pictures of the query set; only allowed if it is a separate
  // set.
  int queries = 10;
};

// An example of a class: the indexes of its picture and its box in the support set.
struct Support {
  int picture = 0, box = 0;
  friend bool operator==(const Support&, const Support&) = default;
};

struct Episode {
  // [N]: indexes of the categories. Label i in the episode means classes[i].
  std::vector<int> classes;
  std::vector<Support> supports;  // [N x K]; supports of label 0 come first
  // Indexes of pictures of the query set, without repetition. Their number is
  // EpisodeShape::queries, or less if the query set has too few suitable pictures, but at least
  // one.
  std::vector<int> queries;

  int label_of(int category) const;  // 0 … N - 1; -1 if the episode lacks the category
  friend bool operator==(const Episode&, const Episode&) = default;
};

// A class that cannot be drawn because it has too few pictures.
struct LeftOut {
  int category = 0;
  int pictures = 0;        // pictures of the support set that show it
  int query_pictures = 0;  // pictures of the query set that show it
};

// Draws episodes of N classes with K supports each. Each episode is a pure function of `seed` and
// the arguments of `at`. So it is the same on any number of ranks and in any order of calls. Any
// number of threads may call `at`.
//
// Classes are drawn with equal probability, without repetition. Queries take turns over the
// classes: the i-th query is drawn from the pictures that show class i mod N. If that class has no
// picture left that can be a query, the next class is tried. The supports of a class are in K
// different pictures. In each picture, one box of the class is drawn with equal probability.
// Supports of different classes are in the same picture only if a class has no other picture left.
//
// In training, no picture is both support and query of an episode. A picture becomes a query only
// if each of its classes in the episode keeps K pictures for supports.
//
// In evaluation, the classes and queries of an episode do not depend on K. The supports for K shots
// are also among the supports for K + 1 shots. Both statements hold as long as the same classes
// have enough pictures.
class Episodes {
 public:
  // For training: takes supports and queries from one set. A class with fewer than K + 1 pictures
  // is left out. classes: indexes of the categories that may be drawn (ClassSplit). names:
  // DetectionData::categories. Throws Error if fewer than N classes, or none, remain; the message
  // names the classes that are left out. Also throws Error if K, N or the number of queries is out
  // of range.
  Episodes(const ClassPictures& pictures, const std::vector<Category>& names,
           const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed);
  // For evaluation: takes supports from one set (training) and queries from another (validation).
  // Both sets have the same categories. A class is left out if it has fewer than K pictures in the
  // first set, or none in the second. Throws Error in the same cases as the constructor for
  // training.
  Episodes(const ClassPictures& supports, const ClassPictures& queries,
           const std::vector<Category>& names, const std::vector<int>& classes,
           const EpisodeShape& shape, std::uint64_t seed);

  // Returns an episode. In training, `epoch` is the step, and `place` is the index in the global
  // batch. In evaluation, `epoch` is 0, and `place` is the episode's number. Both arguments are at
  // least 0.
  Episode at(std::int64_t epoch, std::int64_t place) const;

  const EpisodeShape& shape() const { return shape_; }          // n_way is never 0 here
  const std::vector<int>& classes() const { return classes_; }  // classes that may be drawn
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // Returns a line that names the classes left out and what they lack. It is empty if no class is
  // left out.
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

  std::shared_ptr<const ClassPictures> supports_, queries_;  // the same object in training
  std::vector<std::string> names_;
  std::vector<int> classes_;
  std::vector<LeftOut> left_out_;
  EpisodeShape shape_;
  std::uint64_t seed_;
};

}  // namespace lockstep::fewshot
