// Included before everything else in each file of llama.cpp that we compile (compiler flag -include).
//
// llama.cpp ends the process when one of its assertions fails. In a library inside somebody's process that is no
// answer, so a failed assertion throws a C++ exception where one can be caught. Conditions that we know of are checked
// before the call; this is the second line, for those that we do not know of.
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
__attribute__((noreturn, cold))
#endif
void llama_guard_fail(const char * file, int line, const char * condition);

#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 1, 2)))
#endif
int llama_guard_print(const char * format, ...);

struct ggml_cgraph;
struct ggml_cplan;
int llama_guard_graph_compute(struct ggml_cgraph * graph, struct ggml_cplan * plan);

#ifdef __cplusplus
}
#endif

#undef GGML_ASSERT
#define GGML_ASSERT(x)                                    \
    do {                                                  \
        if (!(x)) llama_guard_fail(__FILE__, __LINE__, #x); \
    } while (0)

// The standard output belongs to the program. What ggml says there goes to the log.
#ifndef __cplusplus
#define printf(...) llama_guard_print(__VA_ARGS__)
#endif

// Each model and each context occupies a slot or two in a table of ggml's. Its 64 would be a limit of ours.
#undef GGML_MAX_CONTEXTS
#define GGML_MAX_CONTEXTS 4096

// Only for ggml-backend.c: compute by way of the guard, which knows how to stop early.
#ifdef LLAMA_GUARD_COMPUTE
#define ggml_graph_compute llama_guard_graph_compute
#endif
