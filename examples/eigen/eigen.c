/* Matrices of doubles over a BLAS and a LAPACK.
 *
 * A matrix is the address of its first element; the words before it are its rank (2), its rows and its columns, as in
 * Rewright's array constants. Eigenvalues are a matrix with two columns, real and imaginary parts, in ascending order.
 * The last few are kept; the memory of older ones is used again. */
#include <cblas.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void dgeev_(const char *, const char *, const int *, double *, const int *, double *, double *, double *, const int *,
            double *, const int *, double *, const int *, int *);
void dsyev_(const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *);
void dsyevd_(const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *,
             const int *, int *);
void dsyevx_(const char *, const char *, const char *, const int *, double *, const int *, const double *,
             const double *, const int *, const int *, const double *, int *, double *, double *, const int *, double *,
             const int *, int *, int *, int *);
void dgetrf_(const int *, const int *, double *, const int *, int *, int *);

enum { KEPT = 32 };
static int64_t solved;

static int64_t rows(const double *a) { return ((const int64_t *)a)[-2]; }
static int64_t cols(const double *a) { return ((const int64_t *)a)[-3]; }

static void *room(int64_t bytes) {
    void *memory = malloc((size_t)bytes);
    if (!memory) abort();
    return memory;
}

static double *matrix(int64_t rows, int64_t cols) {
    static struct { double *memory; int64_t room; } kept[KEPT];
    static int64_t made;
    int slot = (int)(made++ % KEPT);
    if (kept[slot].room < rows * cols) {
        free(kept[slot].memory);
        kept[slot].memory = room((int64_t)sizeof(double) * (rows * cols + 3));
        kept[slot].room = rows * cols;
    }
    int64_t *header = (int64_t *)kept[slot].memory;
    header[0] = cols, header[1] = rows, header[2] = 2;
    return kept[slot].memory + 3;
}

static double *copy(const double *a) {
    double *b = room((int64_t)sizeof(double) * rows(a) * cols(a));
    return memcpy(b, a, sizeof(double) * (size_t)(rows(a) * cols(a)));
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static double *mirrored(double *c) {
    for (int64_t i = 0; i < rows(c); i++)
        for (int64_t j = 0; j < i; j++) c[i * cols(c) + j] = c[j * cols(c) + i];
    return c;
}

double *adjoint(const double *a) {
    double *t = matrix(cols(a), rows(a));
    for (int64_t i = 0; i < rows(a); i++)
        for (int64_t j = 0; j < cols(a); j++) t[j * rows(a) + i] = a[i * cols(a) + j];
    return t;
}

double *product(const double *a, const double *b) {
    double *c = matrix(rows(a), cols(b));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows(a), (int)cols(b), (int)cols(a), 1.0, a,
                (int)cols(a), b, (int)cols(b), 0.0, c, (int)cols(c));
    return c;
}

/* a * a': half of it is computed. */
double *gram(const double *a) {
    double *c = matrix(rows(a), rows(a));
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (int)rows(a), (int)cols(a), 1.0, a, (int)cols(a), 0.0, c,
                (int)cols(c));
    return mirrored(c);
}

/* a' * b * a. */
double *congruent(const double *a, const double *b) {
    double *t = matrix(rows(b), cols(a)), *c = matrix(cols(a), cols(a));
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, (int)rows(b), (int)cols(a), 1.0, b, (int)cols(b), a,
                (int)cols(a), 0.0, t, (int)cols(t));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)cols(a), (int)cols(a), (int)rows(a), 1.0, a,
                (int)cols(a), t, (int)cols(t), 0.0, c, (int)cols(c));
    return mirrored(c);
}

double *eigen_general(const double *a) {
    int n = (int)rows(a), info, one = 1, size = 64 * n;
    double *values = matrix(n, 2), *own = copy(a), *parts = room((int64_t)sizeof(double) * (2 * n + size));
    dgeev_("N", "N", &n, own, &n, parts, parts + n, NULL, &one, NULL, &one, parts + 2 * n, &size, &info);
    if (info) abort();
    for (int i = 0; i < n; i++) values[2 * i] = parts[i], values[2 * i + 1] = parts[n + i];
    qsort(values, (size_t)n, 2 * sizeof(double), compare);
    free(own), free(parts);
    solved++;
    return values;
}

