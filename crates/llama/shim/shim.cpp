// llama.cpp and the shim are one translation unit: the shim reads sizes and cells that llama.h does not show, so that
// a state can be checked before it is used, and put back when a call fails half-way.
#include "llama.cpp"

#include "guard.hpp"
#include "shim.h"

#include <new>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace {

struct cancelled_error {};

thread_local std::string message;

std::atomic<shim_log_callback> log_callback{nullptr};

void forward_log(enum ggml_log_level level, const char * text, void *) {
    const shim_log_callback callback = log_callback;
    if (callback != nullptr && !callback(level, text) && guard::active()) {
        throw cancelled_error();
    }
}

// Runs `f`, which returns a status, and turns whatever it throws into one.
template <typename F>
int32_t guarded(F f) noexcept {
    guard::Scope scope;
    try {
        return f();
    } catch (const cancelled_error &) {
        return SHIM_CANCELLED;
    } catch (const std::bad_alloc &) {
        return SHIM_NO_MEMORY;
    } catch (const std::exception & e) {
        try {
            message = e.what();
        } catch (...) {
            message.clear();
        }
        return SHIM_THROWN;
    } catch (...) {
        message.clear();
        return SHIM_THROWN;
    }
}

// What must be put back when a batch fails after its cells were taken.
class Slot {
public:
    Slot(llama_kv_cache & kv, uint32_t n_tokens) : kv(kv), n_tokens(n_tokens), used(kv.used) {}

    // `advanced`: the head already stands behind the batch.
    void release(bool advanced) {
        if (kv.used != used + n_tokens) return;  // no cell was taken
        const uint32_t head = advanced ? (kv.head == 0 ? kv.size : kv.head) - n_tokens : kv.head;
        for (uint32_t i = head; i < head + n_tokens; ++i) {
            kv.cells[i].pos = -1;
            kv.cells[i].seq_id.clear();
        }
        kv.head = head;
        kv.used = used;
    }

private:
    llama_kv_cache & kv;
    const uint32_t n_tokens;
    const uint32_t used;
};

// The first token of a batch for which logits are wanted, by the rules of llama_decode_internal; the last, if none are.
int64_t first_row_wanted(const llama_context * ctx, const llama_batch & batch) {
    const int64_t last = batch.n_tokens - 1;
    if (batch.logits != nullptr) {
        return std::find_if(batch.logits, batch.logits + last, [](int8_t wanted) { return wanted != 0; }) - batch.logits;
    }
    return ctx->logits_all ? 0 : last;
}

// Cells as a session file has them: a position, a count and that many sequences. llama_get_state_size forgets them.
size_t kv_cells_bytes(const llama_context * ctx) {
    size_t n = 0;
    for (const auto & cell : ctx->kv_self.cells) {
        n += sizeof(llama_pos) + sizeof(size_t) + cell.seq_id.size() * sizeof(llama_seq_id);
    }
    return n;
}

size_t buffers_bytes(const std::vector<ggml_backend_buffer_t> & bufs) {
    size_t n = 0;
    for (ggml_backend_buffer_t buf : bufs) n += ggml_backend_buffer_get_size(buf);
    return n;
}

}  // namespace

extern "C" int llama_guard_print(const char * format, ...) {
    va_list args;
    va_start(args, format);
    try {
        llama_log_internal_v(GGML_LOG_LEVEL_INFO, format, args);
    } catch (...) {
        // Nobody who prints expects that; the next line of llama.cpp's own log stops what is to be stopped.
    }
    va_end(args);
    return 0;
}

