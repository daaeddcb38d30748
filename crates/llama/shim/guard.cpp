#include "guard.h"
#include "guard.hpp"
#include "shim.h"

#include <cstring>
#include <new>
#include <stdexcept>

namespace {

thread_local int depth = 0;
// Set while other threads work on a graph whose description lies on this thread's stack: unwinding it would pull the
// ground from under them.
thread_local bool workers = false;
thread_local const std::atomic<bool> * cancel_flag = nullptr;
thread_local bool cancelled = false;
thread_local int64_t first_row = 0;

bool should_stop(void * flag) {
    return static_cast<const std::atomic<bool> *>(flag)->load(std::memory_order_relaxed);
}

// Takes the first rows out of the multiplication that makes the logits, until it goes out of scope. llama.cpp multiplies
// every token's last state with the whole vocabulary, and then drops all but the rows that were asked for.
class WithoutFirstRows {
public:
    WithoutFirstRows(struct ggml_cgraph * graph, int64_t n_rows) {
        struct ggml_tensor * logits = graph->n_nodes > 0 ? graph->nodes[graph->n_nodes - 1] : nullptr;
        if (logits == nullptr || n_rows <= 0 || n_rows >= logits->ne[1] || logits->op != GGML_OP_MUL_MAT ||
            strcmp(logits->name, "result_output") != 0 || ggml_nrows(logits) != logits->ne[1] ||
            ggml_nrows(logits->src[1]) != logits->ne[1]) {
            return;
        }
        node = logits;
        whole = *logits;
        states = *logits->src[1];
        cut(states, n_rows);
        cut(*logits, n_rows);
        logits->src[1] = &states;
    }

    ~WithoutFirstRows() {
        if (node != nullptr) *node = whole;
    }

private:
    static void cut(struct ggml_tensor & tensor, int64_t n_rows) {
        tensor.ne[1] -= n_rows;
        tensor.data = static_cast<char *>(tensor.data) + n_rows * tensor.nb[1];
    }

    struct ggml_tensor * node = nullptr;
    struct ggml_tensor whole;
    struct ggml_tensor states;
};

// The last part of a path: the folder in which somebody compiled is no news.
const char * base_name(const char * path) {
    const char * name = path;
    for (const char * p = path; *p; ++p) {
        if (*p == '/' || *p == '\\') name = p + 1;
    }
    return name;
}

}  // namespace

namespace guard {

Scope::Scope() { ++depth; }
Scope::~Scope() { --depth; }

bool active() { return depth > 0; }

Cancellable::Cancellable(const std::atomic<bool> * flag) {
    cancel_flag = flag;
    cancelled = false;
}

Cancellable::~Cancellable() { cancel_flag = nullptr; }

bool was_cancelled() { return cancelled; }

FirstRow::FirstRow(int64_t row) { first_row = row; }
FirstRow::~FirstRow() { first_row = 0; }

}  // namespace guard

extern "C" struct shim_guard_state shim_guard_leave(void) {
    const shim_guard_state state = {depth, workers, cancelled, cancel_flag, first_row};
    depth = 0;
    workers = false;
    cancelled = false;
    cancel_flag = nullptr;
    first_row = 0;
    return state;
}

extern "C" void shim_guard_return(struct shim_guard_state state) {
    depth = state.depth;
    workers = state.workers;
    cancelled = state.cancelled;
    cancel_flag = static_cast<const std::atomic<bool> *>(state.cancel_flag);
    first_row = state.first_row;
}

extern "C" void llama_guard_fail(const char * file, int line, const char * condition) {
    if (depth > 0 && !workers) {
        if (strstr(condition, "failed to allocate") != nullptr) throw std::bad_alloc();
        throw std::runtime_error(std::string("llama.cpp's assertion failed: ") + condition + " (" + base_name(file) + ":" +
                                 std::to_string(line) + ")");
    }
    fprintf(stderr, "GGML_ASSERT: %s:%d: %s\n", file, line, condition);
    abort();
}

extern "C" int llama_guard_graph_compute(struct ggml_cgraph * graph, struct ggml_cplan * plan) {
    if (plan->work_size > 0 && plan->work_data == nullptr) {
        throw std::bad_alloc();
    }
    if (cancel_flag != nullptr) {
        plan->abort_callback = should_stop;
        plan->abort_callback_data = const_cast<void *>(static_cast<const void *>(cancel_flag));
    }
    const WithoutFirstRows without(graph, first_row);
    workers = plan->n_threads > 1;
    int status;
    try {
        status = ggml_graph_compute(graph, plan);
    } catch (...) {
        workers = false;
        throw;
    }
    workers = false;
    if (cancel_flag != nullptr && should_stop(plan->abort_callback_data)) {
        cancelled = true;
    }
    return status;
}
