/* Immutable square matrices of integers. Sums and products are those of 64-bit words, and wrap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };
typedef struct {
    uint64_t at[N][N];
} matrix;

static int64_t made;

static matrix *new_matrix(void) {
    made++;
    return malloc(sizeof(matrix));
}

matrix *grid(int64_t seed) {
    matrix *m = new_matrix();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) m->at[i][j] = (uint64_t)seed * (uint64_t)(i + 1) + (uint64_t)(j * j);
    return m;
}

matrix *mscale(const matrix *a, int64_t k) {
    matrix *m = new_matrix();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) m->at[i][j] = a->at[i][j] * (uint64_t)k;
    return m;
}

matrix *madd(const matrix *a, const matrix *b) {
    matrix *m = new_matrix();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) m->at[i][j] = a->at[i][j] + b->at[i][j];
    return m;
}

/* A number that tells matrices apart. */
int64_t checksum(const matrix *a) {
    uint64_t sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum = sum * 31 + a->at[i][j];
    return (int64_t)sum;
}

int64_t matrices_made(void) { return made; }
