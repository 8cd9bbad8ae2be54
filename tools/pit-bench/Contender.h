//===- Contender.h - Whose time is taken ----------------------------------===//

#ifndef PIT_TOOLS_BENCH_CONTENDER_H
#define PIT_TOOLS_BENCH_CONTENDER_H

#include "Problem.h"

#include "pit-c/Compile.h"

/// Something that computes a problem.
typedef struct contender {
  const char *name;
  /// Computes the result of a pattern; everything that it does is timed. Prints
  /// an error and returns false if it cannot.
  bool (*run)(void *state, int32_t pattern);
  void (*destroy)(void *state);
  void *state;
  const tensor *result; ///< where `run` puts it
  bool unwanted;        ///< it also computes outputs that are not wanted
} contender;

/// How making a contender went.
typedef enum peer_answer {
  PEER_MADE,
  PEER_DECLINED, ///< it does not compute such a problem
  PEER_FAILED    ///< an error was printed
} peer_answer;

/// pit's program of the case; `dense`: with every mark lowered densely.
typedef struct pit_settings {
  pit_compiler *compiler;
  pit_compile_options options;
  int32_t threads;
} pit_settings;
peer_answer pit_make(const problem *p, const pit_settings *settings, bool dense,
                     contender *made);

/// The part of the micro-tiles that the program's indices cover, of one call;
/// -1: it builds none. Prints an error and returns false if the call fails.
bool pit_last_live_fraction(const contender *pit, int32_t pattern,
                            double *live_fraction);

/// A library that computes problems, too.
typedef struct peer {
  const char *name;
  const char *what;
  /// NULL: it was not found when pit was configured.
  peer_answer (*make)(const problem *p, contender *made);
  bool (*is_loaded)(void); ///< of one that --torch loads; else NULL
} peer;

/// Why a peer cannot take part; NULL: it is there.
const char *peer_missing(const peer *p);

/// All peers, a NULL name at the end.
const peer *peers(void);

#endif // PIT_TOOLS_BENCH_CONTENDER_H
