// What the shim and the guard share: the state of the call that is under way on this thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace guard {

// Inside a call of the shim: exceptions are caught, so assertions may throw.
struct Scope {
    Scope();
    ~Scope();
};

// Whether exceptions are caught on this thread now.
bool active();

// Inside a decode: computing stops at the next node of the graph once `*flag` is set.
struct Cancellable {
    explicit Cancellable(const std::atomic<bool> * flag);
    ~Cancellable();
};

// Inside a decode: of the logits, the rows before this one are not computed.
struct FirstRow {
    explicit FirstRow(int64_t row);
    ~FirstRow();
};

// Whether computing was stopped early since the last call of `Cancellable`'s constructor.
bool was_cancelled();

}  // namespace guard
