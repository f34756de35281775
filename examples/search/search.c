/* Searching an array constant: the words before its first element are its rank and its length. */
#include <stdint.h>

int64_t list_index_of(const int64_t *l, int64_t e) {
    for (int64_t i = 0; i < l[-2]; i++)
        if (l[i] == e) return i;
    return -1;
}

int32_t list_contains(const int64_t *l, int64_t e) { return list_index_of(l, e) >= 0; }
