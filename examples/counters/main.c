// What a meter logs, over many readings: five loops as they are written every day.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

// A sum that has a closed form.
KEEP int64_t charged(int days, int64_t fee) {
    int64_t total = 0;
    for (int day = 0; day < days; day++) total += fee;
    return total;
}

// A product by the counter, and 64-bit addresses by a 32-bit one.
KEEP void scale(int64_t *marks, int count, int64_t step) {
    for (int i = 0; i < count; i++) marks[i] = i * step;
}

// Downwards, from the last day to day 1.
KEEP int64_t newest_first(const int64_t *marks, int days) {
    int64_t mix = 0;
    for (int day = days; day > 0; day--) mix = (mix ^ marks[day]) + (mix >> 7);
    return mix;
}

// Powers of a base, each of them times a constant.
KEEP uint64_t fingerprint(const unsigned char *text, int count, uint64_t base, uint64_t salt) {
    uint64_t sum = 0, power = 1;
    for (int i = 0; i < count; i++) {
        sum ^= (text[i] + power * salt) >> 5;
        power *= base;
    }
    return sum;
}

// It may be left in the middle.
KEEP int first_above(const int64_t *marks, int count, int64_t limit) {
    for (int i = 0; i < count; i++)
        if (marks[i] > limit) return i;
    return -1;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000, rounds = argc > 2 ? atoi(argv[2]) : 1;
    int64_t *marks = malloc(sizeof *marks * (size_t)(count + 1));
    if (!marks || count < 0) return 1;
    uint64_t all = 0;
    for (int round = 0; round < rounds; round++) {
        scale(marks, count, 37 + round);
        all += (uint64_t)charged(count, 250) + (uint64_t)newest_first(marks, count - 1);
        all ^= fingerprint((const unsigned char *)marks, count, 0x9e3779b97f4a7c15, all | 1);
        all += (uint64_t)first_above(marks, count, 20000);
    }
    printf("%016llx\n", (unsigned long long)all);
    free(marks);
    return 0;
}
