//===- Image.c - All kernels of the runtime -------------------------------===//
//
// One module of PTX, for one kind of GPU, holds all of them
// (Device/CMakeLists.txt).
//
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(bugprone-suspicious-include)
#include "Bitmap.c"
#include "Choose.c"
#include "ChooseScan.c"
#include "IndexGeneral.c"
#include "IndexIntegers.c"
#include "IndexLists.c"
#include "IndexPacked.c"
#include "IndexSegments.c"
#include "IndexTranspose.c"
#include "IndexValues.c"
#include "LiveFractions.c"
#include "PackRows.c"
// NOLINTEND(bugprone-suspicious-include)
