/* Adding and subtracting these rounds numbers to integers, to even ones in ties: doubles below 2^51
 * and floats below 2^22. */
#ifndef CWBOOST_ROUNDING_H
#define CWBOOST_ROUNDING_H

#define CWB_ROUND 0x1.8p52
#define CWB_ROUND_FLOAT 0x1.8p23f

#endif
