// PolyBench/C 4.2, linear-algebra/solvers/lu: A = L U without pivots, in place.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

#include "definite.h"

static double A[N][N];

KERNEL kernel_lu(int n, double A[N][N]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j];
    }
}

static void initialise(void) { make_definite(A); }

static void run(void) { kernel_lu(N, A); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
