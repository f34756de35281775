// PolyBench/C 4.2, linear-algebra/solvers/cholesky: A = L L^T, L in the lower triangle of A.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

#include "definite.h"

static double A[N][N];

KERNEL kernel_cholesky(int n, double A[N][N]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = square_root(A[i][i]);
    }
}

static void initialise(void) { make_definite(A); }

static void run(void) { kernel_cholesky(N, A); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
