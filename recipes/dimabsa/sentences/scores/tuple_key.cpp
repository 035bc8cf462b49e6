// Computes the keys by which tuples are compared.
#include "recipes/dimabsa/sentences/scores/tuple_key.h"

#include "recipes/dimabsa/sentences/letters.h"

namespace lockstep::dimabsa {

TupleKey key_of(Task task, const Tuple& tuple) {
  TupleKey key{.aspect = lower_case(tuple.aspect)};
  if (task != Task::aspects) key.opinion = lower_case(tuple.opinion);
  if (task == Task::quadruplets) key.category = lower_case(tuple.category);
  return key;
}

bool is_null(const std::string& phrase) { return lower_case(phrase) == "null"; }

}  // namespace lockstep::dimabsa
