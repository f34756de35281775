/* Matrices of doubles, row by row, and the parts of a dense layer, over a BLAS.
 *
 * A matrix is the address of its first element; the words before it are its rank (2), its rows and its columns, as in
 * Rewright's array constants. The last few matrices are kept; the memory of older ones is used again. */
#include <cblas.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16 };
static int64_t made;

static int64_t rows(const double *a) { return ((const int64_t *)a)[-2]; }
static int64_t cols(const double *a) { return ((const int64_t *)a)[-3]; }

static double *matrix(int64_t rows, int64_t cols) {
    static struct { double *memory; int64_t room; } kept[KEPT];
    int slot = (int)(made++ % KEPT);
    if (kept[slot].room < rows * cols) {
        free(kept[slot].memory);
        kept[slot].memory = malloc(sizeof(double) * (rows * cols + 3));
        kept[slot].room = rows * cols;
    }
    int64_t *header = (int64_t *)kept[slot].memory;
    header[0] = cols, header[1] = rows, header[2] = 2;
    return kept[slot].memory + 3;
}

/* `to` may be `from`. */
static void apply(const char *f, const double *from, double *to, int64_t n) {
    if (strcmp(f, "relu")) abort();
    for (int64_t i = 0; i < n; i++) to[i] = from[i] > 0 ? from[i] : 0;
}

static void gemm(const double *a, const double *b, double beta, double *c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows(a), (int)cols(b), (int)cols(a), 1.0, a,
                (int)cols(a), b, (int)cols(b), beta, c, (int)cols(c));
}

double *product(const double *a, const double *b) {
    double *c = matrix(rows(a), cols(b));
    gemm(a, b, 0.0, c);
    return c;
}

double *add_bias(const double *z, const double *b) {
    double *sum = matrix(rows(z), cols(z));
    for (int64_t i = 0; i < rows(z); i++)
        for (int64_t j = 0; j < cols(z); j++) sum[i * cols(z) + j] = z[i * cols(z) + j] + b[i];
    return sum;
}

double *activate(const char *f, const double *z) {
    double *y = matrix(rows(z), cols(z));
    apply(f, z, y, rows(z) * cols(z));
    return y;
}

double *dropout(const double *z, int64_t seed) {
    double *y = matrix(rows(z), cols(z));
    uint64_t random = (uint64_t)seed;
    for (int64_t i = 0; i < rows(z) * cols(z); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        y[i] = random >> 63 ? 2 * z[i] : 0;
    }
    return y;
}

double *bias_act(const char *f, const double *z, const double *b) {
    double *y = matrix(rows(z), cols(z));
    int64_t n = cols(z);
    for (int64_t i = 0; i < rows(z); i++) {
        for (int64_t j = 0; j < n; j++) y[i * n + j] = z[i * n + j] + b[i];
        apply(f, y + i * n, y + i * n, n);
    }
    return y;
}

double *dense(const char *f, const double *w, const double *x, const double *b) {
    double *y = matrix(rows(w), cols(x));
    for (int64_t i = 0; i < rows(y); i++)
        for (int64_t j = 0; j < cols(y); j++) y[i * cols(y) + j] = b[i];
    gemm(w, x, 1.0, y);
    apply(f, y, y, rows(y) * cols(y));
    return y;
}

double *numbers(int64_t rows, int64_t cols) {
    double *a = matrix(rows, cols);
    for (int64_t i = 0; i < rows * cols; i++) a[i] = (double)(i % 13 - 6) / 8;
    return a;
}

int32_t elements(const double *a) { return (int32_t)(rows(a) * cols(a)); }
int64_t matrices_made(void) { return made; }
