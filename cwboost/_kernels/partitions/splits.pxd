cdef double gain_of(int criterion, double least, const double* total, double sum, double mass,
                    double number) noexcept nogil
