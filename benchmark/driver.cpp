// A program over llama.cpp without Ruby around it: what the binding is measured against.
//
// usage: driver MODEL N_CTX N_BATCH N_THREADS
//
// Commands come from standard input, one a line; each is answered by the seconds that it took:
//   decode N   N tokens, one at a time, behind a first one that is not counted
//   prompt N   N tokens, n_batch at a time
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

llama_context * ctx;

// The same tokens as in bare_loop.rb: any, but no control tokens and no bytes.
llama_token token(int i) {
    const int first = 259;
    return first + i * 7919 % (llama_n_vocab(llama_get_model(ctx)) - first);
}

void decode(int first, int n) {
    std::vector<llama_token> tokens(n);
    for (int i = 0; i < n; ++i) tokens[i] = token(first + i);
    if (llama_decode(ctx, llama_batch_get_one(tokens.data(), n, first, 0)) != 0) {
        fprintf(stderr, "llama_decode failed\n");
        exit(1);
    }
}

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void quiet(ggml_log_level, const char *, void *) {}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: driver MODEL N_CTX N_BATCH N_THREADS\n");
        return 2;
    }
    llama_log_set(quiet, nullptr);
    llama_backend_init(false);
    llama_model * model = llama_load_model_from_file(argv[1], llama_model_default_params());
    if (!model) {
        fprintf(stderr, "cannot load %s\n", argv[1]);
        return 1;
    }
    llama_context_params params = llama_context_default_params();
    params.n_ctx = atoi(argv[2]);
    params.n_batch = atoi(argv[3]);
    params.n_threads = params.n_threads_batch = atoi(argv[4]);
    ctx = llama_new_context_with_model(model, params);
    if (!ctx) {
        fprintf(stderr, "cannot make the context\n");
        return 1;
    }

    char command[16];
    int n;
    while (scanf("%15s %d", command, &n) == 2) {
        llama_kv_cache_clear(ctx);
        double start;
        if (strcmp(command, "prompt") == 0) {
            start = seconds();
            for (int i = 0; i < n; i += params.n_batch) decode(i, std::min<int>(n - i, params.n_batch));
        } else {
            decode(0, 1);
            start = seconds();
            for (int i = 1; i <= n; ++i) decode(i, 1);
        }
        printf("%.9f\n", seconds() - start);
        fflush(stdout);
    }
    llama_free(ctx);
    llama_free_model(model);
    llama_backend_free();
}
