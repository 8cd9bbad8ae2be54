//===- Runtime.h - The runtime of pit -------------------------------------===//
//
// All a user of the runtime includes. docs/Runtime.md has an example.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_RUNTIME_H
#define PIT_RUNTIME_RUNTIME_H

#include "pit-runtime/Constant.h"
#include "pit-runtime/Context.h"
#include "pit-runtime/Device.h"
#include "pit-runtime/Index.h"
#include "pit-runtime/LiveFractions.h"
#include "pit-runtime/Program.h"
#include "pit-runtime/Source.h"
#include "pit-runtime/Status.h"
#include "pit-runtime/Version.h"

#endif // PIT_RUNTIME_RUNTIME_H
