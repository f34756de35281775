// How likely counts are under a mixture of two exponential distributions. Prints the sum to eight digits.
#include <math.h>
#include <stdio.h>

static double mixed(double x, double a, double b) { return 0.25 * a * exp(-a * x) * exp(-0.5 * x) + 0.75 * b * exp(-b * x); }
static double likelihood(double x, double y, double a, double b) {
    return log(mixed(x, a, b)) + log(mixed(y, a, b)) - log(a + b);
}

int main(void) {
    double sum = 0;
    for (int i = 0; i < 3000000; i++) {
        double x = i % 1013 / 500.0, y = i % 977 / 700.0;
        sum += likelihood(x, y, 1.5 + i % 7 * 0.1, 0.5 + i % 5 * 0.1);
    }
    printf("%.8g\n", sum);
    return 0;
}
