// Where numbers are in a list, by an idiom that searches twice. Prints the sum of the places, and on stderr how many
// searches it took.
#include "library.h"
#include <stdio.h>

static long place(const list *l, long e) {
    if (list_contains(l, e)) return list_index_of(l, e);
    return -7;
}

int main(void) {
    list l = {.size = 64};
    for (long i = 0; i < l.size; i++) l.at[i] = i * i % 101;
    long sum = 0;
    for (long n = 0; n < 30000000; n++) sum += place(&l, n * 7919 % 101);
    printf("%ld\n", sum);
    fprintf(stderr, "%ld\n", lists_searched());
    return 0;
}