double *eigen_symmetric(const double *a) {
    int n = (int)rows(a), info, size = 64 * n;
    double *values = matrix(n, 2), *own = copy(a), *parts = room((int64_t)sizeof(double) * (n + size));
    dsyev_("N", "U", &n, own, &n, parts, parts + n, &size, &info);
    if (info) abort();
    for (int i = 0; i < n; i++) values[2 * i] = parts[i], values[2 * i + 1] = 0;
    free(own), free(parts);
    solved++;
    return values;
}

double total(const double *values) {
    double sum = 0;
    for (int64_t i = 0; i < rows(values); i++) sum += values[2 * i];
    return sum;
}

double multiplied(const double *values) {
    double re = 1, im = 0;
    for (int64_t i = 0; i < rows(values); i++) {
        double x = values[2 * i], y = values[2 * i + 1], next = re * x - im * y;
        im = re * y + im * x, re = next;
    }
    return re;
}

double value_at(const double *values, int64_t i) { return values[2 * i]; }

double trace(const double *a) {
    double sum = 0;
    for (int64_t i = 0; i < rows(a); i++) sum += a[i * cols(a) + i];
    return sum;
}

double determinant(const double *a) {
    int n = (int)rows(a), info;
    double *own = copy(a), product = 1;
    int *pivots = room((int64_t)sizeof(int) * n);
    dgetrf_(&n, &n, own, &n, pivots, &info);
    for (int i = 0; i < n; i++) product *= pivots[i] == i + 1 ? own[i * n + i] : -own[i * n + i];
    free(own), free(pivots);
    return product;
}

/* Numbers between -1/2 and 1/2, and 2 on the diagonal: the determinant of a small one is no extreme number. */
double *numbers(int64_t rows, int64_t cols, int64_t seed) {
    double *a = matrix(rows, cols);
    uint64_t random = (uint64_t)seed;
    for (int64_t i = 0; i < rows * cols; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        a[i] = (double)(random >> 40) / (1 << 24) - 0.5;
    }
    for (int64_t i = 0; i < rows && i < cols; i++) a[i * cols + i] = 2;
    return a;
}

double *symmetric_numbers(int64_t n, int64_t seed) { return mirrored(numbers(n, n, seed)); }

int64_t systems_solved(void) { return solved; }

/* Its sign is free: here the sum of its components is not negative. */
static double *axis(const double *from, int64_t n) {
    double *v = matrix(n, 1), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += from[i];
    for (int64_t i = 0; i < n; i++) v[i] = sum < 0 ? -from[i] : from[i];
    return v;
}

/* Values as `eigen_symmetric` gives them, and after them the vectors, one by one. */
double *axes(const double *a) {
    int n = (int)rows(a), info, size = 1 + 6 * n + 2 * n * n, words = 3 + 5 * n;
    double *values = matrix(n, n + 2), *own = copy(a), *parts = room((int64_t)sizeof(double) * (n + size));
    int *integers = room((int64_t)sizeof(int) * words);
    dsyevd_("V", "U", &n, own, &n, parts, parts + n, &size, integers, &words, &info);
    if (info) abort();
    for (int i = 0; i < n; i++) values[2 * i] = parts[i], values[2 * i + 1] = 0;
    memcpy(values + 2 * n, own, sizeof(double) * (size_t)n * (size_t)n);
    free(own), free(parts), free(integers);
    solved++;
    return values;
}

double *axis_of(const double *values, int64_t i) {
    int64_t n = rows(values);
    return axis(values + 2 * n + i * n, n);
}

/* One vector, by bisection and inverse iteration. */
double *one_axis(const double *a, int64_t i, double tolerance) {
    int n = (int)rows(a), info, which = (int)i + 1, found, size = 64 * n;
    double *own = copy(a), *parts = room((int64_t)sizeof(double) * (2 * n + size)), low = 0, high = 0;
    int *integers = room((int64_t)sizeof(int) * 6 * n);
    dsyevx_("V", "I", "U", &n, own, &n, &low, &high, &which, &which, &tolerance, &found, parts, parts + n, &n,
            parts + 2 * n, &size, integers, integers + 5 * n, &info);
    if (info || found != 1) abort();
    double *v = axis(parts + n, n);
    free(own), free(parts), free(integers);
    solved++;
    return v;
}

double component(const double *v, int64_t i) { return v[i]; }
