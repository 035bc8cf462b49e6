// Variation of information between the components of two masks.
#pragma once

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Both are in bits.
struct VariationOfInformation {
  double split = 0;  // H(prediction | truth): components of the truth that the prediction cuts
  double merge = 0;  // H(truth | prediction): components of the truth that the prediction joins
};

// The variation between the two labellings by 26-connected components, over voxels that are
// foreground in truth or prediction. Among these, the background of a mask is one more label of
// that mask. Voxels that are background in both are left out, so empty space does not dilute the
// result. Both values are 0 if both masks are empty. Throws Error if the shapes differ.
//
// Meila, "Comparing clusterings - an information based distance" (2007).
VariationOfInformation variation_of_information(const Mask& truth, const Mask& predicted);

// 1 / (1 + alpha * (split + merge)). If only one mask is empty, it is 1 for one component and less
// for more, as in the competition. The other scores judge that case.
double voi_score(const VariationOfInformation& voi, double alpha = 0.3);

}  // namespace lockstep::volume
