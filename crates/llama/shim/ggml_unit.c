// ggml.c, and what has to reach into it.
#include "ggml.c"

// Loads and frees pass through a spin lock. A process that is forked while another thread is inside would inherit it
// locked, and spin for ever at the next load.
void llama_guard_before_fork(void) { ggml_critical_section_start(); }
void llama_guard_after_fork(void) { ggml_critical_section_end(); }
