// PolyBench/C 4.2, linear-algebra/solvers/gramschmidt: A = Q R with orthonormal columns of Q, by the modified method.

#include "polybench.h"

enum { M = SIZE(20, 60, 200), N = SIZE(30, 80, 240) };

static double A[M][N], R[N][N], Q[M][N];

KERNEL kernel_gramschmidt(int m, int n, double A[M][N], double R[N][N], double Q[M][N]) {
    for (int k = 0; k < n; k++) {
        double nrm = 0;
        for (int i = 0; i < m; i++) nrm += A[i][k] * A[i][k];
        R[k][k] = square_root(nrm);
        for (int i = 0; i < m; i++) Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0;
            for (int i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < m; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
}

static void initialise(void) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (double)(i * j % M) / M * 100 + 10;
            Q[i][j] = 0;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) R[i][j] = 0;
}

static void run(void) { kernel_gramschmidt(M, N, A, R, Q); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_DOUBLES(FOLD_START, R), Q); }
