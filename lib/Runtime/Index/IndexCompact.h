//===- IndexCompact.h - From bits to lists of ids -------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_INDEXCOMPACT_H
#define PIT_LIB_RUNTIME_INDEX_INDEXCOMPACT_H

#include "Core/Internal.h"

/// Turns bits, of each micro-tile one, into counts, offsets, ids, the origins
/// (if `routing` is not NULL) and the work list of builder->index, whose
/// spec is resolved.
pit_status pit_index_compact(pit_index_builder *builder, const uint64_t *bits,
                             const pit_data *routing);

/// Makes room for the counts, offsets and ids of builder->index.
pit_status pit_index_reserve(pit_index_builder *builder);

#endif // PIT_LIB_RUNTIME_INDEX_INDEXCOMPACT_H
