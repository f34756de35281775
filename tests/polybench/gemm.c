// PolyBench/C 4.2, linear-algebra/blas/gemm: C := alpha A B + beta C.

#include "polybench.h"

enum { NI = SIZE(20, 60, 200), NJ = SIZE(25, 70, 220), NK = SIZE(30, 80, 240) };

static double A[NI][NK], B[NK][NJ], C[NI][NJ];

KERNEL kernel_gemm(int ni, int nj, int nk, double alpha, double beta, double C[NI][NJ], double A[NI][NK],
                   double B[NK][NJ]) {
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) C[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++) C[i][j] += alpha * A[i][k] * B[k][j];
    }
}

static void initialise(void) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) C[i][j] = (double)((i * j + 1) % NI) / NI;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)(i * (j + 1) % NK) / NK;
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)(i * (j + 2) % NJ) / NJ;
}

static void run(void) { kernel_gemm(NI, NJ, NK, 1.5, 1.2, C, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, C); }
