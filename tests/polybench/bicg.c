// PolyBench/C 4.2, linear-algebra/kernels/bicg: s := r^T A and q := A p, as in the BiCGStab method.

#include "polybench.h"

enum { M = SIZE(38, 116, 390), N = SIZE(42, 124, 410) };

static double A[N][M], s[M], q[N], p[M], r[N];

KERNEL kernel_bicg(int m, int n, double A[N][M], double s[M], double q[N], double p[M], double r[N]) {
    for (int i = 0; i < m; i++) s[i] = 0;
    for (int i = 0; i < n; i++) {
        q[i] = 0;
        for (int j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
}

static void initialise(void) {
    for (int i = 0; i < M; i++) p[i] = (double)(i % M) / M;
    for (int i = 0; i < N; i++) {
        r[i] = (double)(i % N) / N;
        for (int j = 0; j < M; j++) A[i][j] = (double)(i * (j + 1) % N) / N;
    }
}

static void run(void) { kernel_bicg(M, N, A, s, q, p, r); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_DOUBLES(FOLD_START, s), q); }
