// PolyBench/C 4.2, linear-algebra/kernels/2mm: D := alpha A B C + beta D.

#include "polybench.h"

enum { NI = SIZE(16, 40, 180), NJ = SIZE(18, 50, 190), NK = SIZE(22, 70, 210), NL = SIZE(24, 80, 220) };

static double A[NI][NK], B[NK][NJ], C[NJ][NL], D[NI][NL], tmp[NI][NJ];

KERNEL kernel_2mm(int ni, int nj, int nk, int nl, double alpha, double beta, double tmp[NI][NJ], double A[NI][NK],
                  double B[NK][NJ], double C[NJ][NL], double D[NI][NL]) {
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            tmp[i][j] = 0;
            for (int k = 0; k < nk; ++k) tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++) {
            D[i][j] *= beta;
            for (int k = 0; k < nj; ++k) D[i][j] += tmp[i][k] * C[k][j];
        }
}

static void initialise(void) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)((i * j + 1) % NI) / NI;
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)(i * (j + 1) % NJ) / NJ;
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NL; j++) C[i][j] = (double)((i * (j + 3) + 1) % NL) / NL;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) D[i][j] = (double)(i * (j + 2) % NK) / NK;
}

static void run(void) { kernel_2mm(NI, NJ, NK, NL, 1.5, 1.2, tmp, A, B, C, D); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, D); }
