// Reads a column of a file as classes.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

struct LabelColumn {
  const CellTable& table;
  std::size_t column = 0;
  const std::vector<std::size_t>& rows;  // of the table
  std::vector<bool> missing{};           // for each of these rows
};

// The distinct labels. They are ordered by value if all are numbers (1 and 1.0 are one class, "1"),
// else by their bytes. For two_classes, labels 0 or 1 always give both classes. Throws Error, which
// names file and line, if two_classes has a third class. Also throws if there are too many classes
// for the rows.
std::vector<std::string> classes_of(const LabelColumn& column, LabelKind kind);

// Whether the cell names one of the classes.
bool is_class(const std::string& cell, const std::vector<std::string>& classes);

// The index of each row's label in `classes`; NaN if it is missing. Throws Error, which names file
// and line, for a label that is not among them.
std::vector<double> class_labels(const LabelColumn& column,
                                 const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
