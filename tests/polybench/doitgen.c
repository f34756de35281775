// PolyBench/C 4.2, linear-algebra/kernels/doitgen: products of a cube's rows with a matrix, in place.

#include "polybench.h"

enum { NQ = SIZE(8, 20, 40), NR = SIZE(10, 25, 50), NP = SIZE(12, 30, 60) };

static double A[NR][NQ][NP], C4[NP][NP], sum[NP];

KERNEL kernel_doitgen(int nr, int nq, int np, double A[NR][NQ][NP], double C4[NP][NP], double sum[NP]) {
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[p] = 0;
                for (int s = 0; s < np; s++) sum[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < np; p++) A[r][q][p] = sum[p];
        }
}

static void initialise(void) {
    for (int i = 0; i < NR; i++)
        for (int j = 0; j < NQ; j++)
            for (int k = 0; k < NP; k++) A[i][j][k] = (double)((i * j + k) % NP) / NP;
    for (int i = 0; i < NP; i++)
        for (int j = 0; j < NP; j++) C4[i][j] = (double)(i * j % NP) / NP;
}

static void run(void) { kernel_doitgen(NR, NQ, NP, A, C4, sum); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
