// The common part of files of kernels and programs: exported functions without parameters, which `rewright bench --native`
// calls. Linear memory begins as zeros, so they fill what they read.

#define CALL(name, before, call, result)                                                                               \
    __attribute__((export_name("call_" #name))) double call_##name(void) {                                             \
        before;                                                                                                        \
        call;                                                                                                          \
        return result;                                                                                                 \
    }

// There is no library behind them; clang makes calls of these of some loops.
__attribute__((no_builtin)) void *memset(void *to, int byte, unsigned long count) {
    for (unsigned char *p = to; count--; p++) *p = byte;
    return to;
}
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, unsigned long count) {
    for (unsigned char *p = to; count--;) *p++ = *(const unsigned char *)from++;
    return to;
}

static inline void fill(double *array, int count) {
    for (int i = 0; i < count; i++) array[i] = (i * 37 % 101 + 1) / 102.0;
}

static inline double sum(const double *array, int count) {
    double total = 0;
    for (int i = 0; i < count; i++) total += array[i] * (i % 7 + 1);
    return total;
}
