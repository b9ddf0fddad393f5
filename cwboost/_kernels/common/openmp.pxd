# OpenMP where the build has it; the same names, single-threaded, where it has not.

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    #define CWBOOST_HAS_OPENMP 1
    #else
    #define CWBOOST_HAS_OPENMP 0
    static inline int omp_get_thread_num(void) { return 0; }
    static inline int omp_get_max_threads(void) { return 1; }
    static inline void omp_set_max_active_levels(int n) { (void) n; }
    #endif
    """
    const int CWBOOST_HAS_OPENMP
    int omp_get_thread_num() noexcept nogil
    int omp_get_max_threads() noexcept nogil
    void omp_set_max_active_levels(int) noexcept nogil
