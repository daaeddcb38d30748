// The C face of llama.cpp that Rust calls where llama.h is not enough: every function here catches what llama.cpp
// throws. Plain getters are called as llama.h has them.
#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shim_status {
    SHIM_OK        = 0,
    SHIM_NO_SLOT   = 1,   // decode: the KV cache has no room for the batch
    SHIM_CANCELLED = 2,
    SHIM_FAILED    = -1,  // llama.cpp reported an error (its log has the text)
    SHIM_THROWN    = -2,  // an exception; see shim_message()
    SHIM_NO_MEMORY = -3,
};

// What the last call on this thread threw.
const char * shim_message(void);

// What is kept for the call that is under way on this thread. It is put away while the program is called back.
struct shim_guard_state {
    int          depth;
    bool         workers;
    bool         cancelled;
    const void * cancel_flag;
    int64_t      first_row;
};

struct shim_guard_state shim_guard_leave(void);
void                    shim_guard_return(struct shim_guard_state state);

// For fork(): see ggml_unit.c.
void llama_guard_before_fork(void);
void llama_guard_after_fork(void);

// ---- model

struct shim_hparams {
    bool     vocab_only;
    uint32_t n_layer;
    uint32_t n_head;
    uint32_t n_embd_head_k;
    uint32_t n_embd_head_v;
    uint32_t n_embd_k_gqa;
    uint32_t n_embd_v_gqa;
    uint32_t n_rot;
    uint32_t n_positions;  // rows of a learned position embedding, 0 when there is none
};

int32_t shim_model_load(const char * path, const struct llama_model_params * params, struct llama_model ** out);
void    shim_model_free(struct llama_model * model);

struct shim_hparams shim_model_hparams(const struct llama_model * model);

// Bytes of tensor data that belong to the process (not to a mapped file), and bytes that are mapped.
size_t shim_model_heap_bytes(const struct llama_model * model);
size_t shim_model_mapped_bytes(const struct llama_model * model);

// Replaces the read-only mapping of the weights by a private, writable one of the same file. `fd` is that file.
int32_t shim_model_make_writable(struct llama_model * model, int fd);

int32_t shim_model_apply_lora(
        const struct llama_model * model, const char * path, float scale, const char * base_path, int32_t n_threads);

// `*tokens` is to be released with shim_free.
int32_t shim_tokenize(
        const struct llama_model * model, const char * text, size_t n_text, bool add_bos, bool special,
        llama_token ** tokens, size_t * n_tokens);

// Appends nothing, writes up to `capacity` bytes; `*n` is the length of the whole piece.
int32_t shim_token_to_piece(
        const struct llama_model * model, llama_token token, char * buf, int32_t capacity, int32_t * n);

void shim_free(void * p);

// ---- context

struct shim_context_info {
    size_t   kv_bytes;       // the KV cache
    size_t   compute_bytes;  // buffers of the graph
    size_t   output_bytes;   // logits and embedding
    bool     has_shift;      // positions were moved, the keys are to be rotated by the next decode
    uint32_t kv_size;        // cells
    uint32_t kv_used;
    size_t   n_logits;       // floats that are valid now
    size_t   n_logits_capacity;
    size_t   n_embedding;
    size_t   k_element_bytes;
    size_t   kv_total_bytes; // as a session file has it
};

int32_t shim_context_new(
        struct llama_model * model, const struct llama_context_params * params, struct llama_context ** out);
void    shim_context_free(struct llama_context * ctx);

struct shim_context_info shim_context_info(const struct llama_context * ctx);

// `cancel` may be NULL. A batch that fails or is cancelled leaves the KV cache as it was.
int32_t shim_decode(struct llama_context * ctx, const struct llama_batch * batch, const void * cancel);

int32_t shim_kv_seq_cp(struct llama_context * ctx, llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1);
int32_t shim_kv_seq_keep(struct llama_context * ctx, llama_seq_id seq);

// The position of the cell `i`, -1 when it is free.
llama_pos shim_kv_cell_pos(const struct llama_context * ctx, uint32_t i);
// The smallest and largest position that the sequence has in the cache; false when it has none.
bool shim_kv_seq_range(const struct llama_context * ctx, llama_seq_id seq, llama_pos * min, llama_pos * max);

// ---- state

size_t  shim_hparams_bytes(void);
void    shim_hparams_copy(const struct llama_model * model, void * out);
bool    shim_hparams_match(const struct llama_model * model, const void * bytes);

// `*state` is to be released with shim_free.
int32_t shim_state_get(struct llama_context * ctx, uint8_t ** state, size_t * n_bytes);
// The bytes have been proven sound for this context.
int32_t shim_state_set(struct llama_context * ctx, const uint8_t * state, size_t n_bytes);

// ---- quantization

int32_t shim_quantize(const char * input, const char * output, const struct llama_model_quantize_params * params);

// ---- log

// Gets whatever llama.cpp logs, in pieces. False ends the shim call that is under way on this thread with
// SHIM_CANCELLED: the only way to stop a quantization.
typedef bool (*shim_log_callback)(int32_t level, const char * text);
void shim_log_set(shim_log_callback callback);

// ---- sampling

int32_t shim_sample_repetition_penalties(
        struct llama_context * ctx, llama_token_data_array * candidates, const llama_token * last_tokens,
        size_t n_last_tokens, float repeat, float freq, float present);
int32_t shim_sample_softmax(struct llama_context * ctx, llama_token_data_array * candidates);
int32_t shim_sample_top_k(struct llama_context * ctx, llama_token_data_array * candidates, int32_t k, size_t min_keep);
int32_t shim_sample_top_p(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep);
int32_t shim_sample_min_p(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep);
int32_t shim_sample_tail_free(struct llama_context * ctx, llama_token_data_array * candidates, float z, size_t min_keep);
int32_t shim_sample_typical(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep);
int32_t shim_sample_temp(struct llama_context * ctx, llama_token_data_array * candidates, float temp);
int32_t shim_sample_apply_guidance(struct llama_context * ctx, float * logits, float * guidance, float scale);
int32_t shim_sample_token(struct llama_context * ctx, llama_token_data_array * candidates, llama_token * token);
int32_t shim_sample_token_greedy(struct llama_context * ctx, llama_token_data_array * candidates, llama_token * token);
int32_t shim_sample_token_mirostat(
        struct llama_context * ctx, llama_token_data_array * candidates, float tau, float eta, int32_t m, float * mu,
        llama_token * token);
int32_t shim_sample_token_mirostat_v2(
        struct llama_context * ctx, llama_token_data_array * candidates, float tau, float eta, float * mu,
        llama_token * token);

#ifdef __cplusplus
}
#endif