extern "C" {

const char * shim_message(void) { return message.c_str(); }

void shim_free(void * p) { free(p); }

// ---- model

int32_t shim_model_load(const char * path, const struct llama_model_params * params, struct llama_model ** out) {
    *out = nullptr;
    return guarded([&] {
        *out = llama_load_model_from_file(path, *params);
        return *out ? SHIM_OK : SHIM_FAILED;
    });
}

void shim_model_free(struct llama_model * model) {
    guarded([&] {
        llama_free_model(model);
        return SHIM_OK;
    });
}

struct shim_hparams shim_model_hparams(const struct llama_model * model) {
    const auto & h = model->hparams;
    struct shim_hparams out = {};
    out.vocab_only = h.vocab_only;
    out.n_layer = h.n_layer;
    out.n_head = h.n_head;
    out.n_embd_head_k = h.n_embd_head_k;
    out.n_embd_head_v = h.n_embd_head_v;
    out.n_embd_k_gqa = h.n_embd_k_gqa();
    out.n_embd_v_gqa = h.n_embd_v_gqa();
    out.n_rot = h.n_rot;
    for (const auto & it : model->tensors_by_name) {
        if (it.first == "position_embd.weight") out.n_positions = (uint32_t) it.second->ne[1];
    }
    return out;
}

size_t shim_model_heap_bytes(const struct llama_model * model) {
    return model->mapping ? 0 : buffers_bytes(model->bufs);
}

size_t shim_model_mapped_bytes(const struct llama_model * model) {
    return model->mapping ? buffers_bytes(model->bufs) : 0;
}

int32_t shim_model_make_writable(struct llama_model * model, int fd) {
    if (!model->mapping) return SHIM_OK;
#if defined(__unix__) || defined(__APPLE__)
    return guarded([&] {
        const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
        const uintptr_t file = (uintptr_t) model->mapping->addr;
        for (ggml_backend_buffer_t buf : model->bufs) {
            const uintptr_t base = (uintptr_t) ggml_backend_buffer_get_base(buf);
            const uintptr_t end = base + ggml_backend_buffer_get_size(buf);
            if (base < file || end > file + model->mapping->size) continue;  // not of the mapped file
            const uintptr_t first = base & ~(page - 1);
            const uintptr_t last = (end + page - 1) & ~(page - 1);
            void * p = mmap((void *) first, last - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
                            (off_t) (first - file));
            if (p == MAP_FAILED) {
                throw std::runtime_error(format("mmap failed: %s", strerror(errno)));
            }
        }
        return SHIM_OK;
    });
#else
    (void) fd;
    message = "the weights are mapped read-only; load the model with use_mmap = false";
    return SHIM_THROWN;
#endif
}

int32_t shim_model_apply_lora(
        const struct llama_model * model, const char * path, float scale, const char * base_path, int32_t n_threads) {
    return guarded([&] {
        return llama_model_apply_lora_from_file(model, path, scale, base_path, n_threads) == 0 ? SHIM_OK : SHIM_FAILED;
    });
}

int32_t shim_tokenize(
        const struct llama_model * model, const char * text, size_t n_text, bool add_bos, bool special,
        llama_token ** tokens, size_t * n_tokens) {
    *tokens = nullptr;
    *n_tokens = 0;
    return guarded([&] {
        const auto ids = llama_tokenize_internal(model->vocab, std::string(text, n_text), add_bos, special);
        if (ids.empty()) return SHIM_OK;
        auto * copy = static_cast<llama_token *>(malloc(ids.size() * sizeof(llama_token)));
        if (copy == nullptr) return SHIM_NO_MEMORY;
        std::copy(ids.begin(), ids.end(), copy);
        *tokens = copy;
        *n_tokens = ids.size();
        return SHIM_OK;
    });
}

int32_t shim_token_to_piece(
        const struct llama_model * model, llama_token token, char * buf, int32_t capacity, int32_t * n) {
    *n = 0;
    return guarded([&] {
        const int32_t length = llama_token_to_piece(model, token, buf, capacity);
        *n = length < 0 ? -length : length;
        return SHIM_OK;
    });
}

// ---- context

int32_t shim_context_new(
        struct llama_model * model, const struct llama_context_params * params, struct llama_context ** out) {
    *out = nullptr;
    return guarded([&] {
        *out = llama_new_context_with_model(model, *params);
        return *out ? SHIM_OK : SHIM_FAILED;
    });
}

void shim_context_free(struct llama_context * ctx) {
    guarded([&] {
        llama_free(ctx);
        return SHIM_OK;
    });
}

struct shim_context_info shim_context_info(const struct llama_context * ctx) {
    const auto & kv = ctx->kv_self;
    struct shim_context_info info = {};
    info.kv_bytes = kv.total_size() + kv.cells.capacity() * sizeof(llama_kv_cell);
    for (ggml_backend_t backend : ctx->backends) {
        info.compute_bytes += ggml_backend_buffer_get_size(ggml_backend_sched_get_buffer(ctx->sched, backend));
    }
    info.compute_bytes += ctx->buf_compute_meta.capacity();
    info.output_bytes = (ctx->logits.size() + ctx->embedding.capacity()) * sizeof(float);
    info.has_shift = kv.has_shift;
    info.kv_size = kv.size;
    info.kv_used = kv.used;
    info.n_logits = ctx->logits.size();
    info.n_logits_capacity = ctx->logits.capacity();
    info.n_embedding = ctx->embedding.size();
    info.k_element_bytes = kv.k_l.empty() ? 0 : ggml_element_size(kv.k_l[0]);
    info.kv_total_bytes = kv.total_size();
    return info;
}

int32_t shim_decode(struct llama_context * ctx, const struct llama_batch * batch, const void * cancel) {
    auto & kv = ctx->kv_self;
    Slot slot(kv, batch->n_tokens);
    // A rotation of the keys that stops half-way cannot be undone: such a batch runs to its end.
    guard::Cancellable cancellable(kv.has_shift ? nullptr : static_cast<const std::atomic<bool> *>(cancel));
    guard::FirstRow first_row(first_row_wanted(ctx, *batch));
    int32_t decoded = 0;
    int32_t status = guarded([&] {
        decoded = llama_decode_internal(*ctx, *batch);
        return decoded == 0 ? SHIM_OK : decoded == 1 ? SHIM_NO_SLOT : SHIM_FAILED;
    });
    if (status == SHIM_OK && guard::was_cancelled()) {
        slot.release(true);
        return SHIM_CANCELLED;
    }
    if (status == SHIM_THROWN || status == SHIM_NO_MEMORY) {
        slot.release(false);
    }
    return status;
}

int32_t shim_kv_seq_cp(struct llama_context * ctx, llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1) {
    return guarded([&] {
        llama_kv_cache_seq_cp(ctx, src, dst, p0, p1);
        return SHIM_OK;
    });
}

int32_t shim_kv_seq_keep(struct llama_context * ctx, llama_seq_id seq) {
    return guarded([&] {
        llama_kv_cache_seq_keep(ctx, seq);
        return SHIM_OK;
    });
}

llama_pos shim_kv_cell_pos(const struct llama_context * ctx, uint32_t i) {
    return i < ctx->kv_self.size ? ctx->kv_self.cells[i].pos : -1;
}

bool shim_kv_seq_range(const struct llama_context * ctx, llama_seq_id seq, llama_pos * min, llama_pos * max) {
    bool found = false;
    for (const auto & cell : ctx->kv_self.cells) {
        if (cell.pos < 0 || !cell.has_seq_id(seq)) continue;
        *min = found ? std::min(*min, cell.pos) : cell.pos;
        *max = found ? std::max(*max, cell.pos) : cell.pos;
        found = true;
    }
    return found;
}

// ---- state

size_t shim_hparams_bytes(void) { return sizeof(llama_hparams); }

void shim_hparams_copy(const struct llama_model * model, void * out) { memcpy(out, &model->hparams, sizeof(llama_hparams)); }

bool shim_hparams_match(const struct llama_model * model, const void * bytes) {
    llama_hparams other;
    memcpy((void *) &other, bytes, sizeof(other));
    return !(other != model->hparams);
}

int32_t shim_state_get(struct llama_context * ctx, uint8_t ** state, size_t * n_bytes) {
    *state = nullptr;
    *n_bytes = 0;
    auto & kv = ctx->kv_self;
    const uint32_t head = kv.head;
    const int32_t status = guarded([&] {
        // llama.cpp saves the keys and values of the cells before the head only, which is where it looks for a free
        // one next; after a removal there are used cells behind it.
        uint32_t end = kv.size;
        while (end > 0 && kv.cells[end - 1].pos < 0) --end;
        kv.head = end;
        auto * buf = static_cast<uint8_t *>(malloc(llama_get_state_size(ctx) + kv_cells_bytes(ctx)));
        if (buf == nullptr) return SHIM_NO_MEMORY;
        *state = buf;
        *n_bytes = llama_copy_state_data(ctx, buf);
        return SHIM_OK;
    });
    kv.head = head;
    if (status != SHIM_OK) {
        free(*state);
        *state = nullptr;
    }
    return status;
}

int32_t shim_state_set(struct llama_context * ctx, const uint8_t * state, size_t n_bytes) {
    return guarded([&] {
        auto & kv = ctx->kv_self;
        // llama.cpp asserts that it read no more than its estimate of a state's size, which forgets the cells, but
        // counts what is reserved for logits.
        const size_t estimate = llama_get_state_size(ctx);
        if (n_bytes > estimate) {
            ctx->logits.reserve(ctx->logits.capacity() + (n_bytes - estimate) / sizeof(float) + 1);
        }
        // llama.cpp adds the saved sequences to what the cells have, and keeps a shift that is due.
        llama_kv_cache_clear(kv);
        kv.has_shift = false;
        for (auto & cell : kv.cells) cell.delta = 0;
        llama_set_state_data(ctx, const_cast<uint8_t *>(state));
        return SHIM_OK;
    });
}

// ---- quantization

int32_t shim_quantize(const char * input, const char * output, const struct llama_model_quantize_params * params) {
    return guarded([&] {
        llama_model_quantize_internal(input, output, params);
        return SHIM_OK;
    });
}

// ---- log

void shim_log_set(shim_log_callback callback) {
    log_callback = callback;
    llama_log_set(forward_log, nullptr);
}

// ---- sampling

int32_t shim_sample_repetition_penalties(
        struct llama_context * ctx, llama_token_data_array * candidates, const llama_token * last_tokens,
        size_t n_last_tokens, float repeat, float freq, float present) {
    return guarded([&] {
        llama_sample_repetition_penalties(ctx, candidates, last_tokens, n_last_tokens, repeat, freq, present);
        return SHIM_OK;
    });
}

int32_t shim_sample_softmax(struct llama_context * ctx, llama_token_data_array * candidates) {
    return guarded([&] {
        llama_sample_softmax(ctx, candidates);
        return SHIM_OK;
    });
}

int32_t shim_sample_top_k(struct llama_context * ctx, llama_token_data_array * candidates, int32_t k, size_t min_keep) {
    return guarded([&] {
        llama_sample_top_k(ctx, candidates, k, min_keep);
        return SHIM_OK;
    });
}

int32_t shim_sample_top_p(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep) {
    return guarded([&] {
        llama_sample_top_p(ctx, candidates, p, min_keep);
        return SHIM_OK;
    });
}

int32_t shim_sample_min_p(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep) {
    return guarded([&] {
        llama_sample_min_p(ctx, candidates, p, min_keep);
        return SHIM_OK;
    });
}

int32_t shim_sample_tail_free(struct llama_context * ctx, llama_token_data_array * candidates, float z, size_t min_keep) {
    return guarded([&] {
        llama_sample_tail_free(ctx, candidates, z, min_keep);
        return SHIM_OK;
    });
}

int32_t shim_sample_typical(struct llama_context * ctx, llama_token_data_array * candidates, float p, size_t min_keep) {
    return guarded([&] {
        llama_sample_typical(ctx, candidates, p, min_keep);
        return SHIM_OK;
    });
}

int32_t shim_sample_temp(struct llama_context * ctx, llama_token_data_array * candidates, float temp) {
    return guarded([&] {
        llama_sample_temp(ctx, candidates, temp);
        return SHIM_OK;
    });
}

int32_t shim_sample_apply_guidance(struct llama_context * ctx, float * logits, float * guidance, float scale) {
    return guarded([&] {
        llama_sample_apply_guidance(ctx, logits, guidance, scale);
        return SHIM_OK;
    });
}

int32_t shim_sample_token(struct llama_context * ctx, llama_token_data_array * candidates, llama_token * token) {
    return guarded([&] {
        *token = llama_sample_token(ctx, candidates);
        return SHIM_OK;
    });
}

int32_t shim_sample_token_greedy(struct llama_context * ctx, llama_token_data_array * candidates, llama_token * token) {
    return guarded([&] {
        *token = llama_sample_token_greedy(ctx, candidates);
        return SHIM_OK;
    });
}

int32_t shim_sample_token_mirostat(
        struct llama_context * ctx, llama_token_data_array * candidates, float tau, float eta, int32_t m, float * mu,
        llama_token * token) {
    return guarded([&] {
        *token = llama_sample_token_mirostat(ctx, candidates, tau, eta, m, mu);
        return SHIM_OK;
    });
}

int32_t shim_sample_token_mirostat_v2(
        struct llama_context * ctx, llama_token_data_array * candidates, float tau, float eta, float * mu,
        llama_token * token) {
    return guarded([&] {
        *token = llama_sample_token_mirostat_v2(ctx, candidates, tau, eta, mu);
        return SHIM_OK;
    });
}

}  // extern "C"
